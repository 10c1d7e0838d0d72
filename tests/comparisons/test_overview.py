"""One release from beginning to end, against sums written out from the definition."""

import dataclasses
import itertools
import math
import re

import numpy as np
import pytest
from scipy.stats import beta, betabinom

from dpviz.charts.html import ROWS_HIGH, strip_path
from dpviz.comparisons.overview import Overview, overview_texts
from dpviz.core.formatting import describe_invented_rows, format_invented_rows, format_percent
from dpviz.designs import Design
from dpviz.privacy.odds_text import belief_text
from tests.helpers import value_of

GRID = [(n, x, epsilon, seed) for n, x in ((4, 1), (20, 5), (37, 37)) for epsilon in (0.1, 1.0, 6.0) for seed in (0, 7)]
METHODS = (("beta_binomial", False), ("geometric", False), ("geometric", True))
FOUND = [(*case, *method) for case in GRID for method in METHODS]


def overview(n, x, epsilon, seed, mechanism="beta_binomial", best=False):
    return Overview.of_design(Design(mechanism=mechanism, n=n, epsilon=epsilon, confidential_count=x, seed=seed), best)


@pytest.mark.parametrize(("n", "x", "epsilon", "seed"), GRID)
def test_the_best_possible_publishes_the_mean_of_what_the_noise_may_have_come_from(n, x, epsilon, seed):
    """Its error is the smallest, its interval that of the published share, and it tells no more than the noise."""
    noisy, best = (overview(n, x, epsilon, seed, "geometric", best) for best in (False, True))
    rows = np.exp(-epsilon * np.abs(np.subtract.outer(np.arange(n + 1), np.arange(-9999, 9999 + n))))
    rows /= rows.sum(axis=1, keepdims=True)
    rows = np.column_stack([rows[:, :10000].sum(axis=1), rows[:, 10000 : 9999 + n], rows[:, 9999 + n :].sum(axis=1)])
    means = np.arange(n + 1) @ rows / rows.sum(axis=0)
    assert best.drawn_count == noisy.drawn_count == noisy.released
    assert best.released == pytest.approx(means[best.drawn_count], rel=1e-9)
    assert [best.belief, best.average_guess] == pytest.approx([noisy.belief, noisy.average_guess], rel=1e-12)
    for found, numbers in ((noisy, np.arange(n + 1.0)), (best, means)):
        away = (numbers[None, :] - np.arange(n + 1.0)[:, None]) / n
        assert found.error == pytest.approx(math.sqrt((rows * away**2).sum() / (n + 1)), rel=1e-7)
        half = 1.959963984540054 * np.sqrt(numbers / n * (1 - numbers / n) / n)
        hits = (numbers / n - half <= x / n) & (x / n <= numbers / n + half)
        assert found.coverage == pytest.approx(float(rows[x] @ hits), abs=1e-12)
    assert best.error <= noisy.error * (1 + 1e-9)
    assert best.error == pytest.approx(best.optimum.root_mean_squared_error, rel=1e-12)


