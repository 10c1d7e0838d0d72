"""Lines of coverage against p: as near to the exact curve between their corners as they say."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.coverage import CoverageLines, coverage_by_proportion, exact_coverage, stream_lines
from dpviz.coverage._fourier import mixed_distribution_in_box
from dpviz.coverage.along import FIRST_PROPORTIONS, curves_along_p
from dpviz.coverage.certified import smallest_coverage
from dpviz.coverage.lines import FLATNESS, LINE_STEPS, corners_of
from dpviz.inference import RULES, contains
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, PosteriorMean, TwoCellSynthesizer

HALF_PIXEL = 0.5 * 1.1 / 400
FIRST = np.round(np.linspace(0.01, 0.99, 50), 4)


def charest(n: int, m: int, sets: int, epsilon: float) -> BetaBinomial:
    alpha = m / math.expm1(epsilon / sets)
    return BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha)


@pytest.mark.parametrize(
    ("release", "sets", "rules"),
    [
        (charest(100, 100, 1, 2.0), 1, ["as_if_real", "raab_2017"]),
        (charest(100, 30, 1, 250.0), 1, ["as_if_real"]),
        (BetaBinomial(n=30, m=20, alpha=0.2, beta=3.0), 2, ["raab_2017", "reiter_2002"]),
        (charest(5, 5, 3, 1.0), 3, ["raab_2017", "reiter_2003"]),
        (GeometricSanitizer(n=40, epsilon=1.0), 1, ["as_if_real"]),
        (PosteriorMean(n=60, m=40, alpha=2.0, beta=1.0), 1, ["raab_2017"]),
    ],
)
def test_a_line_with_all_jumps_is_within_half_a_pixel_everywhere(release: object, sets: int, rules: list[str]) -> None:
    *_, line = stream_lines(release, proportions=FIRST, sets=sets, rules=rules)  # type: ignore[arg-type]
    assert line.jumps
    p = np.sort(np.random.default_rng(12).uniform(0.01, 0.99, 250))
    exact = coverage_by_proportion(release, proportions=p, sets=sets, rules=rules).coverage  # type: ignore[arg-type]
    for drawn, true in zip(line.coverage, exact, strict=True):
        assert np.abs(np.interp(p, line.points, drawn) - true).max() < min(HALF_PIXEL, 1e-3)


@pytest.mark.parametrize(
    ("release", "sets", "rules", "first"),
    [
        (PosteriorMean(n=100, m=10, alpha=50, beta=50), 1, ["as_if_real", "blaker_2000"], 5),
        (BetaBinomial(n=20, m=20, alpha=0.5, beta=0.5), 2, ["reiter_2002", "score"], 2),
        (PosteriorMean(n=100, m=100, alpha=1e-6, beta=1e-6), 1, ["as_if_real", "score"], 51),
        (PosteriorMean(n=8, m=10, alpha=1e-6, beta=1e-6), 3, ["as_if_real", "raab_2017"], 2),
    ],
)
def test_a_line_is_right_up_to_both_ends_from_however_few_points_it_starts(
    release: TwoCellSynthesizer, sets: int, rules: list[str], first: int
) -> None:
    *_, line = stream_lines(release, proportions=np.linspace(0, 1, first), sets=sets, rules=rules)
    assert line.jumps
    random = np.random.default_rng(14)
    p = np.concatenate([[0.0, 1e-5, 2.8e-4, 1.0], random.uniform(0, 1, 60), random.uniform(0, 2 / LINE_STEPS, 8)])
    exact = coverage_by_proportion(release, proportions=np.sort(p), sets=sets, rules=rules).coverage
    for drawn, true in zip(line.coverage, exact, strict=True):
        assert np.abs(np.interp(np.sort(p), line.points, drawn) - true).max() < 1e-3


@pytest.mark.parametrize(("sets", "epsilon"), [(2, 2.0), (5, 2.0)])
def test_a_line_of_many_releases_is_within_a_pixel_across_and_half_a_pixel_up(sets: int, epsilon: float) -> None:
    release, rules = charest(100, 100, sets, epsilon), ["raab_2017", "reiter_2002"]
    *_, line = stream_lines(release, proportions=FIRST, sets=sets, rules=rules)
    assert not line.jumps
    assert line.drawn_from > 0.98 * LINE_STEPS
    p = np.sort(np.random.default_rng(13).uniform(0.02, 0.98, 80))
    exact = coverage_by_proportion(release, proportions=p, sets=sets, rules=rules).coverage
    for drawn, true in zip(line.coverage, exact, strict=True):
        near = np.array([np.interp(p + away, line.points, drawn) for away in np.linspace(-1, 1, 21) / LINE_STEPS])
        apart = np.maximum(np.maximum(near.min(axis=0) - true, true - near.max(axis=0)), 0.0)
        assert apart.max() < 2 * HALF_PIXEL
        assert np.mean(apart < HALF_PIXEL) > 0.97


def test_a_line_shows_what_fifty_points_hide() -> None:
    """Raab's line at p = 0.32 was drawn 1.1 points too high, and the saw-teeth of a single set were gone."""
    release = charest(100, 100, 1, 2.0)
    *_, line = stream_lines(release, proportions=FIRST, sets=1, rules=["raab_2017"])
    at = float(np.interp(0.32, line.points, line.coverage[0]))
    exact = exact_coverage(synthesizer=release, p=0.32, sets=1, rule="raab_2017").coverage
    assert at == pytest.approx(exact, abs=1e-3)
    rises = np.diff(line.coverage[0])[np.diff(line.points) < 1e-8]
    assert np.count_nonzero(np.abs(rises) > 0.005) > 50


