"""Geometric noise, whole or cut off, and what its user makes of it; mixtures of two cut-off noises keep (ε, δ).

**Whole** (the geometric mechanism). No ε-private mechanism has a smaller squared error under any prior, whatever it
releases. Ghosh, Roughgarden & Sundararajan (2009) prove it for released counts; for numbers it follows so. The columns
c of a mechanism sum to 1 and lie in the cone c[x] ≤ e^ε c[x ± 1]. A column costs g(c) = min over y of
Σ_x prior[x] c[x] (y − x)², which is concave: the edges of the cone are enough, on which c rises or falls by e^ε at
every step. With G_z[x] = e^{−ε|x − z|}, such a c is Σ c[p] G_p over its peaks less Σ c[v] G_v over its valleys. If
g(c) is at least the same sum of g(G_z), the linear function that equals g at all G_z is nowhere above g, and its value
at 1 is the cost of the geometric mechanism.

By induction: let v be the last valley, q the peak after it, and c' fall on after v: c + c[v] G_v = c' + c[q] G_q. Let y
and z be the best numbers for c and G_v. If y ≤ z, take y for c' and z for G_q. The sum of the costs changes by
−Σ_{x > v} prior[x] (c[x] − c[v] G_v[x]) ((y − x)² − (z − x)²). Relative to G_v these weights grow with x, so that the
mean of x under them is at least z, and the change is not positive. If y > z, exchange them and argue in the mirror.

**Cut off.** Pr(z | x) ∝ e^{−ε|x − z|} for z − left ≤ x ≤ z + right, and 0 for other x; z may lie outside 0 … n. From x
to its neighbour no z loses more than the factor e^ε, except one that loses all: δ is the probability of that z. Source
for equal ends: Geng, Ding, Guo & Kumar (2020), "Tight analysis of privacy and utility tradeoff in approximate DP".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from dpviz.core.limits import MAX_OPTIMUM_ROWS
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray
from dpviz.privacy.trade_off import hull_corners

PEOPLE = argument("n", 1, MAX_OPTIMUM_ROWS, title="People", integer=True)


@dataclass(frozen=True)
class Mechanism:
    """Pr(column | x), computed on demand, the estimate of x in every column, and its squared error at every x."""

    channel: Callable[[], FloatArray]
    estimates: FloatArray
    errors: FloatArray


def geometric_channel(n: int, epsilon: float) -> FloatArray:
    """Matrix of x plus noise with Pr(d) ∝ e^{−ε|d|}, clamped to 0 … n; at ε = 0 a coin that knows nothing.

    >>> geometric_channel(1, math.log(3)).round(12).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    distances = np.abs(np.arange(n + 1)[:, None] - np.arange(n + 1)[None, :])
    with np.errstate(under="ignore", over="ignore"):
        return np.exp(-epsilon * distances) * _factors(n, epsilon)[None, :]


