"""What each method of Bowen & Liu (2016) and Liu (2016) really gives: one function of a setting for each."""

import functools
import math

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from dpviz.audits.releases import histograms, posteriors
from dpviz.audits.releases.empirical import empirical_epsilon
from dpviz.audits.releases.laplace_noise import Seen, clipped_log_odds, lowest_rows, no_ones, truncated_log_odds
from dpviz.audits.releases.record import MIXTURE_STATISTICS, Loss, ReleaseSetting
from dpviz.comparisons.bounding import TRUNCATION
from dpviz.limits import MODIPS_ROWS
from dpviz.numerics.ends import inverse_gain
from dpviz.parameters import readable, rounded_down
from dpviz.privacy.gaussian import gaussian_epsilon
from dpviz.privacy.hockey_stick import pure_epsilon
from dpviz.synthesizers import BetaBinomial, LaplaceCells, LaplaceSanitizer, Modips, PosteriorMean
from dpviz.synthesizers.binned_posterior import bin_log_ratios
from dpviz.types import FloatArray

DRAWS, KEPT, CONFIDENCE, SAMPLES, SEED = 8_000, 1_000, 0.999, 200, 1


def one_count(setting: ReleaseSetting) -> Loss:
    """Laplace(1/ε) on one count."""
    return Loss.exactly(pure_epsilon(LaplaceSanitizer(n=setting.n, epsilon=setting.epsilon)))


def several_sets(setting: ReleaseSetting) -> Loss:
    """M independent sets, each with ε/M: the losses add, and all sets can show the worst table at once."""
    return Loss.exactly(setting.sets * pure_epsilon(LaplaceSanitizer(n=setting.n, epsilon=setting.each)))


def several_counts(setting: ReleaseSetting) -> Loss:
    """Laplace(1/ε) on each count of a table: `LaplaceCells` has scale 2/ε, so this is that one with 2ε."""
    cells = max(3, setting.bins)
    return Loss.exactly(pure_epsilon(LaplaceCells(n=setting.n, cells=cells, epsilon=2 * setting.epsilon)))


def beta_binomial(setting: ReleaseSetting) -> Loss:
    """M draws with the prior n/(e^{ε/M} − 1)."""
    prior = setting.n * inverse_gain(setting.each)
    made = BetaBinomial(n=setting.n, m=setting.n, alpha=prior, beta=prior)
    return Loss.exactly(setting.sets * pure_epsilon(made))


def posterior_mean(setting: ReleaseSetting) -> Loss:
    """One set from fixed proportions, with the prior 1/(e^{ε/n} − 1)."""
    prior = inverse_gain(setting.epsilon / setting.n)
    return Loss.exactly(pure_epsilon(PosteriorMean(n=setting.n, m=setting.n, alpha=prior, beta=prior)))


def every_sequence(setting: ReleaseSetting) -> Loss:
    """The exponential mechanism over all data sets of n zeros and ones, the score minus |x − y|/n."""
    y = np.arange(setting.n + 1)
    ways = gammaln(setting.n + 1) - gammaln(y + 1) - gammaln(setting.n - y + 1)
    return _exponential(setting.epsilon, ways)


def every_table(setting: ReleaseSetting) -> Loss:
    """The exponential mechanism over the n + 1 tables of zeros and ones."""
    return _exponential(setting.epsilon, np.zeros(setting.n + 1))


def _exponential(epsilon: float, log_ways: FloatArray) -> Loss:
    """ε/2 from the score and the rest from the normalizing sums, which both sides of y = x change alike."""
    paid = epsilon / 2 * np.arange(len(log_ways))
    up_to = np.logaddexp.accumulate(log_ways + paid) - paid
    from_here = np.logaddexp.accumulate((log_ways - paid)[::-1])[::-1] + paid
    log_sums = np.logaddexp(up_to, np.append(from_here[1:], -np.inf) - epsilon / 2)
    return Loss.exactly(epsilon / 2 + float(np.max(np.abs(np.diff(log_sums)))))


def truncated_statistic(setting: ReleaseSetting) -> Loss:
    """A count of n with truncated noise in each of M sets."""
    return Loss.exactly(setting.sets * TRUNCATION.loss(setting.each, setting.n))


def _shown(setting: ReleaseSetting, seen: Seen, truncated: bool) -> Loss:
    """Sets that are made of one noisy statistic each: what is made of a clipped one is no less private than that is."""
    if truncated:
        found = truncated_log_odds(seen, setting.each, setting.n)
        return Loss(setting.sets * max(found, 0.0), truncated_statistic(setting).at_most)
    found = clipped_log_odds(seen, setting.each, setting.n)
    return Loss(setting.sets * min(max(found, 0.0), setting.each), setting.epsilon)


