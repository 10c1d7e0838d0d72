"""Geometric noise that is cut off, and what its user makes of it: mixtures of two such noises keep (ε, δ).

Pr(z | x) ∝ e^{−ε|x − z|} for z − left ≤ x ≤ z + right, and 0 for other x; z may lie outside 0 … n. From x to its
neighbour no z loses more than the factor e^ε, except one that loses all: δ is the probability of that z. Source for
equal ends: Geng, Ding, Guo & Kumar (2020), "Tight analysis of privacy and utility tradeoff in approximate DP".
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.optimum import _geometric

DIRECT = 20_000_000  # Products up to which sums are taken one by one, so that the smallest probabilities are exact
TRIED = 24  # Reaches between 1 and n that are tried besides those next to the best one without ends
FEW_COUNTS, SHARP = 2_000, 30.0  # n up to which they are, and ε times reach from which larger n gain nothing by an end


@dataclass(frozen=True)
class Noise:
    """The noise between `left` and `right`, for counts 0 … n; from n on nothing is cut off.

    >>> noise = Noise(4, 0.0, 1, 1)
    >>> noise.channel()[1].round(12).tolist(), round(noise.lost, 12)
    ([0.0, 0.333333333333, 0.333333333333, 0.333333333333, 0.0, 0.0, 0.0], 0.333333333333)
    """

    n: int
    epsilon: float
    left: int
    right: int

    @property
    def whole(self) -> bool:
        """Whether nothing is cut off: the geometric mechanism, clamped to 0 … n."""
        return min(self.left, self.right) >= self.n

    @property
    def mirrored(self) -> "Noise":
        """The same noise in the other direction."""
        return Noise(self.n, self.epsilon, self.right, self.left)

    @cached_property
    def weights(self) -> FloatArray:
        """e^{−ε|d|} for d = −left … right, and the probabilities of z − x = d in the mirror."""
        return np.exp(-self.epsilon * np.abs(np.arange(-self.left, self.right + 1)))

    @property
    def lost(self) -> float:
        """δ of this noise and its mirror image, each in half of all cases."""
        return 0.0 if self.whole else float((self.weights[0] + self.weights[-1]) / 2 / self.weights.sum())

    @property
    def releases(self) -> FloatArray:
        """The z that are released."""
        return np.arange(0.0, self.n + 1) if self.whole else np.arange(-self.right, self.n + self.left + 1.0)

    def channel(self) -> FloatArray:
        """Pr(z | x), a row for each x."""
        if self.whole:
            return _geometric.channel(self.n, self.epsilon)
        distances = np.arange(self.n + 1.0)[:, None] - self.releases
        with np.errstate(under="ignore"):
            chances = np.exp(-self.epsilon * np.abs(distances)) / self.weights.sum()
        chances[(distances < -self.left) | (distances > self.right)] = 0.0
        return np.asarray(chances)

    def means(self, prior: FloatArray) -> tuple[FloatArray, float]:
        """Return the posterior mean of x for every z, and the Bayes risk."""
        if self.whole:
            estimates, errors = _geometric.means_and_errors(prior, self.epsilon)
            return estimates, float(prior @ errors)
        mass, first, second = (self._sums(prior, power) for power in range(3))
        heard = mass > 0
        shifts = np.divide(first, mass, out=np.zeros_like(mass), where=heard)
        risk = np.sum(second - first * shifts, where=heard) / self.weights.sum()
        return np.clip(self.releases + shifts, 0, self.n), max(float(risk), 0.0)

    def errors(self, estimates: FloatArray) -> FloatArray:
        """Return the expected squared error at every x of these estimates, one for each z."""
        from scipy.signal import fftconvolve  # it takes long to load, and few ask for it

        shifts = estimates - self.releases
        if self.whole:
            return _geometric.errors_of_shifts(shifts, self.epsilon)
        chances, distances = self.weights[::-1] / self.weights.sum(), np.arange(-self.right, self.left + 1.0)
        near = np.convolve if len(shifts) * len(chances) <= DIRECT else fftconvolve
        found = near(shifts**2, chances[::-1], "valid") + 2 * near(shifts, (chances * distances)[::-1], "valid")
        return np.maximum(np.asarray(found) + chances @ distances**2, 0.0)

    def _sums(self, values: FloatArray, power: int) -> FloatArray:
        """Return Σ_d values[z + d] e^{−ε|d|} d^power for every z."""
        from scipy.signal import fftconvolve  # it takes long to load, and few ask for it

        kernel = (self.weights * np.arange(-self.left, self.right + 1.0) ** power)[::-1]
        near = np.convolve if len(values) * len(kernel) <= DIRECT else fftconvolve
        return np.asarray(near(values, kernel, "full"))


@dataclass(frozen=True)
class NoiseMixture:
    """Noises, each with its share of all cases, a skew one and its mirror image equally often."""

    parts: tuple[tuple[float, Noise], ...]
    slope: float = 0.0
    """By how much its Bayes risk falls for a unit of δ."""

    def channel(self) -> FloatArray:
        """Pr(column | x): the releases of one noise after those of the other."""
        return np.hstack([share * noise.channel() for share, noise in self.parts])

    def means(self, prior: FloatArray) -> FloatArray:
        """The posterior mean of x in every column."""
        return np.concatenate([noise.means(prior)[0] for _, noise in self.parts])

    @property
    def releases(self) -> FloatArray:
        """The z of every column."""
        return np.concatenate([noise.releases for _, noise in self.parts])

    @property
    def ends(self) -> IntArray:
        """Where the columns of the second part begin, and of those after it."""
        return np.cumsum([len(noise.releases) for _, noise in self.parts])[:-1]

    def errors(self, estimates: FloatArray) -> FloatArray:
        """The expected squared error at every x of these estimates, one for each column."""
        pieces = zip(self.parts, np.split(estimates, self.ends), strict=True)
        return reduce(np.add, (share * noise.errors(piece) for (share, noise), piece in pieces))


_Point = tuple[float, float, Noise]  # δ, Bayes risk, and the noise that has them


def best_mixture(n: int, epsilon: float, delta: float, prior: FloatArray) -> NoiseMixture:
    """Return the mixture of noises that keeps (ε, δ) and has the smallest Bayes risk.

    Risk and δ of a mixture are those of its parts in proportion: the best is on the convex hull from below of the
    points (δ, risk), which goes from the geometric mechanism to the release of x itself.

    With ε = 0 and δ = 1/2 every x is told together with one of its neighbours: the error is 1/2.

    >>> [(share, noise.left, noise.right) for share, noise in best_mixture(9, 0.0, 0.5, np.full(10, 0.1)).parts]
    [(0.5, 0, 1), (0.5, 1, 0)]
    """
    noises = [Noise(n, epsilon, n, n), *(Noise(n, epsilon, *ends) for ends in reaches(n, epsilon, delta))]
    points = [(one.lost, one.means(prior)[1], one) for one in noises]
    (less, high, first), (more, low, second) = _on_hull(points, delta)
    slope, part = (
        ((high - low) / (more - less), min((delta - less) / (more - less), 1.0)) if more > less else (0.0, 1.0)
    )
    parts = list[tuple[float, Noise]]()
    for share, noise in ((1 - part, first), (part, second)):
        if share > 0:
            skew = noise.left != noise.right
            parts += [(share / 2, noise), (share / 2, noise.mirrored)] if skew else [(share, noise)]
    return NoiseMixture(tuple(parts), slope)


def reaches(n: int, epsilon: float, delta: float) -> list[tuple[int, int]]:
    """Return how far to the left and the right the noises reach that are tried."""
    best = math.floor(min(reach(epsilon, delta), n))
    if n > FEW_COUNTS and epsilon * best > SHARP:
        return [(0, 0)]
    tried = {
        *range(best - 2, best + 4),
        *(np.rint(np.geomspace(1, n, TRIED)).astype(int).tolist() if n <= FEW_COUNTS else ()),
    }
    ends = {pair for one in tried for pair in ((one, one), (one - 1, one)) if min(pair) >= 0 and max(pair) < n}
    return sorted({(0, 0), *ends})


def reach(epsilon: float, delta: float) -> float:
    """Return how far noise reaches whose probabilities fall by e^ε a step, to δ at its ends; infinite without δ."""
    if delta == 0:
        return math.inf
    if epsilon == 0:
        return 1 / (2 * delta)
    # ln(1 + (e^ε − 1)/(2δ))/ε where e^ε is not too large for a number, and ε not too small beside 1
    return 1 + math.log1p(-math.expm1(-epsilon) * (1 / (2 * delta) - 1)) / epsilon


def _on_hull(points: Iterable[_Point], delta: float) -> tuple[_Point, _Point]:
    """Return the two noises between whose δ this one is, or one twice, on the convex hull from below."""
    hull: list[_Point] = []
    for one in sorted(points, key=lambda point: point[:2]):
        if hull and one[1] >= hull[-1][1]:
            continue
        while len(hull) > 1:
            (low, first, _), (middle, height, _) = hull[-2:]
            if (height - first) * (one[0] - low) < (one[1] - first) * (middle - low):
                break  # the middle one is below the line between the others
            hull.pop()
        hull.append(one)
    after = next((place for place, one in enumerate(hull) if one[0] >= delta), len(hull) - 1)
    return hull[max(after - 1, 0)], hull[after]
