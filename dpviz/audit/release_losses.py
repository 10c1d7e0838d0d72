"""The real ε of printed methods of release, when a row is substituted and n is public."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, ndtr, ndtri

from dpviz.audit.poisson_losses import poisson_count_loss, poisson_promise, poisson_table_loss
from dpviz.comparisons import ComparedMethod
from dpviz.comparisons import numeric_releases as numeric
from dpviz.core import limits
from dpviz.core.declarations import DELTA, EPSILON, ROWS, SETS
from dpviz.core.formatting import format_number, round_down
from dpviz.core.parameters import argument, parameter, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import BetaBinomial, LaplaceCells, LaplaceSanitizer, Modips, ModipsTruncated, PosteriorMean
from dpviz.mechanisms.binned_posterior import BIN_ENDS, bin_log_ratios, bin_log_weights, log_density_bound
from dpviz.privacy import histograms
from dpviz.privacy.divergence import pure_epsilon
from dpviz.privacy.empirical import empirical_epsilon
from dpviz.privacy.gaussian import gaussian_epsilon
from dpviz.privacy.laplace_noise import bounded_laplace_loss, event_loss, no_ones, truncated_factor
from dpviz.privacy.noisy_counts import log_table_probability, one_draw
from dpviz.privacy.real_loss import Loss

MIN_SET_EPSILON = 5e-7  # more noise than that has no digits left
SIMULATED_DRAWS, CONFIDENCE = 8_000, 0.999  # of Algorithm 3 from each of two neighbours, and of what they show
POSTERIOR_DRAWS = 1_000  # behind each histogram of Algorithm 3
SIMULATED_SAMPLES, AUDIT_SEED = 200, 1
NORMAL_BINS, HALF_WIDTH, PUBLIC_HALF_WIDTH = 20, 3.0, 4.0  # of a normal posterior, in its standard deviations
PAIR_MIDDLES = (-1.85, -1.5, 0.0)  # of pairs whose draws are compared, the worst found; the whole one is the last
TWENTY_DRAWS = [0, 0, 2, 2, 2, 3, 3, 3, 3, 2, *[0] * 10]  # draws in each bin
FAILURE = replace(
    DELTA, minimum=math.ulp(0.0), maximum=math.nextafter(1.0, 0.0), domain_text="a number between 0 and 1"
)
BOUND = argument("bound", -1e6, 1e6)
BINS = argument("bins", 2, 200, title="bins or cells", integer=True)


@dataclass(frozen=True, kw_only=True)
class ReleaseSetting(ParameterRecord):
    """What the methods are compared at: n public rows, ε for all sets, bounds in standard deviations of the data.

    >>> ReleaseSetting(n=100, epsilon=1.0).width
    8.0
    """

    sigma: ClassVar[float] = 1.0

    n: int = parameter(ROWS, minimum=4)
    epsilon: float = parameter(EPSILON, minimum=1e-5, maximum=150.0)
    delta: float = parameter_with_default(FAILURE)  # of the Gaussian and of the Poisson mechanism
    sets: int = parameter_with_default(SETS, title="synthetic data sets", default=10)
    bins: int = parameter_with_default(BINS, default=10)
    cell: int = parameter_with_default(ROWS, name="cell", title="rows in the smallest cell", minimum=2, default=7)
    draws: int = parameter_with_default(SETS, name="draws", title="draws from one sanitized posterior", default=10)
    lower: float = parameter_with_default(BOUND, name="lower", title="lower bound of the data", default=-4.0)
    upper: float = parameter_with_default(BOUND, name="upper", title="upper bound of the data", default=4.0)

    def check(self) -> None:
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


# Counts


def _laplace_count_loss(n: int, epsilon: float) -> float:
    return pure_epsilon(LaplaceSanitizer(n=n, epsilon=epsilon))


def _minimal_prior_loss(synthesizer_type: type[BetaBinomial | PosteriorMean], n: int, epsilon: float) -> float:
    """n rows from n under the smallest prior that keeps ε."""
    alpha = synthesizer_type.smallest_alpha(m=n, epsilon=epsilon)
    return pure_epsilon(synthesizer_type(n=n, m=n, alpha=alpha, beta=alpha))


def _exponential_loss(epsilon: float, ones_probability: float) -> float:
    """The exponential mechanism, the score minus |x − y|/n, by the probability of any ones if there are none.

    The score takes ε/2. The normalizing sum S(x) is a convolution of log-concave sequences, so that neighbours differ
    most at an end, by S(1)/S(0) = e^{−ε/2} (1 + (e^ε − 1) Pr(y > 0 | x = 0)).
    """
    return math.log1p(ones_probability * math.expm1(epsilon))


def _cell_mean_budget(at: ReleaseSetting) -> float:
    """What one cell mean is promised in study 3 of Bowen & Liu (2016): one of six statistics in each of M sets."""
    return at.set_epsilon / 6


def clipped_cell_mean_loss(at: ReleaseSetting) -> float:
    """A row leaves the cell, so that the scale of the noise, R/(n ε), changes with the mean; ε at a bound at least."""
    budget = _cell_mean_budget(at)
    return max(budget, budget * (1 - 1 / at.cell) - math.log1p(-1 / at.cell))


def _proportion_loss(at: ReleaseSetting, is_truncated: bool, is_nested: bool = False) -> float:
    """Sets of zeros and ones from one noisy count, one or all nested ones: one from its matrix as far as that goes."""
    draws = at.draws if is_nested else 1
    if draws == 1 and at.n <= limits.MAX_ROWS_OF_TABLE:
        return at.sets * _modips_loss(at.n, at.set_epsilon, is_truncated)
    return at.sets * event_loss(no_ones(at.n, draws), at.set_epsilon, is_truncated)


@lru_cache(maxsize=1024)
def _modips_loss(n: int, epsilon: float, is_truncated: bool) -> float:
    return pure_epsilon((ModipsTruncated if is_truncated else Modips)(n=n, m=n, epsilon=epsilon))


# Histograms of numbers


def _perturbed_loss(at: ReleaseSetting) -> Loss:
    """The noisy counts lose 2ε, the rows drawn from them at least what was found."""
    set_loss = histograms.perturbed_rows_loss(at.n, at.bins, at.set_epsilon)
    return Loss(at.sets * set_loss, 2 * at.epsilon)


def _perturbed_scott_loss(at: ReleaseSetting) -> Loss:
    """One row among equal ones, at the end of the range or halfway: the histograms have different numbers of bins."""
    halfway, far = (np.array([*[0.0] * (at.n - 1), place]) for place in (0.5, 1.0))
    if histograms.scott_bins(halfway, 0.0, 1.0) == histograms.scott_bins(far, 0.0, 1.0):
        return Loss(_perturbed_loss(at).at_least, math.inf)
    return Loss(math.inf, math.inf, delta=1.0, note=_samples_that_differ(at))


def _smoothed_scott_loss(at: ReleaseSetting) -> Loss:
    """The worst pair that was found."""
    n, low, high, epsilon = at.n, at.lower, at.upper, at.epsilon
    worst, note = histograms.smoothed_worst(n, epsilon), ""
    is_inside = low < 0 < high
    typical = histograms.smoothed_typical(n, low, high, epsilon, 40, AUDIT_SEED) if is_inside else np.empty(0)
    if len(typical):
        worst, median = max(worst, float(typical[-1])), format_number(float(np.median(typical)), 2)
        note = f"For normal data that have such a neighbour it is typically {median}. {_samples_that_differ(at)}"
    return Loss(worst, histograms.smoothed_bound(n, epsilon), note=note)


def _samples_that_differ(at: ReleaseSetting) -> str:
    if not at.lower < 0 < at.upper:
        return ""
    share = histograms.scott_share(at.n, at.lower, at.upper, SIMULATED_SAMPLES, AUDIT_SEED)
    return (
        f"Of {SIMULATED_SAMPLES} simulated normal samples, {format_number(100 * share.value, 3)} % "
        f"(standard error {format_number(100 * share.error, 2)}) have a neighbour with another number of bins."
    )


# Posteriors of a proportion in bins


def _sdd_loss(n: int, epsilon: float, sensitivity: float) -> float:
    """Algorithm 2: one bin by the exponential mechanism, its weight the posterior mass to the power ε/(2 sensitivity).

    What is the same in all bins cancels.
    """
    return float(np.max(np.abs(np.diff(bin_log_weights(n, epsilon / (2 * sensitivity)), axis=0))))


def _binned_posterior_loss(at: ReleaseSetting) -> Loss:
    """Algorithm 2 with the 2A of Proposition 3 in each of M sets."""
    loss = at.sets * _sdd_loss(at.n, at.set_epsilon, 2 * log_density_bound(at.n))
    return Loss.exactly(loss, f"It uses 1/{format_number(at.epsilon / loss, 3)} of its budget.")


def _nested_binned_posterior_loss(at: ReleaseSetting) -> float:
    """Algorithm 2 with the true sensitivity, once for each draw in each of M sets."""
    return at.sets * at.draws * _sdd_loss(at.n, at.set_epsilon, float(np.abs(bin_log_ratios(at.n)).max()))


@lru_cache(maxsize=1024)
def _sampled_posterior_loss(at: ReleaseSetting) -> Loss:
    """Algorithm 3: its sanitized histogram exactly, as its draws become many, and simulated single draws.

    Every ln(share) of a bin gets noise of scale 2A/ε, which is enough for one of them.
    """
    moved = float(np.max(np.abs(bin_log_ratios(at.n)).sum(axis=1)))
    histogram = at.set_epsilon * moved / (2 * log_density_bound(at.n))
    draw = partial(_draw_sdd_mc, at.n, at.set_epsilon)
    shown = empirical_epsilon(draw, 0, 1, np.random.default_rng(AUDIT_SEED), SIMULATED_DRAWS, CONFIDENCE)
    note = f"The sanitized histogram alone would cost {format_number(at.sets * histogram, 3)}."
    if shown > 0:
        note += (
            f" {SIMULATED_DRAWS:,} simulated draws from each of two neighbours show that one set loses at least "
            f"{format_number(round_down(shown, 2), 2)} (confidence {100 * CONFIDENCE:g} %)."
        )
    return Loss(at.sets * max(histogram, shown), math.inf, note=note)


def _draw_sdd_mc(n: int, epsilon: float, n_ones: int, generator: np.random.Generator, size: int) -> IntArray:
    """Runs of Algorithm 3: the bin from which θ is drawn.

    A bin that no draw of the posterior falls into has ln 0 and stays impossible whatever noise it gets.
    """
    tail = betainc if 2 * n_ones > n else betaincc  # the smaller one keeps its digits
    masses = np.abs(np.diff(tail(n_ones + 1, n - n_ones + 1, BIN_ENDS)))
    counts = generator.multinomial(POSTERIOR_DRAWS, masses / masses.sum(), size)
    noise = generator.laplace(0.0, 2 * log_density_bound(n) / epsilon, counts.shape)
    with np.errstate(divide="ignore"):
        # The bin with the largest sum of ln(weight) and a Gumbel variable is a draw in proportion to the weights
        scores = np.log(counts) + noise + generator.gumbel(size=counts.shape)
    return np.argmax(scores, axis=1)


# Posteriors of a normal mean in bins


def _posterior_shift(at: ReleaseSetting) -> float:
    """How far one row moves the posterior mean of N(μ, 1) data, R/n, in its standard deviations, 1/√n."""
    return at.width / math.sqrt(at.n)


def _normal_bins(mean: float, half_width: float = HALF_WIDTH) -> FloatArray:
    """Masses of the bins of a normal posterior in units of its standard deviation."""
    return np.diff(ndtr(np.linspace(-half_width, half_width, NORMAL_BINS + 1) - mean))


def _sphc_scale(epsilon: float, half_width: float = HALF_WIDTH) -> float:
    """Noise of Algorithm 4 by Proposition 5, as a share of its number of draws: G h/ε, G the largest density."""
    return 2 * half_width / NORMAL_BINS / math.sqrt(2 * math.pi) / epsilon


def _posterior_histogram_loss(at: ReleaseSetting) -> Loss:
    """Algorithm 4: its sanitized histogram exactly, and what was found in one draw from it and in twenty.

    The two means lie evenly about the middle; those of a single draw lie about a few places, and twenty draws fall on
    the likelier side.
    """
    shift, scale = _posterior_shift(at), _sphc_scale(at.set_epsilon)
    pairs = [[_normal_bins(middle + side * shift / 2) for side in (-1, 1)] for middle in PAIR_MIDDLES]
    histogram = float(np.abs(np.subtract(*pairs[-1])).sum()) / scale
    draws = [np.log([one_draw(masses.tolist(), scale) for masses in pair]) for pair in pairs]
    single = float(np.abs(np.diff(draws, axis=1)).max())
    first, second = (log_table_probability(masses.tolist(), TWENTY_DRAWS, scale) for masses in pairs[-1])
    shown = [format_number(at.sets * loss, 2) for loss in (single, abs(first - second))]
    note = f"A single draw from it in each set shows {shown[0]} or more, twenty draws {shown[1]} or more."
    return Loss.exactly(at.sets * histogram, note)


def _standardized_loss(at: ReleaseSetting) -> Loss:
    """A standardized draw, put back in place by the private mean: it may lie where only one data set can put it.

    The draw lies within 4 standard deviations of the private mean. Where that mean moves, as much of it lies where the
    other can never be, whatever ε is allowed.
    """
    masses = one_draw(_normal_bins(0.0, PUBLIC_HALF_WIDTH).tolist(), _sphc_scale(at.set_epsilon, PUBLIC_HALF_WIDTH))
    n_bins = min(_posterior_shift(at) / (2 * PUBLIC_HALF_WIDTH), 1.0) * NORMAL_BINS
    delta = float(np.interp(n_bins, np.arange(NORMAL_BINS + 1), np.append(0.0, np.cumsum(masses))))
    return Loss(math.inf, math.inf, delta=delta)


# The Gaussian mechanism, and all methods


def _gaussian_loss(at: ReleaseSetting) -> float:
    """Noise with the deviation √(2 ln(1.25/δ))/ε, Dwork & Roth (2014), Theorem A.1."""
    return gaussian_epsilon(at.epsilon / math.sqrt(2 * (math.log(1.25) - math.log(at.delta))), at.delta)


def _gaussian_probabilistic_loss(at: ReleaseSetting) -> Loss:
    """The ε beyond which the loss of one pair, N(±r²/2, r²), lies with probability δ."""
    z = -float(ndtri(max(at.delta / 2, math.ulp(0.0))))
    ratio = 2 * at.epsilon / (math.sqrt(z * z + 2 * at.epsilon) + z)

    def excess_probability(loss: float) -> float:
        return float(ndtr(ratio / 2 - loss / ratio) + ndtr(-ratio / 2 - loss / ratio))

    exact = float(brentq(lambda loss: excess_probability(loss) - at.delta, 0.0, at.epsilon, rtol=1e-15))
    exceeding = format_number(excess_probability(at.epsilon), 2)
    return Loss.exactly(exact, f"The loss is larger with probability {exceeding}.")


def _compared_loss(method: ComparedMethod, at: ReleaseSetting) -> Loss:
    return method.real_loss(at, at.epsilon, method.sets(at.sets))


# Methods that the page on comparisons knows too
COMPARED = (
    numeric.MODIPS_MEAN, numeric.MODIPS_MEAN_TRUNCATED, numeric.MODIPS_SPLIT, numeric.MODIPS_SPLIT_TRUNCATED,
    numeric.MODIPS_COMMUNAL_TRUNCATED, numeric.SMOOTHED_HISTOGRAM,
)  # fmt: skip
REAL_LOSSES: dict[str, Callable[[ReleaseSetting], Loss | float]] = {
    "laplace_count": lambda at: _laplace_count_loss(at.n, at.epsilon),
    # `LaplaceCells` has scale 2/ε, and Laplace(1/ε) on each count is that with 2ε
    "laplace_cells": lambda at: pure_epsilon(LaplaceCells(n=at.n, cells=max(3, at.bins), epsilon=2 * at.epsilon)),
    "beta_binomial": lambda at: at.sets * _minimal_prior_loss(BetaBinomial, at.n, at.set_epsilon),
    "dp_prior": lambda at: _minimal_prior_loss(PosteriorMean, at.n, at.epsilon),
    "perturbed": _perturbed_loss,
    "perturbed_scott": _perturbed_scott_loss,
    "smoothed_scott": _smoothed_scott_loss,
    # With q = e^{−ε/2}, S(0) is (1 + q)^n over all sequences of zeros and ones, and 1 + q + … + q^n over the tables
    "exponential_sequences": lambda at: _exponential_loss(
        at.epsilon, -math.expm1(-at.n * math.log1p(math.exp(-at.epsilon / 2)))
    ),
    "exponential_counts": lambda at: _exponential_loss(
        at.epsilon,
        math.expm1(-at.n * at.epsilon / 2) / math.expm1(-(at.n + 1) * at.epsilon / 2) * math.exp(-at.epsilon / 2),
    ),
    "cell_mean": clipped_cell_mean_loss,
    "cell_mean_unbounded": lambda _: math.inf,
    "truncated": lambda at: at.sets * bounded_laplace_loss(at.set_epsilon, at.n, True),  # of a count of n
    "proportion_truncated": partial(_proportion_loss, is_truncated=True),
    "proportion_clipped": partial(_proportion_loss, is_truncated=False),
    **{method.audited: partial(_compared_loss, method) for method in COMPARED},
    "nested_truncated": partial(_proportion_loss, is_truncated=True, is_nested=True),
    "nested_clipped": partial(_proportion_loss, is_truncated=False, is_nested=True),
    "sets": lambda at: at.sets * _laplace_count_loss(at.n, at.set_epsilon),
    "parallel": lambda at: 2 * _laplace_count_loss(at.n, at.epsilon),
    "sdd": _binned_posterior_loss,
    "sdd_nested": _nested_binned_posterior_loss,
    "sdd_mc": _sampled_posterior_loss,
    "sphc": _posterior_histogram_loss,
    "standardized": _standardized_loss,
    "bootstrap": lambda at: numeric.BOOTSTRAP_THEN_SANITIZE.real_epsilon(at, at.epsilon, at.sets),
    "gaussian": _gaussian_loss,
    "gaussian_probabilistic": _gaussian_probabilistic_loss,
    "poisson_count": poisson_count_loss,
    "poisson_table": poisson_table_loss,
}
"""What the promised ε really is, by method; a number where it is exact."""

NOISE_FACTORS: dict[str, Callable[[ReleaseSetting], float]] = {
    **dict.fromkeys(("laplace_cells", "perturbed", "parallel"), lambda _: 2.0),
    **dict.fromkeys(
        ("truncated", "proportion_truncated", "mean_truncated", "nested_truncated"),
        lambda at: truncated_factor(at.set_epsilon),
    ),
    "mean_variance_truncated": lambda at: truncated_factor(at.set_epsilon / 2),
}
"""How many times as large the noise must be to keep the promise, by method, where more noise keeps it."""

PROMISES: dict[str, Callable[[ReleaseSetting], float]] = {
    **dict.fromkeys(("cell_mean", "cell_mean_unbounded"), _cell_mean_budget),
    **dict.fromkeys(("poisson_count", "poisson_table"), poisson_promise),
}
"""What a method promises, where that is not the whole ε."""