def test_a_line_grows_from_the_first_points_which_it_keeps() -> None:
    release = charest(30, 30, 3, 2.0)
    grown = list(stream_lines(release, proportions=FIRST, sets=3, rules=["reiter_2002"]))
    assert all(isinstance(one, CoverageLines) for one in grown)
    lengths = [len(one.points) for one in grown]
    assert lengths == sorted(lengths)
    assert list(dict.fromkeys(lengths))[:3] == [0, 4, 8]
    assert not grown[-2].drawn_from
    assert np.isin(FIRST, grown[-1].points).all()
    kept = grown[-1].coverage[0][np.isin(grown[-1].points, FIRST)]
    assert kept == pytest.approx(grown[-2].coverage[0], abs=1e-8)


@pytest.mark.parametrize(("sets", "transforms"), [(1, 16), (2, 16), (3, 16), (5, 12)])
def test_whoever_wants_no_more_waits_for_a_single_transform(
    monkeypatch: pytest.MonkeyPatch, sets: int, transforms: int
) -> None:
    """What there is comes again after each, so that a moved control ends the work there.

    They are those at x = 0 … 15, or at half of 23 or 24 nodes; the others are their mirror.
    """
    made: list[int] = []

    def counted(*args: Any) -> Any:
        made.append(1)
        return mixed_distribution_in_box(*args)

    monkeypatch.setattr("dpviz.coverage._points.mixed_distribution_in_box", counted)
    seen = [
        len(made) for _ in stream_lines(charest(30, 30, sets, 2.0), proportions=FIRST, sets=sets, rules=["as_if_real"])
    ]
    assert max(np.diff([0, *seen])) == 1
    assert seen[-1] == transforms


@pytest.mark.parametrize("sets", [1, 2, 3])
@pytest.mark.parametrize("alpha", [0.3, 40.0])
def test_a_line_of_every_rule_is_the_listed_releases(sets: int, alpha: float) -> None:
    """Rules that read the sum alone, beside those that do not, against every release listed one by one."""
    release = BetaBinomial(n=4, m=3, alpha=alpha, beta=alpha)
    rules = [key for key, rule in RULES.items() if rule.is_feasible(release, sets)]
    *_, line = stream_lines(release, proportions=np.linspace(0, 1, 5), sets=sets, rules=rules)
    counts = np.array(list(product(range(4), repeat=sets)))
    matrix = release.transition_matrix()
    given = np.prod(matrix[:, counts], axis=2)
    some = np.arange(0, len(line.points), max(1, len(line.points) // 40))
    law = binom.pmf(np.arange(5), 4, line.points[some, None]) @ given
    for key, drawn in zip(rules, line.coverage, strict=True):
        ends = np.array([RULES[key].interval_from(one, synthesizer=release) for one in counts.tolist()])
        hit = contains(ends[:, :1], ends[:, 1:], line.points[some])
        assert drawn[some] == pytest.approx((law * hit.T).sum(axis=1), abs=1e-8), key


def test_corners_leave_out_only_what_the_line_passes() -> None:
    random = np.random.default_rng(3)
    points = np.sort(random.random(500))
    values = np.cumsum(random.normal(0, FLATNESS, size=(3, 500)), axis=1) + np.sin(6 * points)
    corners = corners_of(points, values, np.zeros(500, dtype=bool))
    assert 2 < len(corners) < 500
    for row in values:
        assert np.abs(np.interp(points, points[corners], row[corners]) - row).max() <= FLATNESS * (1 + 1e-9)


def test_releases_too_many_for_tables_leave_a_sample() -> None:
    *_, line = stream_lines(charest(50, 900, 2, 2.0), proportions=[0.2, 0.5], sets=2, rules=["reiter_2002"])
    assert line.points.tolist() == [0.2, 0.5]
    assert line.drawn_from == 0


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.nan])
def test_a_proportion_outside_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"proportions \(true share\) must be a number from 0 to 1"):
        next(iter(stream_lines(charest(5, 5, 1, 1.0), proportions=[0.5, wrong], sets=1, rules=["as_if_real"])))


@pytest.mark.parametrize(
    "release", [charest(60, 60, 5, 2.0), GeometricSanitizer(n=12, epsilon=1.5)], ids=["few", "all"]
)
def test_the_curves_against_p_are_the_line_and_the_smallest_coverages(release: TwoCellSynthesizer) -> None:
    """From one distribution each for both, where nodes are few and where every count is taken."""
    rules = ("reiter_2002", "score", "as_if_real")
    grown = list(curves_along_p(release, sets=5, rules=rules, level=0.9))
    told = [one for one in grown if one is not None]
    assert [one.whole for one in told] == sorted(one.whole for one in told)
    last = told[-1]
    *_, line = stream_lines(release, proportions=FIRST_PROPORTIONS, sets=5, rules=rules, level=0.9)
    assert last.lines.points.tolist() == line.points.tolist()
    assert last.lines.coverage == pytest.approx(line.coverage, abs=1e-8)
    assert [*last.smallest] == [*rules]
    for place, (key, found) in enumerate(last.smallest.items()):
        alone = smallest_coverage(release, sets=5, rule=key, level=0.9)
        assert found.value == pytest.approx(alone.value, abs=2e-5)
        assert found.gap < 2e-5
        assert found.value - found.gap <= last.lines.coverage[place].min() + 1e-8
