"""A method that somebody adds: one object, and its least prior and its place on the page are there."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import streamlit as st

from dpviz.methods import CALIBRATED, METHODS, Method, RowMethod
from dpviz.methods.many_rows import ManyBetaBinomial
from dpviz.priors import KINDS, Setting, minimum_prior, release
from dpviz.priors.curves import prior_curves
from dpviz.privacy import delta_for_epsilon
from dpviz.synthesizers import SYNTHESIZERS
from dpviz.synthesizers.prior import PriorSynthesizer
from tests.pages import check_sound, method_table, open_priors, shown_prior, text


class OneRow(Method):
    """A single row from one draw of the proportion, whatever m: its worst pair is all ones or all zeros."""

    key, label, words, color = "one_row", "One row", "a single row from one draw", "one_row"

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> ManyBetaBinomial:
        return ManyBetaBinomial(n=n, m=1, alpha=alpha, beta=beta)

    def least_pure(self, m: int, epsilon: float) -> float:
        return ManyBetaBinomial.least_alpha(m=1, epsilon=epsilon)

    def pair_delta(self, ones: float, zeros: float, m: int, epsilon: float) -> float:
        return max(0.0, (1 - math.expm1(epsilon) * ones) / (ones + zeros + 1))

    def spread(self, total: float, m: int) -> float:
        return 1.0


def test_a_law_and_its_method_name_each_other() -> None:
    laws = (one for one in SYNTHESIZERS.values() if issubclass(one, PriorSynthesizer) and one.method)
    by_law = {one.key: one.method for one in laws}
    assert by_law == {one.synthesizer.key: one.key for one in METHODS.values() if isinstance(one, RowMethod)}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The method, and no curve that a page has kept without it, or keeps with it."""
    monkeypatch.setitem(METHODS, OneRow.key, OneRow())
    monkeypatch.setitem(CALIBRATED, OneRow.key, METHODS[OneRow.key])
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(("n", "epsilon", "delta"), [(1, 1.0, 0.1), (30, 0.5, 1e-3), (5000, 2.0, 1e-5)])
def test_its_least_prior_is_that_of_its_own_formula(n: int, epsilon: float, delta: float) -> None:
    """δ (2α + n) = 1 − (e^ε − 1) α at the table without ones, where e^ε is exceeded most."""
    alpha = minimum_prior(OneRow.key, n=n, m=50, epsilon=epsilon, delta=delta)
    assert alpha == pytest.approx(max((1 - delta * n) / (math.expm1(epsilon) + 2 * delta), 1e-300), rel=1e-11)
    assert delta_for_epsilon(release(OneRow.key, n=n, m=50, alpha=alpha), epsilon) <= delta
    assert minimum_prior(OneRow.key, n=n, m=50, epsilon=epsilon) == pytest.approx(1 / math.expm1(epsilon), rel=1e-12)


@pytest.mark.usefixtures("registered")
def test_it_has_a_curve_and_an_inverse() -> None:
    setting = Setting(n=20, m=10, epsilon=1.0, delta=1e-3)
    curves = prior_curves("bernoulli", setting, "epsilon")
    line = next(one for one in curves.lines if (one.method, one.kind) == (OneRow.key, "exact"))
    assert curves.at_chosen(line) == pytest.approx(minimum_prior(OneRow.key, n=20, m=10, epsilon=1.0, delta=1e-3))
    given = KINDS["bernoulli"].given(METHODS[OneRow.key], setting, 2.0)
    assert given is not None
    assert given.pure_epsilon == pytest.approx(math.log1p(1 / 2.0))


@pytest.mark.usefixtures("registered")
def test_it_stands_on_the_page_and_where_it_knows_nothing_the_page_says_so() -> None:
    page = open_priors(n=40, epsilon=1.5, delta=1e-4, look="The inverse")
    check_sound(page)
    shown = method_table(page)[OneRow.label]
    exact = minimum_prior(OneRow.key, n=40, m=40, epsilon=1.5, delta=1e-4)
    assert shown[:2] == [shown_prior(1 / math.expm1(1.5)), shown_prior(exact)]
    assert shown[-1] != ""
    page = open_priors(family="Gaussian", n=40, epsilon=1.5, delta=1e-4, look="Several sets")
    check_sound(page)
    assert "beyond reach" in method_table(page)[OneRow.label]
    assert "One row knows nothing of Gaussian data." in text(page)
