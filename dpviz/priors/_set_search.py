"""The search for the least prior with which the sum of M losses keeps a promise, over all pairs of neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from scipy.optimize import brentq

from dpviz.privacy.composition import Bracket, Losses, composed_delta

COARSE, FIRST, FINEST = 0.03, 0.01, 3e-5
"""Resolutions of a look, of the first solution and, times √M, of the finest."""

TOLERANCE = 1e-6
"""Relative width of a calibrated prior's bracket that is aimed at."""

MOST_FINE = 120
"""Blocks looked at closely before blocks are allowed to be wider."""


@dataclass(frozen=True)
class SetSearch:
    """The least α in [`low`, `high`] at which no pair of neighbours exceeds δ; `high` is private, less than `low` not.

    A block (a, b) of pairs stands for shared rows α + a and α + n − 1 − b, whose δ_M no pair a ≤ i ≤ b exceeds: more
    prior is never less private (`dpviz.synthesizers.prior`), and post-processing each of M sets post-processes all.
    The two directions of a pair are the pairs i and n − 1 − i, as the prior is symmetric.
    """

    pair: Callable[[float, float], Losses]
    n: int
    sets: int
    epsilon: float
    delta: float
    low: float
    high: float

    def at(self, alpha: float, block: tuple[int, int], resolution: float) -> Bracket:
        """Bounds on δ_M of the block's pair."""
        losses = self.pair(alpha + block[0], alpha + (self.n - 1 - block[1]))
        return composed_delta(losses, self.sets, self.epsilon, resolution)

    def bracket(self) -> Bracket:
        """Calibrate on the worst block known, then look for worse ones."""
        if not self.low < self.high < math.inf:
            return Bracket(self.low, self.high)
        guesses = sorted({0, (self.n - 1) // 2, self.n - 1})
        middle = math.sqrt(self.low * self.high)
        worst = max(guesses, key=lambda i: self.at(middle, (i, i), COARSE).upper)
        block: tuple[int, int] | None = (worst, worst)
        known: list[tuple[int, int]] = []
        lower, upper, width = self.low, self.low, 0
        while block is not None and upper < self.high:
            known.append(block)
            no, yes, resolution = self._calibrated(block, upper)
            lower, upper = max(lower, no), min(max(upper, yes * (1 + TOLERANCE / 4)), self.high)
            block, width = self._exceeding(upper, known, resolution, width)
        return Bracket(lower if lower > self.low else lower * (1 - 1e-6), upper)

    def _calibrated(self, block: tuple[int, int], low: float) -> tuple[float, float, float]:
        """A prior where the block's first pair is not private, one where the block is private, and the resolution."""
        target, floor, finest = math.log(self.delta), math.log(self.low), FINEST * math.sqrt(self.sets)
        bottom, top = math.log(low), math.log(self.high)

        def excess(t: float, resolution: float) -> float:
            return _log(self.at(math.exp(t), block, resolution).upper) - target

        def shortfall(t: float, resolution: float) -> float:
            return _log(self.at(math.exp(t), (block[0], block[0]), resolution).lower) - target

        t = _root(partial(excess, resolution=COARSE), bottom, top, top, 0.5, 1e-4)
        slope = max((excess(t - 0.01, COARSE) - excess(t + 0.01, COARSE)) / 0.02, 0.01)
        look = self.at(math.exp(t), block, FIRST)
        width = max(1 - look.lower / look.upper, 1e-12) if look.upper > 0 else 1.0
        resolution = min(max(FIRST * math.sqrt(TOLERANCE / 2 * slope / width), finest), FIRST)
        while True:
            for _ in range(4):
                move = excess(t, resolution) / slope
                t = min(max(t + move, bottom), top)
                if abs(move) < TOLERANCE / 2:
                    break
            else:
                t = _root(partial(excess, resolution=resolution), bottom, top, t, 1e-4, TOLERANCE / 10)
            yes, step = min(t + TOLERANCE / 10, top), TOLERANCE / 4
            while yes < top and excess(yes, resolution) > 0:
                yes, step = min(yes + step, top), 2 * step
            no = min(yes + shortfall(yes, resolution) / slope - TOLERANCE / 10, yes)
            step = TOLERANCE / 4
            while no > floor and shortfall(no, resolution) <= 0:
                no, step = no - step, 2 * step
            for _ in range(8):
                middle = (yes + no) / 2
                if yes - no < 2 * TOLERANCE:
                    break
                if shortfall(middle, resolution) > 0:
                    no = middle
                elif excess(middle, resolution) <= 0:
                    yes = middle
                else:
                    break
            if yes - no < 10 * TOLERANCE or resolution == finest:
                return math.exp(max(no, floor)), min(math.exp(yes), self.high), resolution
            resolution = max(resolution / 4, finest)

    def _exceeding(
        self, alpha: float, known: list[tuple[int, int]], resolution: float, width: int
    ) -> tuple[tuple[int, int] | None, int]:
        """The worst block of pairs, outside the known ones, that is not shown to be private with the prior α.

        Blocks are split until i differs by at most `width` in them, which is returned too, raised where too many tie.
        """
        width = max(width, math.floor(2 * TOLERANCE * alpha))
        while True:
            looks, worst, value = 0, None, self.delta
            blocks = [(0, self.n - 1)]
            while blocks and looks <= MOST_FINE:
                first, last = blocks.pop()
                if any(a <= first and last <= b for a, b in known):
                    continue
                if self.at(alpha, (first, last), COARSE).upper <= self.delta:
                    continue
                if last - first > width:
                    middle = (first + last) // 2
                    blocks += [(first, middle), (middle + 1, last)]
                    continue
                looks += 1
                found = self.at(alpha, (first, last), resolution).upper
                if found > value:
                    worst, value = (first, last), found
            if not blocks:
                return worst, width
            width = 2 * width + 1


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -1e3


def _root(
    excess: Callable[[float], float], low: float, high: float, start: float, step: float, tolerance: float
) -> float:
    """A root of a falling function in [low, high], or the end beyond which it lies, looked for from `start` on."""
    left = right = start
    if excess(start) > 0:
        while right < high and excess(right) > 0:
            left, right, step = right, min(right + step, high), 2 * step
    else:
        while left > low and excess(left) <= 0:
            left, right, step = max(left - step, low), left, 2 * step
    if (excess(left) > 0) == (excess(right) > 0):
        return left if left == low else right
    return float(brentq(excess, left, right, xtol=tolerance))
