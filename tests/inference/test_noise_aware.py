"""Rules that know the noise: closed forms, brute force, coverage at every p, the limit; sums, curves and the page."""

import itertools
import math
from functools import partial

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, binomtest, norm

from dpviz.core.numerics.special import binomial_weights
from dpviz.coverage import coverage_by_proportion, coverage_decomposition, exact_coverage, exact_coverages
from dpviz.inference import NOISE_AWARE_RULES, posterior_given, proportion_moments
from dpviz.inference.moments import release_moments
from dpviz.inference.noise_aware import (
    _blaker_ends,
    _clopper_pearson_ends,
    _crossing,
    _posterior_ends,
    _score_ends,
    _score_hull,
)  # fmt: skip
from dpviz.inference.posterior_coverage import posterior_summaries
from dpviz.inference.rules import RULES
from dpviz.inference.sum_distribution import ReleaseSums, _smallest_acceptance, length_limit, release_sums, within_sums
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PosteriorMean, PosteriorMode
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from pages.ui.text import page_note
from tests.pages.apptest import open_page, sound, texts
from tests.referees import charest

Z = 1.959963984540054


def random_matrix(seed: int, n: int, m: int) -> GivenMatrix:
    """Rows in no order at all."""
    return GivenMatrix(probabilities=np.random.default_rng(seed).dirichlet(np.ones(m + 1), n + 1))


DESIGNS = [
    (charest(2.0, 1, 30), 1), (charest(2.0, 5, 20), 5), (BetaBinomial(n=1, m=3, alpha=1.0, beta=1e-9), 2),
    (BetaBinomial(n=3, m=5, alpha=1e-107, beta=1e-107), 3), (PosteriorMean(n=30, m=12, alpha=3.0, beta=5.0), 4),
    (PosteriorMode(n=12, m=40, alpha=3.0, beta=5.0), 1), (LaplaceSanitizer(n=40, epsilon=0.4), 3),
    (GeometricSanitizer(n=20, epsilon=5.0), 1), (GivenMatrix(probabilities=np.eye(11)), 1),
    (GivenMatrix(probabilities=np.eye(11)[::-1]), 2), (GivenMatrix(probabilities=np.full((4, 3), 1 / 3)), 2),
    (random_matrix(1, 6, 5), 1), (random_matrix(2, 3, 9), 3),
]  # fmt: skip


