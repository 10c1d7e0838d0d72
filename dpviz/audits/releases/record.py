"""One printed method of release: what it promises, what it really gives, and the verdict that follows."""

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from enum import StrEnum

from dpviz import limits
from dpviz.checked import argument
from dpviz.parameters import DELTA, EPSILON, readable
from dpviz.priors.ranges import check_fields

TOLERANCE = 1e-6  # Relative distance by which rounding and quadrature may put a loss beyond its promise
LEAST_NOISE_EPSILON = 5e-7  # of one set: more noise than that has no digits left
MIXTURE_STATISTICS = 6  # Statistics that share the budget of one set in study 3 of Bowen & Liu (2016)

FIELDS = (
    argument("n", 4, limits.ROWS, title="confidential rows", integer=True),
    replace(EPSILON, minimum=1e-5, maximum=150.0),
    argument("sets", 1, limits.SETS, title="synthetic data sets", integer=True),
    argument("bins", 2, limits.RELEASE_BINS, title="bins or cells", integer=True),
    argument("cell", 2, limits.ROWS, title="rows in the smallest cell", integer=True),
    argument("draws", 1, limits.SETS, title="draws from one sanitized posterior", integer=True),
    argument("lower", -limits.RELEASE_BOUND, limits.RELEASE_BOUND, title="lower bound of the data"),
    argument("upper", -limits.RELEASE_BOUND, limits.RELEASE_BOUND, title="upper bound of the data"),
)


@dataclass(frozen=True, kw_only=True)
class ReleaseSetting:
    """What the methods are held against: n rows, which are public, and ε for all sets together.

    Numbers lie between `lower` and `upper`, in standard deviations of the data; `cell` rows are in the smallest cell of
    a mixture. `draws` are taken from one sanitized posterior by the nested method. δ is that of the Gaussian mechanism.

    >>> ReleaseSetting(n=100, epsilon=1.0).width
    8.0
    """

    n: int
    epsilon: float
    delta: float = 1e-5
    sets: int = 10
    bins: int = 10
    cell: int = 7
    draws: int = 10
    lower: float = -4.0
    upper: float = 4.0

    def __post_init__(self) -> None:
        check_fields(self, *FIELDS, DELTA)
        if not 0 < self.delta < 1:
            raise ValueError(f"delta (allowed failure) must be a number between 0 and 1; got {readable(self.delta)}.")
        if self.upper <= self.lower:
            raise ValueError(f"upper (upper bound of the data) must be above lower; got {readable(self.upper)}.")
        if self.each < LEAST_NOISE_EPSILON:
            raise ValueError(
                f"epsilon must be at least {readable(LEAST_NOISE_EPSILON)} for each set; got {readable(self.each)} for "
                f"each of {self.sets}."
            )
        if self.cell > self.n:
            raise ValueError(f"cell (rows in the smallest cell) must be at most n = {self.n:,}; got {self.cell:,}.")

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.upper - self.lower

    @property
    def each(self) -> float:
        """The share of ε that one set receives."""
        return self.epsilon / self.sets


class ReleaseVerdict(StrEnum):
    """What follows from the real loss of a method for its promise."""

    NOT_PRIVATE = "not private at any ε"
    BREAKS = "breaks its promise"
    OPEN = "not settled"
    KEEPS = "keeps its promise"

    @property
    def bad(self) -> bool:
        """Whether the promise is refuted."""
        return self in (ReleaseVerdict.NOT_PRIVATE, ReleaseVerdict.BREAKS)


@dataclass(frozen=True)
class Loss:
    """The real ε of a release: exact where both ends agree, else between them.

    Where no ε is enough, `delta` is a probability that no ε can excuse; `said` adds what was found on the way.

    >>> Loss.exactly(2.0).verdict(1.0), Loss(0.5, 1.0).verdict(1.0), Loss(0.5, math.inf).verdict(1.0)
    (<ReleaseVerdict.BREAKS: 'breaks its promise'>, <ReleaseVerdict.KEEPS: 'keeps its promise'>, \
<ReleaseVerdict.OPEN: 'not settled'>)
    """

    at_least: float
    at_most: float
    _: KW_ONLY
    delta: float | None = None
    said: str = ""

    @classmethod
    def exactly(cls, value: float, said: str = "") -> "Loss":
        """Return a loss that is known exactly."""
        return cls(value, value, said=said)

    @property
    def exact(self) -> bool:
        """Whether both ends agree, up to rounding."""
        return self.at_most <= self.at_least * (1 + TOLERANCE)

    def verdict(self, promised: float) -> ReleaseVerdict:
        """Return what follows for a promised ε."""
        if math.isinf(self.at_least):
            return ReleaseVerdict.NOT_PRIVATE
        if self.at_least > promised * (1 + TOLERANCE):
            return ReleaseVerdict.BREAKS
        return ReleaseVerdict.KEEPS if self.at_most <= promised * (1 + TOLERANCE) else ReleaseVerdict.OPEN


@dataclass(frozen=True, kw_only=True)
class ReleaseMethod:
    """A method as its paper prints it.

    `released` says what the promised ε is a loss of, and `real` computes what it really is, a number where that is
    exact, when one row is substituted and n is public. `why` explains the number, `safe` names what keeps the promise,
    with noise `factor` times as large where that is a number, and `checked` says how the loss is computed.
    """

    key: str
    name: str
    source: str
    released: str
    real: Callable[[ReleaseSetting], Loss | float]
    why: str
    checked: str
    safe: str = ""
    factor: Callable[[ReleaseSetting], float] | None = None
    promised: Callable[[ReleaseSetting], float] = lambda setting: setting.epsilon

    def loss(self, setting: ReleaseSetting) -> Loss:
        """Return the real loss at a setting."""
        found = self.real(setting)
        return found if isinstance(found, Loss) else Loss(found, found)


@dataclass(frozen=True)
class ReleaseFinding:
    """One method at a setting: the promised and the real loss, the verdict that follows, and sentences that say it."""

    method: ReleaseMethod
    setting: ReleaseSetting
    loss: Loss

    @property
    def promised(self) -> float:
        """The promised ε."""
        return self.method.promised(self.setting)

    @property
    def verdict(self) -> ReleaseVerdict:
        """What follows from the real loss for the promise."""
        return self.loss.verdict(self.promised)

    @property
    def factor(self) -> float:
        """The real loss over the promised one: its lower end where it is not known exactly but breaks the promise."""
        told = self.loss.at_most if self.verdict is ReleaseVerdict.KEEPS else self.loss.at_least
        return told / self.promised

    @property
    def noise_factor(self) -> float | None:
        """How much more noise the safe variant needs, None where it needs none or has other means."""
        return self.method.factor(self.setting) if self.method.factor else None
