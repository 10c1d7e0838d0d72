"""The record of a design for every page and file: mechanism, sizes, promise, prior, truth, analysis and seed."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

from dpviz.calibration.several_sets import PRIOR_RULES, promised_by
from dpviz.core import declarations
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.parameters import Parameter, parameter_with_default, validate_choice
from dpviz.core.records import ParameterRecord, Reader, json_field, validate_unique_choices
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy import pure_epsilon
from dpviz.privacy.report import sentence

CONFIDENTIAL_COUNT = dataclasses.replace(
    declarations.MANY_ROWS, name="confidential_count", symbol="x", title="Confidential ones", minimum=0
)
SHORT_NAMES = {"mechanism": "synthesizer", "confidential_count": "x"}  # in an address
NOISE_EPSILON_KEY = "noise_epsilon"  # of an ε of the mechanism's own

_pure_epsilon = lru_cache(maxsize=1024)(pure_epsilon)


def _write_mechanism(mechanism: str | GivenMatrix) -> Any:
    return mechanism.to_dict() if isinstance(mechanism, GivenMatrix) else mechanism


def release_parameters(synthesizer_type: type[Synthesizer]) -> dict[str, Parameter]:
    """Parameters of a promise and of a synthesizer by their names in an address, in the order of their controls.

    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> list(release_parameters(GeometricSanitizer))
    ['epsilon', 'delta', 'n', 'noise_epsilon']
    """
    own = synthesizer_type.numbers()
    noise = {NOISE_EPSILON_KEY: own.pop("epsilon")} if "epsilon" in own else {}
    prior = {name: own.pop(name) for name in ("alpha", "beta") if name in own}
    return {"epsilon": declarations.EPSILON, "delta": declarations.DELTA, **prior, **own, **noise}


def _detail_parameters(mechanism: object) -> dict[str, Parameter]:
    """Parameters of a registered synthesizer that are no fields of a design, by their names in an address."""
    known = SYNTHESIZERS.get(mechanism) if isinstance(mechanism, str) else None
    parameters = release_parameters(known) if known else {}
    return {name: item for name, item in parameters.items() if name not in Design.numbers()}


@dataclass(frozen=True, kw_only=True)
class Design(ParameterRecord):
    """M independent synthetic sets under one promise, and what is computed from them.

    Attributes
    ----------
    mechanism : str or GivenMatrix
        Key of `SYNTHESIZERS`, or a matrix, which brings its n and m.
    n, m, sets : int
        By default m is n.
    epsilon, delta : float
        Promise for all sets together; a sanitizer gets ε/M.
    prior : str
        Key of `PRIOR_RULES`; "pure" is that of Charest (2011), section 3.1.
    alpha : float
        Invented rows of either kind, for a prior of one's own.
    details : tuple of (str, float)
        Further parameters of the mechanism by its own names, such as k cells, a β that is not α, or an ε of its noise
        that is not ε/M; `of` takes them among the others.
    rules : tuple of str
        Keys of `dpviz.inference.RULES`.

    Examples
    --------
    Two sets share ε = 2 ln 2: each has m / (e^{ln 2} − 1) = 10 invented rows of either kind.

    >>> import math
    >>> design = Design(mechanism="beta_binomial", n=10, sets=2, epsilon=2 * math.log(2))
    >>> round(design.alpha_of_one_set, 9), round(design.epsilon_of_sets / math.log(2), 9)
    (10.0, 2.0)
    >>> Design.from_json(design.to_json()) == Design.from_address(design.to_address()) == design
    True
    """

    noun, short = "design", SHORT_NAMES

    mechanism: str | GivenMatrix = json_field(_write_mechanism, GivenMatrix.of, accepts_text=True)
    n: int = parameter_with_default(declarations.MANY_ROWS, default=None)
    m: int = parameter_with_default(declarations.MANY_SYNTHETIC_ROWS, default=None)
    sets: int = parameter_with_default(declarations.SETS, default=1)
    epsilon: float = parameter_with_default(declarations.EPSILON)
    delta: float = parameter_with_default(declarations.DELTA, default=0.0)
    prior: str = "pure"
    alpha: float = parameter_with_default(PRIOR_ONES, default=1.0)
    details: tuple[tuple[str, float], ...] = ()
    p: float = parameter_with_default(declarations.PROPORTION)
    confidential_count: int | None = parameter_with_default(CONFIDENTIAL_COUNT, default=None)
    gamma1: float = parameter_with_default(declarations.GAMMA_ONES)
    gamma2: float = parameter_with_default(declarations.GAMMA_ZEROS)
    level: float = parameter_with_default(declarations.LEVEL)
    rules: tuple[str, ...] = ()
    repetitions: int = parameter_with_default(declarations.REPETITIONS)
    seed: int = parameter_with_default(declarations.SEED)

    _set = object.__setattr__

    def __post_init__(self) -> None:
        own, fixed = self.synthesizer_type.numbers(), self._fixed_sizes
        for name in ("n", "m"):
            if getattr(self, name) is None:
                self._set(name, fixed.get(name, self.n))

        # Numbers one by one, then what must hold between them
        for name, declaration in self.numbers().items():
            value = getattr(self, name)
            if name not in fixed and (name != "confidential_count" or value is not None):
                self._set(name, declaration.validate(value))
        self._check_sizes(fixed, takes_m="m" in own or "m" in fixed)
        validate_choice("prior", self.prior, PRIOR_RULES)
        if "alpha" in self.promised:
            own["alpha"].validate(self.alpha)
        self._check_details(own)
        if self.rules != ():
            from dpviz.inference.rules import RULES  # loaded only where a design has rules

            self._set("rules", validate_unique_choices("rules", self.rules, RULES))

    @property
    def _fixed_sizes(self) -> dict[str, int]:
        """n and m that the mechanism fixes."""
        if isinstance(self.mechanism, GivenMatrix):
            return {"n": self.mechanism.n, "m": self.mechanism.m}
        sizes = [item for item in dataclasses.fields(self.synthesizer_type) if item.name in ("n", "m") and item.init]
        return {item.name: item.default for item in sizes if isinstance(item.default, int) and not item.metadata}

    def _check_sizes(self, fixed: Mapping[str, int], takes_m: bool) -> None:
        """Refuse sizes that contradict the mechanism, and a confidential count above n."""
        n, m, x, label = self.n, self.m, self.confidential_count, self.synthesizer_type.info.label
        given = {name: getattr(self, name) for name in fixed}
        problem = ""
        if given != fixed:
            matrix = "those of the matrix, " if self.synthesizer_type is GivenMatrix else ""
            sizes, values = (" and ".join(map(describe_value, item.values())) for item in (fixed, given))
            problem = f"{' and '.join(fixed)} must be {matrix}{sizes}; got {values}."
        elif m != n and not takes_m:
            problem = f"m (released rows) must equal n = {n:,}: {label} releases as many rows; got {m:,}."
        elif x is not None and x > n:
            problem = f"confidential_count (confidential ones) must be at most n = {n:,}; got {x:,}."
        if problem:
            raise ValueError(problem)

    def _check_details(self, own: Mapping[str, Parameter]) -> None:
        try:
            details, n_pairs = dict(self.details), len(self.details)
        except (TypeError, ValueError):
            details, n_pairs = {}, 1
        if len(details) < n_pairs:
            raise ValueError(f"details must be numbers by name, each once; got {describe_value(self.details)}.")
        allowed = sorted(item.name for item in _detail_parameters(self.mechanism).values())
        if not set(details) <= set(allowed):
            names = f"some of {', '.join(allowed)}" if allowed else "none"
            label = self.synthesizer_type.info.label
            raise ValueError(f"details of {label} must be {names}; got {describe_value(details)}.")
        self._set("details", tuple((name, own[name].validate(details[name])) for name in sorted(details)))

    @classmethod
    def releasing(cls, synthesizer: Synthesizer, **shared: Any) -> Self | None:
        """Design of sets by a synthesizer, with `shared` fields; None where no page can be asked for it.

        >>> from dpviz.mechanisms import LaplaceSanitizer
        >>> design = Design.releasing(LaplaceSanitizer(n=5, epsilon=0.5), sets=4, epsilon=2.0)
        >>> design.details, design.synthesizer == LaplaceSanitizer(n=5, epsilon=0.5)
        ((('epsilon', 0.5),), True)
        """
        details = synthesizer.settings()
        fields: dict[str, Any] = {name: details.pop(name) for name in ("n", "m", "alpha") if name in details}
        if synthesizer.has_prior:
            fields["prior"] = "own"
        if details.get("beta") == fields.get("alpha"):
            details.pop("beta", None)
        design = cls(mechanism=synthesizer.key, details=tuple(details.items()), **fields, **shared)
        return design if design.synthesizer == synthesizer else None

    # What follows from the fields

    @cached_property
    def synthesizer_type(self) -> type[Synthesizer]:
        """Class of the mechanism."""
        if isinstance(self.mechanism, GivenMatrix):
            return GivenMatrix
        if not isinstance(self.mechanism, str) or self.mechanism not in SYNTHESIZERS:
            known, value = ", ".join(SYNTHESIZERS), describe_value(self.mechanism)
            raise ValueError(f"mechanism must be one of {known}, or a GivenMatrix; got {value}.")
        return SYNTHESIZERS[self.mechanism]

    @property
    def promised(self) -> tuple[str, ...]:
        """Names of the numbers of the promise, or of the prior, that the release follows from."""
        return promised_by(self.synthesizer_type, self.prior)

    @cached_property
    def alpha_of_one_set(self) -> float:
        """α = β of each set by the rule of the prior; a ValueError where the synthesizer has none."""
        if not self.synthesizer_type.has_prior:
            label = self.synthesizer_type.info.label
            raise ValueError(f"mechanism must be a synthesizer with a prior; {label} has none.")
        return PRIOR_RULES[self.prior].alpha(self)

    @cached_property
    def synthesizer(self) -> Synthesizer:
        """Synthesizer of each set."""
        if isinstance(self.mechanism, GivenMatrix):
            return self.mechanism
        values: dict[str, Any] = {"n": self.n, "m": self.m, "epsilon": self.epsilon / self.sets, "alpha": self.alpha}
        if self.synthesizer_type.has_prior:
            values |= dict.fromkeys(("alpha", "beta"), self.alpha_of_one_set)
        values |= dict(self.details)
        wide_enough = self.synthesizer_type.for_rows(self.n, self.m)
        return wide_enough(**{item.name: values.get(item.name, item.default) for item in wide_enough.parameters()})

    @cached_property
    def release(self) -> TwoCellSynthesizer:
        """Synthesizer of each set that releases two counts; a ValueError where it releases k."""
        if not isinstance(self.synthesizer, TwoCellSynthesizer):
            raise ValueError(f"mechanism must release two counts; got {self.synthesizer_type.info.label}.")
        return self.synthesizer

    @property
    def epsilon_of_sets(self) -> float:
        """Exact pure ε of the M sets: M times that of one, as all may be at their worst at once."""
        return self.sets * _pure_epsilon(self.synthesizer)

    @property
    def promised_epsilon(self) -> float:
        """ε that all sets together promise: M times that of the noise, where it has one of its own."""
        return self.sets * dict(self.details)["epsilon"] if "epsilon" in dict(self.details) else self.epsilon

    @property
    def overspent_epsilon(self) -> float | None:
        """Exact ε of all sets where the mechanism spends more than it promises; None where it does not."""
        is_overspent = self.synthesizer_type.info.kept_by and self.epsilon_of_sets > self.promised_epsilon * (1 + 1e-12)
        return self.epsilon_of_sets if is_overspent else None

    def along_epsilon(self, epsilons: Sequence[float]) -> Sequence[TwoCellSynthesizer]:
        """Releases of one set at other promises, each made when it is asked for."""
        return _ReleasesByEpsilon(self, epsilons)

    # JSON and addresses

    def to_dict(self) -> dict[str, Any]:
        """Fields, and those of the mechanism, as JSON knows them."""
        values = super().to_dict()
        details = dict(values.pop("details"))
        return values | {NOISE_EPSILON_KEY if name == "epsilon" else name: value for name, value in details.items()}

    @classmethod
    def parsers(cls, words: Mapping[str, str]) -> dict[str, Reader]:
        """Readers of its fields, and of those of the mechanism that the words name."""
        details = _detail_parameters(words.get(SHORT_NAMES["mechanism"]))
        readers = super().parsers(words) | {name: item.parse for name, item in details.items()}
        return {name: reader for name, reader in readers.items() if name != "details"}

    @classmethod
    def of(cls, values: Any) -> Self:
        """Design with these values by name, the mechanism's own among them."""
        if not isinstance(values, Mapping):
            raise ValueError(f"The design must be a JSON object; got {describe_value(values)}.")
        details = _detail_parameters(values.get("mechanism"))
        names = [*(item.name for item in dataclasses.fields(cls) if item.name != "details"), *details]
        if unknown := [name for name in values if name not in names]:
            raise ValueError(f"A design has {', '.join(names)}; got {describe_value(unknown[0])}.")
        if "mechanism" not in values:
            raise ValueError("mechanism must be given; the design has none.")
        given = tuple((item.name, values[name]) for name, item in details.items() if name in values)
        return super().of({name: value for name, value in values.items() if name not in details} | {"details": given})


