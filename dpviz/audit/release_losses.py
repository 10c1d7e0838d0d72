"""The real ε of the methods of Bowen & Liu (2016) and Liu (2016), when a row is substituted and n is public."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, gammaln, ndtr, ndtri

from dpviz.core import limits
from dpviz.core.declarations import DELTA, EPSILON, ROWS, SETS
from dpviz.core.formatting import format_number, round_down
from dpviz.core.parameters import argument, parameter, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import LaplaceSanitizer, Modips, ModipsTruncated, TwoCellSynthesizer
from dpviz.mechanisms.binned_posterior import BIN_ENDS, bin_log_ratios, bin_log_weights, log_density_bound
from dpviz.privacy import histograms
from dpviz.privacy.divergence import pure_epsilon
from dpviz.privacy.empirical import empirical_epsilon
from dpviz.privacy.laplace_noise import event_loss, no_ones
from dpviz.privacy.noisy_counts import log_table_probability, one_draw
from dpviz.privacy.real_loss import Loss

MIN_SET_EPSILON = 5e-7  # more noise than that has no digits left
MIXTURE_STATISTICS = 6  # statistics that share the budget of one set in study 3 of Bowen & Liu (2016)
SIMULATED_DRAWS, CONFIDENCE = 8_000, 0.999  # of Algorithm 3 from each of two neighbours, and of what they show
POSTERIOR_DRAWS = 1_000  # behind each histogram of Algorithm 3
SIMULATED_SAMPLES, AUDIT_SEED = 200, 1
NORMAL_BINS, HALF_WIDTH, PUBLIC_HALF_WIDTH = 20, 3.0, 4.0  # of a normal posterior, in its standard deviations
PAIR_MIDDLES = (-1.85, -1.5, 0.0)  # of pairs whose draws are compared, the worst found; the whole one is the last
TWENTY_DRAWS = [0, 0, 2, 2, 2, 3, 3, 3, 3, 2, *[0] * 10]  # draws in each bin
BOUND = argument("bound", -limits.MAX_RELEASE_NUMBER, limits.MAX_RELEASE_NUMBER)
BINS = argument("bins", 2, limits.MAX_RELEASE_BINS, title="bins or cells", integer=True)


@dataclass(frozen=True, kw_only=True)
class ReleaseSetting(ParameterRecord):
    """What the methods are compared at: n public rows, ε for all sets, bounds in standard deviations of the data.

    >>> ReleaseSetting(n=100, epsilon=1.0).width
    8.0
    """

    sigma: ClassVar[float] = 1.0

    n: int = parameter(ROWS, minimum=4)
    epsilon: float = parameter(EPSILON, minimum=1e-5, maximum=150.0)
    delta: float = parameter_with_default(DELTA)  # of the Gaussian and of the Poisson mechanism
    sets: int = parameter_with_default(SETS, title="synthetic data sets", default=10)
    bins: int = parameter_with_default(BINS, default=10)
    cell: int = parameter_with_default(ROWS, name="cell", title="rows in the smallest cell", minimum=2, default=7)
    draws: int = parameter_with_default(SETS, name="draws", title="draws from one sanitized posterior", default=10)
    lower: float = parameter_with_default(BOUND, name="lower", title="lower bound of the data", default=-4.0)
    upper: float = parameter_with_default(BOUND, name="upper", title="upper bound of the data", default=4.0)

    def check(self) -> None:
        if not 0 < self.delta < 1:
            delta = format_number(self.delta)
            raise ValueError(f"delta (allowed failure) must be a number between 0 and 1; got {delta}.")
        if self.upper <= self.lower:
            raise ValueError(f"upper (upper bound of the data) must be above lower; got {format_number(self.upper)}.")
        if self.set_epsilon < MIN_SET_EPSILON:
            allowed = f"epsilon must be at least {format_number(MIN_SET_EPSILON)} for each set"
            raise ValueError(f"{allowed}; got {format_number(self.set_epsilon)} for each of {self.sets}.")
        if self.cell > self.n:
            raise ValueError(f"cell (rows in the smallest cell) must be at most n = {self.n:,}; got {self.cell:,}.")

    @property
    def width(self) -> float:
        """Distance between the bounds."""
        return self.upper - self.lower

    @property
    def set_epsilon(self) -> float:
        """Share of ε that each set receives."""
        return self.epsilon / self.sets


def laplace_count_loss(n: int, epsilon: float) -> float:
    """Laplace(1/ε) on one count of n."""
    return pure_epsilon(LaplaceSanitizer(n=n, epsilon=epsilon))


def minimal_prior_loss(synthesizer_type: type[TwoCellSynthesizer], n: int, epsilon: float) -> float:
    """n rows from n under the smallest prior that keeps ε."""
    alpha = synthesizer_type.smallest_alpha(m=n, epsilon=epsilon)
    return pure_epsilon(synthesizer_type(n=n, m=n, alpha=alpha, beta=alpha))  # type: ignore[call-arg]


def exponential_loss(setting: ReleaseSetting, has_sequences: bool) -> float:
    """The exponential mechanism, the score minus |x − y|/n, over the n + 1 tables or all sequences of zeros and ones.

    ε/2 is from the score and the rest from the normalizing sums, which both sides of y = x change alike. The matrix of
    `ExponentialMechanism` has the same loss; here n rows are summed from both ends, so that n may be larger.
    """
    half, y = setting.epsilon / 2, np.arange(setting.n + 1)
    scores, log_ways = half * y, 0.0 * y
    if has_sequences:
        log_ways = gammaln(setting.n + 1) - gammaln(y + 1) - gammaln(setting.n - y + 1)
    up_to = np.logaddexp.accumulate(log_ways + scores) - scores
    down_to = np.logaddexp.accumulate((log_ways - scores)[::-1])[::-1] + scores
    log_sums = np.logaddexp(up_to, np.append(down_to[1:], -np.inf) - half)
    return half + float(np.max(np.abs(np.diff(log_sums))))


def cell_mean_budget(setting: ReleaseSetting) -> float:
    """What one cell mean is promised: one of six statistics in each of M sets."""
    return setting.set_epsilon / MIXTURE_STATISTICS


def clipped_cell_mean_loss(setting: ReleaseSetting) -> float:
    """A row leaves the cell, so that the scale of the noise, R/(n ε), changes with the mean."""
    return cell_mean_budget(setting) * (1 - 1 / setting.cell) - math.log1p(-1 / setting.cell)


def proportion_loss(setting: ReleaseSetting, is_truncated: bool, is_nested: bool = False) -> float:
    """Sets of zeros and ones from one noisy count, one or all nested ones: one from its matrix as far as that goes."""
    draws = setting.draws if is_nested else 1
    if draws == 1 and setting.n <= limits.MAX_ROWS_OF_TABLE:
        return setting.sets * _modips_loss(setting.n, setting.set_epsilon, is_truncated)
    return setting.sets * event_loss(no_ones(setting.n, draws), setting.set_epsilon, is_truncated)


@lru_cache(maxsize=1024)
def _modips_loss(n: int, epsilon: float, is_truncated: bool) -> float:
    return pure_epsilon((ModipsTruncated if is_truncated else Modips)(n=n, m=n, epsilon=epsilon))


def perturbed_public_loss(setting: ReleaseSetting) -> Loss:
    """The noisy counts lose 2ε, the rows drawn from them at least what was found."""
    set_loss = histograms.perturbed_rows_loss(setting.n, setting.bins, setting.set_epsilon)
    return Loss(setting.sets * set_loss, 2 * setting.epsilon)


def perturbed_scott_loss(setting: ReleaseSetting) -> Loss:
    """One row among equal ones, at the end of the range or halfway: the histograms have different numbers of bins."""
    halfway, far = (np.array([*[0.0] * (setting.n - 1), place]) for place in (0.5, 1.0))
    if histograms.scott_bins(halfway, 0.0, 1.0) == histograms.scott_bins(far, 0.0, 1.0):
        return Loss(perturbed_public_loss(setting).at_least, math.inf)
    return Loss(math.inf, math.inf, delta=1.0, note=_samples_that_differ(setting))


def smoothed_scott_loss(setting: ReleaseSetting) -> Loss:
    """The worst pair that was found."""
    n, low, high, epsilon = setting.n, setting.lower, setting.upper, setting.epsilon
    worst, note = histograms.smoothed_worst(n, epsilon), ""
    is_inside = low < 0 < high
    typical = histograms.smoothed_typical(n, low, high, epsilon, 40, AUDIT_SEED) if is_inside else np.empty(0)
    if len(typical):
        worst, median = max(worst, float(typical[-1])), format_number(float(np.median(typical)), 2)
        note = f"For normal data that have such a neighbour it is typically {median}. {_samples_that_differ(setting)}"
    return Loss(worst, histograms.smoothed_bound(n, epsilon), note=note)


def _samples_that_differ(setting: ReleaseSetting) -> str:
    if not setting.lower < 0 < setting.upper:
        return ""
    share = histograms.scott_share(setting.n, setting.lower, setting.upper, SIMULATED_SAMPLES, AUDIT_SEED)
    return (
        f"Of {SIMULATED_SAMPLES} simulated normal samples, {format_number(100 * share.value, 3)} % "
        f"(standard error {format_number(100 * share.error, 2)}) have a neighbour with another number of bins."
    )


def binned_posterior_loss(setting: ReleaseSetting) -> Loss:
    """Algorithm 2 in each of M sets."""
    loss = setting.sets * sdd_loss(setting.n, setting.set_epsilon)
    return Loss.exactly(loss, f"It uses 1/{format_number(setting.epsilon / loss, 3)} of its budget.")


def nested_binned_posterior_loss(setting: ReleaseSetting) -> float:
    """Algorithm 2 with the true sensitivity, once for each draw in each of M sets."""
    sensitivity = float(np.abs(bin_log_ratios(setting.n)).max())
    return setting.sets * setting.draws * sdd_loss(setting.n, setting.set_epsilon, sensitivity)


@lru_cache(maxsize=1024)
def sampled_posterior_loss(setting: ReleaseSetting) -> Loss:
    """Algorithm 3: its sanitized histogram exactly, where its draws are many, and simulated single draws."""

    def draw(ones: int, generator: np.random.Generator, size: int) -> IntArray:
        return draw_sdd_mc(setting.n, ones, setting.set_epsilon, POSTERIOR_DRAWS, size, generator)

    histogram = sanitized_histogram_loss(setting.n, setting.set_epsilon)
    drawn = empirical_epsilon(draw, 0, 1, np.random.default_rng(AUDIT_SEED), SIMULATED_DRAWS, CONFIDENCE).at_least
    note = f"The sanitized histogram alone would cost {format_number(setting.sets * histogram, 3)}."
    if drawn > 0:
        note += (
            f" {SIMULATED_DRAWS:,} simulated draws from each of two neighbours show that one set loses at least "
            f"{format_number(round_down(drawn, 2), 2)} (confidence {100 * CONFIDENCE:g} %)."
        )
    return Loss(setting.sets * max(histogram, drawn), math.inf, note=note)


def posterior_histogram_loss(setting: ReleaseSetting) -> Loss:
    """Algorithm 4: its sanitized histogram exactly, and what was found in draws from it."""
    losses = sphc_losses(posterior_shift(setting), setting.set_epsilon)
    whole, single, twenty = (setting.sets * loss for loss in losses)
    shown = format_number(single, 2), format_number(twenty, 2)
    note = f"A single draw from it in each set shows {shown[0]} or more, twenty draws {shown[1]} or more."
    return Loss.exactly(whole, note)


def posterior_shift(setting: ReleaseSetting) -> float:
    """How far one row moves the posterior mean of N(μ, 1) data, R/n, in its standard deviations, 1/√n."""
    return setting.width / math.sqrt(setting.n)


def gaussian_probabilistic_loss(setting: ReleaseSetting) -> Loss:
    """The ε beyond which the loss of one pair, N(±r²/2, r²), lies with probability δ."""
    z = -float(ndtri(setting.delta / 2))
    ratio = 2 * setting.epsilon / (math.sqrt(z * z + 2 * setting.epsilon) + z)

    def excess_probability(loss: float) -> float:
        return float(ndtr(ratio / 2 - loss / ratio) + ndtr(-ratio / 2 - loss / ratio))

    exact = float(brentq(lambda loss: excess_probability(loss) - setting.delta, 0.0, setting.epsilon, rtol=1e-15))
    beyond = format_number(excess_probability(setting.epsilon), 2)
    return Loss.exactly(exact, f"The loss is larger with probability {beyond}.")


def sdd_loss(n: int, epsilon: float, sensitivity: float | None = None) -> float:
    """Exact ε of Algorithm 2: one bin by the exponential mechanism, by default with Proposition 3's 2A.

    A bin's weight is its posterior mass to the power ε/(2 sensitivity); what is the same in all bins cancels.

    >>> round(1 / sdd_loss(100, 1.0))
    396
    """
    power = epsilon / (2 * (sensitivity or 2 * log_density_bound(n)))
    return float(np.max(np.abs(np.diff(bin_log_weights(n, power), axis=0))))


def sanitized_histogram_loss(n: int, epsilon: float) -> float:
    """Exact ε of the whole sanitized histogram of Algorithm 3, as its number of draws grows.

    Every ln(share) of a bin gets noise of scale 2A/ε, which is enough for one of them.

    >>> round(sanitized_histogram_loss(10, 1.0), 1)
    3.6
    """
    return epsilon * float(np.max(np.abs(bin_log_ratios(n)).sum(axis=1))) / (2 * log_density_bound(n))


def draw_sdd_mc(n: int, ones: int, epsilon: float, draws: int, size: int, generator: np.random.Generator) -> IntArray:
    """`size` runs of Algorithm 3: the bin from which θ is drawn, from `draws` of the posterior each.

    A bin that no draw falls into has ln 0 and stays impossible whatever noise it gets.
    """
    tails = betaincc(ones + 1, n - ones + 1, BIN_ENDS), -betainc(ones + 1, n - ones + 1, BIN_ENDS)
    masses = np.abs(np.diff(tails[2 * ones > n]))
    counts = generator.multinomial(draws, masses / masses.sum(), size)
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
    """Exact ε of the whole histogram of Algorithm 4, and what was found in one draw from it and in twenty.

    One row shifts the mean of the posterior by so many of its standard deviations. The two means lie evenly about the
    middle; those of a single draw lie about a few places, and twenty draws fall on the likelier side.

    >>> round(sphc_losses(0.8, 1.0)[0], 2)
    5.12
    """
    scale = sphc_scale(epsilon)
    pairs = [[normal_bins(middle + side * shift / 2) for side in (-1, 1)] for middle in PAIR_MIDDLES]
    whole = float(np.abs(np.subtract(*pairs[-1])).sum()) / scale
    draws = [np.log([one_draw(masses.tolist(), scale) for masses in pair]) for pair in pairs]
    first, second = (log_table_probability(masses.tolist(), TWENTY_DRAWS, scale) for masses in pairs[-1])
    return whole, float(np.abs(np.diff(draws, axis=1)).max()), abs(first - second)


def standardized_delta(shift: float, epsilon: float) -> float:
    """Probability with which a standardized draw, put back in place by the private mean, tells two apart.

    The draw lies within 4 standard deviations of the private mean; where that mean moves by `shift` of them, this much
    of it lies where the other can never be, whatever ε is allowed.

    >>> round(standardized_delta(0.8, 1.0), 2)
    0.07
    """
    masses = one_draw(normal_bins(0.0, PUBLIC_HALF_WIDTH).tolist(), sphc_scale(epsilon, PUBLIC_HALF_WIDTH))
    inside = min(shift / (2 * PUBLIC_HALF_WIDTH), 1.0) * NORMAL_BINS
    return float(np.interp(inside, np.arange(NORMAL_BINS + 1), np.concatenate([[0.0], np.cumsum(masses)])))
