"""One release from beginning to end, against sums written out from the definition."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.stats import beta, betabinom

from dpviz.comparisons.overview import Overview
from dpviz.designs import Design
from pages.components.words import invented_text, rows_text
from pages.home.drawing import places, texts
from pages.home.questions import questions

GRID = [(n, x, epsilon, seed) for n, x in ((4, 1), (20, 5), (37, 37)) for epsilon in (0.1, 1.0, 6.0) for seed in (0, 7)]


def overview(n: int, x: int, epsilon: float, seed: int) -> Overview:
    return Overview(Design(mechanism="beta_binomial", n=n, epsilon=epsilon, confidential_count=x, seed=seed))


@pytest.mark.parametrize("case", GRID)
def test_every_number_is_its_definition_summed(case):
    n, x, epsilon, _ = case
    found, alpha = overview(*case), n / math.expm1(epsilon)
    rows = np.array([betabinom.pmf(np.arange(n + 1), n, alpha + i, alpha + n - i) for i in range(n + 1)])
    j = found.released
    assert found.invented == pytest.approx(2 * alpha, rel=1e-9)
    assert found.belief == pytest.approx(rows[x, j] / (rows[x, j] + rows[x - 1, j]), rel=1e-9)
    worst = max(np.abs(np.log(rows[1:]) - np.log(rows[:-1])).max(), 0)
    assert found.largest_belief == pytest.approx(1 / (1 + math.exp(-worst)), rel=1e-9)
    assert found.success == pytest.approx(0.5 + max(np.abs(rows[1:] - rows[:-1]).sum(axis=1)) / 4, rel=1e-9)
    assert found.promised_success == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)), rel=1e-12)
    share, p = np.arange(n + 1) / n, x / n
    half = 1.959963984540054 * np.sqrt(share * (1 - share) / n)
    hits = (share - half <= p) & (p <= share + half)
    assert found.coverage == pytest.approx(float(rows[x] @ hits), abs=1e-12)  # the people stay, the release is drawn
    assert found.hit == hits[j]
    weights = betabinom.pmf(np.arange(n + 1), n, 1, 1) * rows[:, j]
    weights /= weights.sum()
    low, high = found.posterior_interval
    for end, level in ((low, 0.025), (high, 0.975)):
        assert weights @ beta.cdf(end, 1 + np.arange(n + 1), 1 + n - np.arange(n + 1)) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize(
    ("n", "epsilon", "share", "of_other_people"), [(100, 5.0, 0.8329, 0.7406), (20, 10.0, 0.7580, 0.6504)]
)
def test_draw_again_is_right_as_often_as_the_card_says(n: int, epsilon: float, share: float, of_other_people: float):
    """The share of right verdicts over many seeds, which is what the button moves, against the printed one."""
    design = overview(n, n // 4, epsilon, 0).design
    found, seeds = Overview(design), 3000
    right = sum(Overview(dataclasses.replace(design, seed=seed)).hit for seed in range(seeds))
    error = math.sqrt(share * (1 - share) / seeds)
    assert found.coverage == pytest.approx(share, abs=5e-5)
    assert abs(right / seeds - found.coverage) < 3.5 * error < abs(right / seeds - of_other_people)


def test_delta_needs_no_more_rows_and_a_smaller_epsilon_needs_more():
    for n, x in ((20, 5), (100, 25)):
        rows = [overview(n, x, epsilon, 0) for epsilon in (0.1, 0.5, 1.0, 3.0)]
        assert all(one.invented_with(1e-6) <= one.invented for one in rows)
        assert all(a.invented > b.invented for a, b in itertools.pairwise(rows))


@pytest.mark.parametrize("case", GRID)
def test_what_the_drawing_says_is_where_it_stands(case):
    found, said, stands = overview(*case), texts(overview(*case)), places(overview(*case))
    assert int(said["yes"]) + int(said["no"]) == found.design.n
    assert int(said["drawn_yes"]) + int(said["drawn_no"]) == found.design.m
    assert float(said["low"][:-2]) == pytest.approx(stands["low"], rel=5e-3, abs=1e-6)
    assert float(said["belief"][:-2]) == pytest.approx(stands["belief"], rel=5e-3)
    assert ("right" in said["hit"]) == (stands["low"] <= stands["secret"] <= stands["high"])
    assert 0 <= stands["made"] <= stands["mixed"] <= 100 - stands["made"] + 1e-9


@pytest.mark.parametrize("case", [*GRID, (100, 25, 1.0, 1), (1000, 250, 1.0, 3)])
def test_the_answers_claim_no_more_than_was_computed(case):
    found = overview(*case)
    sentences = [one.answer for one in questions(found)]
    assert ("more than the real data" in sentences[1]) == (found.invented > found.design.n)
    (low, high), (first, last) = found.posterior_interval, found.interval
    assert ("wider than the interval" in sentences[3]) == (last > first and high - low > 1.05 * (last - first))


def test_invented_rows_are_never_rounded_down():
    assert invented_text(116.3953) == "117" and invented_text(0.0) == "0" and invented_text(1163.95) == "1,164"
    assert rows_text(1.35662) == "the weight of 1.36 invented rows" and rows_text(10.0) == "10 invented rows"
    assert rows_text(9.991) == "10 invented rows"
