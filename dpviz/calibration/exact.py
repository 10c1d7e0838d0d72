"""The smallest prior that keeps a promise, exactly: closed forms for ε, calibration on δ(ε; α) for (ε, δ)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from dpviz.calibration.base import TWO_CELLS_OR_MORE
from dpviz.calibration.methods import PRIOR_METHODS, PriorMethod
from dpviz.calibration.smallest_root import PRIOR_RESOLUTION, Pair, Start, excess_of, smallest_root
from dpviz.core.checked import checked
from dpviz.core.declarations import MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.limits import PROBABILISTIC_ROWS
from dpviz.core.parameters import DELTA, EPSILON, readable
from dpviz.mechanisms import WorstCase
from dpviz.mechanisms.prior import PRIOR_ONES, PRIOR_ZEROS
from dpviz.privacy.hockey_stick import worst_neighbours

LARGEST_SOUGHT = PRIOR_ONES.maximum / 2  # The largest prior that is tried where no closed form bounds the answer
ROUNDED_EXCESS = 1e-9  # Difference of ln(−ln δ) up to which a worse pair only asks for a last step
# Relative change of a prior, for each 1 + ε, that outweighs the rounding of its largest log-odds
PRIOR_ROUNDING = 1e-15

# Intervals of priors that the probabilistic search starts with at least, the largest change of ln α in one (but for
# priors so small that log-odds have settled), and the relative length of one that is not halved again.
FEWEST_PIECES, WIDEST_INTERVAL, NARROWEST_INTERVAL = 12, 1.0, 1e-9
# Intervals that it looks at before it gives up: as many as the rows of all its failures allow.
FEWEST_INTERVAL_LOOKS, MOST_INTERVAL_LOOKS, LARGEST_WORK = 1_000, 30_000, 8_000_000


@checked(
    method=PRIOR_METHODS, n=MANY_ROWS, m=MANY_SYNTHETIC_ROWS, delta=DELTA, beta=PRIOR_ZEROS, cells=TWO_CELLS_OR_MORE
)
def minimum_prior(
    method: str,
    *,
    n: int,
    m: int,
    epsilon: float,
    delta: float = 0.0,
    beta: float | None = None,
    ratio: float = 1.0,
    cells: int = 2,
) -> float:
    """Return the smallest prior α with which a method is (ε, δ)-differentially private, rounded to the private side.

    δ = 0: the closed form, m / (e^ε − 1) for SYNTH_Post(One), 1 / (e^{ε/m} − 1) for SYNTH_Post(Many), that plus 1 for
    SYNTH_MAP, none for PARAM_Post. δ > 0: the root of δ(ε; α) = δ, every pair of neighbours counted, so that
    α (1 − 1e-6) is not private. The smallest prior accepted (1e-300; just above 1 for SYNTH_MAP) says that any prior is
    enough, infinity that none up to 5e11 is. Source: Zheng (2015), chapter 6; Machanavajjhala et al. (2008).

    n and m are 1 to 100,000, ε is 1e-6 to 1000, or 0 with a positive δ, 0 ≤ δ < 1; neighbours are substitution. The
    prior zeros are `beta` where it is given, otherwise `ratio` α; of k `cells`, 3 to 1,000, all have the same prior.
    One row, one draw: (α + 1) / (2α + 1) against α / (2α + 1), so δ = (1 − α) / (2α + 1) at ε = ln 2, 1/4 at α = 1/2.

    >>> round(minimum_prior("synth_post_one", n=1, m=1, epsilon=math.log(2)), 12)  # 1 / (2 − 1)
    1.0
    >>> round(minimum_prior("synth_post_one", n=1, m=1, epsilon=math.log(2), delta=0.25), 12)
    0.5
    """
    return smallest_prior(Promise(PRIOR_METHODS[method], n, m, epsilon, delta, beta, ratio, cells)).prior


@dataclass(frozen=True)
class Promise:
    """What a method is to keep, as in `minimum_prior`, and δ as a function of the effective prior."""

    method: PriorMethod
    n: int
    m: int
    epsilon: float
    delta: float = 0.0
    beta: float | None = None
    ratio: float = 1.0
    cells: int = 2

    def __post_init__(self) -> None:
        if not (self.epsilon == 0 and self.delta > 0):
            EPSILON.check(self.epsilon)
        if self.delta == 1:
            raise ValueError("delta (allowed failure) must be below 1: at 1 nothing is promised; got 1.")
        if not 1e-9 <= self.ratio <= 1e9:
            raise ValueError(f"ratio (β / α) must be a number from 10⁻⁹ to 10⁹; got {self.ratio!r}.")
        if self.cells > 2 and (self.beta is not None or self.ratio != 1):
            left_out = f"beta and ratio must be left out where there are {self.cells} cells"
            raise ValueError(f"{left_out}: every cell has the same prior.")

    @property
    def symmetric(self) -> bool:
        """Whether the prior is the same in all cells."""
        return self.beta is None and self.ratio == 1

    @property
    def in_step(self) -> bool:
        """Whether its prior can be sought in step with others, for one pair of neighbours at a time."""
        whole = self.cells == 2 and self.symmetric and not self.method.lost
        return whole and self.delta > 0 and self.epsilon > 0 and self.method.knows(PriorMethod.log_pair_deltas)

    def all_pairs(self, effective: float) -> WorstCase:
        """Return the largest δ of all pairs of neighbours."""
        alpha, beta = self._priors(effective)
        return worst_neighbours(self.method.release(self.n, self.m, alpha, beta, self.cells), self.epsilon)

    def one_pair(self, pair: Pair | None) -> Callable[[float], float]:
        """δ of one pair, which takes far less time; of all of them where there is but one."""
        if pair is None:
            return lambda effective: self.all_pairs(effective).value
        i, upward = pair

        def delta_of(effective: float) -> float:
            alpha, beta = self._priors(effective)
            ones, zeros = alpha - self.method.lost + i, beta - self.method.lost + (self.n - 1 - i)
            if max(ones, zeros) > PRIOR_ONES.maximum / 2:
                return self.all_pairs(effective).value
            ends = np.array([ones, zeros] if upward else [zeros, ones])
            return math.exp(float(self.method.log_pair_deltas(ends[:1], ends[1:], self.m, self.epsilon)[0]))

        return delta_of

    def pair(self, worst: WorstCase) -> Pair | None:
        """Return the pair that was found to be the worst."""
        only = self.n == 1 and self.symmetric
        if self.cells > 2 or only or not self.method.knows(PriorMethod.log_pair_deltas):
            return None
        return min(worst.likelier, worst.other), worst.likelier > worst.other

    def _priors(self, effective: float) -> tuple[float, float]:
        alpha = effective + self.method.lost
        return alpha, self.ratio * alpha if self.beta is None else self.beta


@lru_cache(maxsize=4096)  # a page, its table of theorems and its picture ask for the same
def smallest_prior(promise: Promise, start: Start | None = None) -> Start:
    """`minimum_prior`, from where a search nearby ended, and with what the next one can start from."""
    method, epsilon, delta = promise.method, promise.epsilon, promise.delta
    pure, shift = smallest_pure(promise), method.lost
    if not method.calibrated or delta == 0 or pure <= PRIOR_ONES.minimum:
        return Start(pure)
    if method.effective is not method and promise.symmetric:  # that of what uses its whole prior, and what is lost
        guess = None if start is None else replace(start, prior=start.prior - shift)
        found = smallest_prior(replace(promise, method=method.effective), guess)
        return replace(found, prior=min(method.prior_of(found.prior), pure))
    lowest = _lowest(shift, promise.beta, promise.ratio)
    highest = LARGEST_SOUGHT / max(1.0, promise.ratio if promise.beta is None else 1.0)
    start = Start(gamma_guess(epsilon, delta)) if start is None else replace(start, prior=start.prior - shift)
    if not lowest < start.prior < pure - shift:
        start = Start(max(min(gamma_guess(epsilon, delta), (pure - shift) / 2), lowest))
    found = _smallest_of_all_pairs(promise, lowest, pure - shift if pure <= highest else math.inf, highest, start)
    safe = found.prior * (1 + PRIOR_ROUNDING * (1 + epsilon)) if found.prior > lowest else lowest
    return replace(found, prior=min(method.prior_of(safe), pure))


def smallest_pure(promise: Promise) -> float:
    """Return the smallest α with pure ε-DP: the smaller of α and β must reach the symmetric answer."""
    if promise.epsilon == 0:
        return math.inf
    symmetric, ratio = promise.method.smallest_pure(promise.m, promise.epsilon), promise.ratio
    if promise.beta is not None:
        return symmetric if promise.beta >= symmetric else math.inf
    alpha = symmetric / min(1.0, ratio)
    while min(alpha, ratio * alpha) < symmetric:
        alpha = math.nextafter(alpha, math.inf)
    return alpha if max(alpha, ratio * alpha) <= PRIOR_ONES.maximum else math.inf


def _lowest(shift: float, beta: float | None, ratio: float) -> float:
    """Return the smallest accepted α, less `shift`; both priors of the posterior mode must be above 1."""
    if shift and beta is not None and beta <= 1:
        raise ValueError(f"beta (invented rows with no) must be above 1 for the posterior mode; got {readable(beta)}.")
    side = 1.0 if beta is not None else max(1.0, 1 / ratio)
    smallest = math.nextafter(1.0, math.inf) if shift else PRIOR_ZEROS.minimum
    alpha = math.nextafter(side, math.inf) if shift else side * smallest
    while beta is None and ratio * ((alpha - shift) + shift) < smallest:
        alpha = math.nextafter(alpha, math.inf)
    return alpha - shift


def gamma_guess(epsilon: float, delta: float) -> float:
    """Where the tail of a gamma distribution, to which all the distributions tend, would put the answer."""
    if epsilon == 0:
        return 1 / (math.pi * max(delta, 1e-7) ** 2)
    rate = math.expm1(epsilon) - epsilon if epsilon < 700 else math.inf
    return max(-math.log(delta) / max(rate, 1e-300), 1e-9)


def _smallest_of_all_pairs(promise: Promise, lowest: float, bound: float, highest: float, start: Start) -> Start:
    """The smallest prior up to `highest`, of the worst pair, then of one that asks for more; `bound` is private."""
    top, here, pair = min(bound, highest), min(start.prior, highest), start.pair
    if pair is None:
        pair = promise.pair(promise.all_pairs(here))
    while True:
        here = smallest_root(promise.one_pair(pair), promise.delta, lowest, top, bound <= highest, here)
        if pair is None or here >= top:
            return Start(here, pair)
        worst, before = promise.all_pairs(here), pair
        pair = promise.pair(worst)
        if pair == before or -excess_of(worst.value, promise.delta) < ROUNDED_EXCESS:
            break
    value, step = worst.value, PRIOR_RESOLUTION
    while value > promise.delta and here < top:
        missing, step = -excess_of(value, promise.delta), 2 * step
        here = min(here * (1 + max(missing, 0.0) + step), top)
        value = promise.all_pairs(here).value
    return Start(here, before)


@checked(method=PRIOR_METHODS, n=MANY_ROWS, m=MANY_SYNTHETIC_ROWS, delta=DELTA)
def minimum_prior_probabilistic(method: str, *, n: int, m: int, epsilon: float, delta: float) -> float:
    """Return the smallest symmetric prior from which on a method keeps probabilistic (ε, δ)-differential privacy.

    The failure jumps down as the prior grows, where one more count falls inside the promise, and rises between the
    jumps, so intervals of priors are searched from the pure answer downwards and halved; one is left out when at both
    ends the failure stays within δ for an ε that is smaller by as much as log-odds near it can change inside.
    The promise holds at α and fails at α (1 − 1e-9), for n and m up to 10,000. Raises where the failure crosses δ so
    often that the search does not end. Source: Machanavajjhala et al. (2008). One row, one draw: a released 1 or 0 has
    log-odds ln((α + 1) / α), so nothing but pure privacy helps.

    >>> round(minimum_prior_probabilistic("synth_post_one", n=1, m=1, epsilon=math.log(2), delta=0.25), 6)
    1.0
    """
    made = PRIOR_METHODS[method]
    return made.prior_of(_effective(made.effective, n, m, epsilon, delta))


def _effective(method: PriorMethod, n: int, m: int, epsilon: float, delta: float) -> float:
    """Return the smallest effective prior of a method that loses no invented rows."""
    rows = max(n, m) if method.limit else n
    if rows > PROBABILISTIC_ROWS:
        domain = f"at most {PROBABILISTIC_ROWS:,} for the probabilistic answer"
        raise ValueError(f"n and m must be {domain}; got {readable(rows)}.")
    smallest = smallest_prior(Promise(method, n, m, epsilon, delta)).prior
    if delta == 0 or math.isinf(smallest):
        return smallest
    failure = method.failure(n, m, epsilon)
    top = smallest_prior(Promise(method, n, m, epsilon)).prior
    if math.isinf(top):
        top = 2 * smallest
        while failure.at(top, epsilon) > delta:
            if top >= PRIOR_ONES.maximum:
                return math.inf
            top = min(2 * top, PRIOR_ONES.maximum)
    bottom = min(max(smallest, failure.settled), top)
    pieces = max(FEWEST_PIECES, math.ceil(math.log(top / bottom) / WIDEST_INTERVAL))
    grid = [smallest, *np.geomspace(bottom, top, pieces + 1).tolist()]
    waiting, looks = [(low, high) for low, high in pairwise(grid) if low < high], 0
    most = min(max(FEWEST_INTERVAL_LOOKS, LARGEST_WORK // (n + rows)), MOST_INTERVAL_LOOKS)
    while waiting:
        low, high = waiting.pop()
        looks += 1
        if looks > most:
            raise ValueError(
                f"epsilon and delta must let the search end within {most:,} intervals of priors; at "
                f"ε = {readable(epsilon)} and δ = {readable(delta)} the failure crosses δ too often. Set others."
            )
        rate = m * high if high <= failure.settled else failure.change(low)
        promise = max(epsilon - rate * (math.log(high) - math.log(low)), 0.0)
        if all(failure.at(prior, promise) <= delta for prior in (low, high)):
            continue
        if high - low <= NARROWEST_INTERVAL * high:
            if failure.at(low, epsilon) > delta:
                return high
            continue
        middle = math.sqrt(low) * math.sqrt(high)
        waiting += [(low, middle), (middle, high)]
    return smallest
