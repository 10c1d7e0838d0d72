"""Liu's (2016) releases of a posterior in bins: Algorithms 2, 3 and 4, where one person moves every bin."""

import math

import numpy as np
from scipy.special import betainc, betaincc, ndtr

from dpviz.audits.releases.noisy_counts import log_table_probability, one_draw
from dpviz.synthesizers.binned_posterior import ENDS, bin_log_ratios, bin_log_weights, log_density_bound
from dpviz.types import FloatArray, IntArray

NORMAL_BINS, HALF_WIDTH, PUBLIC_HALF_WIDTH = 20, 3.0, 4.0  # of a normal posterior, in its standard deviations
MIDDLES = (-1.85, -1.5, 0.0)  # of a pair whose single draws are compared; the worst found lie here
TWENTY = [0, 0, 2, 2, 2, 3, 3, 3, 3, 2, *[0] * 10]  # Draws in each bin


def sdd_loss(n: int, epsilon: float, sensitivity: float | None = None) -> float:
    """Return the exact ε of Algorithm 2: one bin by the exponential mechanism, by default with Proposition 3's 2A.

    A bin's weight is its posterior mass to the power ε/(2 sensitivity); what is the same in all bins cancels.

    >>> round(1 / sdd_loss(100, 1.0))
    396
    """
    power = epsilon / (2 * (sensitivity or 2 * log_density_bound(n)))
    return float(np.max(np.abs(np.diff(bin_log_weights(n, power), axis=0))))


def sanitized_histogram_loss(n: int, epsilon: float) -> float:
    """Return the exact ε of the whole sanitized histogram of Algorithm 3, as its number of draws grows.

    Every ln(share) of a bin gets noise of scale 2A/ε, which is enough for one of them.

    >>> round(sanitized_histogram_loss(10, 1.0), 1)
    3.6
    """
    return epsilon * float(np.max(np.abs(bin_log_ratios(n)).sum(axis=1))) / (2 * log_density_bound(n))


def draw_sdd_mc(n: int, ones: int, epsilon: float, kept: int, size: int, generator: np.random.Generator) -> IntArray:
    """Return `size` runs of Algorithm 3: the bin from which θ is drawn, from `kept` draws of the posterior each.

    A bin that no draw falls into has ln 0 and stays impossible whatever noise it gets.
    """
    above = betaincc(ones + 1, n - ones + 1, ENDS), -betainc(ones + 1, n - ones + 1, ENDS)
    masses = np.abs(np.diff(above[2 * ones > n]))
    counts = generator.multinomial(kept, masses / masses.sum(), size)
    noise = generator.laplace(0.0, 2 * log_density_bound(n) / epsilon, counts.shape)
    with np.errstate(divide="ignore"):
        # The bin with the largest sum of ln(weight) and a Gumbel variable is a draw in proportion to the weights.
        scores = np.log(counts) + noise + generator.gumbel(size=counts.shape)
    return np.argmax(scores, axis=1)


def normal_bins(mean: float, half_width: float = HALF_WIDTH) -> FloatArray:
    """Masses of the bins of a normal posterior in units of its standard deviation."""
    return np.diff(ndtr(np.linspace(-half_width, half_width, NORMAL_BINS + 1) - mean))


def sphc_scale(epsilon: float, half_width: float = HALF_WIDTH) -> float:
    """Noise of Algorithm 4 by Proposition 5, as a share of its number of draws: G h/ε, G the largest density."""
    return 2 * half_width / NORMAL_BINS / math.sqrt(2 * math.pi) / epsilon


def sphc_losses(shift: float, epsilon: float) -> tuple[float, float, float]:
    """Return the exact ε of the whole histogram of Algorithm 4, and what was found in one draw from it and in twenty.

    One row shifts the mean of the posterior by so many of its standard deviations. The two means lie evenly about the
    middle; those of a single draw lie about a few places, and twenty draws fall on the likelier side.

    >>> round(sphc_losses(0.8, 1.0)[0], 2)
    5.12
    """
    scale = sphc_scale(epsilon)

    def bins(middle: float) -> tuple[FloatArray, FloatArray]:
        return normal_bins(middle - shift / 2), normal_bins(middle + shift / 2)

    low, high = bins(0.0)
    draws = [np.log([one_draw(one.tolist(), scale) for one in bins(middle)]) for middle in MIDDLES]
    twenty = [log_table_probability(one.tolist(), TWENTY, scale) for one in (low, high)]
    whole, one = float(np.abs(low - high).sum()) / scale, float(np.abs(np.diff(draws, axis=1)).max())
    return whole, one, abs(twenty[0] - twenty[1])


def standardized_delta(shift: float, epsilon: float) -> float:
    """Return the probability with which a standardized draw, put back in place by the private mean, tells two apart.

    The draw lies within 4 standard deviations of the private mean; where that mean moves by `shift` of them, this much
    of it lies where the other can never be, whatever ε is allowed.

    >>> round(standardized_delta(0.8, 1.0), 2)
    0.07
    """
    masses = one_draw(normal_bins(0.0, PUBLIC_HALF_WIDTH).tolist(), sphc_scale(epsilon, PUBLIC_HALF_WIDTH))
    inside = min(shift / (2 * PUBLIC_HALF_WIDTH), 1.0) * NORMAL_BINS
    return float(np.interp(inside, np.arange(NORMAL_BINS + 1), np.concatenate([[0.0], np.cumsum(masses)])))
