"""The laws that every registered synthesizer obeys, whatever its mechanism.

The suite knows no synthesizer by name: it takes the classes of the registry and draws their parameters from their own
declarations, so that a new entry is tested as it stands.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpviz import privacy
from dpviz.core.parameters import Parameter
from dpviz.mechanisms import SYNTHESIZERS, BetaBinomial, Synthesizer, TwoCellSynthesizer
from dpviz.privacy.divergence import worst_neighbours
from tests.referees import excess, listed_delta

CLASSES = list(SYNTHESIZERS.values())
MANY_CELLS = "cells"
LIKELY = 1e-280
"""Probability above which the floating-point numbers still have all their digits."""

every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.key)


def law(test: Callable[..., None]) -> Callable[..., None]:
    """A property of every registered synthesizer, tried on the same thirty instances in every run."""
    return every_class(settings(max_examples=30, deadline=None, derandomize=True)(given(data=st.data())(test)))


def names(cls: type[Synthesizer]) -> list[str]:
    return [declaration.name for declaration in cls.parameters()]


def least(declaration: Parameter) -> float:
    """The smallest accepted value."""
    return math.nextafter(declaration.minimum, math.inf) if declaration.open_minimum else declaration.minimum


def numbers(declaration: Parameter, span: int) -> st.SearchStrategy[float]:
    """Values of one parameter: whole numbers near the smallest, or the slider, the whole domain and its ends."""
    low, high = least(declaration), declaration.maximum
    if declaration.integer:
        return st.integers(int(low), int(min(high, low + span)))
    slider = declaration.slider_minimum or low, declaration.slider_maximum or high
    if declaration.scale == "log":
        ranges = [st.floats(math.log(a), math.log(b)).map(math.exp) for a, b in (slider, (max(low, 1e-300), high))]
    else:
        ranges = [st.floats(a, b) for a, b in (slider, (low, high))]
    inside = st.one_of(ranges).map(lambda value: min(max(value, low), high))
    return st.one_of(inside, st.sampled_from([low, declaration.default, high]))


@st.composite
def instances(draw: st.DrawFn, cls: type[Synthesizer], span: int = 12) -> Synthesizer:
    """A synthesizer of the class with a small matrix and any other parameters of its domain."""
    many = MANY_CELLS in names(cls)
    values: dict[str, object] = {}
    for declaration in cls.parameters():
        reach = 1 if declaration.name == MANY_CELLS else 3 if many else span
        drawn = numbers(declaration, reach)
        if declaration.per_cell:
            cells = int(values[MANY_CELLS])  # type: ignore[call-overload]
            values[declaration.name] = draw(drawn | st.tuples(*[drawn] * cells))
        else:
            values[declaration.name] = draw(drawn)
    return cls(**values)


def epsilons(draw: st.DrawFn, synthesizer: Synthesizer) -> float:
    """An ε of any size, or a share of the ε that the release really has."""
    share = draw(st.floats(0.0, 1.2))
    pure = privacy.pure_epsilon(synthesizer)
    return draw(st.sampled_from([0.0, 0.5, 2.0, 20.0, min(share * pure, 600.0)]))


@st.composite
def questions(draw: st.DrawFn, cls: type[Synthesizer]) -> tuple[Synthesizer, float]:
    synthesizer = draw(instances(cls))
    return synthesizer, epsilons(draw, synthesizer)


def about(value: float) -> object:
    """Equal up to rounding of sums of probabilities: eleven digits, or 3e-13 where the definition cancels."""
    return pytest.approx(value, rel=1e-11, abs=3e-13)


@law
def test_rows_are_distributions(cls: type[Synthesizer], data: st.DataObject) -> None:
    matrix = data.draw(instances(cls)).transition_matrix()
    assert np.all(matrix >= 0)
    assert np.abs(matrix.sum(axis=1) - 1).max() <= 1e-12


@law
def test_the_tables_name_the_rows_and_columns(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    assert s.shape == s.transition_matrix().shape == (len(s.row_counts), len(s.column_counts))
    for counts, table in ((s.row_counts, s.row_table), (s.column_counts, s.column_table)):
        tables = [table(index) for index in range(len(counts))]
        assert tables == [tuple(row) for row in counts.tolist()]
        assert len(set(tables)) == len(tables)
        assert counts.min() >= 0
    assert np.all(s.row_counts.sum(axis=1) == s.n)  # type: ignore[attr-defined]


@law
def test_neighbours_are_all_tables_that_differ_by_one_substituted_row(cls, data):
    s = data.draw(instances(cls))
    moved = [0] * (s.row_counts.shape[1] - 2)
    expected = {
        pair
        for pair in itertools.combinations(range(len(s.row_counts)), 2)
        if sorted((s.row_counts[pair[0]] - s.row_counts[pair[1]]).tolist()) == [-1, *moved, 1]
    }
    listed = [tuple(sorted(pair)) for pair in s.neighbours.tolist()]
    assert len(listed) == len(set(listed))
    assert set(listed) == expected


@law
def test_log_transition_exponentiates_to_the_matrix(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    logarithms, matrix = s.log_transition_matrix(), s.transition_matrix()
    likely = matrix > LIKELY
    assert np.allclose(logarithms[likely], np.log(matrix[likely]), rtol=1e-13, atol=1e-12)
    assert np.all(logarithms[~likely] <= math.log(LIKELY) + 1e-9)
    for columns in (np.arange(s.shape[1])[::-2], np.array([0, s.shape[1] - 1])):
        part = np.arange(0, s.shape[0], 2), columns
        np.testing.assert_allclose(s.log_transition(*part), logarithms[np.ix_(*part)], rtol=1e-12, atol=1e-12)


@law
def test_log_odds_are_differences_of_log_rows(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    logarithms, table = s.log_transition_matrix(), privacy.log_odds_table(s)
    first, second = s.neighbours.T
    scale = 1 + np.abs(logarithms[first]) + np.abs(logarithms[second])
    assert table.shape == (len(s.neighbours), s.shape[1])
    assert np.all(np.abs(table - (logarithms[first] - logarithms[second])) <= 2e-13 * scale)
    for columns in (np.arange(s.shape[1])[::-2], np.array([0, s.shape[1] - 1])):
        part = np.arange(0, len(table), 2), columns
        np.testing.assert_allclose(s.log_odds(*part), table[np.ix_(*part)], rtol=1e-12, atol=1e-15)


@law
def test_moments_in_closed_form_are_those_of_the_matrix(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    if isinstance(s, TwoCellSynthesizer) and (moments := s.proportion_moments()):
        rows, share = s.transition_matrix(), np.arange(s.m + 1) / s.m
        mean = rows @ share
        assert moments[0] == pytest.approx(mean, abs=1e-12)
        assert moments[1] == pytest.approx((rows * (share - mean[:, None]) ** 2).sum(axis=1), abs=1e-12)


@law
def test_the_worst_cell_is_the_largest_of_the_log_odds_table(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    worst, table = s.worst_log_odds(), privacy.log_odds_table(s)
    assert worst.value == privacy.pure_epsilon(s) == pytest.approx(np.abs(table).max(), rel=1e-13)
    pair = np.flatnonzero(np.all(s.neighbours == sorted((worst.likelier, worst.unlikelier)), axis=1))
    sign = 1 if worst.likelier < worst.unlikelier else -1
    assert worst.column is not None
    assert sign * float(table[pair[0], worst.column]) == pytest.approx(worst.value, rel=1e-13)


@law
def test_delta_is_the_largest_divergence_and_its_neighbours_attain_it(cls, data):
    s, epsilon = data.draw(questions(cls))
    worst, matrix = worst_neighbours(s, epsilon), s.transition_matrix()
    assert worst.value == privacy.delta_for_epsilon(s, epsilon) == about(listed_delta(s, epsilon))
    assert worst.value == about(float(excess(matrix[worst.likelier], matrix[worst.unlikelier], epsilon)))
    assert sorted((worst.likelier, worst.unlikelier)) in s.neighbours.tolist()


@law
def test_delta_falls_and_is_convex_in_the_odds_factor(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    top = math.exp(min(privacy.pure_epsilon(s), 3.0))
    assume(top > 1 + 1e-9)
    factors = np.linspace(1.0, 1 + 1.2 * (top - 1), 15)
    profile = np.array([privacy.delta_for_epsilon(s, epsilon) for epsilon in np.log(factors)])
    assert np.all(np.diff(profile) <= 1e-13)
    assert np.all(np.diff(profile, 2) >= -1e-13)


@law
def test_delta_is_zero_from_the_pure_epsilon_on_and_positive_below(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    pure = privacy.pure_epsilon(s)
    assert privacy.delta_for_epsilon(s, pure * (1 + 1e-9)) == 0.0
    assert privacy.delta_for_epsilon(s, pure) <= 1e-13
    worst = s.worst_log_odds()
    if s.transition_matrix()[worst.likelier, worst.column] > LIKELY:
        assert privacy.delta_for_epsilon(s, pure * (1 - 1e-6)) > 0.0


@law
def test_epsilon_for_delta_inverts_delta_on_the_private_side(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    largest = privacy.delta_for_epsilon(s, 0.0)
    assert 0 < largest <= 1
    delta = largest * 10 ** data.draw(st.floats(-9.0, -0.01))
    epsilon = privacy.epsilon_for_delta(s, delta)
    assert privacy.delta_for_epsilon(s, epsilon) <= max(delta, 1e-13 * largest)
    if epsilon > 1e-6:
        assert privacy.delta_for_epsilon(s, epsilon * (1 - 1e-7)) > delta
    assert privacy.epsilon_for_delta(s, 0.0) == privacy.pure_epsilon(s)
    assert privacy.epsilon_for_delta(s, largest) == 0.0


@law
def test_probabilistic_delta_bounds_delta(cls: type[Synthesizer], data: st.DataObject) -> None:
    s, epsilon = data.draw(questions(cls))
    rows = privacy.failure_by_row(s, epsilon)
    assert privacy.probabilistic_delta(s, epsilon) == rows.max() <= 1.0
    assert privacy.delta_for_epsilon(s, epsilon) <= rows.max() + 1e-12
    assert privacy.even_counts(s).sum() == pytest.approx(1.0, abs=1e-12)


@law
def test_failure_counts_the_columns_that_a_neighbour_explains_worse_by_more_than_epsilon(cls, data):
    s, epsilon = data.draw(questions(cls))
    matrix, over = s.transition_matrix(), np.abs(privacy.log_odds_table(s)) > epsilon * (1 + 1e-12) + 1e-14
    for row in data.draw(st.lists(st.integers(0, s.shape[0] - 1), min_size=1, max_size=4)):
        beside = np.any(s.neighbours == row, axis=1)
        expected = matrix[row, over[beside].any(axis=0)].sum()
        assert privacy.failure_by_row(s, epsilon)[row] == about(float(expected))


@law
def test_change_is_one_minus_the_probability_of_the_same_table(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    matrix, columns = s.transition_matrix(), [s.column_table(column) for column in range(s.shape[1])]
    for row, changed in enumerate(privacy.change_by_row(s)):
        same = [column for column, table in enumerate(columns) if table == s.row_table(row)]
        assert changed == about(1 - matrix[row, same].sum())


@law
def test_posterior_odds_are_prior_odds_times_the_likelihood_ratio(cls: type[Synthesizer], data: st.DataObject) -> None:
    s = data.draw(instances(cls))
    pair = data.draw(st.integers(0, len(s.neighbours) - 1))
    column = data.draw(st.integers(0, s.shape[1] - 1))
    prior = data.draw(st.sampled_from([1e-6, 0.25, 1.0, 30.0]))
    view = privacy.attacker_view(s, pair, column, prior)
    first, second = s.transition_matrix()[s.neighbours[pair], column]
    assume(min(first, second) > LIKELY)
    assert math.exp(view.log_posterior_odds) == pytest.approx(prior * first / second, rel=1e-10)
    assert view.probabilities[1] == pytest.approx(prior * first / (prior * first + second), rel=1e-10)
    assert (view.first, view.second) == tuple(s.row_table(int(row)) for row in s.neighbours[pair])
    assert view.released == s.column_table(column)


@pytest.mark.parametrize(
    ("pair", "column", "name"), [(-1, 0, "pair"), (5, 0, "pair"), (0, 4, "column"), (0, -1, "column")]
)
def test_an_attacker_sees_only_what_there_is(pair: int, column: int, name: str) -> None:
    """A negative index would silently be another table."""
    largest = {"pair": 4, "column": 3}[name]
    with pytest.raises(ValueError, match=rf"^{name} must be a whole number from 0 to {largest}; got"):
        privacy.attacker_view(BetaBinomial(n=5, m=3, alpha=1, beta=1), pair, column, 1.0)
