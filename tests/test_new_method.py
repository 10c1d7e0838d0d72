"""A law with a prior that somebody adds: one class and one line, and it is among the smallest priors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import streamlit as st

from dpviz.calibration.methods import CALIBRATED_METHODS, PRIOR_METHODS, method_of
from dpviz.calibration.sets import minimum_prior_for_sets
from dpviz.claims.curves import prior_curves
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import SYNTHESIZERS, WorstCase, two_cell_synthesizers
from dpviz.mechanisms.prior import PriorSynthesizer
from dpviz.priors import KINDS, Setting, maximum_range, minimum_prior, minimum_prior_probabilistic, release
from dpviz.privacy import delta_for_epsilon
from pages.components.cached import forget
from pages.minimum_priors.controls import FAMILIES
from pages.minimum_priors.sections import SECTIONS_OF
from tests.pages import alpha_in, check_sound, html, method_table, open_priors, problems, shown_prior, text


@dataclass(frozen=True, kw_only=True)
class RepeatedRow(PriorSynthesizer):
    """A single row from one draw of the proportion, m times: its worst pair is all ones or all zeros."""

    key: ClassVar[str] = "repeated_row"
    label: ClassVar[str] = "Repeated row"
    formula: ClassVar[str] = r"\Pr(m_1 = m) = (\alpha + n_1) / (\alpha + \beta + n)"
    source: ClassVar[str] = "a test"
    color: ClassVar[str] = "other"
    kept_by: ClassVar[str] = ""
    finding: ClassVar[str] = ""
    opendp: ClassVar[str] = ""
    rows_drawn: ClassVar[str] = "one row, m times"
    releases: ClassVar[str] = "One row, m times."
    several_sets: ClassVar[bool] = True

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        total, i, j = self.alpha + self.beta + self.n, np.asarray(rows)[:, None], np.asarray(columns)[None, :]
        ones, zeros = np.log((self.alpha + i) / total), np.log((self.beta + (self.n - i)) / total)
        return np.where(j == self.m, ones, np.where(j == 0, zeros, -math.inf))

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        return WorstCase(max(0.0, 1 - math.expm1(epsilon) * self.alpha) / (self.alpha + self.beta + self.n), 1, 0)

    @classmethod
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        return 1 / math.expm1(epsilon)


KEY = RepeatedRow.key
ASKED = {"n": 20, "m": 10, "epsilon": 1.0, "delta": 1e-3}


def test_every_law_with_a_prior_is_a_method_and_no_method_twice() -> None:
    laws = [law for law in two_cell_synthesizers().values() if issubclass(law, PriorSynthesizer)]
    assert [method_of(law).synthesizer_type for law in laws] == laws
    assert {method_of(law).key for law in laws} < set(CALIBRATED_METHODS) < set(PRIOR_METHODS)
    assert len(PRIOR_METHODS) == len(laws) + 2


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The law, and no curve that a page has kept without it, or keeps with it."""
    monkeypatch.setitem(SYNTHESIZERS, KEY, RepeatedRow)
    st.cache_resource.clear()
    forget()
    yield
    st.cache_resource.clear()
    forget()


pytestmark = pytest.mark.usefixtures("registered")


@pytest.mark.parametrize(("n", "epsilon", "delta"), [(1, 1.0, 0.1), (30, 0.5, 1e-3), (2000, 2.0, 1e-5)])
def test_its_least_prior_is_that_of_its_own_formula(n: int, epsilon: float, delta: float) -> None:
    """δ (2α + n) = 1 − (e^ε − 1) α at the table without ones, where e^ε is exceeded most."""
    alpha = minimum_prior(KEY, n=n, m=50, epsilon=epsilon, delta=delta)
    assert alpha == pytest.approx(max((1 - delta * n) / (math.expm1(epsilon) + 2 * delta), 1e-300), rel=1e-11)
    assert delta_for_epsilon(release(KEY, n=n, m=50, alpha=alpha), epsilon) <= delta
    assert minimum_prior(KEY, n=n, m=50, epsilon=epsilon) == pytest.approx(1 / math.expm1(epsilon), rel=1e-12)


def test_it_has_a_curve_and_an_inverse() -> None:
    setting = Setting(n=20, m=10, epsilon=1.0, delta=1e-3)
    curves = prior_curves("bernoulli", setting, "epsilon")
    line = next(one for one in curves.lines if (one.method, one.kind) == (KEY, "exact"))
    assert curves.at_chosen(line) == pytest.approx(minimum_prior(KEY, n=20, m=10, epsilon=1.0, delta=1e-3))
    given = KINDS["bernoulli"].given(PRIOR_METHODS[KEY], setting, 2.0)
    assert given is not None
    assert given.pure_epsilon == pytest.approx(math.log1p(1 / 2.0))


def test_what_it_cannot_do_it_refuses_by_name() -> None:
    assert [kind.key for kind in KINDS.values() if KEY in kind.methods] == ["bernoulli"]
    with pytest.raises(ValueError, match="Repeated row has no exact answer for several sets"):
        minimum_prior_for_sets(KEY, sets=2, **ASKED)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Repeated row has no exact answer for more than two cells"):
        release(KEY, n=20, m=10, alpha=1.0, cells=3)
    with pytest.raises(ValueError, match="Repeated row has no exact answer for probabilistic privacy"):
        minimum_prior_probabilistic(KEY, **ASKED)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Repeated row has no exact answer for Gaussian data"):
        maximum_range(KEY, **ASKED)  # type: ignore[arg-type]


def test_it_stands_on_the_page() -> None:
    page = open_priors(n=40, epsilon=1.5, delta=1e-4, look="The inverse")
    check_sound(page)
    shown = method_table(page)[RepeatedRow.label]
    exact = minimum_prior(KEY, n=40, m=40, epsilon=1.5, delta=1e-4)
    assert [alpha_in(cell) for cell in shown[:2]] == [shown_prior(1 / math.expm1(1.5)), shown_prior(exact)]


@pytest.mark.parametrize("section", list(SECTIONS_OF[FAMILIES["Bernoulli"]]))
def test_every_section_works_and_has_it_where_it_can(section: str) -> None:
    page = open_priors(n=40, epsilon=1.5, delta=1e-4, look=section)
    check_sound(page)
    assert not problems(page)
    tables = "".join(part for part in html(page)[2:] if "<table" in part)
    without = {"As published", "Parameter or rows?", "Probabilistic δ", "Download", "Why, and sources"}
    assert f"<b>{RepeatedRow.label}</b></td>" in tables or section in without
    assert "SYNTH_Post(One)" in tables


@pytest.mark.parametrize("family", ["Gaussian", "k categories"])
def test_it_is_not_offered_for_data_that_it_does_not_release(family: str) -> None:
    page = open_priors(family=family, n=40, epsilon=1.5, delta=1e-4, look="Several sets")
    check_sound(page)
    assert RepeatedRow.label not in text(page)
    assert "SYNTH_Post(One)" in method_table(page)
