"""One design for every page and file: mechanism, sizes, promise, how the prior follows, truth, analysis and seed."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, cast

import numpy as np

from dpviz.calibration.prior_rules import PRIOR_RULES, promised_by
from dpviz.core.declarations import (
    DELTA,
    EPSILON,
    GAMMA_ONES,
    GAMMA_ZEROS,
    LEVEL,
    MANY_ROWS,
    MANY_SYNTHETIC_ROWS,
    PROPORTION,
    REPETITIONS,
    SEED,
    SETS,
)
from dpviz.core.formatting import describe_value
from dpviz.core.parameters import Parameter, parameter_with_default
from dpviz.core.records import ParameterRecord, Reader, json_field, validate_unique_choices
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy import pure_epsilon

MATRIX_FIELDS = ("probabilities", "decimals")
CONFIDENTIAL_COUNT = dataclasses.replace(
    MANY_ROWS, name="confidential_count", symbol="x", title="Confidential ones", minimum=0
)
# What the address of a page calls them, and an ε of the mechanism's own.
SHORT, NOISE_EPSILON_KEY = {"mechanism": "synthesizer", "confidential_count": "x"}, "noise_epsilon"


def _mechanism_written(given: str | GivenMatrix) -> Any:
    if isinstance(given, GivenMatrix):
        return {name: np.asarray(getattr(given, name)).tolist() for name in MATRIX_FIELDS}
    return given


def _mechanism_read(given: dict[str, Any]) -> GivenMatrix:
    if not set(given) <= set(MATRIX_FIELDS) or "probabilities" not in given:
        raise ValueError(f"A matrix has probabilities, and may have decimals; got {describe_value(list(given))}.")
    return GivenMatrix(**given)


@dataclass(frozen=True, kw_only=True)
class Design(ParameterRecord):
    """M independent synthetic sets under one promise, and what is asked of them.

    `mechanism` is a key of the registry, or a matrix of one's own, which brings its n and m; m is n where it is not
    given. `epsilon` and `delta` are promised for all sets together. `prior` is a key of `PRIOR_RULES`; a sanitizer has
    none and gets ε/M. `details` are further parameters of the mechanism by its own names, such as k cells, a β that is
    not α, or an ε of its noise that is not ε/M; `of` takes them among the others. `rules` are keys of
    `dpviz.inference.RULES`. Source: Charest (2011), §3.1, for the prior "pure".
    Two sets share ε = 2 ln 2: each has m / (e^{ln 2} − 1) = 10 invented rows of either kind.

    >>> import math
    >>> design = Design(mechanism="beta_binomial", n=10, sets=2, epsilon=2 * math.log(2))
    >>> round(design.alpha_of_one_set, 9), round(design.epsilon_of_sets / math.log(2), 9)
    (10.0, 2.0)
    >>> Design.from_json(design.to_json()) == Design.from_address(design.to_address()) == design
    True
    """

    noun, short = "design", SHORT

    mechanism: str | GivenMatrix = json_field(_mechanism_written, _mechanism_read, accepts_text=True)
    n: int = parameter_with_default(MANY_ROWS, default=None)
    m: int = parameter_with_default(MANY_SYNTHETIC_ROWS, default=None)
    sets: int = parameter_with_default(SETS, default=1)
    epsilon: float = parameter_with_default(EPSILON)
    delta: float = parameter_with_default(DELTA, default=0.0)
    prior: str = "pure"
    alpha: float = parameter_with_default(PRIOR_ONES, default=1.0)
    details: tuple[tuple[str, float], ...] = ()
    p: float = parameter_with_default(PROPORTION)
    confidential_count: int | None = parameter_with_default(CONFIDENTIAL_COUNT, default=None)
    gamma1: float = parameter_with_default(GAMMA_ONES)
    gamma2: float = parameter_with_default(GAMMA_ZEROS)
    level: float = parameter_with_default(LEVEL)
    rules: tuple[str, ...] = ()
    repetitions: int = parameter_with_default(REPETITIONS)
    seed: int = parameter_with_default(SEED)

    def __post_init__(self) -> None:
        asked, fixed = {one.name: one for one in self.synthesizer_type.parameters()}, self._fixed
        n, m = cast("tuple[int | None, int | None]", (self.n, self.m))
        self._set("n", fixed.get("n") if n is None else n)
        self._set("m", m if m is not None else fixed.get("m", self.n))
        for name, one in self.numbers().items():
            if name not in fixed and (name != "confidential_count" or self.confidential_count is not None):
                self._set(name, one.validate(getattr(self, name)))
        if any(getattr(self, name) != size for name, size in fixed.items()):
            sizes = " and ".join(f"{size:,}" for size in fixed.values())
            raise ValueError(
                f"{' and '.join(fixed)} must be "
                f"{'those of the matrix, ' if self.synthesizer_type is GivenMatrix else ''}{sizes}; "
                f"got {' and '.join(describe_value(getattr(self, name)) for name in fixed)}."
            )
        if self.m != self.n and "m" not in {*asked, *fixed}:
            raise ValueError(
                f"m (released rows) must equal n = {self.n:,}: {self.synthesizer_type.info.label} releases as many "
                f"rows; got {self.m:,}."
            )
        if not isinstance(self.prior, str) or self.prior not in PRIOR_RULES:
            raise ValueError(f"prior must be one of {', '.join(PRIOR_RULES)}; got {describe_value(self.prior)}.")
        if "alpha" in self.promised:
            asked["alpha"].validate(self.alpha)
        try:
            details, further = dict(self.details), {one.name for one in _further(self.mechanism).values()}
        except (TypeError, ValueError):
            raise ValueError(
                f"details must be pairs of a name and a number; got {describe_value(self.details)}."
            ) from None
        if not set(details) <= further:
            allowed = f"some of {', '.join(sorted(further))}" if further else "none"
            raise ValueError(
                f"details of {self.synthesizer_type.info.label} must be {allowed}; got {describe_value(details)}."
            )
        self._set("details", tuple((name, asked[name].validate(details[name])) for name in sorted(details)))
        x = self.confidential_count
        if x is not None and x > self.n:
            raise ValueError(f"confidential_count (confidential ones) must be at most n = {self.n:,}; got {x:,}.")
        if self.rules != ():
            from dpviz.inference.rules import RULES  # which are loaded where a design has some

            self._set("rules", validate_unique_choices("rules", self.rules, RULES))

    _set = object.__setattr__

    @property
    def _fixed(self) -> dict[str, int]:
        """n and m where the mechanism has them by itself."""
        if isinstance(self.mechanism, GivenMatrix):
            return {"n": self.mechanism.n, "m": self.mechanism.m}
        sizes = [one for one in dataclasses.fields(self.synthesizer_type) if one.name in ("n", "m") and one.init]
        return {one.name: one.default for one in sizes if isinstance(one.default, int) and not one.metadata}

    @classmethod
    def releasing(cls, made: Synthesizer, **shared: Any) -> Self | None:
        """Return the design of sets by this synthesizer, with `shared` fields; None where no page can be asked for it.

        >>> from dpviz.mechanisms import LaplaceSanitizer
        >>> design = Design.releasing(LaplaceSanitizer(n=5, epsilon=0.5), sets=4, epsilon=2.0)
        >>> design.details, design.synthesizer == LaplaceSanitizer(n=5, epsilon=0.5)
        ((('epsilon', 0.5),), True)
        """
        own = made.settings()
        sizes = {name: own.pop(name) for name in ("n", "m") if name in own}
        prior: dict[str, Any] = {"prior": "own"} if made.has_prior else {}
        if "alpha" in own:
            prior["alpha"] = own.pop("alpha")
        if own.get("beta") == prior.get("alpha"):
            own.pop("beta", None)
        found = cls(mechanism=made.key, details=tuple(own.items()), **sizes, **prior, **shared)
        return found if found.synthesizer == made else None

    @cached_property
    def synthesizer_type(self) -> type[Synthesizer]:
        """What the mechanism is."""
        if isinstance(self.mechanism, GivenMatrix):
            return GivenMatrix
        if not isinstance(self.mechanism, str) or self.mechanism not in SYNTHESIZERS:
            raise ValueError(
                f"mechanism must be one of {', '.join(SYNTHESIZERS)}, or a GivenMatrix; got "
                f"{describe_value(self.mechanism)}."
            )
        return SYNTHESIZERS[self.mechanism]

    @property
    def promised(self) -> tuple[str, ...]:
        """Names of the numbers of the promise, or of the prior, that the release follows from."""
        return promised_by(self.synthesizer_type, self.prior)

    @cached_property
    def alpha_of_one_set(self) -> float:
        """α = β of each set, as its rule says; a ValueError where the synthesizer has no prior."""
        if not self.synthesizer_type.has_prior:
            raise ValueError(
                f"mechanism must be a synthesizer with a prior; {self.synthesizer_type.info.label} has none."
            )
        return PRIOR_RULES[self.prior].alpha(self)

    @cached_property
    def synthesizer(self) -> Synthesizer:
        """The synthesizer of each set."""
        if isinstance(self.mechanism, GivenMatrix):
            return self.mechanism
        values: dict[str, float] = {"n": self.n, "m": self.m, "epsilon": self.epsilon / self.sets, "alpha": self.alpha}
        if self.synthesizer_type.has_prior:
            values |= dict.fromkeys(("alpha", "beta"), self.alpha_of_one_set)
        values |= dict(self.details)
        synthesizer_type = self.synthesizer_type.for_rows(self.n, self.m)
        return synthesizer_type(
            **{one.name: values.get(one.name, one.default) for one in synthesizer_type.parameters()}
        )

    @cached_property
    def release(self) -> TwoCellSynthesizer:
        """The synthesizer of each set where it releases two counts; a ValueError where it releases k."""
        if not isinstance(self.synthesizer, TwoCellSynthesizer):
            raise ValueError(f"mechanism must release two counts; got {self.synthesizer_type.info.label}.")
        return self.synthesizer

    @cached_property
    def epsilon_of_sets(self) -> float:
        """The exact pure ε of the M sets: M times that of one, as all may be at their worst at once."""
        return self.sets * pure_epsilon(self.synthesizer)

    def along_epsilon(self, epsilons: Sequence[float]) -> Sequence[TwoCellSynthesizer]:
        """Return the releases of one set at other promises, each made when it is asked for."""
        return _AlongEpsilon(self, epsilons)

    def to_dict(self) -> dict[str, Any]:
        """Return its fields, and those of its mechanism, as JSON knows them."""
        values = super().to_dict()
        details = dict(values.pop("details"))
        return values | {NOISE_EPSILON_KEY if name == "epsilon" else name: value for name, value in details.items()}

    @classmethod
    def parsers(cls, words: Mapping[str, str]) -> dict[str, Reader]:
        """Return what reads its fields, and those of the mechanism that the words name."""
        own = super().parsers(words)
        del own["details"]
        return own | {name: one.parse for name, one in _further(words.get(SHORT["mechanism"])).items()}

    @classmethod
    def from_address(cls, words: Mapping[str, str]) -> Self:
        """Return the design that `to_address` wrote, or did so when it called the mechanism `law`."""
        return super().from_address({"synthesizer" if word == "law" else word: text for word, text in words.items()})

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return the design of values by name, the mechanism's own among them."""
        if not isinstance(values, Mapping):
            raise ValueError(f"The design must be a JSON object; got {describe_value(values)}.")
        further = _further(values.get("mechanism"))
        names = [*(one.name for one in dataclasses.fields(cls) if one.name != "details"), *further]
        if unknown := [name for name in values if name not in names]:
            raise ValueError(f"A design has {', '.join(names)}; got {describe_value(unknown[0])}.")
        if "mechanism" not in values:
            raise ValueError("mechanism must be given; the design has none.")
        own = {name: value for name, value in values.items() if name not in further}
        return super().of(
            own | {"details": {one.name: values[name] for name, one in further.items() if name in values}}
        )


def _further(mechanism: object) -> dict[str, Parameter]:
    """Return what a synthesizer of the registry asks for beside n, m and α, by the names of an address."""
    synthesizer_type = SYNTHESIZERS.get(mechanism) if isinstance(mechanism, str) else None
    asked = synthesizer_type.parameters() if synthesizer_type else ()
    return {
        NOISE_EPSILON_KEY if one.name == "epsilon" else one.name: one
        for one in asked
        if one.name not in ("n", "m", "alpha")
    }


@dataclass(frozen=True)
class _AlongEpsilon(Sequence[TwoCellSynthesizer]):
    design: Design
    epsilons: Sequence[float]

    def __len__(self) -> int:
        return len(self.epsilons)

    def __getitem__(self, index: Any) -> Any:
        return dataclasses.replace(self.design, epsilon=float(self.epsilons[index])).release
