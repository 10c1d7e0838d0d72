"""On which terms methods meet: at one promise, at one real privacy, or under several conditions at once."""

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from scipy.optimize import brentq

from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.steps import Steps, finished
from dpviz.core.declarations import DELTA, EPSILON
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import round_to_private_side
from dpviz.core.parameters import validate_fields

PROMISES = dataclasses.replace(EPSILON, minimum=1e-5, slider_minimum=math.exp(-10), slider_maximum=math.exp(5))
SETTING_TOLERANCE = 1e-6  # Relative distance of a setting from the exact one
NO_EPSILON = "no ε is known to hold for it"
ROUGH_TOLERANCE = 1e-3  # The same where is only sought which neighbours are the worst there
LOSS_TIE = 1e-9  # Relative distance at which a real ε counts as equal to the wanted one


class ComparisonTerms:
    """On which terms methods meet at one ε; `asks` names the numbers that they are made with."""

    key: ClassVar[str]
    label: ClassVar[str]
    axis: ClassVar[str]
    meant: ClassVar[str]
    """What the ε is that all of them have, in a word."""
    asks: ClassVar[tuple[str, ...]] = ()
    delta: float = 0.0

    def setting(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> float | None:
        """Return the ε that the method is given, that of the axis; None where it cannot be compared on these terms."""
        return None if epsilon / sets < method.smallest_epsilon else epsilon

    def absence(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> str:
        """Return why a method that has no setting cannot be compared, in a few words."""
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
    meant = "promised"


@dataclass(frozen=True)
class EqualPrivacy(ComparisonTerms):
    """Every method is given the largest ε for which all its sets together are really (ε, δ)-differentially private."""

    delta: float = 0.0

    key = "privacy"
    label = "equal real privacy"
    axis = "real ε, left is more private"
    meant = "real"
    asks = ("delta",)

    def __post_init__(self) -> None:
        validate_fields(self, DELTA)

    def setting(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> float | None:
        """Return the setting, to a relative 1e-6 and on the private side; None where there is none, or none is known.

        What a release gives away grows with the setting, for some methods up to a limit: they get the largest setting.
        """
        return finished(self.setting_in_steps(method, data, epsilon, sets))

    def setting_in_steps(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> Steps[float | None]:
        """`setting`, which with a δ looks at all neighbours again and again."""
        if method.reference:
            return epsilon

        def excess(setting: float, pairs: Collection[int] | None = None) -> float:
            """Of logarithms of ε, or of δ where the pure ε is too large; both grow with the setting."""
            real, wanted = method.real_epsilon(data, setting, sets), epsilon
            if self.delta and (real is None or real > epsilon):
                worst = method.real_delta(data, setting, sets, epsilon, pairs)
                real, wanted = (None if worst is None else worst.value), self.delta
            return math.log(real / wanted) if real else -1.0

        known = dict[tuple[float, int], float]()

        def among(setting: float) -> float:
            """`excess` of the neighbours so far, of which there are only ever more."""
            place = setting, len(pairs)
            if place not in known:
                known[place] = excess(setting, pairs)
            return known[place]

        if self.delta == 0:
            return None if unprotected(method, data, epsilon, sets) else _largest(excess, epsilon)
        start = epsilon or 1.0  # with δ alone, a promise for ε = 0 can be kept
        found: float | None = start
        pairs, within = set[int](), SETTING_TOLERANCE
        while found is not None and (worst := method.real_delta(data, found, sets, epsilon)) is not None:
            place = min(worst.likelier, worst.other)
            exact = within == SETTING_TOLERANCE
            if pairs and worst.value <= self.delta and exact:
                return found
            if place in pairs and exact:  # the same neighbours alone, a rounding error apart
                return round_to_private_side(found, 0.0, lambda setting: excess(setting) <= 0)
            # Those that are the worst at the start need not be so at the end: with them is only seen which are.
            within = SETTING_TOLERANCE if pairs or sets == 1 else ROUGH_TOLERANCE
            pairs.add(place)  # the search is over neighbours that were the worst somewhere, which takes far less time
            yield
            found = _largest(among, start, within)
            yield
        return None

    def absence(self, method: ComparedMethod, data: Any, epsilon: float, sets: int) -> str:
        if reason := unprotected(method, data, epsilon, sets):
            return reason
        if self.delta and method.real_delta(data, epsilon, sets, epsilon) is None:
            return "only the loss without δ is known: set δ = 0"
        return "even at the smallest setting the loss is larger"


def unprotected(method: ComparedMethod, data: Any, epsilon: float, sets: int) -> str:
    """Return, in a few words, that no pure ε holds for a method with this setting or that none is known; else nothing.

    A method with an infinite one is set to nothing, whatever it is given.
    """
    real = method.real_epsilon(data, epsilon, sets)
    return "no ε is known that holds" if real is None else NO_EPSILON if math.isinf(real) else ""


def setting_for(method: ComparedMethod, data: Any, sets: int, promises: Iterable[tuple[float, float]]) -> float | None:
    """Return the largest ε that a method can be given so that all its sets together keep every promise (ε, δ).

    None where there is none, or none is known, or where the share of a set is too small to compute with. Of a method
    whose δ is not known, a pure loss of ε₀ is taken for it, which gives no more than δ = (e^ε₀ − e^ε)/(e^ε₀ + 1) away.

    Source: Kairouz, Oh & Viswanath (2015), theorem 2.1, for what a pure loss allows.
    """
    return finished(setting_in_steps(method, data, sets, promises))


def setting_in_steps(
    method: ComparedMethod, data: Any, sets: int, promises: Iterable[tuple[float, float]]
) -> Steps[float | None]:
    """`setting_for`, which takes some seconds where several sets have a δ."""
    found = []
    for epsilon, delta in promises:
        try:
            setting = yield from EqualPrivacy(delta).setting_in_steps(method, data, epsilon, sets)
            if setting is None and delta > 0:
                setting = EqualPrivacy().setting(method, data, pure_within(epsilon, delta), sets)
        except ValueError:  # the method refuses such a share
            return None
        if setting is None:
            return None
        found.append(setting)
    return min(found)


def pure_within(epsilon: float, delta: float) -> float:
    """Return the largest pure loss that keeps (ε, δ) whatever the release is: ln[(e^ε + δ)/(1 − δ)].

    >>> pure_within(1.0, 0.0), round(pure_within(0.0, 0.5), 12) == round(math.log(3), 12)
    (1.0, True)
    """
    return epsilon + math.log1p(delta * math.exp(-epsilon)) - math.log1p(-delta) if delta < 1 else math.inf


def _largest(excess: Callable[[float], float], epsilon: float, tolerance: float = SETTING_TOLERANCE) -> float | None:
    """Return the largest setting without an excess, sought from ε on; None where the smallest has one."""
    low, high = epsilon, min(epsilon * (1 + SETTING_TOLERANCE), PROMISES.maximum)
    first = excess(low)
    if 0 < first <= LOSS_TIE:  # what it is given is what it gives away, to rounding
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
    ends = {math.log(low): low, math.log(high): high}  # exp(ln x) may miss x, and an end may have no excess to spare

    def of_log(log: float) -> float:
        return ends.get(log, math.exp(log))

    root = of_log(brentq(lambda log: excess(of_log(log)), *ends, xtol=tolerance / 4))
    while excess(root) > 0:
        root /= 1 + tolerance / 2
    return root
