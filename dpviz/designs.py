"""One design for every page and file: mechanism, sizes, promise, how the prior follows, truth, analysis and seed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, cast, overload

import numpy as np

from dpviz.analysis import GAMMA_ONES, GAMMA_ZEROS, LEVEL, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS, PROPORTION, SETS
from dpviz.checked import checked
from dpviz.inference import RULES
from dpviz.parameters import DELTA, EPSILON, Parameter, shown
from dpviz.prior_rules import PRIOR_RULES, promised_by
from dpviz.privacy import pure_epsilon
from dpviz.studies.plan import REPETITIONS, SEED
from dpviz.synthesizers import TwoCellSynthesizer, two_cell_laws
from dpviz.synthesizers.given_matrix import GivenMatrix
from dpviz.synthesizers.prior import PRIOR_ONES, PriorSynthesizer

__all__ = ["Design"]

CONFIDENTIAL_COUNT = dataclasses.replace(
    POSTERIOR_ROWS, name="confidential_count", symbol="x", title="Confidential ones", minimum=0
)
SHORT = {"mechanism": "law", "confidential_count": "x"}
"""What the address of a page calls them."""


def _number(declaration: Parameter, **changes: Any) -> Any:
    """A field that carries its declaration, whose default it has."""
    declaration = dataclasses.replace(declaration, **changes)
    return dataclasses.field(default=declaration.default, metadata={"parameter": declaration})


@dataclass(frozen=True, kw_only=True)
class Design:
    """M independent synthetic sets under one promise, and what is asked of them.

    Parameters
    ----------
    mechanism
        Key of a two-cell synthesizer of the registry, or a matrix of one's own.
    n, m
        Confidential rows, and rows of one set, 1 to 10,000; m = n where it is not given. A matrix brings its own.
    sets
        M.
    epsilon, delta
        The promise for all sets together; neighbours are substitution. Only ``"exact"`` has a use for δ.
    prior
        ``"pure"``: the smallest prior at ε/M, as in Charest (2011). ``"exact"``: the smallest with which the M sets
        together are (ε, δ)-differentially private, by their exact composition. ``"own"``: `alpha`. A sanitizer has
        no prior and gets ε/M under every rule; a matrix is taken as it is.
    alpha
        α = β of ``"own"``.
    p, confidential_count
        The true proportion, and the confidential ones x, None where they are unknown.
    gamma1, gamma2
        The analyst's prior of p.
    level
        Probability of the analyst's intervals.
    rules
        Keys of `dpviz.inference.RULES`, each once.
    repetitions, seed
        Of a simulation; the seed also fixes a release that is drawn.

    Raises
    ------
    ValueError
        Naming the parameter, what is allowed and what came.

    Source: Charest (2011), §3.1, for ``"pure"``.

    Examples
    --------
    Two sets share ε = 2 ln 2: each has m / (e^{ln 2} − 1) = 10 pseudo-rows of either kind.

    >>> import math
    >>> design = Design(mechanism="beta_binomial", n=10, sets=2, epsilon=2 * math.log(2))
    >>> round(design.alpha_of_one_set, 9), round(design.epsilon_of_sets / math.log(2), 9)
    (10.0, 2.0)
    >>> Design.from_json(design.to_json()) == Design.from_address(design.to_address()) == design
    True
    """

    mechanism: str | GivenMatrix
    n: int = _number(POSTERIOR_ROWS, default=None)
    m: int = _number(POSTERIOR_SYNTHETIC_ROWS, default=None)
    sets: int = _number(SETS, default=1)
    epsilon: float = _number(EPSILON)
    delta: float = _number(DELTA, default=0.0)
    prior: str = "pure"
    alpha: float = _number(PRIOR_ONES, default=1.0)
    p: float = _number(PROPORTION)
    confidential_count: int | None = _number(CONFIDENTIAL_COUNT, default=None)
    gamma1: float = _number(GAMMA_ONES)
    gamma2: float = _number(GAMMA_ZEROS)
    level: float = _number(LEVEL)
    rules: tuple[str, ...] = ()
    repetitions: int = _number(REPETITIONS)
    seed: int = _number(SEED)

    def __post_init__(self) -> None:
        law, own = self.law, self.mechanism if isinstance(self.mechanism, GivenMatrix) else None
        n, m = cast("int | None", self.n), cast("int | None", self.m)
        n = own.n if n is None and own is not None else n
        self._set("n", n)
        self._set("m", m if m is not None else n if own is None else own.m)
        for name, declared in self.numbers().items():
            if name != "confidential_count" or self.confidential_count is not None:
                self._set(name, declared.check(getattr(self, name)))
        asked = {declared.name: declared for declared in law.parameters()}
        if own is not None and (self.n, self.m) != (own.n, own.m):
            raise ValueError(
                f"n and m must be those of the matrix, {own.n:,} and {own.m:,}; got {self.n:,} and {self.m:,}."
            )
        if own is None and self.m != self.n and "m" not in asked:
            raise ValueError(
                f"m (synthetic rows) must equal n = {self.n:,}: {law.label} releases as many rows; got {self.m:,}."
            )
        if not isinstance(self.prior, str) or self.prior not in PRIOR_RULES:
            raise ValueError(f"prior must be one of {', '.join(PRIOR_RULES)}; got {shown(self.prior)}.")
        if "alpha" in self.promised:
            asked["alpha"].check(self.alpha)
        if self.confidential_count is not None and self.confidential_count > self.n:
            raise ValueError(
                f"confidential_count (confidential ones) must be at most n = {self.n:,}; got "
                f"{self.confidential_count:,}."
            )
        rules: object = self.rules
        keys = tuple(rules) if isinstance(rules, (tuple, list)) and all(isinstance(key, str) for key in rules) else None
        if keys is None or len(set(keys)) < len(keys) or not set(keys) <= set(RULES):
            raise ValueError(f"rules must be some of {', '.join(RULES)}, each once; got {shown(rules)}.")
        self._set("rules", keys)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def numbers(cls) -> dict[str, Parameter]:
        """The declarations of its numbers by name."""
        return {field.name: field.metadata["parameter"] for field in dataclasses.fields(cls) if field.metadata}

    @cached_property
    def law(self) -> type[TwoCellSynthesizer]:
        """What the mechanism is."""
        if isinstance(self.mechanism, GivenMatrix):
            return GivenMatrix
        laws = two_cell_laws()
        if not isinstance(self.mechanism, str) or self.mechanism not in laws:
            raise ValueError(
                f"mechanism must be one of {', '.join(laws)}, or a GivenMatrix; got {shown(self.mechanism)}."
            )
        return laws[self.mechanism]

    @property
    def promised(self) -> tuple[str, ...]:
        """Names of the numbers of the promise, or of the prior, that the release follows from."""
        return promised_by(self.law, self.prior)

    @cached_property
    def alpha_of_one_set(self) -> float:
        """α = β of each set, as its rule says; a ValueError where the law has no prior."""
        if not issubclass(self.law, PriorSynthesizer):
            raise ValueError(f"mechanism must be a law with a prior; {self.law.label} has none.")
        return PRIOR_RULES[self.prior].alpha(self, self.law)

    @cached_property
    def release(self) -> TwoCellSynthesizer:
        """The synthesizer of each set, with a symmetric prior if it has one.

        A further parameter of a law has its declared default.
        """
        if isinstance(self.mechanism, GivenMatrix):
            return self.mechanism
        values: dict[str, float] = {"n": self.n, "m": self.m, "epsilon": self.epsilon / self.sets}
        if self.law.has_prior:
            values |= dict.fromkeys(("alpha", "beta"), self.alpha_of_one_set)
        sizes = {one.name: one.maximum for one in self.law.parameters() if one.name in ("n", "m")}
        fits = all(values[name] <= most for name, most in sizes.items())
        law = self.law if fits else self.law.up_to(int(POSTERIOR_ROWS.maximum))
        return law(**{one.name: values.get(one.name, one.default) for one in law.parameters()})  # type: ignore[arg-type]

    @cached_property
    def epsilon_of_sets(self) -> float:
        """The pure ε that the M sets keep together, exactly: M times that of one; infinite where a 0 decides.

        No set can do worse than its own worst table and neighbours, and all of them may do it at once.
        """
        return self.sets * pure_epsilon(self.release)

    def along_epsilon(self, epsilons: Sequence[float]) -> Sequence[TwoCellSynthesizer]:
        """The releases of one set at other promises, each made when it is asked for."""
        return _AlongEpsilon(self, epsilons)

    def to_json(self) -> str:
        """The design as JSON, every digit."""
        return json.dumps(self._values(), ensure_ascii=False)

    @classmethod
    @checked()
    def from_json(cls, text: str) -> Self:
        """The design that `to_json` wrote; a ValueError in a sentence refuses what is none."""
        values = _loaded(text)
        if not isinstance(values, dict):
            raise ValueError(f"The design must be a JSON object; got {shown(values)}.")
        return cls._of(values)

    def to_address(self) -> dict[str, str]:
        """The design as words by the names that a page's address has, every digit; what is None is left out."""
        words = {**self._values(), "rules": ".".join(self.rules)}
        return {
            SHORT.get(name, name): value if isinstance(value, str) else json.dumps(value)
            for name, value in words.items()
            if value is not None
        }

    @classmethod
    @checked()
    def from_address(cls, words: Mapping[str, str]) -> Self:
        """The design that `to_address` wrote; a ValueError in a sentence refuses what is none."""
        read: dict[str, Callable[[str], Any]] = {name: one.parse for name, one in cls.numbers().items()}
        read["rules"] = lambda text: [key for key in text.split(".") if key]
        read["mechanism"] = lambda text: _loaded(text) if text.startswith("{") else text
        names = {SHORT.get(field.name, field.name): field.name for field in dataclasses.fields(cls)}
        values: dict[str, Any] = {}
        for word, text in words.items():
            if word not in names or not isinstance(text, str):
                raise ValueError(
                    f"The address of a design holds texts called {', '.join(names)}; got {shown(word)} = {shown(text)}."
                )
            values[names[word]] = read.get(names[word], str)(text)
        return cls._of(values)

    def _values(self) -> dict[str, Any]:
        """Its fields as JSON knows them."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if isinstance(self.mechanism, GivenMatrix):
            values["mechanism"] = {
                name: np.asarray(getattr(self.mechanism, name)).tolist() for name in ("probabilities", "decimals")
            }
        return values

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Self:
        names = [field.name for field in dataclasses.fields(cls)]
        for name in values:
            if name not in names:
                raise ValueError(f"A design has {', '.join(names)}; got {shown(name)}.")
        if "mechanism" not in values:
            raise ValueError("mechanism must be given; the design has none.")
        mechanism = values["mechanism"]
        if isinstance(mechanism, dict):
            if not set(mechanism) <= {"probabilities", "decimals"} or "probabilities" not in mechanism:
                raise ValueError(f"A matrix has probabilities, and may have decimals; got {shown(list(mechanism))}.")
            mechanism = GivenMatrix(**mechanism)
        return cls(**{**values, "mechanism": mechanism})


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"The design must be JSON; got {shown(text)}.") from None


class _AlongEpsilon(Sequence[TwoCellSynthesizer]):
    def __init__(self, design: Design, epsilons: Sequence[float]) -> None:
        self._design, self._epsilons = design, epsilons

    def __len__(self) -> int:
        return len(self._epsilons)

    @overload
    def __getitem__(self, index: int) -> TwoCellSynthesizer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TwoCellSynthesizer]: ...
    def __getitem__(self, index: int | slice) -> TwoCellSynthesizer | Sequence[TwoCellSynthesizer]:
        if isinstance(index, slice):
            return _AlongEpsilon(self._design, self._epsilons[index])
        return dataclasses.replace(self._design, epsilon=float(self._epsilons[index])).release
