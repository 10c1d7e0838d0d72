"""What a synthesizer really spends is said wherever it is chosen or its promise is shown, and only where it is more."""

import itertools

import numpy as np
import pytest

from dpviz.designs import Design, broken_promise_sentence, describe_promise
from tests.helpers import match_in, value_of
from tests.pages.apptest import opener, press, problems, said, set_state

LAWS = ["modips", "modips_truncated", "laplace", "beta_binomial"]
SAID = "Promised ε = "


def largest_loss(design: Design) -> float:
    """M times the largest |ln T[x] − ln T[x + 1]| of the whole matrix."""
    return design.sets * float(np.abs(np.diff(design.release.log_transition_matrix(), axis=0)).max())


def test_what_is_spent_beyond_the_promise_is_said_with_its_number_and_nothing_where_it_is_kept():
    broken = []
    for law, n, sets, epsilon in itertools.product(LAWS, (1, 6, 40), (1, 10), (0.02, 0.3, 1.0, 5.0, 40.0)):
        design = Design(mechanism=law, n=n, m=n, sets=sets, epsilon=epsilon)
        real, spent = design.overspent_epsilon, largest_loss(design)
        assert (real is not None) == (spent > epsilon * (1 + 1e-9))
        assert ("really" in describe_promise(design)) == (real is not None)
        if real is not None:
            broken.append(law)
            for words in (describe_promise(design), broken_promise_sentence(design)):
                assert value_of(match_in(r"really (\d[\d.]*\d)", words)[1]) == pytest.approx(spent, rel=5.1e-3)
    assert set(broken) == {"modips_truncated"}
    assert 4 < len(broken) < 29


def test_the_table_of_exact_losses_is_what_is_said():
    for n, epsilon, real in ((20, 0.01, 0.0149), (100, 0.01, 0.018), (100, 0.1, 0.137)):
        design = Design(mechanism="modips_truncated", n=n, epsilon=epsilon)
        assert f"ε = {epsilon} (really {real})" in describe_promise(design)
    ten = Design(mechanism="modips_truncated", n=100, epsilon=0.5, sets=10)
    assert "ε = 0.5 (really 0.785)" in describe_promise(ten)


def test_noise_with_an_epsilon_of_its_own_promises_that():
    own = {"n": 20, "sets": 2, "epsilon": 2.0, "details": (("epsilon", 0.1),)}
    assert describe_promise(Design(mechanism="laplace", **own)) == "ε = 0.2, noise for ε/M in each set"
    truncated = Design(mechanism="modips_truncated", **own)
    assert describe_promise(truncated) == "ε = 0.2 (really 0.261), noise for ε/M in each set"
    assert "Promised ε = 0.2, really 0.261." in broken_promise_sentence(truncated)


@pytest.mark.parametrize(
    ("module", "prefix", "sizes"),
    [("transition_matrices", "tm_", {}), ("coverage", "cv_", {"sets": 1}), ("posterior", "po_", {"x": 30})],
)
def test_where_the_synthesizer_is_chosen_the_safe_one_is_one_button_away(module, prefix, sizes):
    page = opener(module)(synthesizer="modips_truncated", n=100, epsilon=0.1, **sizes)
    assert f"{SAID}0.1, really 0.137." in said(page)
    assert "Modips (boundary-inflated) keeps the promise." in said(page)
    assert press(page, f"{prefix}kept_by").session_state[f"{prefix}synthesizer"] == "modips"
    assert SAID not in said(page) and "really" not in said(page)


def test_a_broken_promise_is_said_while_the_analysis_is_refused():
    page = opener("coverage")(synthesizer="modips_truncated", n=100, epsilon=0.1, sets=1)
    set_state(page, cv_rules=[])
    assert "Choose at least one rule." in problems(page)[0]
    assert f"{SAID}0.1, really 0.137." in said(page)