def at_every_p(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """A dense axis with every end and the floating-point numbers beside it."""
    ends = np.concatenate([low, high])
    near = [np.nextafter(ends, -1), np.nextafter(ends, 2), ends - 1e-9, ends + 1e-9, np.linspace(0, 1, 501)]
    return np.unique(np.clip(np.concatenate([ends, *near]), 0, 1))


def coverage(sums: ReleaseSums, low: np.ndarray, high: np.ndarray, p: np.ndarray) -> np.ndarray:
    laws = binom.pmf(np.arange(sums.n + 1), sums.n, p[:, None]) @ sums.rows
    return (laws * ((low <= p[:, None]) & (p[:, None] <= high))).sum(axis=1)


@pytest.mark.parametrize(("release", "sets"), DESIGNS)
@pytest.mark.parametrize("level", [0.95, 0.5, 0.1, 0.999999])
def test_inverted_tests_cover_at_every_p(release, sets, level):
    """And Blaker's interval lies inside the equal tails."""
    sums = release_sums(release, sets)
    equal_tails, blaker = _clopper_pearson_ends(sums, level), _blaker_ends(sums, level)
    for low, high in (equal_tails, blaker):
        assert np.all((low >= 0) & (low <= high) & (high <= 1))
        assert coverage(sums, low, high, at_every_p(low, high)).min() >= level - 1e-13
    assert np.all((blaker[0] >= equal_tails[0] - 1e-12) & (blaker[1] <= equal_tails[1] + 1e-12))


@pytest.mark.parametrize("beta", [0.7, 0.7 + 1e-9, 2.1, 40.0])
@pytest.mark.parametrize("ends", [_clopper_pearson_ends, _blaker_ends])
def test_ones_and_zeros_exchanged_exchange_the_ends(beta, ends):
    low, high = ends(release_sums(BetaBinomial(n=9, m=7, alpha=0.7, beta=beta), 2), 0.9)
    other_low, other_high = ends(release_sums(BetaBinomial(n=9, m=7, alpha=beta, beta=0.7), 2), 0.9)
    assert low == pytest.approx(1 - other_high[::-1], abs=1e-11)
    assert high == pytest.approx(1 - other_low[::-1], abs=1e-11)


@pytest.mark.parametrize(("release", "sets"), [DESIGNS[0], DESIGNS[4], DESIGNS[6], DESIGNS[8]])
def test_blakers_interval_cannot_be_made_shorter_at_its_ends(release, sets):
    """Beside some end the coverage is the level itself, to the 1e-12 that the ends are moved outward."""
    sums = release_sums(release, sets)
    low, high = _blaker_ends(sums, 0.95)
    assert coverage(sums, low, high, at_every_p(low, high)).min() == pytest.approx(0.95, abs=3e-12)


@pytest.mark.parametrize(("release", "sets"), [DESIGNS[0], DESIGNS[1], DESIGNS[2], DESIGNS[5], DESIGNS[9]])
@pytest.mark.parametrize("level", [0.95, 0.5])
def test_blakers_interval_is_the_hull_of_what_its_test_accepts(release, sets, level):
    """By brute force: nothing on a grid that the test accepts is left out, and just inside each end it accepts."""
    sums = release_sums(release, sets)
    low, high = _blaker_ends(sums, level)

    def accepted(p: np.ndarray) -> np.ndarray:
        """The mass of the sums whose smaller tail is no larger, at each p and for each sum."""
        laws = binom.pmf(np.arange(sums.n + 1), sums.n, p[:, None]) @ sums.rows
        tails = np.minimum(np.cumsum(laws, axis=1), np.cumsum(laws[:, ::-1], axis=1)[:, ::-1])
        return np.array(
            [[law[tail <= own * (1 + 1e-12)].sum() for own in tail] for law, tail in zip(laws, tails, strict=True)]
        )

    grid = np.linspace(0, 1, 801)
    places, totals = np.nonzero(accepted(grid) > 1 - level + 1e-9)
    assert np.all((low[totals] <= grid[places]) & (grid[places] <= high[totals]))
    inner = (low < high) & [(ends > 0) & (ends < 1) for ends in (low, high)]
    for ends, inward, places in zip((low, high), (1e-7, -1e-7), inner, strict=True):
        for total in np.flatnonzero(places):
            assert accepted(ends[[total]] + inward)[0, total] > 1 - level - 1e-5
    assert inner.sum() >= 6


def test_without_privacy_they_are_those_of_the_binomial_distribution():
    """Clopper and Pearson's from scipy; Blaker's for n = 10 as he tabulates them."""
    sums = ReleaseSums(np.eye(11))
    low, high = _clopper_pearson_ends(sums, 0.95)
    for count in range(11):
        wanted = binomtest(count, 10).proportion_ci(0.95, method="exact")
        assert (low[count], high[count]) == pytest.approx((wanted.low, wanted.high), abs=1e-11)
    low, high = _blaker_ends(sums, 0.95)
    assert low.round(3).tolist()[:6] == [0.0, 0.005, 0.037, 0.087, 0.15, 0.222]
    assert high.round(3).tolist()[:6] == [0.283, 0.444, 0.556, 0.619, 0.717, 0.778]


@pytest.mark.parametrize("sets", [1, 2, 5])
@pytest.mark.parametrize(("method", "law", "prior"), [
    ("synth_post_one", BetaBinomial, 9.0), ("synth_post_many", PosteriorMean, 3.0), ("synth_map", PosteriorMode, 4.0),
])  # fmt: skip
def test_score_ends_solve_their_equation(method, law, prior, sets):
    """(q̄ − E)² = z² Var with the closed forms of `proportion_moments`, which know nothing of rows."""
    release = law(n=20, m=30, alpha=prior, beta=2.5)
    low, high = _score_ends(release, sets, 0.95)
    ends = [(place, end) for place, end in [*enumerate(low), *enumerate(high)] if 0 < end < 1]
    assert len(ends) > 20
    for total, end in ends:
        at = proportion_moments(method, n=20, m=30, alpha=prior, beta=2.5, proportion=float(end), sets=sets)
        away = (total / (30 * sets) - at.mean) ** 2
        assert away == pytest.approx(Z**2 * at.standard_error**2, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("level", [0.001, 0.01, 0.5, 0.95])
@pytest.mark.parametrize(("release", "sets"), [DESIGNS[0], DESIGNS[1], DESIGNS[4], DESIGNS[5], DESIGNS[8]])
def test_the_hull_of_accepted_proportions_is_the_closed_form(release, sets, level):
    """At a low level intervals are narrower than the grid, and most lie between two of its points."""
    means, variances = release_moments(release, np.arange(release.n + 1))
    observed = np.arange(sets * release.m + 1) / (sets * release.m)
    found = _score_hull(means, variances / sets, observed, float(norm.ppf((1 + level) / 2)))
    wanted = _score_ends(release, sets, level)
    inside = wanted[0] < wanted[1]
    assert np.abs(np.array(found) - wanted)[:, inside].max() < (1e-11 if level > 0.01 else 1e-9)
    assert np.abs(np.array(found) - wanted).max() < 1e-3  # no p is accepted: the nearest point of the grid


def test_score_ends_of_noise_in_many_rows_solve_their_equation():
    release = LaplaceSanitizer.up_to(10_000)(n=10_000, epsilon=0.01)
    low, high = _score_ends(release, 1, 0.95)
    observed = np.arange(10_001) / 10_000
    means, variances = release_moments(release, np.arange(10_001))
    for end in (low, high):
        inside = np.flatnonzero((end > 0) & (end < 1))
        assert len(inside) > 9_000
        inside = inside[::50]
        weights = binomial_weights(end[inside], 10_000)
        mean = weights @ means
        variance = weights @ (variances + (means - 0.5) ** 2) - (mean - 0.5) ** 2
        assert np.abs(observed[inside] - mean) == pytest.approx(Z * np.sqrt(variance), rel=1e-7)


@pytest.mark.parametrize("release", [LaplaceSanitizer(n=40, epsilon=0.4), random_matrix(3, 5, 8)])
def test_score_ends_of_any_matrix_by_brute_force(release):
    sums = release_sums(release, 2)
    q = np.arange(2 * release.m + 1) / (2 * release.m)
    low, high = _score_ends(release, 2, 0.95)
    grid = np.linspace(0, 1, 5001)
    laws = sums.distribution(grid)
    mean = laws @ q
    variance = laws @ q**2 - mean**2
    for total, observed in enumerate(q):
        held = grid[(observed - mean) ** 2 <= Z**2 * variance]
        if len(held):
            assert (low[total], high[total]) == pytest.approx((held[0], held[-1]), abs=1.01 / 5000)


@pytest.mark.parametrize(("release", "counts"), [
    (BetaBinomial(n=30, m=20, alpha=4.0, beta=7.0), [6]),
    (LaplaceSanitizer(n=30, epsilon=0.7), [6]),
    (PosteriorMean(n=30, m=20, alpha=4.0, beta=7.0), [3, 9, 5]),
    # Sums that hardly come
    (BetaBinomial(n=100, m=100, alpha=100 / math.expm1(0.5), beta=100 / math.expm1(0.5)), [1]),
    (BetaBinomial(n=50, m=50, alpha=500, beta=500), [0]),
    (PosteriorMean(n=30, m=60, alpha=80, beta=80), [60]),
])  # fmt: skip
def test_the_posterior_given_the_sum_is_the_whole_posterior_where_the_sum_says_all(release, counts):
    found = RULES["posterior"].interval_from(counts, synthesizer=release)
    assert found == pytest.approx(posterior_given(release, counts).interval(0.95), rel=1e-9)


def test_the_rows_of_a_given_matrix_are_divided_by_their_sums_in_every_posterior():
    rows = np.array([[0.50004, 0.5], [0.25, 0.75]])
    release = GivenMatrix(probabilities=rows)
    post = posterior_given(release, [1, 1])
    likelihood = (0.5 / 1.00004) ** 2, 0.75**2
    assert post.weights == pytest.approx([part / sum(likelihood) for part in likelihood], rel=1e-14)
    ends = RULES["posterior"].interval_from([1], synthesizer=release, level=0.95)
    assert ends == pytest.approx(posterior_given(release, [1]).interval(0.95), rel=1e-12)
    summary = posterior_summaries([[1], [0]], synthesizer=release)
    assert (summary.starts[0, 0], summary.stops[0, 0]) == pytest.approx(ends, rel=1e-12)


def test_a_sum_less_likely_than_rounding_has_the_posterior_of_its_neighbour():
    rows = np.array([[0.75, 0.25, 1e-13, 0.0], [0.25, 0.75, 1e-12, 0.0]])
    low, high = _posterior_ends(ReleaseSums(rows, rounding=1e-14), 0.9)
    assert (low[2], high[2]) == (low[3], high[3]) == (low[1], high[1])
    low, high = _posterior_ends(ReleaseSums(rows), 0.9)  # digits that were not lost are read
    assert low[1] < low[2] == low[3] and high[1] < high[2]


@pytest.mark.parametrize(("release", "sets"), [DESIGNS[0], DESIGNS[6], DESIGNS[11], DESIGNS[8]])
def test_the_limit_solves_its_linear_programme(release, sets):
    """The least acceptance under p of any randomised test of p' at the level, by HiGHS."""
    sums = release_sums(release, sets)
    own, others = sums.distribution(0.3)[0], sums.distribution(np.array([0.0, 0.1, 0.29, 0.5, 0.99, 1.0]))
    found, _ = _smallest_acceptance(own, others, 0.95)
    for other, value in zip(others, found, strict=True):
        solved = linprog(own, A_ub=-other[None], b_ub=[-0.95], bounds=(0, 1))
        assert value == pytest.approx(solved.fun, abs=1e-9)


@pytest.mark.parametrize("release", [
    GivenMatrix(probabilities=np.eye(51)),
    GeometricSanitizer(n=50, epsilon=2.0),
    BetaBinomial(n=100, m=100, alpha=15.65, beta=15.65),
])  # fmt: skip
def test_the_limit_is_a_lower_bound_of_the_integral_near_p_0_too(release):
    """The integral by trapezoids at 12,801 nodes, whose error is below 2·10⁻⁶ there."""
    sums = release_sums(release, 1)
    nodes = np.sin(np.linspace(0, np.pi / 2, 12_801)) ** 2
    laws, p = sums.distribution(nodes), [0.0, 1e-4, 0.003, 0.05, 0.25]
    found = length_limit(sums, proportions=p)
    for place, value in enumerate(p):
        least, _ = _smallest_acceptance(sums.distribution(value)[0], laws, 0.95)
        here = int(np.searchsorted(nodes, value))
        integral = np.trapezoid(np.insert(least, here, 0.95), np.insert(nodes, here, value))
        assert integral * (1 - 5e-4) <= found.length[place] <= integral * (1 + 2e-6)


def test_the_limit_of_one_row_by_hand():
    """One row as it is, level ½, p = 0: a test of p' < ½ may reject S = 0 with chance ½/(1 − p'); above ½ always.

    ∫₀^½ (1 − 1/(2(1 − p'))) dp' = ½ − ½ ln 2.
    """
    found = length_limit(ReleaseSums(np.eye(2)), proportions=0.0, level=0.5)
    assert found.length[0] == pytest.approx(0.5 - 0.5 * math.log(2), abs=5 * found.error[0])
    assert found.error[0] < 1e-4


def test_crossing_ends_on_the_safe_side():
    for row, target in (([0.0, 0.0, 1.0], 0.25), ([0.0, 1.0, 1.0], 0.75)):
        (p,) = _crossing(np.array([row]), target, np.zeros(1), np.ones(1))
        assert 0.5 - 3e-13 <= p <= 0.5


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("sets", [1, 2])
def test_a_release_that_says_nothing_leaves_every_proportion(sets, level):
    """Where the mean is the same at every p, none comes nearer than another one."""
    release = GivenMatrix(probabilities=np.full((3, 3), 1 / 3))
    for counts in itertools.product(range(3), repeat=sets):
        assert RULES["score"].interval_from(counts, synthesizer=release, level=level) == (0.0, 1.0)


# Among the other rules: exact sums, curves and the page

KNOWING = tuple(NOISE_AWARE_RULES)
SHOWN = ("reiter_2002", "as_if_real", "score", "blaker_2000")


@pytest.mark.parametrize(
    ("sets", "covers", "length"), [(1, 0.95003, 0.33649), (2, 0.94952, 0.36819), (5, 0.94767, 0.45624)]
)
def test_at_charests_design_the_noise_aware_score_covers(sets, covers, length):
    found = exact_coverage(synthesizer=charest(2.0, sets), p=0.25, sets=sets, rule="score")
    assert (found.coverage, found.mean_width_inside) == pytest.approx((covers, length), abs=6e-6)
    assert found.error_bound < 1e-10 and found.vacuous_share == 0 == found.negative_variance_share
    assert math.isnan(found.coverage_given_negative_total) and math.isnan(found.coverage_given_nonnegative_total)


@pytest.mark.parametrize("sets", [1, 2, 4])
def test_the_sum_alone_gives_what_all_that_is_released_gives(sets):
    """Beside a rule that reads Q as well the law of (S, Q) is used; alone, that of S."""
    release = LaplaceSanitizer(n=20, epsilon=0.7)
    both = exact_coverages(synthesizer=release, p=0.3, sets=sets, rules=["as_if_real", *KNOWING])
    alone = exact_coverages(synthesizer=release, p=0.3, sets=sets, rules=KNOWING)
    curves = coverage_by_proportion(release, proportions=[0.3, 0.8], sets=sets, rules=KNOWING)
    for index, key in enumerate(KNOWING):
        assert alone[key].coverage == pytest.approx(both[key].coverage, abs=both[key].error_bound + 1e-12)
        assert alone[key].mean_width_inside == pytest.approx(both[key].mean_width_inside, abs=2e-8)
        assert curves.coverage[index, 0] == pytest.approx(alone[key].coverage, abs=1e-11)


def test_where_sums_of_all_releases_are_beyond_reach_the_sum_alone_is_not():
    found = exact_coverage(synthesizer=charest(2.0, 100, 1000), p=0.25, sets=100, rule="score")
    assert found.coverage == pytest.approx(0.95, abs=2e-3) and found.error_bound < 1e-9


SCORE, BLAKER = NOISE_AWARE_RULES["score"], NOISE_AWARE_RULES["blaker_2000"]
# A transform of 2.5 million numbers for each of some 460 counts took two minutes that nothing could stop
TOO_LONG = [partial(exact_coverages, synthesizer=charest(2.0, sets, 5000), p=0.25, sets=sets) for sets in (20, 500)]


@pytest.mark.parametrize(("call", "words"), [
    (lambda: coverage_decomposition(synthesizer=charest(2.0, 2), p=0.3, sets=2, rule="score"),
     r'a variance T to repair; "Noise-aware score \(Wilson\'s\)" has none'),
    (lambda: SCORE.interval_from([101], synthesizer=charest(2.0, 2)), "a whole number from 0 to 100; got 101"),
    (lambda: BLAKER.by_sum(charest(2.0, 100, 1000), 100), r"M = 100 it has 100,101,001"),
    (lambda: release_sums(BetaBinomial(n=5000, m=5000, alpha=1, beta=1), 1),
     r"n = 5,000, m = 5,000 and M = 1 it has 25,010,001"),
    *((partial(call, rules=["score"]), "would take too long") for call in TOO_LONG),
])  # fmt: skip
def test_what_is_not_there_or_too_large_is_refused_at_once(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_page_shows_them_among_the_rules_that_fail():
    page = sound(open_page("coverage", cv_look="Length, and its limit", cv_rules=".".join(SHOWN)))
    table = next(part.proto.body for part in page.get("html") if 'aria-label="Expected lengths"' in part.proto.body)
    assert "Noise-aware score" in table and "1.16 times" in table and "39.82" in table
    rows = {row.split("</b>")[0]: row for row in table.split("<b>")[1:]}
    assert "too few" in rows["Reiter 2002"] and "too few" not in rows["Ordered tails, exact"]
    # Rules without a variance have nothing to repair
    page = sound(open_page("coverage", cv_look="Why it fails", cv_rules="score.posterior"))
    assert page_note("coverage", "no_causes") in texts(page)
    # What can be had is kept where the rest is beyond reach
    words = " ".join(
        texts(sound(open_page("coverage", cv_n=1000, cv_sets=100, cv_rules="reiter_2002.score.blaker_2000")))
    )
    assert "beyond reach at n = 1,000, m = 1,000, M = 100: Ordered tails, exact." in words
    assert "by an analyst who is told how the data were made (noise-aware score) contain the true share" in words
    assert "beyond exact sums" not in words


@pytest.mark.parametrize("rule", NOISE_AWARE_RULES)
def test_no_matrix_is_given_the_interval_of_another(rule):
    """A matrix given as numbers was equal to every other, and tables of intervals are kept by the release."""
    plain, blurred = GivenMatrix(probabilities=np.eye(21)), GivenMatrix(probabilities=np.full((21, 21), 1 / 21))
    assert plain == GivenMatrix(probabilities=np.eye(21)) != blurred
    highs = [RULES[rule].interval_from([3], synthesizer=release)[1] for release in (plain, blurred, plain)]
    assert highs[0] == highs[2] < 0.4 < 0.97 < highs[1]


def test_sums_of_several_sets_keep_their_digits_where_they_are_small():
    """Ends by mpmath; transforms were off by 1e-14, more than some of these probabilities are."""
    release = GeometricSanitizer(n=8, epsilon=29)
    rows = mp.matrix(release.transition_matrix().tolist())
    given = [mp.fsum(rows[x, j] * rows[x, 13 - j] for j in range(5, 9)) for x in range(9)]
    law = [weight / mp.fsum(given) for weight in given]  # a uniform prior makes every x as likely

    def below(p):
        return mp.fsum(law[x] * mp.betainc(1 + x, 9 - x, 0, p, regularized=True) for x in range(9))

    low, high = RULES["posterior"].interval_from([7, 6], synthesizer=release, level=0.999999)
    assert float(below(low)) == pytest.approx(5e-7, rel=1e-6)
    assert float(1 - below(high)) == pytest.approx(5e-7, rel=1e-6)


def test_rules_whose_ends_are_searched_for_fit_up_to_20_000_sums():
    assert BLAKER.is_feasible(charest(2.0, 200, 100), 200) and not BLAKER.is_feasible(charest(2.0, 201, 100), 201)
    assert SCORE.is_feasible(charest(2.0, 500, 5000), 500)
    assert not within_sums(5000, 5000, 1)


def test_score_ends_of_huge_priors_and_of_falling_releases():
    for n in (1, 5, 100):
        low, high = SCORE.by_sum(BetaBinomial(n=n, m=50, alpha=1e10, beta=1e10), 1)
        assert (low[0], high[0], low[-1], high[-1]) == (0, 0, 1, 1)
    rising, falling = (GivenMatrix(probabilities=np.eye(11)[::step].copy()) for step in (1, -1))
    low, high = SCORE.by_sum(rising, 1, 0.001)
    turned = SCORE.by_sum(falling, 1, 0.001)
    assert turned.low == pytest.approx(1 - high, abs=1e-9) and turned.high == pytest.approx(1 - low, abs=1e-9)
