"""The search for the smallest prior with which the sum of M losses keeps a promise, over all pairs of neighbours."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from dpviz.calibration.smallest_root import excess_of
from dpviz.core import limits
from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.numerics.steps import Steps, paused
from dpviz.privacy.composition import DeltaBracket, Losses, composed_delta

Block = tuple[int, int]  # First and last of some pairs of neighbours
# Resolutions of a look that tells what is far apart, of one that tells more, of a first root and of the first solution
ROUGH_RESOLUTION, LOOK_RESOLUTION, COARSE_RESOLUTION, FIRST_RESOLUTION = 0.3, 0.03, 0.1, 0.01
# The upper bound is so much nearer to δ than the lower one that a grid this many times as wide is as good for it.
WIDER_FROM_ABOVE = 2.0
COARSE_ROOT, MOST_PRIOR_STEPS = 1e-3, 40  # How near in ln α the first root is sought, and steps of a search for a root
FINEST_RESOLUTION = 3e-5  # Finest resolution, times √M
BRACKET_WIDTH = 1e-6  # Relative width aimed at of a calibrated prior's bracket
WEIGHT_ROUNDING = 1e-12  # Bound on what rounding does to a difference of weights
MOST_FINE = 120  # Blocks looked at closely before blocks are allowed to be wider
MOST_BLOCK_PARTS = 8  # Largest number of parts that a block is split into at once
WIDEST_STEP, MOST_HALVINGS = 0.1, 8  # Of ln α in a search for a prior that is not private; of a bracket found so
# Of ln α: how much more than the smallest private one is near enough to it; from where, and how often, it is sought by
# straight lines; and how near to the root it does not have to be sought again.
NEAR_ENOUGH, CLOSE, MOST_CLOSE, SETTLED = BRACKET_WIDTH / 10, 0.01, 4, 1e-5
SPLIT_EXCESS = 0.07  # What splitting adds to ln δ, about, in squares of the resolution
ROUNDED_LOW = 1e-12  # Relative distance from `low` of what is not `low` itself, rounded
SAME_TILT = 0.03  # Change of ln x and ln y up to which the last pair's tilt still serves; any tilt gives valid bounds


@dataclass
class SetSearch:
    """The smallest α in [`low`, `high`] at which no pair of neighbours exceeds δ; `high` is private, `start` a guess.

    A block (a, b) of pairs stands for shared rows α + a and α + n − 1 − b, whose δ_M no pair a ≤ i ≤ b exceeds: more
    prior is never less private (`dpviz.mechanisms.prior`), and post-processing each of M sets post-processes all.
    The two directions of a pair are the pairs i and n − 1 − i, as the prior is symmetric.

    `log_density`, where it is given, is the w(x, y) of `dpviz.calibration.posterior_parameter.log_loss_density`: then
    ln δ_M − M w is convex along the pairs and w concave, so that between the pairs a and b there is at most the larger
    of their δ_M times e^{2M (w(middle) − (w(a) + w(b)) / 2)}, as in `dpviz.core.numerics.worst_pair`.
    """

    pair: Callable[[float, float], Losses]
    n: int
    sets: int
    epsilon: float
    delta: float
    low: float
    high: float
    start: float
    log_density: Callable[[float, float], float] | None = None
    _losses: tuple[float, float, Losses] | None = field(init=False, default=None)  # of the last pair, with its rows
    _tilt: tuple[float, float, float] | None = field(init=False, default=None)  # of a pair, with its rows
    _private: set[Block] = field(init=False, default_factory=set)  # with some prior, so with every larger one

    def at(self, alpha: float, block: Block, resolution: float, *, only_upper: bool = False) -> DeltaBracket:
        """Return bounds on δ_M of the block's pair."""
        losses, tilt = self._tilted(alpha, block)
        return composed_delta(
            losses, self.sets, self.epsilon, resolution, tilt=tilt, only_upper=only_upper, largest=limits.SUMMED_LOSSES
        )

    def _tilted(self, alpha: float, block: Block) -> tuple[Losses, float]:
        """Return the losses of the block's pair, and about their saddle point."""
        x, y = alpha + block[0], alpha + (self.n - 1 - block[1])
        if self._losses is None or self._losses[:2] != (x, y):
            self._losses = x, y, self.pair(x, y)
        losses, near = self._losses[2], self._tilt
        if near is None or max(abs(math.log(x / near[0])), abs(math.log(y / near[1]))) > SAME_TILT:
            self._tilt = near = x, y, losses.saddle_point(self.epsilon / self.sets, 0.0 if near is None else near[2])
        return losses, near[2]

    def upper(self, alpha: float, block: Block, resolution: float) -> float:
        """Return an upper bound on δ_M of the block's pair."""
        return self.at(alpha, block, resolution, only_upper=True).upper

    def bracket(self) -> Steps[DeltaBracket]:
        """Calibrate on the worst block known, then look for worse ones; it stops before every composition."""
        if not self.low < self.high < math.inf:
            return DeltaBracket(self.low, self.high)
        looked = dict[int, float]()
        for i in sorted({0, self.n - 1}):
            looked[i] = yield from paused(self.upper, self.start, (i, i), COARSE_RESOLUTION)
        worst = max(looked, key=looked.__getitem__)
        excess = excess_of(looked[worst], self.delta)
        looked_at: tuple[float, float] | None = math.log(self.start), excess
        start = math.log(self.start) - excess  # where −ln δ goes with α, as it nearly does
        block: Block | None = (worst, worst)
        known: list[Block] = []
        lower, upper, width = self.low, self.low, 0
        while block is not None and upper < self.high:
            known.append(block)
            no, yes, resolution, slope = yield from self._calibrated(block, upper, start, looked_at)
            lower, upper = max(lower, no), min(max(upper, yes * (1 + BRACKET_WIDTH / 4)), self.high)
            start, looked_at = math.log(upper), None
            if self.log_density is None:
                block, width = yield from self._exceeding(upper, known, resolution, width, slope)
            else:
                block = yield from self._exceeding_between(upper, known, resolution, self.log_density)
        lower = lower if lower > self.low * (1 + ROUNDED_LOW) else self.low * (1 - BRACKET_WIDTH)
        return DeltaBracket(min(lower, upper), upper)  # in order too where any prior is enough

    def _calibrated(
        self, block: Block, low: float, start: float, known: tuple[float, float] | None
    ) -> Steps[tuple[float, float, float, float]]:
        """Return priors where the block's first pair is not private, and the block is; resolution; −d ln δ / d ln α."""
        target, floor, finest = math.log(self.delta), math.log(self.low), FINEST_RESOLUTION * math.sqrt(self.sets)
        bottom, top = math.log(low), math.log(self.high)

        def excess(t: float) -> float:
            return excess_of(self.upper(math.exp(t), block, COARSE_RESOLUTION), self.delta)

        t, rate = yield from _rising_root(excess, 1.0, min(max(start, bottom), top), bottom, top, COARSE_ROOT, known)
        slope = max(-rate * target, 0.01)
        look = yield from paused(self.at, math.exp(t), block, FIRST_RESOLUTION)
        width = max(1 - look.lower / look.upper, 1e-12) if look.upper > 0 else 1.0
        away = (_log(look.upper) - target) / slope
        if SETTLED < abs(away) < CLOSE:
            nearer = min(max(t + away, bottom), top)
            again = yield from paused(self.at, math.exp(nearer), block, FIRST_RESOLUTION)
            chord = (_log(look.upper) - _log(again.upper)) / (nearer - t) if nearer != t else math.nan
            slope, look, t = chord if slope / 2 < chord < 2 * slope else slope, again, nearer
        resolution = max(min(FIRST_RESOLUTION, _aim(width, slope)), finest)
        yes = t + (_log(look.upper) - target) / slope
        above = FIRST_RESOLUTION
        while True:
            finer = min(WIDER_FROM_ABOVE * resolution, FIRST_RESOLUTION)
            # What splitting adds to δ goes with the square of the resolution.
            yes -= SPLIT_EXCESS * (above**2 - finer**2) / slope - NEAR_ENOUGH / 2
            above = finer
            yes, beyond, slope = yield from self._private_from(block, yes, bottom, top, slope, above)
            if yes <= bottom + BRACKET_WIDTH:  # a block known before asks for as much
                return math.exp(floor), math.exp(yes), above, slope
            resolution = max(min(resolution, _aim(width, slope)), finest)
            gap, step = 1.2 * width * (resolution / FIRST_RESOLUTION) ** 2 / slope, BRACKET_WIDTH / 20
            no, short = yes - min(gap + beyond / slope, 1.0) - BRACKET_WIDTH / 20, -1.0
            while no > floor:
                lower = yield from paused(self._lower, math.exp(no), block[0], resolution)
                short = _log(lower) - target
                if short > 0:
                    break
                no, step = no + max(short / slope, -WIDEST_STEP) - step, 4 * step
            for _ in range(MOST_HALVINGS):
                middle = (yes + no) / 2
                if yes - no < 2 * BRACKET_WIDTH:
                    break
                bounds = yield from paused(self.at, math.exp(middle), block, resolution)
                if bounds.upper <= self.delta:
                    yes = middle
                elif block[0] == block[1] and bounds.lower > self.delta:
                    no = middle
                else:
                    break
            if yes - no < 10 * BRACKET_WIDTH or resolution == finest or block[1] > block[0]:
                return math.exp(max(no, floor)), min(math.exp(yes), self.high), above, slope
            resolution = max(resolution / 4, finest)

    def _private_from(
        self, block: Block, t: float, bottom: float, top: float, slope: float, resolution: float
    ) -> Steps[tuple[float, float, float]]:
        """Return about the smallest ln α with which the block is private, ln δ less ln δ_M there, and −d ln δ / d ln α.

        It is sought from t on; a place that is private and near enough to the root is taken as it is.
        """
        target, step = math.log(self.delta), BRACKET_WIDTH / 4
        place, before = min(max(t, bottom), top), (math.nan, math.nan)

        def excess(place: float) -> float:
            return target - _log(self.upper(math.exp(place), block, resolution))

        for _ in range(MOST_CLOSE):
            value = yield from paused(excess, place)
            if 0 <= value <= slope * NEAR_ENOUGH or (place <= bottom and value >= 0):
                return place, value, slope
            if abs(value) > slope * CLOSE or place >= top:
                break
            chord = (value - before[1]) / (place - before[0]) if abs(place - before[0]) > NEAR_ENOUGH else math.nan
            slope, before = chord if slope / 2 < chord < 2 * slope else slope, (place, value)
            place = min(max(place - value / slope + NEAR_ENOUGH / 2, bottom), top)
        root, slope = yield from _rising_root(excess, slope, place, bottom, top, BRACKET_WIDTH / 10)
        yes = min(root + BRACKET_WIDTH / 10, top)
        while (value := (yield from paused(excess, yes))) < 0 and yes < top:
            yes, step = min(yes + step, top), 2 * step
        return yes, max(value, 0.0), slope

    def _lower(self, alpha: float, i: int, resolution: float) -> float:
        """Return a lower bound on δ_M of a pair."""
        return self.at(alpha, (i, i), resolution).lower

    def _told(self, alpha: float, block: Block, resolution: float) -> Steps[float]:
        """Return an upper bound on δ_M of the block's pair that tells it from the allowed δ, or one of `resolution`."""
        losses, tilt = self._tilted(alpha, block)
        found = losses.tail_bound(self.sets, self.epsilon, tilt)
        if found <= self.delta:
            return found
        for one in (ROUGH_RESOLUTION, LOOK_RESOLUTION):
            bounds = yield from paused(self.at, alpha, block, one)
            if bounds.upper <= self.delta or bounds.lower > self.delta:
                return bounds.upper
        return (yield from paused(self.upper, alpha, block, resolution))

    def _exceeding(
        self, alpha: float, known: list[Block], resolution: float, width: int, slope: float
    ) -> Steps[tuple[Block | None, int]]:
        """Return the worst block, outside the known ones, not shown to be private with the prior α, and its width.

        Blocks are split until i differs by at most `width` in them, raised where too many tie.
        """
        width = max(width, math.floor(2 * BRACKET_WIDTH * alpha))
        while True:
            looks, worst, value = 0, None, self.delta
            blocks = _blocks(self.n, alpha)
            while blocks and looks <= MOST_FINE:
                block = blocks.pop()
                if block in self._private or any(a <= block[0] and block[1] <= b for a, b in known):
                    continue
                found = yield from self._told(alpha, block, resolution)
                if found <= self.delta:
                    self._private.add(block)
                elif block[1] - block[0] > width:
                    blocks += _parts(block, math.log(found / self.delta), slope / (2 * alpha), width)
                else:
                    looks += 1
                    if found > value:
                        worst, value = block, found
            if not blocks:
                return worst, width
            width = 2 * width + 1

    def _exceeding_between(
        self, alpha: float, known: list[Block], resolution: float, log_density: Callable[[float, float], float]
    ) -> Steps[Block | None]:
        """Return the worst pair not shown to be private with the prior α, from bounds on what is between two pairs."""
        uppers: dict[int, float] = {}

        def upper(i: int) -> Steps[float]:
            if i not in uppers:
                found = yield from self._told(alpha, (i, i), resolution)
                uppers[i] = min(found, self.delta) if (i, i) in known else found
            return uppers[i]

        def weight(i: float) -> float:
            return self.sets * log_density(alpha + i, alpha + (self.n - 1 - i))

        worst, value, blocks = None, self.delta, [(0, self.n - 1)]
        while blocks:
            first, last = blocks.pop()
            risen = 2 * weight((first + last) / 2) - weight(first) - weight(last)
            factor = _exp(max(risen, 0.0) + WEIGHT_ROUNDING * self.sets) if last - first > 1 else 1.0
            largest = 0.0
            for i in (first, last):
                found = yield from upper(i)
                if found > value:
                    worst, value = (i, i), found
                largest = max(largest, found)
            if last - first > 1 and not largest * factor <= value:
                middle = (first + last) // 2
                blocks += [(first, middle), (middle, last)]
        return worst


