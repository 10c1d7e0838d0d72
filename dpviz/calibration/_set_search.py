"""The search for the smallest prior with which the sum of M losses keeps a promise, over all pairs of neighbours."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from dpviz.core import limits
from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.numerics.steps import Steps, paused, root_in_steps
from dpviz.privacy.composition import DeltaBracket, Losses, composed_delta

Block = tuple[int, int]  # First and last of some pairs of neighbours
# Resolutions of a rough guess, of a look and of the first solution
COARSE_RESOLUTION, LOOK_RESOLUTION, FIRST_RESOLUTION = 0.03, 0.01, 0.01
FINEST_RESOLUTION = 3e-5  # Finest resolution, times √M
BRACKET_WIDTH = 1e-6  # Relative width aimed at of a calibrated prior's bracket
WEIGHT_ROUNDING = 1e-12  # Bound on what rounding does to a difference of weights
MOST_FINE = 120  # Blocks looked at closely before blocks are allowed to be wider
MOST_BLOCK_PARTS = 8  # Largest number of parts that a block is split into at once
SAME_TILT = 0.03  # Change of ln x and ln y up to which the last pair's tilt still serves; any tilt gives valid bounds


@dataclass
class SetSearch:
    """The smallest α in [`low`, `high`] at which no pair of neighbours exceeds δ; `high` is private.

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
    log_density: Callable[[float, float], float] | None = None
    _tilt: tuple[float, float, float] | None = field(init=False, default=None)
    _private: set[Block] = field(init=False, default_factory=set)  # with some prior, so with every larger one

    def at(self, alpha: float, block: Block, resolution: float, *, only_upper: bool = False) -> DeltaBracket:
        """Return bounds on δ_M of the block's pair."""
        x, y = alpha + block[0], alpha + (self.n - 1 - block[1])
        losses = self.pair(x, y)
        if self._tilt is None or max(abs(math.log(x / self._tilt[0])), abs(math.log(y / self._tilt[1]))) > SAME_TILT:
            self._tilt = x, y, losses.saddle_point(self.epsilon / self.sets)
        tilt = self._tilt[2]
        return composed_delta(
            losses, self.sets, self.epsilon, resolution, tilt=tilt, only_upper=only_upper, largest=limits.SUMMED_LOSSES
        )

    def upper(self, alpha: float, block: Block, resolution: float) -> float:
        """Return an upper bound on δ_M of the block's pair."""
        return self.at(alpha, block, resolution, only_upper=True).upper

    def bracket(self) -> Steps[DeltaBracket]:
        """Calibrate on the worst block known, then look for worse ones; it stops before every composition."""
        if not self.low < self.high < math.inf:
            return DeltaBracket(self.low, self.high)
        looked = dict[int, float]()
        middle = math.sqrt(self.low * self.high)
        for i in sorted({0, (self.n - 1) // 2, self.n - 1}):
            looked[i] = yield from paused(self.upper, middle, (i, i), COARSE_RESOLUTION)
        worst = max(looked, key=looked.__getitem__)
        block: Block | None = (worst, worst)
        known: list[Block] = []
        lower, upper, width = self.low, self.low, 0
        while block is not None and upper < self.high:
            known.append(block)
            no, yes, resolution, slope = yield from self._calibrated(block, upper)
            lower, upper = max(lower, no), min(max(upper, yes * (1 + BRACKET_WIDTH / 4)), self.high)
            if self.log_density is None:
                block, width = yield from self._exceeding(upper, known, resolution, width, slope)
            else:
                block = yield from self._exceeding_between(upper, known, resolution, self.log_density)
        lower = lower if lower > self.low else lower * (1 - 1e-6)
        return DeltaBracket(min(lower, upper), upper)  # in order too where any prior is enough

    def _calibrated(self, block: Block, low: float) -> Steps[tuple[float, float, float, float]]:
        """Return priors where the block's first pair is not private, and the block is; resolution; −d ln δ / d ln α."""
        target, floor, finest = math.log(self.delta), math.log(self.low), FINEST_RESOLUTION * math.sqrt(self.sets)
        bottom, top = math.log(low), math.log(self.high)

        def excess(t: float, resolution: float) -> float:
            return _log(self.upper(math.exp(t), block, resolution)) - target

        def shortfall(t: float, resolution: float) -> float:
            return _log(self.at(math.exp(t), (block[0], block[0]), resolution).lower) - target

        t = yield from _root(partial(excess, resolution=COARSE_RESOLUTION), bottom, top, top, 0.5, 1e-4)
        before = yield from paused(excess, t - 0.01, COARSE_RESOLUTION)
        after = yield from paused(excess, t + 0.01, COARSE_RESOLUTION)
        slope = max((before - after) / 0.02, 0.01)
        look = yield from paused(self.at, math.exp(t), block, FIRST_RESOLUTION)
        width = max(1 - look.lower / look.upper, 1e-12) if look.upper > 0 else 1.0
        resolution = min(max(FIRST_RESOLUTION * math.sqrt(BRACKET_WIDTH / 2 * slope / width), finest), FIRST_RESOLUTION)
        while True:
            for _ in range(4):
                move = (yield from paused(excess, t, resolution)) / slope
                t = min(max(t + move, bottom), top)
                if abs(move) < BRACKET_WIDTH / 2:
                    break
            else:
                t = yield from _root(partial(excess, resolution=resolution), bottom, top, t, 1e-4, BRACKET_WIDTH / 10)
            yes, step = min(t + BRACKET_WIDTH / 10, top), BRACKET_WIDTH / 4
            while yes < top and (yield from paused(excess, yes, resolution)) > 0:
                yes, step = min(yes + step, top), 2 * step
            short = yield from paused(shortfall, yes, resolution)
            no = min(yes + short / slope - BRACKET_WIDTH / 10, yes)
            step = BRACKET_WIDTH / 4
            while no > floor and (yield from paused(shortfall, no, resolution)) <= 0:
                no, step = no - step, 2 * step
            for _ in range(8):
                middle = (yes + no) / 2
                if yes - no < 2 * BRACKET_WIDTH:
                    break
                if (yield from paused(shortfall, middle, resolution)) > 0:
                    no = middle
                elif (yield from paused(excess, middle, resolution)) <= 0:
                    yes = middle
                else:
                    break
            here = yield from paused(self.at, math.exp(yes), block, resolution)
            # What is left then is the block's own width.
            narrow = here.upper - here.lower <= BRACKET_WIDTH * slope * here.upper
            if yes - no < 10 * BRACKET_WIDTH or resolution == finest or (block[1] > block[0] and narrow):
                return math.exp(max(no, floor)), min(math.exp(yes), self.high), resolution, slope
            resolution = max(resolution / 4, finest)

    def _exceeding(
        self, alpha: float, known: list[Block], resolution: float, width: int, slope: float
    ) -> Steps[tuple[Block | None, int]]:
        """Return the worst block, outside the known ones, not shown to be private with the prior α, and its width.

        Blocks are split until i differs by at most `width` in them, raised where too many tie.
        """
        width = max(width, math.floor(2 * BRACKET_WIDTH * alpha))
        while True:
            looks, worst, value = 0, None, self.delta
            blocks = [(0, self.n - 1)]
            while blocks and looks <= MOST_FINE:
                block = blocks.pop()
                if block in self._private or any(a <= block[0] and block[1] <= b for a, b in known):
                    continue
                upper = yield from paused(self.upper, alpha, block, LOOK_RESOLUTION)
                if upper <= self.delta:
                    self._private.add(block)
                    continue
                if block[1] - block[0] > width:
                    blocks += _parts(block, math.log(upper / self.delta), slope / (2 * alpha), width)
                    continue
                looks += 1
                found = yield from paused(self.upper, alpha, block, resolution)
                if found <= self.delta:
                    self._private.add(block)
                elif found > value:
                    worst, value = block, found
            if not blocks:
                return worst, width
            width = 2 * width + 1

    def _exceeding_between(
        self, alpha: float, known: list[Block], resolution: float, log_density: Callable[[float, float], float]
    ) -> Steps[Block | None]:
        """Return the worst pair not shown to be private with the prior α, from bounds on what is between two pairs."""
        uppers: dict[tuple[int, float], float] = {}

        def upper(i: int, fineness: float) -> Steps[float]:
            if (i, fineness) not in uppers:
                found = yield from paused(self.upper, alpha, (i, i), fineness)
                uppers[i, fineness] = min(found, self.delta) if (i, i) in known else found
            return uppers[i, fineness]

        def weight(i: float) -> float:
            return self.sets * log_density(alpha + i, alpha + (self.n - 1 - i))

        worst, value, blocks = None, self.delta, [(0, self.n - 1)]
        while blocks:
            first, last = blocks.pop()
            risen = 2 * weight((first + last) / 2) - weight(first) - weight(last)
            factor = _exp(max(risen, 0.0) + WEIGHT_ROUNDING * self.sets) if last - first > 1 else 1.0
            largest = 0.0
            for i in (first, last):
                found = yield from upper(i, COARSE_RESOLUTION)
                if not found * factor <= value:  # nor where nothing is known: 0 times infinity
                    found = min(found, (yield from upper(i, resolution)))
                    if found > value:
                        worst, value = (i, i), found
                largest = max(largest, found)
            if last - first > 1 and not largest * factor <= value:
                middle = (first + last) // 2
                blocks += [(first, middle), (middle, last)]
        return worst


def _parts(block: Block, excess: float, steepness: float, width: int) -> list[Block]:
    """Return a block, `excess` nats of δ too high, in parts likely to be private if ln δ rises by `steepness`."""
    first, last = block
    size = last - first + 1
    wanted = size - excess / steepness if steepness > 0 else 0.0
    parts = min(max(2, math.ceil(size / max(0.8 * wanted, width + 1.0))), MOST_BLOCK_PARTS, size)
    edges = [first + size * k // parts for k in range(parts + 1)]
    return [(a, b - 1) for a, b in pairwise(edges)]


def _exp(value: float) -> float:
    return math.exp(value) if value < LARGEST_EXPONENT else math.inf


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -1e3


def _root(
    excess: Callable[[float], float], low: float, high: float, start: float, step: float, tolerance: float
) -> Steps[float]:
    """A root of a falling function in [low, high], or the end beyond which it lies, looked for from `start` on."""
    left = right = start
    if (yield from paused(excess, start)) > 0:
        while right < high and (yield from paused(excess, right)) > 0:
            left, right, step = right, min(right + step, high), 2 * step
    else:
        while left > low and (yield from paused(excess, left)) <= 0:
            left, right, step = max(left - step, low), left, 2 * step
    at_left = yield from paused(excess, left)
    at_right = yield from paused(excess, right)
    if (at_left > 0) == (at_right > 0):
        return left if left == low else right
    return (yield from root_in_steps(excess, left, right, tolerance))
