"""The worst over a range of p for three sets or more: bounds that every release listed one by one lies between."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.comparisons import Analysis, CountData
from dpviz.comparisons.binary_measures import worst_of
from dpviz.core.formatting import format_measure_cells
from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.coverage import coverage_by_proportion, exact_coverage
from dpviz.coverage._bracket import CoverageBracket, SharedDistributions
from dpviz.coverage.certified import largest_mean_width, smallest_coverage, stream_smallest_coverages
from dpviz.desk.accuracy import AccuracyLimit
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.question import Question
from dpviz.desk.report.words import answer
from dpviz.desk.search import stream_designs
from dpviz.inference.interval_rules import set_statistics, widen_for_rounding
from dpviz.inference.rules import RULES
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, TwoCellSynthesizer
from tests.helpers import desk_answer as answer_sentence

WIDEST = 1.2e-5  # The gap that is promised, about


def _listed(release: TwoCellSynthesizer, sets: int, rule: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every unordered release, one by one: Pr(release | x) for all x, and the ends of its interval."""
    every = np.array(list(itertools.combinations_with_replacement(range(release.m + 1), sets)))
    ways = [
        math.factorial(sets)
        // math.prod(math.factorial(one) for one in np.unique(each, return_counts=True)[1].tolist())
        for each in every
    ]
    rows = matrix_rows(release, np.arange(release.n + 1))
    found = set_statistics(release, sets, every.sum(axis=1), (every**2).sum(axis=1))
    return rows[:, every].prod(axis=2) * ways, *RULES[rule].ends(found, 0.95)


def _coverages(rows: FloatArray, low: FloatArray, high: FloatArray, p: FloatArray) -> FloatArray:
    lowest, highest = widen_for_rounding(low, high)
    law = binom.pmf(np.arange(len(rows)), len(rows) - 1, p[:, None]) @ rows
    return np.asarray((law * ((lowest <= p[:, None]) & (p[:, None] <= highest))).sum(axis=1))


def _beside(ends: tuple[FloatArray, FloatArray], low: float, high: float) -> FloatArray:
    """A grid and both sides of every end of an interval."""
    every = np.concatenate([*widen_for_rounding(*ends), [low, high]])
    found = np.concatenate([every - 1e-13, every + 1e-13, np.linspace(low, high, 2001)])
    return np.unique(found[(found >= low) & (found <= high)])


@pytest.mark.parametrize(
    ("release", "sets", "rule"),
    [
        (BetaBinomial(n=6, m=4, alpha=1.0, beta=1.0), 3, "reiter_2002"),
        (BetaBinomial(n=5, m=3, alpha=0.5, beta=2.0), 4, "raghunathan_2003"),
        (GeometricSanitizer(n=8, epsilon=1.0), 3, "reiter_2003"),
        (BetaBinomial(n=4, m=2, alpha=0.2, beta=0.2), 5, "as_if_real"),
    ],
    ids=["reiter", "missing", "noise", "alike"],
)
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.2, 0.5), (0.97, 1.0)])
def test_every_release_one_by_one_lies_between_the_bounds(
    release: TwoCellSynthesizer, sets: int, rule: str, low: float, high: float
) -> None:
    found = smallest_coverage(release, sets=sets, rule=rule, low=low, high=high)
    rows, lowest, highest = _listed(release, sets, rule)
    seen = float(_coverages(rows, lowest, highest, _beside((lowest, highest), low, high)).min())
    assert found.gap < WIDEST
    assert found.value - found.gap <= seen <= found.value + 1e-6
    assert low <= found.at <= high


def test_three_sets_of_a_tiny_design_in_exact_fractions() -> None:
    """Two confidential rows, two released: Pr(j | x) by Beta functions, C between all ends as an exact polynomial."""
    n, m, sets, low, high = 2, 2, 3, Fraction(1, 10), Fraction(9, 10)

    def beta(a: int, b: int) -> Fraction:
        return Fraction(math.factorial(a - 1) * math.factorial(b - 1), math.factorial(a + b - 1))

    def row(x: int, j: int) -> Fraction:
        return math.comb(m, j) * beta(1 + x + j, 1 + n - x + m - j) / beta(1 + x, 1 + n - x)

    release = BetaBinomial(n=n, m=m, alpha=1, beta=1)
    every = list(itertools.product(range(m + 1), repeat=sets))
    found = set_statistics(release, sets, np.array([sum(one) for one in every]),
                     np.array([sum(j * j for j in one) for one in every]))  # fmt: skip
    ends = [list(map(Fraction, one.tolist())) for one in widen_for_rounding(*RULES["rubin_1987"].ends(found, 0.95))]
    cuts = sorted({low, high, *(one for one in itertools.chain(*ends) if low < one < high)})
    smallest = Fraction(1)
    for left, right in itertools.pairwise(cuts):
        held = [one for one, *at in zip(every, *ends, strict=True) if at[0] <= left and right <= at[1]]
        given = [sum((math.prod(row(x, j) for j in one) for one in held), Fraction(0)) for x in range(n + 1)]
        for step in range(21):
            p = left + (right - left) * Fraction(step, 20)
            terms = (math.comb(n, x) * p**x * (1 - p) ** (n - x) * given[x] for x in range(n + 1))
            smallest = min(smallest, sum(terms, Fraction(0)))
    seen = smallest_coverage(release, sets=sets, rule="rubin_1987", low=float(low), high=float(high))
    assert seen.value - seen.gap - 1e-12 <= float(smallest) <= seen.value + 1e-6


