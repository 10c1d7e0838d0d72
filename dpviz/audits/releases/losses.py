"""What the methods of Bowen & Liu (2016) and Liu (2016) really give, where no line of `methods` can say it."""

import functools
import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, ndtr, ndtri

from dpviz.audits.releases import histograms, posteriors
from dpviz.audits.releases.empirical import empirical_epsilon
from dpviz.audits.releases.laplace_noise import Seen, clipped_log_odds, lowest_rows, no_ones, truncated_log_odds
from dpviz.audits.releases.record import MIXTURE_STATISTICS, Loss, ReleaseSetting
from dpviz.comparisons.bounding import TRUNCATION
from dpviz.limits import MODIPS_ROWS
from dpviz.parameters import readable, rounded_down
from dpviz.privacy.hockey_stick import pure_epsilon
from dpviz.synthesizers import LaplaceSanitizer, Modips
from dpviz.synthesizers.prior import PriorSynthesizer

DRAWS, KEPT, CONFIDENCE, SAMPLES, SEED = 8_000, 1_000, 0.999, 200, 1


def of_a_count(n: int, epsilon: float) -> float:
    """Laplace(1/ε) on one count of n."""
    return pure_epsilon(LaplaceSanitizer(n=n, epsilon=epsilon))


def of_rows(law: type[PriorSynthesizer], n: int, prior: float) -> float:
    """n rows from n under a prior."""
    return pure_epsilon(law(n=n, m=n, alpha=prior, beta=prior))


def exponential(setting: ReleaseSetting, sequences: bool) -> float:
    """The exponential mechanism, the score minus |x − y|/n, over the n + 1 tables or all sequences of zeros and ones.

    ε/2 is from the score and the rest from the normalizing sums, which both sides of y = x change alike.
    """
    half, y = setting.epsilon / 2, np.arange(setting.n + 1)
    paid, log_ways = half * y, 0.0 * y
    if sequences:
        log_ways = gammaln(setting.n + 1) - gammaln(y + 1) - gammaln(setting.n - y + 1)
    up_to = np.logaddexp.accumulate(log_ways + paid) - paid
    from_here = np.logaddexp.accumulate((log_ways - paid)[::-1])[::-1] + paid
    log_sums = np.logaddexp(up_to, np.append(from_here[1:], -np.inf) - half)
    return half + float(np.max(np.abs(np.diff(log_sums))))


def truncated_statistic(setting: ReleaseSetting) -> float:
    """A count of n with truncated noise in each of M sets."""
    return setting.sets * TRUNCATION.loss(setting.each, setting.n)


def _shown(setting: ReleaseSetting, seen: Seen, truncated: bool) -> Loss:
    """Sets that are made of one noisy statistic each: what is made of a clipped one is no less private than that is."""
    if truncated:
        found = truncated_log_odds(seen, setting.each, setting.n)
        return Loss(setting.sets * max(found, 0.0), truncated_statistic(setting))
    found = clipped_log_odds(seen, setting.each, setting.n)
    return Loss(setting.sets * min(max(found, 0.0), setting.each), setting.epsilon)


def mean(setting: ReleaseSetting, truncated: bool) -> Loss:
    """Rows around a noisy mean, truncated or clipped like that: all rows at the lower bound show the most."""
    return _shown(setting, lowest_rows(setting.n, setting.width, truncated), truncated)


def truncated_mean_and_variance(setting: ReleaseSetting, share: float = 0.5) -> float:
    """Both truncated, `share` of the budget on the mean; rows close together just above the bound show both exactly.

    The mean can move n times as far as one row moves it, the variance, clipped at R²/4, n/4 times.
    """
    both = TRUNCATION.loss(share * setting.each, setting.n) + TRUNCATION.loss((1 - share) * setting.each, setting.n / 4)
    return setting.sets * both


def cell_mean_budget(setting: ReleaseSetting) -> float:
    """What one cell mean is promised: one of six statistics in each of M sets."""
    return setting.each / MIXTURE_STATISTICS


def clipped_cell_mean(setting: ReleaseSetting) -> float:
    """A row leaves the cell, so that the scale of the noise, R/(n ε), changes with the mean."""
    return cell_mean_budget(setting) * (1 - 1 / setting.cell) - math.log1p(-1 / setting.cell)


def proportion(setting: ReleaseSetting, truncated: bool, nested: bool = False) -> Loss | float:
    """Sets of zeros and ones from one noisy count, one or all nested ones: one from its matrix as far as that goes."""
    sets = setting.draws if nested else 1
    if sets == 1 and setting.n <= MODIPS_ROWS:
        return setting.sets * _modips(setting.n, setting.each, "truncation" if truncated else "bit")
    return _shown(setting, no_ones(setting.n, sets), truncated)


@functools.lru_cache(maxsize=64)
def _modips(n: int, epsilon: float, bounding: str) -> float:
    return pure_epsilon(Modips(n=n, m=n, epsilon=epsilon, bounding=bounding))


def perturbed_public(setting: ReleaseSetting) -> Loss:
    """The noisy counts lose 2ε, the rows drawn from them at least what was found."""
    found = histograms.perturbed_rows_loss(setting.n, setting.bins, setting.each)
    return Loss(setting.sets * min(found, 2 * setting.each), 2 * setting.epsilon)


def smoothed_public(setting: ReleaseSetting) -> float:
    """All n released rows in a bin that holds one confidential row, or none."""
    weight = histograms.smoothing(setting.n, setting.bins, setting.epsilon)
    return setting.n * math.log1p((1 - weight) / weight * setting.bins / setting.n)


def perturbed_scott(setting: ReleaseSetting) -> Loss:
    """One row among equal ones, at the end of the range or halfway: the histograms have different numbers of bins."""
    halfway, far = (np.array([*[0.0] * (setting.n - 1), place]) for place in (0.5, 1.0))
    if histograms.scott_bins(halfway, 0.0, 1.0) == histograms.scott_bins(far, 0.0, 1.0):
        return Loss(perturbed_public(setting).at_least, math.inf)
    return Loss(math.inf, math.inf, delta=1.0, said=_samples_that_differ(setting))


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
    whole, one, twenty = posteriors.sphc_losses(posterior_shift(setting), setting.each)
    said = (
        f"A single draw from it in each set shows {readable(setting.sets * one, 2)} or more, twenty draws "
        f"{readable(setting.sets * twenty, 2)} or more."
    )
    return Loss.exactly(setting.sets * whole, said)


def posterior_shift(setting: ReleaseSetting) -> float:
    """How far one row moves the posterior mean of N(μ, 1) data, R/n, in its standard deviations, 1/√n."""
    return setting.width / math.sqrt(setting.n)


def gaussian_probabilistic(setting: ReleaseSetting) -> Loss:
    """The ε beyond which the loss of one pair, N(±r²/2, r²), lies with probability δ."""
    z = -float(ndtri(setting.delta / 2))
    ratio = 2 * setting.epsilon / (math.sqrt(z * z + 2 * setting.epsilon) + z)

    def beyond(loss: float) -> float:
        return float(ndtr(ratio / 2 - loss / ratio) + ndtr(-ratio / 2 - loss / ratio))

    exact = float(brentq(lambda loss: beyond(loss) - setting.delta, 0.0, setting.epsilon, rtol=1e-15))
    return Loss.exactly(exact, f"The loss is larger with probability {readable(beyond(setting.epsilon), 2)}.")
