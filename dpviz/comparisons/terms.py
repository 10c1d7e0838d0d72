"""On which terms methods meet: at one promise, at one real privacy, or under several promises at once."""

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

from scipy.optimize import brentq

from dpviz.comparisons.methods import ComparedMethod
from dpviz.core.declarations import DELTA, EPSILON
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import round_to_private_side
from dpviz.core.parameters import validate_fields
from dpviz.privacy.divergence import pure_within

PROMISES = dataclasses.replace(EPSILON, minimum=1e-5, slider_minimum=math.exp(-10), slider_maximum=math.exp(5))
SETTING_TOLERANCE = 1e-6  # relative distance of a setting from the exact one
NO_EPSILON = "no ε is known to hold for it"


class ComparisonTerms:
    """On which terms methods meet at one ε."""

    key: ClassVar[str]
    label: ClassVar[str]
    axis: ClassVar[str]
    meaning: ClassVar[str]  # what the ε is that all of them have, in a word
    parameter_names: ClassVar[tuple[str, ...]] = ()  # names of the numbers of the terms
    delta: float = 0.0

    def setting(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> float | None:
        """ε that the method is given; None where it cannot be compared on these terms."""
        return None if epsilon / sets < method.smallest_epsilon else epsilon

    def absence(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> str:
        """Why a method that has no setting cannot be compared, in a few words."""
        if epsilon / sets >= method.smallest_epsilon:
            return ""
        smallest = format_number(method.smallest_epsilon)
        return f"no ε below {smallest} holds for it without a δ: compare at equal real privacy with one"


@dataclass(frozen=True)
class EqualPromise(ComparisonTerms):
    """Every method is given the ε of the axis, as in the papers."""

    key = "promise"
    label = "equal promise, as in the papers"
    axis = "promised ε, left is more private"
    meaning = "promised"


@dataclass(frozen=True)
class EqualPrivacy(ComparisonTerms):
    """Every method is given the largest ε for which all its sets together are really (ε, δ)-differentially private."""

    delta: float = 0.0

    key = "privacy"
    label = "equal real privacy"
    axis = "real ε, left is more private"
    meaning = "real"
    parameter_names = ("delta",)

    def __post_init__(self) -> None:
        validate_fields(self, DELTA)

    def setting(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> float | None:
        """Largest setting that keeps (ε, δ), to a relative 1e-6 and on the private side; None where there is none.

        With δ the search is over an active set of neighbours, those that were the worst at an earlier setting, because
        δ over all neighbours takes long. It ends where the worst of all neighbours is in the set, or keeps δ.
        """
        if method.reference:
            return epsilon
        if self.delta == 0 and math.isinf(method.real_epsilon(data, epsilon, sets)):
            return None

        @cache
        def excess(setting: float, pairs: frozenset[int] | None = None) -> float:
            """ln of real over wanted ε, or of δ where the pure ε is too large; both grow with the setting."""
            real, wanted = method.real_epsilon(data, setting, sets), epsilon
            if self.delta and real > epsilon:
                worst_case = method.real_delta(data, setting, sets, epsilon, pairs)
                real, wanted = (0.0 if worst_case is None else worst_case.value), self.delta
            return math.log(real / wanted) if real else -1.0

        if self.delta == 0:
            return _largest_setting(excess, epsilon)
        start = epsilon or 1.0  # with δ alone, a promise for ε = 0 can be kept
        setting: float | None = start
        pairs = frozenset[int]()
        while setting is not None and (worst := method.real_delta(data, setting, sets, epsilon)) is not None:
            pair = min(worst.likelier, worst.unlikelier)
            if pairs and worst.value <= self.delta:
                return setting
            if pair in pairs:  # the same neighbours, a rounding error apart
                return round_to_private_side(setting, 0.0, lambda value: excess(value) <= 0)
            pairs |= {pair}
            setting = _largest_setting(partial(excess, pairs=pairs), start)
        return None

    def absence(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> str:
        if math.isinf(method.real_epsilon(data, epsilon, sets)):
            return NO_EPSILON
        if self.delta and method.real_delta(data, epsilon, sets, epsilon) is None:
            return "only the loss without δ is known: set δ = 0"
        return "even at the smallest setting the loss is larger"


def setting_for(method: ComparedMethod, data: Any, sets: int, promises: Iterable[tuple[float, float]]) -> float | None:
    """Largest ε with which all sets of a method together keep every promise; None where none does or is known.

    Parameters
    ----------
    method : ComparedMethod
        It is None also where the share of a set is too small for it to compute with.
    data : DataKind
    sets : int
    promises : iterable of tuple of float
        Pairs (ε, δ).
    """
    settings = []
    if not (promises := list(promises)):
        raise ValueError("promises must be at least one pair of ε and δ; got none.")
    for epsilon, delta in promises:
        try:
            setting = EqualPrivacy(delta).setting(method, data, epsilon, sets)
            if setting is None and delta > 0:  # its δ may not be known
                setting = EqualPrivacy().setting(method, data, pure_within(epsilon, delta), sets)
        except ValueError:  # the method refuses such a share
            return None
        if setting is None:
            return None
        settings.append(setting)
    return min(settings)


def _largest_setting(excess: Callable[[float], float], epsilon: float) -> float | None:
    """Largest setting without an excess, searched from ε on; None where the smallest has one."""
    low, high = epsilon, min(epsilon * (1 + SETTING_TOLERANCE), PROMISES.maximum)

    # Bracket: what a method is given may be what it gives away, to a relative 1e-9
    first = excess(low)
    if 0 < first <= 1e-9:
        return round_to_private_side(low, 0.0, lambda setting: excess(setting) <= 0)
    if first > 0:
        while excess(low) > 0:
            if low < 2 * PROMISES.minimum:
                return None
            low, high = low / 2, low
    elif high == low or excess(high) > 0:
        return epsilon
    else:
        while excess(high) <= 0:
            if high == PROMISES.maximum:
                return high
            low, high = high, min(2 * high, PROMISES.maximum)

    # Root in ln ε, then to the private side; exp(ln x) may miss x, and an end may have no excess to spare
    ends = {math.log(low): low, math.log(high): high}

    def setting_at(log_setting: float) -> float:
        return ends.get(log_setting, math.exp(log_setting))

    root = setting_at(brentq(lambda log_setting: excess(setting_at(log_setting)), *ends, xtol=SETTING_TOLERANCE / 4))
    while excess(root) > 0:
        root /= 1 + SETTING_TOLERANCE / 2
    return root