def mean(setting: ReleaseSetting, truncated: bool) -> Loss:
    """Rows around a noisy mean, truncated or clipped like that: all rows at the lower bound show the most."""
    return _shown(setting, lowest_rows(setting.n, setting.width, truncated), truncated)


def truncated_mean_and_variance(setting: ReleaseSetting, share: float = 0.5) -> Loss:
    """Both truncated, `share` of the budget on the mean; rows close together just above the bound show both exactly.

    The mean can move n times as far as one row moves it, the variance, clipped at R²/4, n/4 times.
    """
    both = TRUNCATION.loss(share * setting.each, setting.n) + TRUNCATION.loss((1 - share) * setting.each, setting.n / 4)
    return Loss.exactly(setting.sets * both)


def clipped_mean_and_variance(setting: ReleaseSetting) -> Loss:
    """From all rows at the lower bound to one at the upper: each end has mass ½, times e^{−its share of ε} after it."""
    return Loss.exactly(setting.sets * 2 * math.log(0.5 / (0.5 * math.exp(-setting.each / 2))))


def cell_mean_budget(setting: ReleaseSetting) -> float:
    """What one cell mean is promised: one of six statistics in each of M sets."""
    return setting.each / MIXTURE_STATISTICS


def clipped_cell_mean(setting: ReleaseSetting) -> Loss:
    """A row leaves the cell, so that the scale of the noise, R/(n ε), changes with the mean."""
    rows = setting.cell
    return Loss.exactly(cell_mean_budget(setting) * (1 - 1 / rows) - math.log1p(-1 / rows))


def parallel(setting: ReleaseSetting) -> Loss:
    """One count in each of two cells, each with ε; a row that changes cells moves both."""
    return Loss.exactly(2 * one_count(setting).at_least)


def proportion(setting: ReleaseSetting, truncated: bool, nested: bool = False) -> Loss:
    """Sets of zeros and ones from one noisy count, one or all nested ones: one from its matrix as far as that goes."""
    sets = setting.draws if nested else 1
    if sets == 1 and setting.n <= MODIPS_ROWS:
        return Loss.exactly(setting.sets * _modips(setting.n, setting.each, "truncation" if truncated else "bit"))
    return _shown(setting, no_ones(setting.n, sets), truncated)


@functools.lru_cache(maxsize=64)
def _modips(n: int, epsilon: float, bounding: str) -> float:
    return pure_epsilon(Modips(n=n, m=n, epsilon=epsilon, bounding=bounding))


def nested_bins(setting: ReleaseSetting) -> Loss:
    """Each of the t draws selects a bin anew, here with a sensitivity that is not larger than it must be."""
    needed = float(np.max(np.abs(bin_log_ratios(setting.n))))
    return Loss.exactly(setting.sets * setting.draws * posteriors.sdd_loss(setting.n, setting.each, needed))


def bootstrap(setting: ReleaseSetting) -> Loss:
    """A row is drawn k ~ Bin(n, 1/n) times and costs ε each time: ln E[e^{kε}]."""
    grown = np.logaddexp(math.log(setting.n - 1), setting.each) - math.log(setting.n)
    return Loss.exactly(setting.sets * setting.n * float(grown))


def perturbed_public(setting: ReleaseSetting) -> Loss:
    """The noisy counts lose 2ε, the rows drawn from them at least what was found."""
    found = histograms.perturbed_rows_loss(setting.n, setting.bins, setting.each)
    return Loss(setting.sets * min(found, 2 * setting.each), 2 * setting.epsilon)


def perturbed_scott(setting: ReleaseSetting) -> Loss:
    """One row among equal ones, at the end of the range or halfway: the histograms have different numbers of bins."""
    halfway, far = (np.array([*[0.0] * (setting.n - 1), place]) for place in (0.5, 1.0))
    if histograms.scott_bins(halfway, 0.0, 1.0) == histograms.scott_bins(far, 0.0, 1.0):
        return Loss(perturbed_public(setting).at_least, math.inf)
    return Loss(math.inf, math.inf, delta=1.0, said=_samples_that_differ(setting))


def smoothed_public(setting: ReleaseSetting) -> Loss:
    """All n released rows in a bin that holds one confidential row, or none."""
    weight = histograms.smoothing(setting.n, setting.bins, setting.epsilon)
    return Loss.exactly(setting.n * math.log1p((1 - weight) / weight * setting.bins / setting.n))