def _blocks(n: int, alpha: float) -> list[Block]:
    """Return all pairs in blocks along which the rows and invented rows of the rarer cell double, the ends alone."""
    half, edges, place = n // 2, {0, 1, n - 1, n}, alpha
    while place < half:
        edges |= {max(math.ceil(place), 1), n - max(math.ceil(place), 1)}
        place = 2 * place + alpha
    return [(a, b - 1) for a, b in pairwise(sorted(edges))]


def _parts(block: Block, excess: float, steepness: float, width: int) -> list[Block]:
    """Return a block, `excess` nats of δ too high, in parts likely to be private if ln δ rises by `steepness`."""
    first, last = block
    size = last - first + 1
    wanted = size - excess / steepness if steepness > 0 else 0.0
    parts = min(max(2, math.ceil(size / max(0.8 * wanted, width + 1.0))), MOST_BLOCK_PARTS, size)
    edges = [first + size * k // parts for k in range(parts + 1)]
    return [(a, b - 1) for a, b in pairwise(edges)]


def _aim(width: float, slope: float) -> float:
    """Return the resolution for half a bracket's width, from the relative width of δ at the first one."""
    return FIRST_RESOLUTION * math.sqrt(BRACKET_WIDTH / 2 * slope / width)


def _exp(value: float) -> float:
    return math.exp(value) if value < LARGEST_EXPONENT else math.inf


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -1e3


def _rising_root(
    excess: Callable[[float], float],
    slope: float,
    here: float,
    low: float,
    high: float,
    tolerance: float,
    known: tuple[float, float] | None = None,
) -> Steps[tuple[float, float]]:
    """Return where a function of about this slope passes 0, and its slope there; or the end beyond which it does.

    `known` is a place and the value there, if any.
    """
    left, right, before, seen = low, high, (here, math.nan) if known is None else known, set[float]()
    for look in range(MOST_PRIOR_STEPS):
        value = yield from paused(excess, here)
        seen.add(here)
        left, right = (left, here) if value >= 0 else (here, right)
        chord = (value - before[1]) / (here - before[0]) if here != before[0] else math.nan
        slope, before = chord if 0 < chord < math.inf else slope, (here, value)
        goal = min(max(here - value / slope, low), high)
        if look % 4 == 3 or math.isinf(value) or not (left < goal < right or goal in {low, high} - seen):
            goal = (left + right) / 2
        if abs(goal - here) <= tolerance:
            return goal, slope
        here = goal
    return right, slope
