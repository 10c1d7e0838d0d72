"""The printed figures as data, and what their δ = 0.0006 can mean."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from dpviz import privacy
from dpviz.claims.abowd_vilhuber import (
    EQUATION_ONE,
    PRINTED_EPSILON,
    PRINTED_FIGURES,
    SYNTHESIZER_OF_FIG_1,
    SYNTHESIZER_OF_FIG_3,
    accounts_of_printed_delta,
    compare_figures,
)
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer, PosteriorMean, Synthesizer

LAWS = {1: SYNTHESIZER_OF_FIG_1, 2: SYNTHESIZER_OF_FIG_1, 3: SYNTHESIZER_OF_FIG_3, 4: SYNTHESIZER_OF_FIG_3}
ROWS = {1: 6, 2: 5, 3: 6, 4: 5}
FIRST_ACCOUNTS = [0.000623, 0.103516, 0.065922]


def ours(number: int, law: Synthesizer) -> np.ndarray:
    return law.transition_matrix() if number % 2 else np.abs(privacy.log_odds_table(law))


@pytest.mark.parametrize("number", LAWS)
def test_a_figure_holds_what_its_csv_says(number: int) -> None:
    figure = PRINTED_FIGURES[number]
    rows = list(csv.reader(figure.text.splitlines()))
    assert figure.values.shape == (ROWS[number], 6)
    assert [[float(value) for value in row[-6:]] for row in rows[1:]] == figure.values.tolist()
    assert "differential privacy" in figure.caption.lower()


@pytest.mark.parametrize("number", LAWS)
def test_our_law_is_the_figure_in_every_cell(number: int) -> None:
    assert np.array_equal(np.round(ours(number, LAWS[number]), 6), PRINTED_FIGURES[number].values)


@pytest.mark.parametrize("number", [1, 2])
def test_equation_one_is_another_law_than_the_figure(number: int) -> None:
    assert not (np.round(ours(number, EQUATION_ONE), 6) == PRINTED_FIGURES[number].values).any()


def test_the_cells_that_agree_are_counted() -> None:
    compared = compare_figures()
    assert [int(record.design["figure"]) for record in compared] == [1, 2, 3, 4, 1, 2]
    for record, law in zip(compared, [*LAWS.values(), EQUATION_ONE, EQUATION_ONE], strict=True):
        printed = PRINTED_FIGURES[int(record.design["figure"])].values
        same = np.round(ours(int(record.design["figure"]), law), 6) == printed
        assert (record.printed, record.ours) == (printed.size, same.sum())
        assert (record.reading == "every printed digit") == bool(same.all())
        assert record.what == law.info.label


def test_the_laws_of_the_figures_are_the_papers() -> None:
    assert PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5) == SYNTHESIZER_OF_FIG_1
    assert BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5) == EQUATION_ONE
    assert LaplaceSanitizer(n=5, epsilon=PRINTED_EPSILON) == SYNTHESIZER_OF_FIG_3


def test_only_the_first_account_rounds_to_the_printed_delta() -> None:
    values = [account.ours for account in accounts_of_printed_delta()]
    assert [round(value, 4) == 0.0006 for value in values] == [True] + [False] * (len(values) - 1)
    assert [round(value, 6) for value in values[:3]] == FIRST_ACCOUNTS


def test_the_accounts_are_those_of_the_privacy_measures() -> None:
    for release in (SYNTHESIZER_OF_FIG_1, EQUATION_ONE, SYNTHESIZER_OF_FIG_3):
        _, worst, hockey_stick, any_cell, *_ = accounts_of_printed_delta(release)
        assert worst.ours == pytest.approx(privacy.probabilistic_delta(release, PRINTED_EPSILON), rel=1e-12)
        assert hockey_stick.ours == pytest.approx(privacy.delta_for_epsilon(release, PRINTED_EPSILON), rel=1e-12)
        joint = privacy.even_counts(release) @ privacy.failure_by_row(release, PRINTED_EPSILON)
        assert any_cell.ours == pytest.approx(joint, rel=1e-12)


def test_the_accounts_of_figure_1_are_the_default() -> None:
    assert accounts_of_printed_delta() == accounts_of_printed_delta(SYNTHESIZER_OF_FIG_1)


def test_a_release_that_keeps_its_promise_has_no_failing_cell() -> None:
    assert {account.ours for account in accounts_of_printed_delta(SYNTHESIZER_OF_FIG_3)} == {0.0}


def test_every_account_has_a_name_and_says_how_it_is_counted() -> None:
    accounts = accounts_of_printed_delta()
    assert len({account.what for account in accounts}) == len(accounts)
    assert all(account.reading.endswith((".", ").")) for account in accounts)
