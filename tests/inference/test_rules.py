"""Rules that know the noise among the others: one protocol for exact sums, curves, simulation, lengths and the page."""

import math

import mpmath as mp
import numpy as np
import pytest

from dpviz.coverage import coverage_by_proportion, coverage_decomposition, exact_coverage, exact_coverages
from dpviz.inference import NOISE_AWARE_RULES, RULES
from dpviz.mechanisms import GeometricSanitizer, LaplaceSanitizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from pages.ui.text import page_note
from tests.pages.apptest import open_page, sound, texts
from tests.referees import charest

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


def test_what_is_not_there_is_refused_in_words():
    release = charest(2.0, 2)
    with pytest.raises(ValueError, match=r'a variance T to repair; "Noise-aware score \(Wilson\'s\)" has none'):
        coverage_decomposition(synthesizer=release, p=0.3, sets=2, rule="score")
    with pytest.raises(ValueError, match="counts must be a whole number from 0 to 100; got 101"):
        RULES["score"].interval_from([101], synthesizer=release)
    with pytest.raises(ValueError, match=r"M = 100 it has 100,101,001"):
        RULES["blaker_2000"].by_sum(charest(2.0, 100, 1000), 100)  # type: ignore[attr-defined]


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


def test_sums_of_many_counts_that_nobody_would_wait_for_are_refused_at_once():
    """A transform of 2.5 million numbers for each of some 460 counts took two minutes that nothing could stop."""
    for sets in (20, 500):
        with pytest.raises(ValueError, match="would take too long"):
            exact_coverages(synthesizer=charest(2.0, sets, 5000), p=0.25, sets=sets, rules=["score"])


def test_rules_whose_ends_are_searched_for_fit_up_to_20_000_sums():
    assert RULES["blaker_2000"].is_feasible(charest(2.0, 200, 100), 200)
    assert not RULES["blaker_2000"].is_feasible(charest(2.0, 201, 100), 201)
    assert RULES["score"].is_feasible(charest(2.0, 500, 5000), 500)