def test_every_pass_brackets_the_smallest_coverage_and_the_last_one_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few pieces a pass leaves much open, so that several are needed; none of them claims too much."""
    release = BetaBinomial(n=30, m=30, alpha=3.0, beta=3.0)
    sharp = smallest_coverage(release, sets=3, rule="reiter_2003", low=0.1, high=0.6)
    monkeypatch.setattr("dpviz.coverage._bracket.PIECES", 64)
    seen = list(CoverageBracket(SharedDistributions(release, 3), RULES["reiter_2003"], 0.95, 0.1, 0.6).narrowing())
    gaps = [one.gap for one in seen]
    assert gaps == sorted(gaps, reverse=True)
    assert len(np.unique(gaps)) >= 4
    assert all(one.value - one.gap <= sharp.value and sharp.value - sharp.gap <= one.value for one in seen)
    assert gaps[-1] < WIDEST


@pytest.mark.parametrize(
    ("rule", "low", "high", "expected"),
    [("reiter_2002", 0.2, 0.5, 0.799054), ("reiter_2002", 0.05, 0.5, 0.666598), ("reiter_2003", 0.2, 0.5, 6e-7)],
)
def test_five_sets_of_charest_s_design(rule: str, low: float, high: float, expected: float) -> None:
    """n = m = 100, ε = 2 over five sets; the numbers are those of `exact_coverage` beside the place that is found."""
    prior = 100 / math.expm1(2 / 5)
    release = BetaBinomial(n=100, m=100, alpha=prior, beta=prior)
    found = smallest_coverage(release, sets=5, rule=rule, low=low, high=high)
    assert found.value == pytest.approx(expected, abs=WIDEST)
    assert found.gap < WIDEST
    beside = np.clip(found.at + np.array([-1e-10, 0.0, 1e-10]), low, high).tolist()
    around = [exact_coverage(synthesizer=release, p=p, sets=5, rule=rule).coverage for p in beside]
    assert min(around) == pytest.approx(found.value, abs=2e-8)
    grid = coverage_by_proportion(release, proportions=np.linspace(low, high, 101), sets=5, rules=[rule]).coverage
    assert found.value - found.gap - 1e-8 <= grid.min() < found.value + 1e-3


def test_one_value_of_p_is_that_of_charest_with_the_error_of_its_sums() -> None:
    prior = 100 / math.expm1(2 / 5)
    release = BetaBinomial(n=100, m=100, alpha=prior, beta=prior)
    found = smallest_coverage(release, sets=5, rule="reiter_2002", low=0.25, high=0.25)
    assert found.value == pytest.approx(0.81154, abs=5e-6)
    assert 0 < found.gap < 1e-7


@pytest.mark.parametrize(
    ("release", "sets", "rule"),
    [
        (GeometricSanitizer(n=2100, epsilon=1.0), 1, "as_if_real"),
        (BetaBinomial(n=210, m=210, alpha=20.0, beta=20.0), 2, "reiter_2002"),
    ],
    ids=["one", "two"],
)
def test_tables_too_large_to_hold_are_taken_count_by_count(
    release: TwoCellSynthesizer, sets: int, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes of them is what the whole table gives where it may be held."""
    found = smallest_coverage(release, sets=sets, rule=rule, low=0.2, high=0.22)
    monkeypatch.setattr("dpviz.core.limits.MAX_TABLE_ENTRIES", 10**8)
    whole = smallest_coverage(release, sets=sets, rule=rule, low=0.2, high=0.22)
    assert whole.gap == 0
    assert found.gap > 0
    assert found.value - found.gap <= whole.value <= found.value


