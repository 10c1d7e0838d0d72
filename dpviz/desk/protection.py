"""Limits on what a release may give away, in four languages; each is one promise (ε, δ)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from scipy.special import expit, logit

from dpviz.core.declarations import DELTA, EPSILON
from dpviz.core.formatting import format_number, round_down
from dpviz.core.parameters import Parameter, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.privacy.attacker import PRIOR_RISK, RISK_RATIO, epsilon_for_risk_ratio, risk_ratio
from dpviz.privacy.trade_off import PRIOR_OF_PAIR

NO_LIMIT = (math.inf, 0.0)
USUAL_EPSILON = 10.0  # ε up to which a privacy loss is usual; the odds on a row may then change by a factor of 22,000
LIMIT_DIGITS = 10  # A limit is told as it was set
HARDLY = "That hardly protects anybody", "values up to 10 are usual, and one release may settle a person's row."
"""What is said of a privacy loss above the usual that nobody asked for: the point, and why."""
LOSS = replace(
    EPSILON,
    name="most_epsilon",
    title="Largest privacy loss",
    default=1.0,
    maximum=100.0,
    help="The largest privacy loss of all sets together: when one row is substituted, no release may change an "
    "attacker's odds by more than a factor eᵋ. Smaller is more private; values from 0.1 to 10 are usual.",
)
FAILURE = replace(
    DELTA,
    name="most_delta",
    title="Largest failure",
    default=0.0,
    maximum=0.5,
    slider_maximum=0.1,
    help="The probability mass that may escape the largest ε; 0 asks for pure ε-differential privacy. Smaller is more "
    "private, and far less than 1/n is usual.",
)
KNOWN_BEFORE = replace(
    PRIOR_OF_PAIR,
    name="known_before",
    symbol="π",
    title="Attacker's first probability",
    default=0.5,
    open_minimum=True,
    maximum=0.999999,
    slider_minimum=0.01,
    slider_maximum=0.99,
    help="How probable the attacker holds one of two neighbouring data sets before the release. ½: nothing is known.",
)
SUCCESS = Parameter(
    name="most_success",
    symbol="s",
    title="Largest share of right guesses",
    minimum=0.0,
    maximum=1.0,
    default=0.75,
    open_minimum=True,
    slider_minimum=0.5,
    slider_maximum=0.999,
    private_end="smaller",
    help="How often an attacker who knows all other rows may guess right, at most, which of two values a person's row "
    "has. Without a release, guessing alone is right half of the time where π = ½. Smaller is more private.",
)
BELIEVED = replace(
    KNOWN_BEFORE,
    name="believed_before",
    symbol="b",
    title="Probability before",
    default=0.1,
    help="How probable the attacker holds the sensitive value of a person before the release.",
)
CONVINCED = replace(
    BELIEVED,
    name="most_after",
    symbol="a",
    title="Largest probability after",
    default=0.25,
    slider_maximum=0.999,
    private_end="smaller",
    help="How probable the attacker may hold it after the release, at most. Smaller is more private.",
)
RISK, MOST_RATIO = replace(PRIOR_RISK, name="risk_before", symbol="p₀"), replace(RISK_RATIO, name="most_ratio")


@dataclass(frozen=True, kw_only=True)
class Protection(ParameterRecord, ABC):
    """One limit on what all sets together may give away, on any two neighbouring data sets.

    A subclass declares its numbers as fields, which are checked one by one; `check` says what must hold between them.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    choice: ClassVar[str]
    """What a button says that chooses it."""
    source: ClassVar[str]
    symbol: ClassVar[str]
    formula: ClassVar[str]
    """How what is limited follows from L, the pure ε of all sets, or from their δ(ε)."""
    by_delta: ClassVar[bool] = False
    """Whether it follows from δ(ε)."""
    share: ClassVar[bool] = False
    """Whether what is limited is a probability."""

    @property
    @abstractmethod
    def promise(self) -> tuple[float, float]:
        """ε and δ that say the same; ε is infinite where every release keeps the limit."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The limit in a sentence, without a full stop."""

    @property
    @abstractmethod
    def measured(self) -> str:
        """What is limited, in a few words, with what the attacker starts from."""

    @abstractmethod
    def reached(self, loss: float, delta: Callable[[float], float]) -> float:
        """Return what a release attains of what is limited, from its pure ε and its δ at any ε."""

    @property
    def translated(self) -> str:
        """What the limit asks of ε and δ, in a few words; nothing where its own words say it."""
        epsilon, delta = self.promise
        return f"the same as {promise_in_words(epsilon, delta)}" if epsilon < math.inf else "every release keeps this"

    @property
    def explained(self) -> str:
        """The limit in words, with what it asks of ε and δ in brackets."""
        return f"{self.words} ({self.translated})" if self.translated else self.words


