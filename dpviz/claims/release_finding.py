"""One printed method of release: what it promises, what it really gives, the verdict that follows, and sentences."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpviz.core import limits
from dpviz.core.declarations import DELTA, EPSILON, ROWS, SETS
from dpviz.core.formatting import format_distinct, format_number, round_down, round_up
from dpviz.core.parameters import argument, parameter, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.privacy.real_loss import Loss, ReleaseVerdict

SMALLEST_NOISE_EPSILON = 5e-7  # of one set: more noise than that has no digits left
MIXTURE_STATISTICS = 6  # Statistics that share the budget of one set in study 3 of Bowen & Liu (2016)

VERDICT_SIGNS = {
    ReleaseVerdict.NOT_PRIVATE: "✗✗ not private",
    ReleaseVerdict.BREAKS: "✗ broken",
    ReleaseVerdict.OPEN: "? not settled",
    ReleaseVerdict.SATISFIED: "✓ kept",
}
"""The verdict in a sign and a word."""

BOUND = argument("bound", -limits.MAX_RELEASE_NUMBER, limits.MAX_RELEASE_NUMBER)


@dataclass(frozen=True, kw_only=True)
class ReleaseSetting(ParameterRecord):
    """What the methods are held against: n rows, which are public, and ε for all sets together.

    Numbers lie between `lower` and `upper`, in standard deviations of the data; `cell` rows are in the smallest cell of
    a mixture. `draws` are taken from one sanitized posterior by the nested method. δ is that of the Gaussian
    and of the Poisson mechanism.

    >>> ReleaseSetting(n=100, epsilon=1.0).width
    8.0
    """

    sigma: ClassVar[float] = 1.0

    n: int = parameter(ROWS, minimum=4)
    epsilon: float = parameter(EPSILON, minimum=1e-5, maximum=150.0)
    delta: float = parameter_with_default(DELTA)
    sets: int = parameter_with_default(SETS, title="synthetic data sets", default=10)
    bins: int = parameter_with_default(
        argument("bins", 2, limits.MAX_RELEASE_BINS, title="bins or cells", integer=True), default=10
    )
    cell: int = parameter_with_default(ROWS, name="cell", title="rows in the smallest cell", minimum=2, default=7)
    draws: int = parameter_with_default(SETS, name="draws", title="draws from one sanitized posterior", default=10)
    lower: float = parameter_with_default(BOUND, name="lower", title="lower bound of the data", default=-4.0)
    upper: float = parameter_with_default(BOUND, name="upper", title="upper bound of the data", default=4.0)

    def check(self) -> None:
        if not 0 < self.delta < 1:
            raise ValueError(
                f"delta (allowed failure) must be a number between 0 and 1; got {format_number(self.delta)}."
            )
        if self.upper <= self.lower:
            raise ValueError(f"upper (upper bound of the data) must be above lower; got {format_number(self.upper)}.")
        if self.each < SMALLEST_NOISE_EPSILON:
            raise ValueError(
                f"epsilon must be at least {format_number(SMALLEST_NOISE_EPSILON)} for each set; got "
                f"{format_number(self.each)} for each of {self.sets}."
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
    safe: str
    factor: Callable[[ReleaseSetting], float] | None
    promised: Callable[[ReleaseSetting], float]

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
        told = self.loss.at_most if self.verdict is ReleaseVerdict.SATISFIED else self.loss.at_least
        return told / self.promised

    @property
    def noise_factor(self) -> float | None:
        """How much more noise the safe variant needs, None where it needs none or has other means."""
        return self.method.factor(self.setting) if self.method.factor else None

    @property
    def factor_text(self) -> str:
        """The real over the promised ε, a bound on it where only that is known; empty where there is no real one."""
        if math.isinf(self.loss.at_least):
            return ""
        if self.loss.exact:
            return format_distinct(self.factor, 1.0, 3) if self.verdict.bad else format_number(self.factor, 3)
        if self.verdict is ReleaseVerdict.SATISFIED:
            return f"≤ {format_number(round_up(self.factor, 3), 3)}"
        digits = next((more for more in range(3, 17) if round_down(self.factor, more) > 1), 3)
        return f"≥ {format_number(round_down(self.factor, digits), digits)}"

    @property
    def sentence(self) -> str:
        """What happened, and how much."""
        return verdict_sentence(self.loss, self.promised)

    @property
    def explanation(self) -> str:
        """Why, and what was found on the way."""
        return " ".join(filter(None, (self.method.why, self.loss.note)))

    @property
    def safe(self) -> str:
        """What keeps the promise instead; empty for a method that needs no other, as where it keeps it here."""
        if self.verdict is ReleaseVerdict.SATISFIED:
            return ""
        factor = self.noise_factor
        return self.method.safe.format(factor=format_number(factor, 3) if factor else "")


def verdict_sentence(loss: Loss, epsilon: float) -> str:
    """Return what happened and how much, of one method that promises this ε."""
    verdict, promised = loss.verdict(epsilon), format_number(epsilon, 3)
    if verdict is ReleaseVerdict.NOT_PRIVATE:
        said = "No ε is enough"
        if loss.delta:
            often = "always" if loss.delta == 1 else f"with probability {format_number(loss.delta, 2)}"
            said += f": for some neighbours the release {often} shows which data set is the real one"
        return f"{said}."
    real = loss.text(epsilon)
    if verdict is ReleaseVerdict.BREAKS:
        return f"The promise ε = {promised} is broken: the real loss is {'' if 'at least' in real else 'ε = '}{real}."
    if verdict is ReleaseVerdict.OPEN:
        return f"It is not settled whether ε = {promised} is kept: the real loss is {real}."
    if loss.exact:
        used = loss.at_most / epsilon
        rest = "just used up" if used > 0.9995 else f"{format_number(100 * used, 3)} % of it used"
        return f"The promise ε = {promised} is kept, {rest}."
    return f"The promise ε = {promised} is kept: the real loss is {real}."


def headline(findings: Sequence[ReleaseFinding]) -> str:
    """Return in one or two sentences how many methods break their promise here."""
    every = len(findings)
    none, broken, open_ones = (
        sum(one.verdict is verdict for one in findings)
        for verdict in (ReleaseVerdict.NOT_PRIVATE, ReleaseVerdict.BREAKS, ReleaseVerdict.OPEN)
    )
    if not none + broken:
        said = f"None of the {every} printed methods was found to break its promise here."
    else:
        they = "breaks its promise" if none + broken == 1 else "break their promise"
        said = f"{none + broken} of the {every} printed methods {they}"
        said += f", and {none} of these {'is' if none == 1 else 'are'} not private at any ε." if none else "."
    if open_ones:
        said += f" For {open_ones} it is not settled."
    return said


WHO_ARE_NEIGHBOURS = (
    "Two data sets are neighbours here if one row is replaced, and the number of rows is public. Bowen & Liu think of "
    "a row that is removed, yet release as many rows as the data have: then the number of rows alone tells two such "
    "data sets apart."
)
