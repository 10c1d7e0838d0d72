"""A public guess is no promise: what a method owes to a guess at the truth is said, and never makes it the best."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.comparisons import Analysis, BinaryData, Comparison, CountData, EqualPrivacy, EqualPromise
from dpviz.comparisons.budget import SplitOverSets
from dpviz.comparisons.comparison import Ranking
from dpviz.core.formatting import format_number
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.mechanisms import PoissonGamma

KEY = "poisson_gamma"
LABEL = PoissonGamma.info.label


def error_by_list(data: BinaryData, guess: float, epsilon: float) -> float:
    """√ Σ Pr(x) Pr(m1 | x) (m1/m − p)², from the matrix."""
    matrix = PoissonGamma(n=data.n, m=data.n, epsilon=epsilon, public_share=guess).transition_matrix()
    weights = binom.pmf(np.arange(data.n + 1), data.n, data.p)
    return math.sqrt(float(weights @ matrix @ (np.arange(data.n + 1) / data.n - data.p) ** 2))


def ranked(data: BinaryData, epsilon: float, *keys: str, delta: float = 0.0) -> Ranking:
    terms = EqualPrivacy(delta) if delta else EqualPromise()
    methods = tuple(data.method(key) for key in ("original", "geometric", *keys))
    asked = Comparison(data, methods, Analysis(sets=1), terms, epsilon, (0.1, 10.0))
    *_, found = asked.rank()
    return Ranking.of(asked, found)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 3.0])
def test_a_method_that_is_told_the_truth_is_not_ranked_and_the_table_has_both_errors(epsilon):
    data = BinaryData(n=40, p=0.25)
    found = ranked(data, epsilon, KEY)
    outcome = next(one for one in found.outcomes if one.method.key == KEY)
    at_truth = error_by_list(data, 0.25, epsilon)
    off = max(error_by_list(data, guess, epsilon) for guess in (0.15, 0.35))
    assert outcome.root_mean_squared_error.value == pytest.approx(at_truth, rel=1e-9)
    assert found.exclusion(outcome) == "its public guess is the truth itself"
    assert [one.method.key for one in found.contenders] == ["geometric"]
    (cell,) = [row[0] for row in found.table[1] if LABEL in row[0]]
    assert "π = 0.25" in cell and "not ranked: its public guess is the truth itself" in cell
    assert f"error with a guess off by 10 points: {format_number(100 * off, 3)} points" in cell
    assert "π = 0.25" in found.comparison.description


def test_a_guess_of_the_readers_own_is_ranked_and_says_how_far_off_it_is():
    data = BinaryData(n=40, p=0.25).with_guess(0.3)
    found = ranked(data, 0.05, KEY)
    assert found.contenders[0].method.key == KEY
    assert "π = 0.3" in found.table[1][0][0] and "not ranked" not in found.table[1][0][0]
    assert found.contenders[0].root_mean_squared_error.value == pytest.approx(error_by_list(data, 0.3, 0.05), rel=1e-9)
    design: Any = found.contenders[0].method.design(data, 0.05, 1)
    assert dict(design.details)["public_share"] == 0.3


def test_at_equal_real_privacy_the_other_guess_has_its_own_setting():
    data = BinaryData(n=20, p=0.3)
    found, off = ranked(data, 1.0, KEY, delta=1e-3), []
    for guess in (0.2, 0.4):
        other = data.with_guess(guess)
        setting: Any = EqualPrivacy(1e-3).setting(other.method(KEY), other, 1.0, 1)
        off.append(error_by_list(data, guess, setting))
    (cell,) = [row[0] for row in found.table[1] if LABEL in row[0]]
    assert f"error with a guess off by 10 points: {format_number(100 * max(off), 3)} points" in cell


def test_alone_it_says_why_nothing_is_ranked():
    data = BinaryData(n=20, p=0.3)
    asked = Comparison(data, (data.method(KEY),), Analysis(sets=1), EqualPromise(), 0.5, (0.1, 10.0))
    *_, found = asked.rank()
    mark, sentence, short = Ranking.of(asked, found).answer
    assert mark == "not ranked" and "told the truth as its public guess" in sentence and short


def test_no_other_method_owes_anything_to_a_guess():
    found = ranked(BinaryData(n=20, p=0.3), 1.0, "beta_binomial")
    assert "guess" not in str(found.table) and "π" not in found.comparison.description
    assert not any(one.method.guess for one in found.outcomes)


def test_a_division_of_it_says_what_its_error_rests_on_and_no_single_set_of_it_is_the_best():
    data = BinaryData(n=20, p=0.3)
    for asked_of, told in ((KEY, True), ("beta_binomial", False)):
        asked = SplitOverSets(data=data, method=data.method(asked_of), epsilon=0.2, analysis=Analysis())
        *_, found = asked.stream(intervals=False)
        assert found.single is not None and found.single.method.key != KEY
        assert ("π = 0.3" in asked.description) is told
        assert ("told <b>the truth</b> as its public guess" in asked.note(found)) is told


@pytest.mark.parametrize(("p", "guess"), [(0.0, 0.001), (0.0004, 0.001), (0.3, 0.3), (1.0, 0.999)])
def test_a_truth_outside_the_domain_of_guesses_has_the_nearest_one(p, guess):
    data = BinaryData(n=10, p=p)
    assert data.guess == guess
    assert data.guesses_truth(data.method(KEY)) and not data.guesses_truth(data.method("geometric"))


def test_a_curator_considers_it_where_it_is_chosen_with_the_middle_of_the_range_as_its_guess_and_says_so():
    data = CountData(n=20, m=20, p=0.25)
    asked = DesignQuestion(data=data, lowest=0.1, highest=0.4, protections=(EpsilonDeltaLimit(most_epsilon=1.0),))
    assert KEY not in [one.key for one in asked.considered_methods] and "public_share" not in asked.data.to_dict()
    for kind in (BinaryData, CountData):
        assert kind.method(KEY).guess == "public_share" and KEY not in kind.considered_keys()
    chosen = dataclasses.replace(asked, methods=(KEY,))
    assert [one.key for one in chosen.considered_methods] == [KEY]
    assert {one.guess for one in chosen.data_at_truths} == {0.25} == {chosen.data.guess}
    own = dataclasses.replace(chosen, data=data.with_guess(0.2))
    assert {one.guess for one in own.data_at_truths} == {0.2}
    for one in (asked, chosen, own):
        assert DesignQuestion.from_json(one.to_json()) == one
    assert ["public_share" in one.to_json() for one in (asked, chosen, own)] == [False, True, True]
    assert "guess" not in asked.assumptions
    assert chosen.assumptions == f"The public guess of {LABEL} is 0.25, the middle of your range."
    assert own.assumptions == f"The public guess of {LABEL} is 0.2."


@pytest.mark.parametrize("share", [0.0, 1.0, math.nan, "a half"])
def test_a_guess_outside_its_domain_is_refused(share):
    with pytest.raises(ValueError, match=r"public_share \(public guess of the share\) must be"):
        BinaryData(n=10, p=0.5, public_share=share)