@pytest.mark.parametrize("case", GRID)
def test_every_number_is_its_definition_summed(case):
    n, x, epsilon, _ = case
    found, alpha = overview(*case), n / math.expm1(epsilon)
    rows = np.array([betabinom.pmf(np.arange(n + 1), n, alpha + i, alpha + n - i) for i in range(n + 1)])
    j = found.drawn_count
    assert found.invented == pytest.approx(2 * alpha, rel=1e-9)
    assert found.belief == pytest.approx(rows[x, j] / (rows[x, j] + rows[x - 1, j]), rel=1e-9)
    told = rows[x] / (rows[x] + rows[x - 1])
    surest = np.maximum(told, 1 - told)
    assert found.largest_belief == pytest.approx(surest.max(), rel=1e-9)
    assert found.average_guess == pytest.approx((rows[x] + rows[x - 1]) @ surest / 2, rel=1e-9)
    quantiles = [int(np.argmax(np.cumsum(rows[x]) >= (place + 0.5) / 100)) for place in range(100)]
    assert found.possible_beliefs == pytest.approx(told[quantiles], rel=1e-9)
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
def test_draw_again_is_right_as_often_as_the_card_says(n, epsilon, share, of_other_people):
    """The share of right verdicts over many seeds, which is what the button moves, against the printed one."""
    design = overview(n, n // 4, epsilon, 0).design
    found, seeds = Overview.of_design(design), 3000
    hits, right = dict[int, bool](), 0
    for seed in range(seeds):
        count = int(design.release.draw(np.random.default_rng(seed), found.secret)[0])
        if count not in hits:
            again = Overview.of_design(dataclasses.replace(design, seed=seed))
            hits[count] = again.hit
            assert again.drawn_count == count
        right += hits[count]
    error = math.sqrt(share * (1 - share) / seeds)
    assert found.coverage == pytest.approx(share, abs=5e-5)
    assert abs(right / seeds - found.coverage) < 3.5 * error < abs(right / seeds - of_other_people)


def test_delta_needs_no_more_rows_and_a_smaller_epsilon_needs_more():
    for n, x in ((20, 5), (100, 25)):
        rows = [overview(n, x, epsilon, 0) for epsilon in (0.1, 0.5, 1.0, 3.0)]
        assert all(one.invented_with_delta <= one.invented for one in rows)
        assert all(a.invented > b.invented for a, b in itertools.pairwise(rows))


@pytest.mark.parametrize("case", FOUND)
def test_what_the_drawing_says_is_where_it_stands(case):
    found, words = overview(*case), overview_texts(overview(*case))
    said, stands = words.texts, words.places
    assert int(said["yes"]) + int(said["no"]) == found.design.n
    assert float(said["drawn_yes"]) + float(said["drawn_no"]) == pytest.approx(found.design.m, rel=1e-3)
    assert float(said["drawn_yes"]) == pytest.approx(found.released, rel=5e-4)
    assert float(said["low"][:-2]) == pytest.approx(stands["low"], rel=5e-3, abs=1e-6)
    for name in ("belief", "average", "worst", "allowed"):
        assert float(said[name][:-2]) == pytest.approx(stands[name], rel=5e-3)
    slack = 1 + 1e-12  # rounding
    assert 50 <= stands["average"] <= stands["worst"] * slack <= stands["allowed"] * slack**2
    assert 100 - stands["worst"] - 1e-9 <= stands["belief"] <= stands["worst"]
    assert ("right" in said["hit"]) == (stands["low"] <= stands["secret"] <= stands["high"])
    if found.design.mechanism == "geometric":
        away = np.abs(np.arange(-9999, 10000))
        chances = np.exp(-found.design.epsilon * away)
        (reach,) = re.findall(r"at most (\d+) more or fewer|none at all", said["adds"])
        within = [chances[away <= int(reach or 0) - less].sum() / chances.sum() for less in (0, 1)]
        assert within[0] >= 0.95 > within[1]
        ends = stands["from"], stands["from"] + stands["made"]
        wanted = (max(found.secret - int(reach or 0), 0), min(found.secret + int(reach or 0), found.design.n))
        assert ends == pytest.approx([100 * one / found.design.n for one in wanted])
        assert ("corrected" in said["title"]) == found.best == ("mean of all" in said["published"])
    else:
        assert 0 <= stands["made"] <= stands["mixed"] <= 100 - stands["made"] + 1e-9
        assert stands["rest"] == stands["made"]


def test_a_strip_has_a_dot_for_each_share_exactly_where_it_is_and_none_upon_another():
    for case in FOUND:
        beliefs = overview(*case).possible_beliefs
        dots = [(float(x), float(y)) for x, y in re.findall(r"M([\d.e-]+) ([\d.]+)h0", strip_path(beliefs))]
        assert len({*dots}) == len(dots) == len(beliefs) == 100
        assert sorted(x for x, _ in dots) == pytest.approx(100 * np.sort(beliefs), abs=1e-3)
        assert all(0.5 <= y <= ROWS_HIGH - 0.5 for _, y in dots)
        for row in {y for _, y in dots}:
            assert all(b - a >= 0.999 for a, b in itertools.pairwise(sorted(x for x, y in dots if y == row)))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("method", METHODS)
def test_no_dot_lies_where_epsilon_forbids_a_table(epsilon, method):
    found = overview(100, 25, epsilon, 1, *method)
    allowed = 100 * math.exp(epsilon) / (1 + math.exp(epsilon))
    dots = [float(x) for x in re.findall(r"M([\d.e-]+) ", strip_path(found.possible_beliefs))]
    assert 100 - allowed - 1e-3 <= min(dots) <= max(dots) <= allowed + 1e-3
    if method[0] == "geometric":  # which gives all that ε allows
        assert {round(dot, 3) for dot in dots} == {round(allowed, 3), round(100 - allowed, 3)}


@pytest.mark.parametrize("case", [*FOUND, (100, 25, 1.0, 1), (1000, 250, 1.0, 3), (20, 5, 20.0, 1, "geometric")])
def test_the_answers_claim_no_more_than_was_computed(case):
    found = overview(*case)
    sentences = overview_texts(found).answers
    if found.design.mechanism == "geometric":
        assert f"would mix in <b>{describe_invented_rows(found.invented)}</b> instead" in sentences[1]
        assert found.invented == pytest.approx(2 * found.design.n / math.expm1(found.design.epsilon), rel=1e-9)
    else:
        assert ("more than the real data" in sentences[1]) == (found.invented > found.design.n)
    told = [value_of(one) for one in re.findall(r"<b>([^<]*)</b>", sentences[4])]
    least = found.optimum.root_mean_squared_error
    assert told[0] == pytest.approx(100 * found.error, rel=5e-3)
    if "nothing is the method's" in sentences[4]:
        assert found.error == pytest.approx(least, rel=1e-9) and len(told) == 1
    else:
        assert told[1:] == pytest.approx([100 * least, 100 * (found.error - least)], rel=5e-3)
        assert told[0] > told[1]
        assert f"Its error is {found.optimum.compared(found.error)} the smallest possible." in sentences[4]
    long, short = overview_texts(found).sentences
    assert len(short.split()) <= 15
    for text in (long, short):
        assert belief_text(found.average_guess) in text and format_percent(found.coverage, 3) in text
    (low, high), (first, last) = found.posterior_interval, found.interval
    assert ("wider than the interval" in sentences[3]) == (last > first and high - low > 1.05 * (last - first))


@pytest.mark.parametrize(("n", "epsilon"), [(20, 1.0), (100, 1.0), (100, 5.0), (1000, 0.1)])
def test_the_most_exposed_person_is_where_two_neighbouring_tables_differ_most(n, epsilon):
    found = overview(n, n // 4, epsilon, 1)
    rows = found.design.release.transition_matrix()
    apart = np.abs(np.diff(rows, axis=0)).sum(axis=1) / 4  # of x and x + 1 people who say yes
    assert apart[found.most_exposed - 1] == pytest.approx(apart.max(), rel=1e-9)
    alone = found.most_exposed == 1
    assert ("who is the only one to say yes, or the only one to say no" in overview_texts(found).answers[0]) == alone


def test_invented_rows_are_never_rounded_down():
    assert [format_invented_rows(rows) for rows in (116.3953, 0.0, 1163.95)] == ["117", "0", "1,164"]
    assert [describe_invented_rows(rows) for rows in (1.35662, 10.0, 9.991)] == [
        "the weight of 1.36 invented rows", "10 invented rows", "10 invented rows",
    ]  # fmt: skip


def test_without_a_yes_there_is_no_person_to_guess():
    with pytest.raises(ValueError, match=r"confidential_count .* must be at least 1: one person says yes; got 0\."):
        overview(20, 0, 1.0, 1)


def test_the_largest_promise_hides_nothing():
    assert overview(20, 5, 720.0, 1, "laplace").average_guess == 1.0