def promise_in_words(epsilon: float, delta: float) -> str:
    """Return "ε = 1" or "ε = 1 and δ = 10⁻⁶"."""
    return f"ε = {format_number(epsilon, 4)}" + (f" and δ = {format_number(delta, 3)}" if delta else "")


@dataclass(frozen=True, kw_only=True)
class PrivacyLoss(Protection):
    """What must be protected, as the largest ε and δ themselves.

    >>> PrivacyLoss(most_epsilon=0.5).promise
    (0.5, 0.0)
    """

    most_epsilon: float = parameter_with_default(LOSS)
    most_delta: float = parameter_with_default(FAILURE)
    key = "loss"
    label = "Largest privacy loss ε (and δ)"
    choice = "privacy loss ε"
    source = "Dwork, McSherry, Nissim & Smith (2006); with δ Dwork et al. (2006)"
    symbol = "δ(ε)"
    by_delta = True
    formula = "δ(ε) = max Σ_c max(Pr(c | x) − e^ε Pr(c | x′), 0) over all neighbours x, x′, of all sets together"

    @property
    def promise(self) -> tuple[float, float]:
        return self.most_epsilon, self.most_delta

    @property
    def words(self) -> str:
        return f"the privacy loss is at most {promise_in_words(*self.promise)}"

    @property
    def translated(self) -> str:
        return ""

    @property
    def measured(self) -> str:
        return f"probability mass that escapes ε = {format_number(self.most_epsilon, 4)}"

    def reached(self, loss: float, delta: Callable[[float], float]) -> float:  # noqa: ARG002
        return delta(self.most_epsilon)


@dataclass(frozen=True, kw_only=True)
class GuessRate(Protection):
    """How often the best guess between two neighbouring data sets is right, one of which has the probability π before.

    It is 1 − π + π δ(ln((1 − π)/π)) for π ≤ ½, so that a limit s on it is one on δ at that ε.
    Right three times in four where nothing was known before: a δ of ½ at ε = 0.

    >>> GuessRate(most_success=0.75).promise
    (0.0, 0.5)
    """

    known_before: float = parameter_with_default(KNOWN_BEFORE)
    most_success: float = parameter_with_default(SUCCESS)
    key = "guess"
    share = True
    label = "Largest share of right guesses"
    choice = "right guesses"
    source = "Kairouz, Oh & Viswanath (2015); Dong, Roth & Su (2022)"
    symbol = "s"
    by_delta = True
    formula = "s = 1 − π + π δ(ln((1 − π)/π)) for π ≤ ½, with 1 − π for π above; (1 + δ(0))/2 where π = ½"

    @property
    def _rarer(self) -> float:
        return min(self.known_before, 1 - self.known_before)

    def check(self) -> None:
        before = 1 - self._rarer
        if self.most_success <= before:
            raise ValueError(
                f"The largest share of right guesses must be above {format_number(before)}: so often an attacker who "
                "starts "
                f"from π = {format_number(self.known_before)} is right without a release; got "
                f"{format_number(self.most_success)}."
            )

    @property
    def promise(self) -> tuple[float, float]:
        if self.most_success == 1:
            return NO_LIMIT
        rarer = self._rarer
        return float(-logit(rarer)) if rarer < 0.5 else 0.0, (self.most_success - (1 - rarer)) / rarer

    @property
    def words(self) -> str:
        start = (
            "knows nothing before"
            if self.known_before == 0.5
            else f"starts from π = {format_number(self.known_before)}"
        )
        most = format_number(100 * self.most_success, LIMIT_DIGITS)
        return f"an attacker who {start} guesses right at most {most} % of the time"

    @property
    def translated(self) -> str:
        epsilon, delta = self.promise
        if epsilon == math.inf:
            return super().translated
        most = f"at most {format_number(round_down(delta, 4), 4)}"
        where = (
            f"δ is {most} at ε = {format_number(epsilon, 4)}" if epsilon else f"{most} between the two distributions"
        )
        return f"{where}; alone this bounds no ε"

    @property
    def measured(self) -> str:
        return f"share of right guesses, from π = {format_number(self.known_before)}"

    def reached(self, loss: float, delta: Callable[[float], float]) -> float:  # noqa: ARG002
        rarer = self._rarer
        return 1 - rarer + rarer * delta(max(float(-logit(rarer)), 0.0))