@dataclass(frozen=True)
class _ReleasesByEpsilon(Sequence[TwoCellSynthesizer]):
    design: Design
    epsilons: Sequence[float]

    def __len__(self) -> int:
        return len(self.epsilons)

    def __getitem__(self, index: Any) -> Any:
        return dataclasses.replace(self.design, epsilon=float(self.epsilons[index])).release


# In words


def describe_promise(design: Design, *, with_prior: bool = False) -> str:
    """Describe what a release follows from: its promise, or its own prior or matrix, and its further parameters.

    Parameters
    ----------
    design : Design
    with_prior : bool, optional
        Whether the prior that follows from a promise is added.
    """
    given, details = dict(design.details), ""
    for item in design.synthesizer_type.parameters():
        if item.name not in ("n", "m", "epsilon", "alpha", "beta"):
            default = "" if item.name in given else " by default"
            details += f", {item.symbol or item.title} = {format_number(given.get(item.name, item.default))}{default}"
    return sentence("design_promise", design, details, with_prior)


def broken_promise_sentence(design: Design) -> str:
    """Say what is really spent where that is more than is promised, why, and what keeps the promise; as inline HTML."""
    if design.overspent_epsilon is None:
        return ""
    kept_by = SYNTHESIZERS[design.synthesizer_type.info.kept_by].info.label
    return sentence("design_breaks", design, design.promised_epsilon, kept_by)
