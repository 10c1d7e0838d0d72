"""The CSV file of a study: every digit of its cells, what a comparison takes of them, and what is refused."""

import dataclasses
import io
import random
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pytest

from dpviz.comparisons import BinaryData, Compared, EqualPrivacy
from dpviz.core import limits
from dpviz.study.comparison import comparison_of, describe_axes, study_outcomes
from dpviz.study.plan import StudyPlan
from dpviz.study.results import COLUMNS, CellResult, read_results, results_to_csv, summarize_cells
from dpviz.study.run import evaluate_cell

PLAN: dict[str, Any] = {
    "mechanisms": ["beta_binomial", "geometric"], "n": 40, "epsilon": [0.5, 2], "sets": [3, 1], "p": [0.25, 0.5],
    "rules": ["reiter_2003", "as_if_real"], "repetitions": 2_250, "seed": 3,
}  # fmt: skip


@cache
def cells(exact: bool) -> tuple[CellResult, ...]:
    """A small study, all exact or all simulated."""
    return tuple(map(evaluate_cell, StudyPlan.of(PLAN | {"exact": exact}).cells))


MIXED = (*cells(exact=True)[:2], *cells(exact=False)[2:])


def test_a_file_holds_every_digit_of_every_cell() -> None:
    assert read_results(results_to_csv(MIXED)) == MIXED


def test_what_a_comparison_finds_is_near_what_a_study_has_simulated() -> None:
    """The page's own exact numbers at the ε of the study, within four standard errors; those that are exact agree.

    A method that adds noise to a count releases one set there, whatever M is: its cells with one set are those.
    """
    comparison = comparison_of(MIXED)
    assert (comparison.data, comparison.epsilon, comparison.analysis.sets) == (BinaryData(n=40, p=0.25), 2.0, 3)
    outcomes = study_outcomes(MIXED, comparison)
    assert [(outcome.method.key, outcome.epsilon, outcome.sets) for outcome in outcomes] == [
        ("beta_binomial", 0.5, 3), ("beta_binomial", 2.0, 3), ("geometric", 0.5, 1), ("geometric", 2.0, 1),
    ]  # fmt: skip
    compared = comparison.data.compare(comparison.methods, [0.5, 2.0], comparison.analysis, comparison.terms)
    own = {(outcome.method.key, outcome.epsilon): outcome for outcome in compared}
    for outcome in outcomes:
        for name in ("bias", "root_mean_squared_error", "coverage", "mean_width"):
            measure = outcome.measure(name)
            exact = own[outcome.method.key, outcome.epsilon].measure(name)
            assert abs(measure.value - exact.value) <= 4 * measure.error + 1e-7, (name, outcome.epsilon)
    assert [outcome.is_exact("coverage") for outcome in outcomes] == [True, False, False, False]
    assert [outcome.epsilon for outcome in Compared({}, {}, outcomes).of(comparison.methods[0])] == [0.5, 2.0]
    assert not study_outcomes(MIXED, dataclasses.replace(comparison, terms=EqualPrivacy()))
    assert not study_outcomes(MIXED, dataclasses.replace(comparison, data=BinaryData(n=41, p=0.25)))


def test_a_study_without_a_comparison_is_refused_in_a_sentence() -> None:
    cell = cells(exact=False)[0]
    uneven = dataclasses.replace(cell, design=dataclasses.replace(cell.design, m=30))
    with pytest.raises(ValueError, match="Cells of a study are compared where as many rows are released as there are"):
        comparison_of([uneven])


def test_sentences_say_how_many_cells_are_exact() -> None:
    assert summarize_cells(MIXED) == "The study has 16 cells, 2 exact."
    assert MIXED[0].label == "Beta-binomial (posterior draw), n = 40, ε = 0.5, M = 3, p = 0.25: exact"
    assert MIXED[3].label.endswith("ε = 0.5, M = 1, p = 0.5: 2,250 repetitions")
    assert describe_axes(MIXED) == "n = 40, M = 1 and 3, p = 0.25 and 0.5"


def changed(**columns: Any) -> bytes:
    """The file with another value in some columns."""
    return pd.read_csv(io.BytesIO(results_to_csv(MIXED))).assign(**columns).to_csv(index=False).encode()


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "no text": (lambda: b"PAR1\xff\0", "text in UTF-8"),
    "no study": (lambda: b"a,b\n1,2\n", "The file must be the CSV file of a study, complete and unchanged"),
    "cut": (lambda: results_to_csv(MIXED)[:-40], "complete and unchanged"),
    "empty": (lambda: b"", "complete and unchanged"),
    "no cell": (lambda: results_to_csv([]), "The file must have from 1 to 10,000 cells; got 0."),
    "too large": (lambda: bytes(limits.MAX_STUDY_BYTES + 1), "The file of a study must have at most 24 MB; got 24.0"),
    "type": (lambda: changed(p="a half"), "p must be a number; got 'a half'."),
    "long number": (lambda: changed(seed="9" * 5_000), "seed must be a whole number; got"),
    "open quote": (lambda: results_to_csv(MIXED) + b'"', "complete and unchanged"),
    "number": (lambda: changed(p=7.0), "p (true share) must be a number from 0 to 1; got 7."),
    "no number": (lambda: changed(epsilon=""), "epsilon must be a number; got ''."),
    "mechanism": (lambda: changed(mechanism="<b>"), "mechanism must be one of beta_binomial,"),
    "three cells": (lambda: changed(mechanism="dirichlet_multinomial"), "mechanism must release two counts"),
    "rule": (lambda: changed(rule="as_if_real"), "rules must be some of"),
    "share": (lambda: changed(coverage=1.5), "coverage must be a number from 0 to 1; got 1.5."),
    "error": (lambda: changed(bias_error=-1.0), "bias_error must be at least 0; got −1."),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence(name: str) -> None:
    make, words = HOSTILE[name]
    with pytest.raises(ValueError, match=re.escape(words)):
        read_results(make())


@pytest.mark.parametrize("seed", range(4))
def test_rows_with_any_values_are_cells_or_refused_in_a_sentence(seed: int) -> None:
    rng = random.Random(seed)
    rows = results_to_csv(MIXED).decode().splitlines()
    values = ["", "0", "-1", "1", str(2**62), "0.5", "-0.5", "1e308", "nan", "inf", "True", "False", "score", '"', ","]
    for _ in range(300):
        torn = [line.split(",") for line in rows[: rng.randrange(2, 9)]]
        for _ in range(rng.choice((1, 1, 2, 5))):
            rng.choice(torn[1:])[rng.randrange(len(COLUMNS))] = rng.choice(values)
        try:
            assert read_results("\n".join(map(",".join, torn)).encode())
        except ValueError as error:
            assert str(error).endswith(".")


def test_bytes_that_are_changed_at_random_end_in_a_sentence() -> None:
    rng = random.Random(5)
    content = results_to_csv(MIXED)
    for _ in range(50):
        torn = bytearray(content)
        for _ in range(3):
            torn[rng.randrange(len(torn))] = rng.randrange(256)
        try:
            assert read_results(bytes(torn))
        except ValueError as error:
            assert str(error).endswith(".")