def test_intervals_for_sure_and_rules_that_know_the_noise_of_many_sets() -> None:
    flat = GeometricSanitizer(n=20, epsilon=1e-6)
    sure = smallest_coverage(flat, sets=3, rule="rubin_1987", level=0.999999)
    assert 0 <= sure.value - sure.gap <= sure.value <= 1
    large = BetaBinomial(n=2000, m=2000, alpha=1, beta=1)
    with pytest.raises(ValueError, match="too long"):
        smallest_coverage(large, sets=5, rule="reiter_2002")
    *_, some = stream_smallest_coverages(large, sets=5, rules=["reiter_2002"])
    assert some == {}


@pytest.mark.parametrize("sets", [2, 3])
def test_the_largest_length_is_that_of_a_grid_also_where_some_releases_have_no_interval(sets: int) -> None:
    release = BetaBinomial(n=8, m=6, alpha=0.5, beta=0.5)
    for rule in ("raghunathan_2003_normal", "rubin_1987"):
        found = largest_mean_width(release, sets=sets, rule=rule, low=0.1, high=0.4)
        rows, low, high = _listed(release, sets, rule)
        some = ~np.isnan(low)
        inside = np.where(some, np.clip(high, 0, 1) - np.clip(low, 0, 1), 0.0)
        law = binom.pmf(np.arange(9), 8, np.linspace(0.1, 0.4, 4001)[:, None]) @ rows
        means = (law @ inside) / (law @ some)
        assert found.value - 1e-9 <= means.max() <= found.value + found.gap + 1e-12
        assert found.gap < 1e-7
        assert (worst_of(release, "mean_width", sets, RULES[rule], 0.95, 0.1, 0.4) is None) == (sets == 3)
        assert worst_of(release, "mean_width", sets, RULES[rule], 0.95, 0.1, 0.4, thorough=True) == found


def _asked(limit: float) -> Question:
    """Five sets of Beta-binomial at ε = 10, n = m = 100, by Reiter 2002."""
    return Question(
        data=CountData(n=100, m=100, p=0.25), lowest=0.2, highest=0.5, sets=(5,), rules=("reiter_2002",),
        methods=("beta_binomial",), protections=(PrivacyLoss(most_epsilon=10.0),),
        limits=(AccuracyLimit("coverage", limit),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "kept", "value", "of"),
    [
        (0.9806, True, 0.9806408, 0),
        (0.9807, False, 0.9806408, 0),  # of nine values the worst is 0.9807158, which would keep it
        (0.980640776, None, 0.9806408, 0),
        (0.99, False, 0.9807158, 9),  # a single value breaks it
    ],
)
def test_the_desk_certifies_five_sets_where_a_limit_may_be_kept(
    limit: float, kept: bool | None, value: float, of: int
) -> None:
    *_, desk = stream_designs(_asked(limit))
    (design,) = desk.designs
    figure = design.figures["coverage"]
    assert design.keeps_all is kept
    assert (figure.measure.value, figure.tried) == (pytest.approx(value, abs=1e-7), of)
    assert figure.measure.within < WIDEST
    words = answer_sentence(desk)[1]
    assert ("too close to call" in words) == (kept is None)
    assert ("between two bounds" in words) == (kept is None)
    assert "simulation" not in words + answer(design)
    assert ("what is known of it is too close" in answer(design)) == (kept is None)


def test_no_more_digits_are_shown_than_the_error_of_a_sum_leaves() -> None:
    """n = m = 8, ε = 60, p = 1, three sets: 3.588e-8 by mpmath over all 729 releases; a box leaves out 10⁻⁸."""
    analysis = Analysis(sets=3, rule="reiter_2002")
    *_, found = CountData(n=8, m=8, p=1.0).outcomes(CountData.method("beta_binomial"), 60.0, 60.0, analysis)
    width = found.mean_width
    assert abs(width.value - 3.588e-8) <= width.within < 1e-8
    assert width.shown == 4e-8
    assert format_measure_cells(width) == ("4×10⁻⁸", "")
    assert Measure(0.76543219, 0.0, within=3e-6).shown == 0.76543
    assert Measure(0.5, 0.0, within=1e-5).tied(Measure(0.500015, 0.0, within=1e-5))
    assert not Measure(0.5, 0.0, within=1e-5).tied(Measure(0.50003, 0.0, within=1e-5))


def test_ends_that_nodes_and_their_mirror_images_share_lie_on_one_side_of_a_cut() -> None:
    """Apart, by the rounding with which ends are reached, they told 4 · 10⁻⁸ less than the coverage is anywhere."""
    release = BetaBinomial(n=120, m=120, alpha=1828.2761209092196, beta=1828.2761209092196)
    found = smallest_coverage(release, sets=14, rule="reiter_2002", level=0.924)
    beside = exact_coverage(synthesizer=release, p=found.at - 1e-10, sets=14, rule="reiter_2002", level=0.924)
    assert found.value == pytest.approx(beside.coverage, abs=found.gap + beside.error_bound)
    assert found.gap < 2e-8