def geometric_means(weights: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Posterior means of x in the columns of `geometric_channel`, and their squared errors at every x, in O(n).

    >>> estimates, errors = geometric_means(np.array([0.5, 0.5]), math.log(3))
    >>> estimates.round(12).tolist(), errors.round(12).tolist()
    ([0.25, 0.75], [0.1875, 0.1875])
    """
    mass, first, _ = _moments(weights, epsilon)
    shifts = np.divide(first, mass, out=np.zeros_like(mass), where=mass > 0)
    estimates = np.clip(np.arange(float(len(weights))) + shifts, 0, len(weights) - 1)
    return estimates, geometric_errors(shifts, epsilon)


def geometric_errors(shifts: FloatArray, epsilon: float) -> FloatArray:
    """Expected squared error at every x if column z of `geometric_channel` is read as z + shifts[z]."""
    factors = _factors(len(shifts) - 1, epsilon)
    squares = _moments(factors * shifts**2, epsilon)[0]
    return squares + 2 * _moments(factors * shifts, epsilon)[1] + _moments(factors, epsilon)[2]


def _factors(n: int, epsilon: float) -> FloatArray:
    """What e^{−ε|x − z|} is multiplied by in column z: the ends hold the tails of the noise."""
    factors = np.full(n + 1, math.tanh(epsilon / 2))
    factors[[0, n]] = 1 / (1 + math.exp(-epsilon))
    return factors


def _moments(values: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Σ_z values[z] e^{−ε|z − x|} (z − x)^k at every x, for k = 0, 1, 2."""
    below = _lower_moments(values, epsilon)
    above = [moment[::-1] for moment in _lower_moments(values[::-1], epsilon)]
    return below[0] + above[0] - values, above[1] - below[1], below[2] + above[2]


def _lower_moments(values: FloatArray, epsilon: float) -> list[FloatArray]:
    """Σ_{z ≤ x} values[z] e^{−ε(x − z)} (x − z)^k at every x, for k = 0, 1, 2: each from the last."""
    moments = [_decayed_sum(values, epsilon)]
    for terms in (lambda: moments[0], lambda: moments[0] + 2 * moments[1]):
        moments.append(np.append(0.0, math.exp(-epsilon) * _decayed_sum(terms(), epsilon)[:-1]))
    return moments


def _decayed_sum(values: FloatArray, epsilon: float) -> FloatArray:
    """Σ_{z ≤ x} values[z] e^{−ε(x − z)} at every x, of twice as many terms after each step."""
    sums = values.copy()
    terms = 1
    with np.errstate(under="ignore"):
        while terms < len(values) and (factor := math.exp(-epsilon * terms)):
            sums[terms:] += factor * sums[:-terms]
            terms *= 2
    return sums


@dataclass(frozen=True)
class Noise:
    """The noise between `left` and `right`, for counts 0 … n; from n on nothing is cut off.

    >>> noise = Noise(4, 0.0, 1, 1)
    >>> noise.channel()[1].round(12).tolist(), round(noise.delta, 12)
    ([0.0, 0.333333333333, 0.333333333333, 0.333333333333, 0.0, 0.0, 0.0], 0.333333333333)
    """

    n: int
    epsilon: float
    left: int
    right: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is cut off: the geometric mechanism, clamped to 0 … n."""
        return min(self.left, self.right) >= self.n

    @cached_property
    def weights(self) -> FloatArray:
        """e^{−ε|d|} for d = −left … right, and the probabilities of z − x = d in the mirror."""
        return np.exp(-self.epsilon * np.abs(np.arange(-self.left, self.right + 1)))

    @property
    def delta(self) -> float:
        """δ of this noise and its mirror image, each in half of all cases."""
        return 0.0 if self.is_whole else float((self.weights[0] + self.weights[-1]) / 2 / self.weights.sum())

    @property
    def releases(self) -> FloatArray:
        """The z that are released."""
        return np.arange(0.0, self.n + 1) if self.is_whole else np.arange(-self.right, self.n + self.left + 1.0)

    def channel(self) -> FloatArray:
        """Pr(z | x), a row for each x."""
        if self.is_whole:
            return geometric_channel(self.n, self.epsilon)
        distances = np.arange(self.n + 1.0)[:, None] - self.releases
        with np.errstate(under="ignore"):
            chances = np.exp(-self.epsilon * np.abs(distances)) / self.weights.sum()
        return np.where((distances < -self.left) | (distances > self.right), 0.0, chances)

    def means(self, prior: FloatArray) -> tuple[FloatArray, float]:
        """Posterior mean of x for every z, and the Bayes risk."""
        if self.is_whole:
            estimates, errors = geometric_means(prior, self.epsilon)
            return estimates, float(prior @ errors)
        distances = np.arange(-self.left, self.right + 1.0)
        mass, first, second = (_convolve(prior, (self.weights * distances**k)[::-1], "full") for k in range(3))
        is_possible = mass > 0
        shifts = np.divide(first, mass, out=np.zeros_like(mass), where=is_possible)
        risk = np.sum(second - first * shifts, where=is_possible) / self.weights.sum()
        return np.clip(self.releases + shifts, 0, self.n), max(float(risk), 0.0)

    def errors(self, estimates: FloatArray) -> FloatArray:
        """Expected squared error at every x of these estimates, one for each z."""
        shifts = estimates - self.releases
        if self.is_whole:
            return geometric_errors(shifts, self.epsilon)
        chances = self.weights / self.weights.sum()
        distances = np.arange(-self.left, self.right + 1.0)  # x − z
        squares = _convolve(shifts**2, chances, "valid") - 2 * _convolve(shifts, chances * distances, "valid")
        return np.maximum(squares + chances @ distances**2, 0.0)


def _convolve(values: FloatArray, kernel: FloatArray, mode: Literal["full", "valid"]) -> FloatArray:
    from scipy.signal import fftconvolve  # takes long to import, and few need it

    # Shorter sums are taken one by one, so that the smallest probabilities are exact
    convolve = np.convolve if len(values) * len(kernel) <= 20_000_000 else fftconvolve
    return np.asarray(convolve(values, kernel, mode))


@dataclass(frozen=True)
class NoiseMixture:
    """Noises, each with its share of all cases, a skew one and its mirror image equally often.

    `slope` is by how much the Bayes risk falls for a unit of δ.
    """

    parts: tuple[tuple[float, Noise], ...]
    slope: float = 0.0

    def channel(self) -> FloatArray:
        """Pr(column | x): the releases of one noise after those of the other."""
        return np.hstack([share * noise.channel() for share, noise in self.parts])

    def means(self, prior: FloatArray) -> FloatArray:
        """Posterior mean of x in every column."""
        return np.concatenate([noise.means(prior)[0] for _, noise in self.parts])

    @property
    def releases(self) -> FloatArray:
        """The z of every column."""
        return np.concatenate([noise.releases for _, noise in self.parts])

    def split(self, columns: FloatArray) -> list[FloatArray]:
        """Values of all columns, by the noise that they belong to."""
        return np.split(columns, np.cumsum([len(noise.releases) for _, noise in self.parts])[:-1])

    def read(self, estimates: FloatArray) -> Mechanism:
        """The mechanism in which these estimates, one for each column, are what its user concludes."""
        pieces = zip(self.parts, self.split(estimates), strict=True)
        errors = np.sum([share * noise.errors(piece) for (share, noise), piece in pieces], axis=0)
        return Mechanism(self.channel, estimates, errors)


def best_mixture(n: int, epsilon: float, delta: float, prior: FloatArray) -> NoiseMixture:
    """Mixture of noises that keeps (ε, δ) and has the smallest Bayes risk under a prior.

    Risk and δ of a mixture are those of its parts in proportion: the best is on the convex hull from below of the
    points (δ, risk), which goes from the geometric mechanism to the release of x itself.

    With ε = 0 and δ = 1/2 every x is told together with one of its neighbours: the error is 1/2.

    >>> [(share, noise.left, noise.right) for share, noise in best_mixture(9, 0.0, 0.5, np.full(10, 0.1)).parts]
    [(0.5, 0, 1), (0.5, 1, 0)]
    """
    noises = [Noise(n, epsilon, n, n), *(Noise(n, epsilon, *ends) for ends in _tried_reaches(n, epsilon, delta))]
    points = sorted(((noise.delta, noise.means(prior)[1], noise) for noise in noises), key=lambda point: point[:2])
    deltas, risks = np.array([point[:2] for point in points]).T
    (falling,) = np.nonzero(np.append(True, risks[1:] < np.minimum.accumulate(risks)[:-1]))
    hull = [points[falling[index]] for index in hull_corners(deltas[falling], -risks[falling])]

    # The two noises between whose δ this one is
    index = next((index for index, point in enumerate(hull) if point[0] >= delta), len(hull) - 1)
    (smaller_delta, larger_risk, first), (larger_delta, smaller_risk, second) = hull[max(index - 1, 0)], hull[index]
    slope, share = 0.0, 1.0
    if larger_delta > smaller_delta:
        slope = (larger_risk - smaller_risk) / (larger_delta - smaller_delta)
        share = min((delta - smaller_delta) / (larger_delta - smaller_delta), 1.0)
    parts: list[tuple[float, Noise]] = []
    for weight, noise in ((1 - share, first), (share, second)):
        mirrored = Noise(n, epsilon, noise.right, noise.left)
        if weight > 0:
            parts += [(weight, noise)] if noise == mirrored else [(weight / 2, noise), (weight / 2, mirrored)]
    return NoiseMixture(tuple(parts), slope)


def noise_reach(epsilon: float, delta: float) -> float:
    """How far noise reaches whose probabilities fall by e^ε a step, to δ at its ends; ∞ without δ."""
    if delta == 0:
        return math.inf
    if epsilon == 0:
        return 1 / (2 * delta)
    # ln(1 + (e^ε − 1)/(2δ))/ε, for a large e^ε and a small ε too
    return 1 + math.log1p(-math.expm1(-epsilon) * (1 / (2 * delta) - 1)) / epsilon


def _tried_reaches(n: int, epsilon: float, delta: float) -> list[tuple[int, int]]:
    """How far to the left and the right the noises reach that are tried: about to where their δ is this."""
    best = math.floor(min(noise_reach(epsilon, delta), n))
    ends = {pair for reach in range(best - 2, best + 4) for pair in ((reach, reach), (reach - 1, reach))}
    return sorted({(0, 0), *(pair for pair in ends if min(pair) >= 0 and max(pair) < n)})