@dataclass(frozen=True, kw_only=True)
class PosteriorOdds(Protection):
    """How probable the attacker may hold something of one person after the release: ε = logit(a) − logit(b).

    From 1 in 2 to 3 in 4 the odds grow by a factor of 3.

    >>> round(math.exp(PosteriorOdds(believed_before=0.5, most_after=0.75).promise[0]), 12)
    3.0
    """

    believed_before: float = parameter_with_default(BELIEVED)
    most_after: float = parameter_with_default(CONVINCED)
    key = "odds"
    share = True
    label = "Largest probability after the release"
    choice = "probability after"
    source = "Abowd & Vilhuber (2008), equation (4)"
    symbol = "a"
    formula = "a = 1 / (1 + e^{−L} (1 − b)/b), the odds b/(1 − b) before times e^L"

    def check(self) -> None:
        if self.most_after <= self.believed_before:
            raise ValueError(
                f"The largest probability after must be above that before, {format_number(self.believed_before)}: no "
                f"release can promise to lower it; got {format_number(self.most_after)}."
            )

    @property
    def promise(self) -> tuple[float, float]:
        return float(logit(self.most_after) - logit(self.believed_before)), 0.0

    @property
    def words(self) -> str:
        before, after = (format_number(100 * one, LIMIT_DIGITS) for one in (self.believed_before, self.most_after))
        return f"a probability of {before} % before the release is at most {after} % after it"

    @property
    def measured(self) -> str:
        return f"probability after the release, from {format_number(self.believed_before)} before"

    def reached(self, loss: float, delta: Callable[[float], float]) -> float:  # noqa: ARG002
        return float(expit(logit(self.believed_before) + loss))


@dataclass(frozen=True, kw_only=True)
class RiskRatio(Protection):
    """Kazan & Reiter's ratio r* of the risk after the release to that before.

    Five times a risk of 0.1 is 1 in 2, so the odds grow by a factor of 9.

    >>> round(math.exp(RiskRatio(risk_before=0.1, most_ratio=5.0).promise[0]), 12)
    9.0
    """

    risk_before: float = parameter_with_default(RISK)
    most_ratio: float = parameter_with_default(MOST_RATIO)
    key = "risk"
    label = "Largest ratio of risks, r*"
    choice = "ratio of risks"
    source = "Kazan & Reiter (2023)"
    symbol = "r*"
    formula = "r* = 1 / (p₀ + (1 − p₀) e^{−L})"

    def check(self) -> None:
        if self.most_ratio == 1:
            raise ValueError("The largest ratio of the risks must be above 1: at 1 a release may say nothing; got 1.")

    @property
    def promise(self) -> tuple[float, float]:
        return epsilon_for_risk_ratio(self.most_ratio, prior_risk=self.risk_before), 0.0

    @property
    def words(self) -> str:
        before, ratio = (
            format_number(100 * self.risk_before, LIMIT_DIGITS),
            format_number(self.most_ratio, LIMIT_DIGITS),
        )
        return f"a risk of {before} % grows to at most {ratio} times as much"

    @property
    def measured(self) -> str:
        return f"ratio of the risk after the release to {format_number(self.risk_before)} before"

    def reached(self, loss: float, delta: Callable[[float], float]) -> float:  # noqa: ARG002
        return risk_ratio(loss, prior_risk=self.risk_before)


PROTECTIONS: dict[str, type[Protection]] = {one.key: one for one in (PrivacyLoss, GuessRate, PosteriorOdds, RiskRatio)}
"""Every way to limit what a release gives away, by key: a new one is a class and a name here."""


def largest_guess_rate(epsilon: float, delta: float = 0.0) -> float:
    """Return the share of right guesses that (ε, δ) allows where nothing was known before: (e^ε + δ)/(e^ε + 1).

    >>> round(largest_guess_rate(math.log(3)), 12)
    0.75
    """
    epsilon = EPSILON.validate(epsilon)
    delta = DELTA.validate(delta)
    rest = math.exp(-epsilon)
    return (1 + delta * rest) / (1 + rest)
