"""Where the density of a mixture of neighbouring beta distributions turns.

With components Beta(a + k, b − k) and weights w_k the derivative is again such a sum,

    f'(p) ∝ Σ_k (w_k − w_{k−1}) p^(a + k − 2) (1 − p)^(b − k − 1) / (Γ(a + k − 1) Γ(b − k)),

a polynomial in the odds t = p / (1 − p) but for a positive factor. Its signs on a grid that is fine beside a component
show where it turns; two turns between neighbouring points would be a ripple far smaller than a component.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from dpviz.core.types import FloatArray, IntArray
from dpviz.inference._log_odds import SMALLEST_LOG

WEIGHT_NOISE = 1e-11  # Relative difference of neighbouring weights below which it is rounding
TO_DEVIATION = 4  # Points of the grid in a standard deviation of a component
TAIL_STEP = 1.5  # Width of the cells in log-odds beyond the even grid, where few terms matter
FEWEST_GRID_STEPS, MOST_ROOT_STEPS, ROOT_SETTLED = 64, 120, 1e-14
VALUE_ROUNDING = 1e-14  # Value of a function, about 1 in size, that is rounding


def angle_grid(size: float, to_deviation: int = 2) -> FloatArray:
    """Return points from 0 to 1, even in arcsin √p, so many to the standard deviation at a + b = `size`."""
    steps = max(FEWEST_GRID_STEPS, int(np.ceil(np.pi * to_deviation * np.sqrt(size))))
    grid: FloatArray = np.sin(np.linspace(0.0, np.pi / 2, steps + 1)) ** 2
    grid[-1] = 1.0
    return grid


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixtures:
    """Mixtures, one in each row of `weights`, of components Beta(a_k, b_k), a one up and b one down at each step."""

    first: FloatArray
    second: FloatArray
    weights: FloatArray

    @cached_property
    def steps(self) -> FloatArray:
        """Coefficients of the derivatives, without the Gamma functions, shape (mixtures, components + 1)."""
        w = self.weights
        steps = np.diff(w, axis=1, prepend=0.0, append=0.0)
        larger = np.maximum(w[:, 1:], w[:, :-1])
        steps[:, 1:-1][np.abs(steps[:, 1:-1]) <= WEIGHT_NOISE * larger] = 0.0
        steps[:, 0] *= np.sign(self.first[0] - 1)
        steps[:, -1] *= np.sign(self.second[-1] - 1)
        return steps

    @cached_property
    def log_factor(self) -> FloatArray:
        """ln 1 / |Γ(a_k − 1) Γ(b_k)|, −∞ where a factor has a pole, its largest value 0."""
        a, b = np.append(self.first, self.first[-1] + 1), np.append(self.second, self.second[-1] - 1)
        factor = -gammaln(a - 1) - gammaln(b)
        return factor - factor.max()

    @cached_property
    def _place(self) -> FloatArray:
        return np.arange(len(self.first) + 1.0)

    def _grid(self) -> FloatArray:
        """Return log-odds beyond whose ends the first, or last, coefficient outweighs all others."""
        with np.errstate(divide="ignore"):
            size = np.log(np.abs(self.steps)) + self.log_factor
        low, high = (
            np.clip(_beyond(part, np.sign(signs)), -700.0, 0.0)
            for part, signs in ((size, self.steps), (size[:, ::-1], self.steps[:, ::-1]))
        )
        inner = angle_grid(float(self.first[0] + self.second[0]), TO_DEVIATION)[1:-1]
        body = np.log(inner) - np.log1p(-inner)
        left = np.arange(body[0], low - TAIL_STEP, -TAIL_STEP)[:0:-1]
        right = np.arange(body[-1], -high + TAIL_STEP, TAIL_STEP)[1:]
        return np.concatenate([left, body, right])

    def turning_points(self) -> tuple[IntArray, FloatArray]:
        """Return the mixture and the log-odds of every turning point, in order of both."""
        grid, count = self._grid(), len(self.weights)
        found = np.sign(self.steps @ self._terms(grid).T).ravel()
        which, places = np.repeat(np.arange(count), len(grid)), np.tile(grid, count)
        keep = found != 0
        which, places, found = which[keep], places[keep], found[keep]
        (turns,) = np.nonzero((which[1:] == which[:-1]) & (found[1:] != found[:-1]))
        at, sign = which[turns], found[turns]

        def value(left: IntArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
            constant, slope = self._around(at[left], p)
            return constant * sign[left], slope * sign[left]

        return at, falling_roots(value, places[turns], places[turns + 1])

    def _terms(self, log_odds: FloatArray) -> FloatArray:
        """Return the factors of the coefficients at each of `log_odds`, the largest 1."""
        terms = log_odds[:, None] * self._place + self.log_factor
        terms -= terms.max(axis=1, keepdims=True)
        terms[terms < SMALLEST_LOG] = -np.inf
        return np.exp(terms, out=terms)

    def _around(self, rows: IntArray, log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sum of the terms, the largest 1 in size, and its slope about their center."""
        with np.errstate(divide="ignore", under="ignore"):
            terms = np.log(np.abs(self.steps[rows])) + log_odds[:, None] * self._place + self.log_factor
            size = np.exp(terms - terms.max(axis=1, keepdims=True))
        signed = size * np.sign(self.steps[rows])
        away = self._place - ((size @ self._place) / size.sum(axis=1))[:, None]
        return signed.sum(axis=1), (signed * away).sum(axis=1)


def falling_roots(
    value: Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]],
    low: FloatArray,
    high: FloatArray,
    start: FloatArray | None = None,
    last_step: float = ROOT_SETTLED,
) -> FloatArray:
    """Where functions that are positive at `low` and negative at `high` pass 0: Newton's rule inside their brackets.

    `value` gives values and slopes of the functions with these indices at these places. A step from x of no more than
    `last_step` max(|x|, 1) is the last: what is left is of the order of its square.
    """
    low, high = low.copy(), high.copy()
    x = (low + high) / 2
    if start is not None:
        x = np.where((low <= start) & (start < high), start, x)
    here = np.arange(len(x))
    for _ in range(MOST_ROOT_STEPS):
        if not len(here):
            break
        at = x[here]
        f, slope = value(here, at)
        low[here], high[here] = np.where(f >= 0, at, low[here]), np.where(f <= 0, at, high[here])
        with np.errstate(all="ignore"):
            goal = at - f / slope
        inside = (goal >= low[here]) & (goal <= high[here])
        x[here] = np.where(inside, goal, (low[here] + high[here]) / 2)
        scale = np.maximum(np.abs(at), 1.0)
        moved, left = np.abs(x[here] - at) > last_step * scale, high[here] - low[here] > ROOT_SETTLED * scale
        here = here[(np.abs(f) > VALUE_ROUNDING) & moved & left]
    return x


def _beyond(log_size: FloatArray, signs: FloatArray) -> float:
    """Log-odds below which the first coefficient of each row outweighs those of the other sign, term by term 2^−k."""
    first = np.argmax(signs != 0, axis=1)[:, None]
    away = np.arange(log_size.shape[1]) - first
    lead = np.take_along_axis(log_size, first, axis=1)
    opposite = signs * np.take_along_axis(signs, first, axis=1) < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.where(opposite, (lead - log_size) / np.maximum(away, 1), np.inf)
    return float(place.min()) - np.log(2)