def smoothed_scott(setting: ReleaseSetting) -> Loss:
    """The worst pair that was found."""
    low, high, epsilon = setting.lower, setting.upper, setting.epsilon
    worst = histograms.smoothed_worst(setting.n, epsilon)
    said = ""
    if low < 0 < high:
        typical = histograms.smoothed_typical(setting.n, low, high, epsilon, 40, SEED)
        if len(typical):
            worst = max(worst, float(typical[-1]))
            said = (
                "For normal data that have such a neighbour it is typically "
                f"{readable(float(np.median(typical)), 2)}. {_samples_that_differ(setting)}"
            )
    return Loss(worst, math.inf, said=said)


def _samples_that_differ(setting: ReleaseSetting) -> str:
    if not setting.lower < 0 < setting.upper:
        return ""
    share = histograms.scott_share(setting.n, setting.lower, setting.upper, SAMPLES, SEED)
    return (
        f"Of {SAMPLES} simulated normal samples, {readable(100 * share.value, 3)} % "
        f"(standard error {readable(100 * share.error, 2)}) have a neighbour with another number of bins."
    )


def binned_posterior(setting: ReleaseSetting) -> Loss:
    """Algorithm 2 in each of M sets."""
    loss = setting.sets * posteriors.sdd_loss(setting.n, setting.each)
    return Loss.exactly(loss, f"It uses 1/{readable(setting.epsilon / loss, 3)} of its budget.")


@functools.lru_cache(maxsize=256)
def sampled_posterior(setting: ReleaseSetting) -> Loss:
    """Algorithm 3: its sanitized histogram exactly, where its draws are many, and simulated single draws."""
    histogram = posteriors.sanitized_histogram_loss(setting.n, setting.each)
    found = empirical_epsilon(
        lambda ones, generator, size: posteriors.draw_sdd_mc(setting.n, ones, setting.each, KEPT, size, generator),
        0, 1, np.random.default_rng(SEED), DRAWS, CONFIDENCE,
    )  # fmt: skip
    said = f"The sanitized histogram alone would cost {readable(setting.sets * histogram, 3)}."
    if found.at_least > 0:
        said += (
            f" {DRAWS:,} simulated draws from each of two neighbours show that one set loses at least "
            f"{readable(rounded_down(found.at_least, 2), 2)} (confidence {100 * CONFIDENCE:g} %)."
        )
    return Loss(setting.sets * max(histogram, found.at_least), math.inf, said=said)


def posterior_histogram(setting: ReleaseSetting) -> Loss:
    """Algorithm 4: its sanitized histogram exactly, and what was found in draws from it."""
    shift = posterior_shift(setting)
    whole, one = (of(shift, setting.each) for of in (posteriors.sphc_histogram_loss, posteriors.sphc_draw_loss))
    twenty = posteriors.sphc_rows_loss(shift, setting.each)
    said = (
        f"A single draw from it in each set shows {readable(setting.sets * one, 2)} or more, twenty draws "
        f"{readable(setting.sets * twenty, 2)} or more."
    )
    return Loss.exactly(setting.sets * whole, said)


def standardized_posterior(setting: ReleaseSetting) -> Loss:
    """Supports that do not overlap, with the probability that a single draw lies where only one data set can put it."""
    return Loss(math.inf, math.inf, delta=posteriors.standardized_delta(posterior_shift(setting), setting.each))


def posterior_shift(setting: ReleaseSetting) -> float:
    """How far one row moves the posterior mean of N(μ, 1) data, R/n, in its standard deviations, 1/√n."""
    return setting.width / math.sqrt(setting.n)


def gaussian_printed(setting: ReleaseSetting) -> Loss:
    """σ = √(2 ln(1.25/δ)) Δ/ε."""
    return Loss.exactly(
        gaussian_epsilon(setting.epsilon / math.sqrt(2 * math.log(1.25 / setting.delta)), setting.delta)
    )


def gaussian_probabilistic(setting: ReleaseSetting) -> Loss:
    """The ε beyond which the loss of one pair, N(±r²/2, r²), lies with probability δ: bisected in ε."""
    z = -float(ndtri(setting.delta / 2))
    ratio = 2 * setting.epsilon / (math.sqrt(z * z + 2 * setting.epsilon) + z)
    low, high = 0.0, setting.epsilon
    for _ in range(60):
        middle = (low + high) / 2
        beyond = ndtr(ratio / 2 - middle / ratio) + ndtr(-ratio / 2 - middle / ratio)
        low, high = (middle, high) if beyond > setting.delta else (low, middle)
    beyond = ndtr(ratio / 2 - setting.epsilon / ratio) + ndtr(-ratio / 2 - setting.epsilon / ratio)
    said = f"The loss is larger with probability {readable(float(beyond), 2)}."
    return Loss.exactly(high, said)
