"""Releases of mixed data: against exact sums, against plain loops, and what they really promise."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom, binom, invgamma, kstest, laplace, norm, t

from dpviz.charts.comparison import rows_chart
from dpviz.comparisons import Analysis, EqualPrivacy, KnownVariance, MixedData, NumericStudy
from dpviz.comparisons import mixed as releases
from dpviz.comparisons.numeric_releases import MODIPS_MEAN, ORIGINAL_ROWS
from dpviz.core.types import FloatArray
from dpviz.privacy.real_loss import ReleaseVerdict
from tests.helpers import numeric_measures
from tests.pairs import pairwise
from tests.referees import agrees

STUDY_3: dict[str, Any] = {
    "n": 1000, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0, "cells": 24, "correlation": 0.5,
}  # fmt: skip
FAR = {"low": -20.0, "high": 30.0}  # bounds that no row reaches
METHODS = MixedData.methods


def mixed(**changes: Any) -> MixedData:
    return MixedData(**(STUDY_3 | changes))


# The confidential data, and what an analyst reads


def test_cells_and_squares_of_the_histograms_are_as_in_print():
    """Bowen & Liu, §4.3: shares from 0.007 to 0.076 over 2 × 3 × 4 cells.

    Their supplement has medians of 16 to 49 squares by Scott's rule on the cells themselves: public bins lie between.
    """
    shares = mixed().shares
    assert (round(shares[0], 3), round(shares[-1], 3), len(shares)) == (0.007, 0.076, 24)
    assert shares.sum() == pytest.approx(1)
    assert 16 <= releases.cell_bins(mixed()) ** 2 <= 49
    for rows, squares in ((7, 16), (76, 49)):
        assert releases.cell_bins(mixed(n=rows * 24)) ** 2 == squares


def test_an_analyst_reads_what_a_loop_over_the_rows_gives():
    data = mixed(n=40, cells=5)
    drawn = data.draw(np.random.default_rng(4), 3)
    read, squares = data.read(drawn), releases.cell_statistics(drawn).squares
    for place in range(3):
        cells = np.repeat(np.arange(5), drawn.counts[place])
        x, y = drawn.values[:, place]
        away = np.array([[one[i] - one[cells == cells[i]].mean() for one in (x, y)] for i in range(40)])
        products, degrees = away.T @ away, 40 - len(set(cells))
        (xx, xy), (_, yy) = products / degrees
        estimates = {key: float(values[place]) for key, (values, _) in read.items()}
        assert estimates == pytest.approx({
            "half": np.mean(cells < 2), "share": np.mean(cells == 0), "cell_mean": x[cells == 0].mean(),
            "cell_variance": xx, "correlation": xy / math.sqrt(xx * yy),
        }, nan_ok=True)  # fmt: skip
        assert squares[:, place] == pytest.approx(list(products[[0, 1, 0], [0, 1, 1]]))


def test_confidential_rows_have_the_means_and_the_covariance_that_are_declared():
    data = mixed(cells=3, mean=2.0, sigma=0.5, correlation=-0.6, **FAR)
    found, rows = releases.cell_statistics(data.draw(np.random.default_rng(1), 400)), 400 * 1000
    means = found.sums.sum(axis=1) / found.counts.sum(axis=0) + 5.0
    assert np.abs(means - data.means).max() < 5 * 0.5 / math.sqrt(found.counts.sum(axis=0).min())
    assert found.squares.sum(axis=1) / rows == pytest.approx([0.25, 0.25, -0.6 * 0.25], abs=0.005)


@pytest.mark.parametrize("estimand", ["half", "share"])
def test_the_interval_of_a_share_of_the_original_data_covers_as_its_binomial_sum_says(estimand):
    data = mixed(n=60, cells=6, estimand=estimand)
    x, p = np.arange(61), data.truth
    share, chance = x / 60, binom.pmf(x, 60, p)
    half = norm.ppf(0.975) * np.sqrt(share * (1 - share) / 60)
    found = numeric_measures(data, ORIGINAL_ROWS)
    agrees(found.coverage, chance @ ((np.abs(share - p) <= half) & (half > 0)))
    agrees(found.usable_share, chance @ (half > 0))
    agrees(found.bias, 0.0)
    agrees(found.root_mean_squared_error, math.sqrt(p * (1 - p) / 60))


def test_the_interval_of_a_cell_mean_of_the_original_data_covers_as_t_says_where_the_cell_has_rows():
    data = mixed(n=12, cells=2, estimand="cell_mean", **FAR)
    rows = np.arange(13)
    chance = binom.pmf(rows, 12, data.shares[0])
    covers = 1 - 2 * t.sf(norm.ppf(0.975), np.where(rows < 12, 10, 11))
    found = numeric_measures(data, ORIGINAL_ROWS)
    agrees(found.usable_share, 1 - chance[0])
    agrees(found.coverage, chance[1:] @ covers[1:] / (1 - chance[0]))
    agrees(found.bias, 0.0)
    agrees(found.root_mean_squared_error, math.sqrt(chance[1:] @ (1 / rows[1:]) / (1 - chance[0])))


# The model


def test_multiple_synthesis_has_the_moments_of_the_posterior_predictive():
    data, sets = mixed(n=50, cells=5, **FAR), 3
    x, p, own = np.arange(51), data.truth, 2 * releases.CELL_PRIOR
    law = betabinom(50, x + own, 50 - x + 5 * releases.CELL_PRIOR - own)
    chance = binom.pmf(x, 50, p)
    error = chance @ ((law.mean() / 50 - p) ** 2 + law.var() / 50**2 / sets)
    found = numeric_measures(data, releases.MIXED_SYNTHESIS, sets=sets)
    agrees(found.bias, chance @ law.mean() / 50 - p)
    agrees(found.root_mean_squared_error, math.sqrt(error))
    filled = (1 - (1 - data.shares) ** 50).sum()
    spread = numeric_measures(dataclasses.replace(data, estimand="cell_variance"), releases.MIXED_SYNTHESIS, sets=sets)
    agrees(spread.bias, (50 - filled) / (45 - 3) - 1)  # E[Σ | S] = νS/(ν − 3)


@pytest.mark.parametrize("given", [(2.0, 0.5, 0.7), (1.0, 3.0, -math.sqrt(3.0)), (0.0, 1.0, 0.0)])
def test_the_covariance_is_drawn_from_the_inverse_wishart_distribution(given):
    """Its marginal variances are νS/χ² with ν − 1 degrees of freedom, and its mean is νS/(ν − 3)."""
    degrees, many = 11, 20_000
    factor = releases._covariance_factor(np.random.default_rng(2), np.tile(np.array(given)[:, None], many), degrees)
    drawn = np.einsum("ijs,kjs->iks", factor, factor)
    for place in (0, 1):
        if given[place] > 0:
            law = invgamma((degrees - 1) / 2, scale=degrees * given[place] / 2)
            assert kstest(drawn[place, place], law.cdf).pvalue > 1e-4
        else:
            assert not drawn[place, place].any()
    both = drawn[0, 1]
    assert abs(both.mean() - degrees * given[2] / (degrees - 3)) < 5 * both.std() / math.sqrt(many) + 1e-12


def neighbours(n: int, number: int = 4000, cells: int = 3) -> releases.MixedRows:
    """Pairs of neighbouring data sets, one after the other, most of them extreme; numbers from −1 to 1."""
    random, every = np.random.default_rng(7), np.arange(number)
    cell, rows = random.integers(0, cells, (number, n)), random.choice([-1.0, 1.0], (number, 2, n))
    cell[::2] = random.integers(0, 2, cell[::2].shape) * (cells - 1)
    cell.sort(axis=1)
    rows[::3] = random.uniform(-1, 1, rows[::3].shape)
    rows[::5, :, 1:] = random.choice([-1.0, 1.0], (len(rows[::5]), 2, 1))  # all but the first row at one bound
    changed_cell, changed_rows, which = cell.copy(), rows.copy(), random.integers(n, size=number)
    which[::5] = 0
    changed_cell[every, which] = random.integers(cells, size=number)
    changed_rows[every, :, which] = random.choice([-1.0, 1.0], (number, 2))
    cell = np.stack([cell, changed_cell], axis=1).reshape(-1, n)
    rows = np.stack([rows, changed_rows], axis=1).reshape(-1, 2, n)
    order = np.argsort(cell, axis=1, kind="stable")[:, None]
    counts = (cell[:, :, None] == np.arange(cells)).sum(axis=1)
    return releases.MixedRows(counts, np.take_along_axis(rows, order, axis=2).transpose(1, 0, 2))


def worst_pair_of_the_finding(n: int) -> releases.MixedRows:
    """A row alone in its cell at one bound, and the others together at the other: it joins them, and does not move."""
    counts = np.array([[1, n - 1, 0], [0, n, 0]])
    rows = np.array([[1.0] + [-1.0] * (n - 1), [-1.0] * (n - 1) + [1.0]])
    return releases.MixedRows(counts, np.array([rows, rows]))


def moved(scales: tuple[float, float, float], pairs: releases.MixedRows) -> FloatArray:
    """The privacy loss of Laplace noise for each pair: how far every statistic moves, in units of its noise."""
    found, repetitions = releases.cell_statistics(pairs), len(pairs.counts)
    steps = np.zeros(repetitions // 2)
    for part, scale in zip(found, scales, strict=True):
        every = part if part.ndim == 3 else part[None] if len(part) == repetitions else part[..., None]
        steps += np.abs(every[:, ::2] - every[:, 1::2]).sum(axis=(0, 2)) / scale
    return steps


@pytest.mark.parametrize("share", [1 / 6, 0.7])
@pytest.mark.parametrize("n", [4, 9])
def test_no_neighbours_move_noisy_sums_and_counts_by_more_than_epsilon_and_the_worst_by_all_of_it(n, share):
    data, method = mixed(n=n, cells=3, mean=0.0, sigma=0.1, low=-1.0, high=1.0), releases.MIXED_MODIPS.with_share(share)
    scales = releases._mixed_noise(data, 0.6, share=share)
    assert moved(scales, neighbours(n)).max() <= 0.6 * (1 + 1e-12)
    worst = float(moved(scales, worst_pair_of_the_finding(n))[0])
    assert worst == pytest.approx(0.6) == method.real_epsilon(data, 0.6, 1)
    assert method.real_epsilon(data, 0.6, 10) == 0.6


def test_the_noise_of_the_safe_release_has_the_variance_that_its_sensitivity_asks_for():
    """2(2/ε₁)² for a count, 2(R/ε₁)² for a sum, and 2(R²(n − 1)/(nε₁))² for a square, ε₁ being a sixth of ε."""
    data, many, each = mixed(cells=4), 40_000, 3.0 / 6
    known = releases.CellStatistics(np.full((many, 4), 250.0), np.zeros((2, many, 4)), np.zeros((3, many)))
    scales = releases._mixed_noise(data, 3.0, share=1 / 6)
    noisy = releases._add_noise(np.random.default_rng(5), known, scales)
    wanted = (2 / each, 8 / each, 64 * 0.999 / each)
    for found, true, scale in zip(noisy, known, wanted, strict=True):
        noise = (found - true).ravel()
        off = 5 * scale * math.sqrt(2 / len(noise))
        assert abs(noise.mean()) < off
        assert noise.var() == pytest.approx(2 * scale**2, rel=5 * math.sqrt(5 / len(noise)))


def test_a_cells_share_under_the_safe_noise_has_the_moments_of_the_sum():
    """k* = k + Laplace(2/ε₁) of n = Σk*; far from 0 no count is cut off, and to first order the share errs so."""
    data, method = mixed(n=2000, cells=2, estimand="share", **FAR), releases.MIXED_MODIPS
    epsilon, share = 60.0, data.truth
    of_noise = 2 * (2 / (epsilon / 6)) ** 2 * (share**2 + (1 - share) ** 2) / 2000**2
    error = math.sqrt(3 * share * (1 - share) / 2000 + of_noise)  # of the data, the posterior and the rows
    found = numeric_measures(data, method, sets=1, epsilon=epsilon)
    assert found.root_mean_squared_error.value == pytest.approx(error, rel=0.05)


# The printed model


def log_ratio(mean: float, rows: int, other: float, others: int, epsilon: float) -> float:
    """ln of the largest ratio of the density of the noisy mean of so many rows, set to [0, 1], to that of others."""
    value = np.unique(np.concatenate([np.linspace(0, 1, 2001), [mean, other]]))
    laws = laplace(mean, 1 / (rows * epsilon)), laplace(other, 1 / (others * epsilon))
    logs = [law.logpdf(value) for law in laws]
    for log, law in zip(logs, laws, strict=True):
        log[[0, -1]] = law.logcdf(0), law.logsf(1)
    return float((logs[0] - logs[1]).max())


@pytest.mark.parametrize(("n", "cells", "epsilon"), [(8, 2, 0.1), (8, 2, 60.0), (12, 8, 60.0), (16, 4, 3.0)])
def test_the_real_epsilon_of_the_printed_model_is_that_of_the_worst_pair_of_a_search(n, cells, epsilon):
    """A row leaves one of k rows for one of n − k: how far from the mean of either, in both numbers, is searched."""
    data, each, worst = mixed(n=n, cells=cells), epsilon / 6, 0.0
    far = np.linspace(0, 1, 9)  # of the row from those that stay, and from those that it joins
    one, two, there, here = np.ix_(*(range(9),) * 4)
    for k in range(2, n):
        left, joined = (k - 1) / k, (n - k) / (n - k + 1)
        gone = np.array([log_ratio(1 - left * away, k, 1 - away, k - 1, each) for away in far])
        come = np.array([log_ratio(away, n - k, away * joined, n - k + 1, each) for away in far])
        means = gone[one] + gone[two] + come[there] + come[here]
        for sign in (-1, 1):
            squares = (
                abs(left * far[one] ** 2 - joined * far[there] ** 2)
                + abs(left * far[two] ** 2 - joined * far[here] ** 2)
                + abs(left * far[one] * far[two] - sign * joined * far[there] * far[here])
            )
            worst = max(worst, float((2 * each + means + squares * each * n / data.degrees).max()))
    found = releases.MIXED_MODIPS_PRINTED.real_epsilon(data, epsilon, 1)
    assert 0.98 * found < worst <= found * (1 + 1e-9)


def test_mixed_methods_are_broken_only_where_their_rows_prove_it():
    """Equal rows in every cell show the noisy means: 10 (2 ln 2 − 2/60 + 2 ln(1 − 1/(n − 1))) at ε = 1, n = 200."""
    data, printed = mixed(n=200), releases.MIXED_MODIPS_PRINTED
    assert printed.real_epsilon(data, 1e-6, 10) == pytest.approx(20 * math.log(2), rel=1e-5)  # however little it is
    assert printed.real_loss(data, 1.0, 10).at_least == pytest.approx(13.42885, abs=1e-5)
    assert printed.real_loss(data, 1.0, 10).verdict(1.0) is ReleaseVerdict.BREAKS
    assert printed.real_loss(data, 100.0, 1).verdict(100.0) is ReleaseVerdict.OPEN  # nothing was found in the rows
    assert releases.MIXED_MODIPS.real_loss(data, 1.0, 10).text(1.0) == "at most 1"
    cells = releases.PERTURBED_CELLS.real_loss(data, 1.0, 10)
    assert cells.verdict(1.0) is ReleaseVerdict.BREAKS
    assert 1.0 < cells.at_least < cells.at_most == 2.0
    assert releases.PERTURBED_CELLS_SAFE.real_loss(data, 1.0, 10).verdict(1.0) is ReleaseVerdict.SATISFIED
    assert EqualPrivacy().setting(releases.MIXED_MODIPS_PRINTED, data, 1.0, 10) is None


# Noisy counts


def test_histograms_are_those_of_a_loop():
    data = mixed(n=60, cells=3)
    drawn = data.draw(np.random.default_rng(9), 4)
    found = releases._square_counts(drawn, 5, data.width)
    for place in range(4):
        cell = np.repeat(np.arange(3), drawn.counts[place])
        x, y = drawn.values[:, place]
        for one in range(3):
            own = np.histogram2d(x[cell == one], y[cell == one], bins=5, range=[(-4, 4)] * 2)[0]
            assert (found[place, one].reshape(5, 5) == own).all()


@pytest.mark.parametrize(
    "method", [releases.PERTURBED_CELLS, releases.PERTURBED_CELLS_SAFE, releases.PERTURBED_CELLS.with_share(0.2)]
)
def test_the_real_epsilon_of_perturbed_cells_is_that_of_the_extreme_counts(method):
    """A row leaves one cell for another: the densities of two cells and two bins, all counts far out."""
    epsilon, seen = 0.8, np.array([300.0, -300.0])
    share, units, loss = method.share, method.noise_units, 0.0
    for part in (share * epsilon, (1 - share) * epsilon):
        here, there = (laplace.logpdf(seen - one, scale=units / part).sum() for one in ([3, 2], [2, 3]))
        loss += here - there
    assert method.real_epsilon(mixed(), epsilon, 1) == pytest.approx(loss)
    noise = releases._noisy_counts(np.random.default_rng(3), np.full((40_000,), 1000), units / 0.8) - 1000
    assert noise.var() == pytest.approx(2 * (units / 0.8) ** 2, rel=0.06)


def test_perturbed_cells_do_what_a_loop_over_their_definition_does():
    """Two cells of 15 rows: noisy counts, a noisy 4 × 4 histogram of each cell, and rows drawn one by one."""
    data, random, found = mixed(n=15, cells=2, estimand="cell_mean"), np.random.default_rng(6), []
    bins = releases.cell_bins(data)
    for _ in range(3000):
        cell = random.random(15) >= data.shares[0]
        z = random.standard_normal((2, 15))
        x = np.where(cell, 1.0, -1.0) + z[0]
        y = np.where(cell, -1.0, 1.0) + 0.5 * z[0] + math.sqrt(0.75) * z[1]
        x, y = np.clip(x, -4, 4), np.clip(y, -4, 4)
        sizes = np.maximum(np.array([np.sum(~cell), np.sum(cell)]) + random.laplace(0, 2 / 2, 2), 0)
        tables = [np.histogram2d(x[cell == one], y[cell == one], bins, [(-4, 4)] * 2)[0] for one in (0, 1)]
        tables = [np.maximum(one + random.laplace(0, 2 / 2, one.shape), 0) for one in tables]
        if sizes.sum() == 0:
            continue
        into = random.random(15) < sizes[0] / sizes.sum()
        if into.any():
            column = random.choice(bins, into.sum(), p=tables[0].sum(axis=1) / tables[0].sum())
            found.append(np.mean(-4 + 8 / bins * (column + random.random(into.sum()))) + 1)
    ours, loop = numeric_measures(data, releases.PERTURBED_CELLS_SAFE, epsilon=4.0, sets=1), np.array(found)
    assert abs(ours.bias.value - loop.mean()) < 4.5 * math.hypot(ours.bias.error, loop.std() / len(loop) ** 0.5)
    assert ours.root_mean_squared_error.value == pytest.approx(math.sqrt(np.mean(loop**2)), rel=0.06)
    assert abs(ours.usable_share.value - len(loop) / 3000) < 0.05


# Studies, and what cannot be


@pytest.mark.parametrize("changes", [{"n": 4}, {"n": 4, "cells": 100}, {"n": 300, "cells": 2}, {"sigma": 1e-3}])
def test_every_method_answers_at_every_size_with_a_usable_share(changes):
    for estimand, method, epsilon in pairwise([estimand.key for estimand in MixedData.estimands], METHODS, (1e-4, 1e3)):
        data = mixed(**{"n": 30, "estimand": estimand} | changes)
        *_, found = data.compare([method], [epsilon], Analysis(sets=2, repetitions=8))
        assert 0 <= found.usable_share.value <= 1
        assert found.usable_share.value == 0 or math.isfinite(found.bias.value)


def test_a_release_of_few_rows_is_shown_of_every_method_and_an_empty_cell_has_no_mean():
    data = mixed(n=10, cells=3, estimand="cell_mean")
    original, released = data.one_release(dict.fromkeys(METHODS, 1.0), 4, 3)
    assert set(released) == {one.key for one in METHODS}
    assert isinstance(original, float) and not any(np.isnan(one).any() for one in released.values())


def plan(data: Any, method: Any) -> NumericStudy:
    return NumericStudy(data=data, method=method, estimands=("half",), repetitions=10, seed=1)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: mixed(low=4.0, high=-4.0), "low .* must be below high .*; got 4 to −4."),
    (lambda: mixed(mean=5.0), "mean .* must lie strictly between the bounds, −4 to 4; got 5."),
    (
        lambda: mixed(mean=3.5),
        r"The cell means, which go from 2\.5 to 4\.5 .*, must lie between the bounds, −4 to 4\.",
    ),
    (lambda: mixed(estimand="mean"), "estimand must be one of half, share, cell_mean, cell_variance, correlation"),
    (lambda: plan(mixed(), MODIPS_MEAN), 'does not release data of the kind "Categories and two numbers'),
    (
        lambda: plan(KnownVariance(n=10, mean=0.0, sigma=1.0, low=-4.0, high=4.0), releases.MIXED_MODIPS),
        'does not release data of the kind "Numbers between bounds',
    ),
    (lambda: releases.MIXED_MODIPS.with_share(0.0), r"share .* must be a number above 0 and below 1; got 0."),
])  # fmt: skip
def test_what_cannot_be_is_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words) as refusal:
        call()
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize("method", METHODS)
def test_the_rows_of_one_release_are_those_of_its_estimates_and_stand_between_the_bounds(method):
    data = mixed(n=40, cells=4, estimand="share")
    confidential, released = data.draw_release(method, 5.0, 3, 7)
    held, *released = map(data.numbers_of, (confidential, *released))
    original, estimates = data.one_release({method: 5.0}, 3, 7)
    assert [np.mean(rows[0] == 0) for rows in (held, *released)] == pytest.approx([original, *estimates[method.key]])
    for rows in (held, *released):
        assert rows.shape == (3, 40) and set(rows[0]) <= set(range(4))
        assert data.low <= rows[1:].min() <= rows[1:].max() <= data.high


def test_the_picture_of_rows_has_each_row_once_and_the_smallest_cell_apart():
    rows = np.array([[0, 0, 1, 2, 2], [-4.0, 1.0, 0.0, 2.0, 4.0], [0.5, 0.0, -4.0, 1.0, 3.0]])
    others, smallest = rows_chart(rows, cells=3, bounds=(-4.0, 4.0), name="a").data
    assert sorted(zip([*others.x, *smallest.x], [*others.y, *smallest.y], strict=True)) == sorted(
        zip(*rows[1:].tolist(), strict=True)
    )
    assert list(smallest.customdata) == [1, 1]
    assert others.marker.symbol != smallest.marker.symbol
    assert not rows_chart(np.empty((3, 0)), cells=3, bounds=(0.0, 1.0), name="a").data[0].x.size
