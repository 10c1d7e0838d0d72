"""Limits on what a release may give away, in four languages; each is equivalent to one pair (ε, δ)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from scipy.special import expit, logit

from dpviz.core.formatting import format_number, round_down
from dpviz.core.parameters import parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.curator.declarations import NUMBERS, TABLES
from dpviz.export.templates import render_paragraphs
from dpviz.privacy.attacker import epsilon_for_risk_ratio, risk_ratio

USUAL_EPSILON = 10.0  # up to which a privacy loss is usual; the odds on a row may then change by a factor of 22,000
WEAK_PROTECTION_NOTE = (
    "That hardly protects anybody", "values up to 10 are usual, and one release may settle a person's row."
)  # fmt: skip
"""What is said of a privacy loss above the usual that was not asked for: the point, and why."""


@dataclass(frozen=True, kw_only=True)
class PrivacyLimit(ParameterRecord, ABC):
    """A limit on what all sets together may give away of any two neighbouring data sets, named in ``limits.toml``."""

    key: ClassVar[str]
    label: ClassVar[str]
    short_label: ClassVar[str]
    source: ClassVar[str]
    symbol: ClassVar[str]
    formula: ClassVar[str]  # how what is limited follows from L, the pure ε of all sets, or from their δ(ε)
    refusal: ClassVar[str] = ""  # of a limit that no release keeps, with its numbers in braces
    follows_from_delta: ClassVar[bool] = False
    is_share: ClassVar[bool] = False  # whether what is limited is a probability

    def __init_subclass__(cls, key: str) -> None:
        for name, value in {"key": key, **TABLES["protections"][key]}.items():
            setattr(cls, name, value)

    def check(self) -> None:
        epsilon, delta = self.as_epsilon_delta()
        if self.refusal and epsilon < math.inf and (delta if self.follows_from_delta else epsilon) <= 0:
            numbers = {**self.settings(), "start": self.attained(0.0, lambda _: 0.0)}
            raise ValueError(self.refusal.format(**{name: format_number(item) for name, item in numbers.items()}))

    @abstractmethod
    def as_epsilon_delta(self) -> tuple[float, float]:
        """Equivalent pair (ε, δ); ε is infinite where every release meets the limit."""

    @abstractmethod
    def attained(self, loss: float, delta: Callable[[float], float]) -> float:
        """Value of the limited quantity for a release, from its pure ε and its δ at any ε."""

    @cached_property
    def _texts(self) -> list[str]:
        epsilon, delta = self.as_epsilon_delta()
        return render_paragraphs(
            "curator/templates/privacy_limit.txt", limit=self, epsilon=epsilon, delta=round_down(delta, 4),
            promise=promise_text(epsilon, delta), is_binding=epsilon < math.inf,
        )  # fmt: skip

    @property
    def text(self) -> str:
        """The limit as a clause."""
        return self._texts[0]

    @property
    def attained_label(self) -> str:
        """What is limited, with what the attacker starts from."""
        return self._texts[1]

    @property
    def translation(self) -> str:
        """What the limit asks of ε and δ; empty where its own text says it."""
        return "".join(self._texts[2:])

    @property
    def full_text(self) -> str:
        """The limit, with what it asks of ε and δ in brackets."""
        return f"{self.text} ({self.translation})" if self.translation else self.text


def promise_text(epsilon: float, delta: float) -> str:
    """A promise as "ε = 1" or "ε = 1 and δ = 10⁻⁶".

    Parameters
    ----------
    epsilon, delta : float
    """
    return f"ε = {format_number(epsilon, 4)}" + (f" and δ = {format_number(delta, 3)}" if delta else "")


@dataclass(frozen=True, kw_only=True)
class EpsilonDeltaLimit(PrivacyLimit, key="loss"):
    """Largest privacy loss ε and failure δ of all sets together.

    >>> EpsilonDeltaLimit(most_epsilon=0.5).as_epsilon_delta()
    (0.5, 0.0)
    """

    most_epsilon: float = parameter_with_default(NUMBERS["most_epsilon"])
    most_delta: float = parameter_with_default(NUMBERS["most_delta"])

    def as_epsilon_delta(self) -> tuple[float, float]:
        return self.most_epsilon, self.most_delta

    def attained(self, loss: float, delta: Callable[[float], float]) -> float:  # noqa: ARG002
        return delta(self.most_epsilon)


@dataclass(frozen=True, kw_only=True)
class GuessingLimit(PrivacyLimit, key="guess"):
    """How often the best guess between two neighbouring data sets may be right, if the first has probability π.

    The best guess is right with probability 1 − π + π δ(ln((1 − π)/π)) for π ≤ ½.

    >>> GuessingLimit(most_success=0.75).as_epsilon_delta()  # right three times in four: a δ of ½ at ε = 0
    (0.0, 0.5)
    """

    known_before: float = parameter_with_default(NUMBERS["known_before"])
    most_success: float = parameter_with_default(NUMBERS["most_success"])

    @property
    def _rarer_and_epsilon(self) -> tuple[float, float]:
        rarer = min(self.known_before, 1 - self.known_before)
        return rarer, max(0.0, float(-logit(rarer)))

    def as_epsilon_delta(self) -> tuple[float, float]:
        rarer, epsilon = self._rarer_and_epsilon
        return (math.inf, 0.0) if self.most_success == 1 else (epsilon, (self.most_success - (1 - rarer)) / rarer)

    def attained(self, loss: float, delta: Callable[[float], float]) -> float:  # noqa: ARG002
        rarer, epsilon = self._rarer_and_epsilon
        return 1 - rarer + rarer * delta(epsilon)


@dataclass(frozen=True, kw_only=True)
class PosteriorLimit(PrivacyLimit, key="odds"):
    """Largest probability that an attacker may reach, from b before to a after the release: ε = logit(a) − logit(b).

    >>> limit = PosteriorLimit(believed_before=0.5, most_after=0.75)  # the odds grow by a factor of 3
    >>> round(math.exp(limit.as_epsilon_delta()[0]), 12)
    3.0
    """

    believed_before: float = parameter_with_default(NUMBERS["believed_before"])
    most_after: float = parameter_with_default(NUMBERS["most_after"])

    def as_epsilon_delta(self) -> tuple[float, float]:
        return float(logit(self.most_after) - logit(self.believed_before)), 0.0

    def attained(self, loss: float, delta: Callable[[float], float]) -> float:  # noqa: ARG002
        return float(expit(logit(self.believed_before) + loss))


@dataclass(frozen=True, kw_only=True)
class RiskRatioLimit(PrivacyLimit, key="risk"):
    """Kazan & Reiter's ratio r* of the risk after the release to that before.

    >>> limit = RiskRatioLimit(risk_before=0.1, most_ratio=5.0)  # 1 in 2: the odds grow by a factor of 9
    >>> round(math.exp(limit.as_epsilon_delta()[0]), 12)
    9.0
    """

    risk_before: float = parameter_with_default(NUMBERS["risk_before"])
    most_ratio: float = parameter_with_default(NUMBERS["most_ratio"])

    def as_epsilon_delta(self) -> tuple[float, float]:
        return epsilon_for_risk_ratio(self.most_ratio, prior_risk=self.risk_before), 0.0

    def attained(self, loss: float, delta: Callable[[float], float]) -> float:  # noqa: ARG002
        return risk_ratio(loss, prior_risk=self.risk_before)


PRIVACY_LIMITS: dict[str, type[PrivacyLimit]] = {
    limit.key: limit for limit in (EpsilonDeltaLimit, GuessingLimit, PosteriorLimit, RiskRatioLimit)
}
"""Ways to limit what a release gives away, by key: a class each, with its texts in ``limits.toml``."""
