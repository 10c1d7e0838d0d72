"""Several sets of k counts: the one pair that is composed is the worst, and the bracket holds."""

from __future__ import annotations

import itertools
import math

import pytest

from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.mechanisms import DirichletMultinomial
from dpviz.priors import minimum_prior
from tests.referees import divergence, of_sets

ASKED = {"n": 3, "m": 2, "cells": 3, "epsilon": 0.8, "delta": 0.02}


def two_sets_delta(n: int, m: int, cells: int, alpha: float, epsilon: float) -> float:
    """δ of two independent sets by listing all tables, all pairs of neighbours and all pairs of released tables."""
    law = DirichletMultinomial(n=n, m=m, cells=cells, alpha=alpha)
    return divergence(of_sets(law.transition_matrix(), 2), law.neighbours, epsilon)


@pytest.mark.parametrize(("n", "m", "cells"), [(1, 1, 3), (2, 3, 3), (3, 2, 4), (4, 3, 3)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.05), (1.5, 1e-3)])
def test_two_sets_agree_with_listing_everything(n: int, m: int, cells: int, epsilon: float, delta: float) -> None:
    found = minimum_prior_for_sets("synth_post_one", n=n, m=m, cells=cells, sets=2, epsilon=epsilon, delta=delta)
    assert two_sets_delta(n, m, cells, found, epsilon) <= delta * (1 + 1e-9)
    assert two_sets_delta(n, m, cells, found * (1 - 2e-6), epsilon) > delta


def test_one_set_is_the_single_answer() -> None:
    found = minimum_prior_for_sets("synth_post_one", sets=1, **ASKED)
    assert found == pytest.approx(minimum_prior("synth_post_one", **ASKED), rel=1e-12)


def test_sets_of_a_plug_in_are_one_larger_set() -> None:
    for method in ("synth_post_many", "synth_map"):
        found = minimum_prior_for_sets(method, sets=4, **ASKED)
        assert found == pytest.approx(minimum_prior(method, **{**ASKED, "m": 8}), rel=1e-12)


def test_more_sets_need_more_prior_and_less_than_by_basic_composition() -> None:
    uppers = []
    for sets in (1, 2, 3, 5):
        found = minimum_prior_for_sets("synth_post_one", sets=sets, **ASKED)
        share = {**ASKED, "epsilon": ASKED["epsilon"] / sets, "delta": ASKED["delta"] / sets}
        assert found <= minimum_prior("synth_post_one", **share)
        uppers.append(found)
    assert all(before < after for before, after in itertools.pairwise(uppers))


def test_the_parameter_draw_knows_neither_cells_nor_rows() -> None:
    answers = {
        minimum_prior_for_sets("param_post", sets=3, **{**ASKED, "cells": cells, "n": n})
        for cells in (3, 7)
        for n in (1, 50)
    }
    assert len(answers) == 1


def test_without_delta_every_set_has_its_share() -> None:
    found = minimum_prior_for_sets("synth_post_one", sets=4, **{**ASKED, "delta": 0.0})
    assert found == pytest.approx(2 / math.expm1(0.2), rel=1e-12)


@pytest.mark.parametrize(
    ("change", "said"),
    [({"sets": 0}, "sets"), ({"delta": -1.0}, "delta"), ({"epsilon": 0.0}, "epsilon"), ({"m": 2000}, "m ")],
)
def test_bad_input_is_named(change: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        minimum_prior_for_sets("synth_post_one", **{**ASKED, "sets": 2, **change})
