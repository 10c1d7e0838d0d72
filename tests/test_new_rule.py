"""A combining rule that somebody adds: one record in the registry, and it works on every page."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import streamlit as st

from dpviz.charts.style import OTHER_RULE, RULE_STYLES, style_of
from dpviz.core.parameters import readable
from dpviz.coverage import exact_coverage
from dpviz.desk.question import ASKED_KINDS as DESK
from dpviz.inference import COMBINING_RULES, RULES
from dpviz.mechanisms import BetaBinomial
from pages.components.cached import forget
from pages.coverage.controls import short
from tests.page_cases import COMPUTED
from tests.pages import (
    check_sound,
    html,
    open_budget,
    open_comparison,
    open_coverage,
    open_desk,
    problems,
    table_called,
    table_rows,
    text,
    value_of,
)
from tests.toys import TWICE


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(COMBINING_RULES, TWICE.key, TWICE)
    monkeypatch.setitem(RULES, TWICE.key, TWICE)
    st.cache_resource.clear()
    forget()
    yield
    st.cache_resource.clear()
    forget()


@pytest.mark.parametrize("section", [None, *COMPUTED])
def test_a_new_rule_is_on_the_page_coverage(section: str | None) -> None:
    page = open_coverage(n=12, sets=2, rules=["twice", "reiter_2003"], look=section)
    check_sound(page)
    assert not problems(page)
    assert short("twice") in text(page) + "".join(html(page)) or section == "Download"
    if section is None:
        alpha = 12 / np.expm1(1.0)  # ε = 2 over two sets
        made = BetaBinomial(n=12, m=12, alpha=float(alpha), beta=float(alpha))
        exact = exact_coverage(synthesizer=made, p=0.25, sets=2, rule="twice").coverage
        shown = table_rows(table_called(page, "Coverage of each rule"))[short("twice")][0]
        assert value_of(shown) == pytest.approx(100 * exact, rel=1e-4)


def exact_cover(n: int) -> float:
    """Its coverage of p = ¼ by two sets of the Beta-binomial that share ε = 1."""
    alpha = float(n / np.expm1(0.5))
    return exact_coverage(
        synthesizer=BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha), p=0.25, sets=2, rule="twice"
    ).coverage


def test_a_new_rule_is_on_the_page_compare() -> None:
    page = open_comparison(n=12, sets=2, epsilon=1.0, rule="twice", binary_methods=["beta_binomial"])
    check_sound(page)
    assert not problems(page)
    assert TWICE.label in page.selectbox(key="cs_rule").options
    assert f"by “{TWICE.label}”" in text(page)
    shown = table_rows(table_called(page, "The methods in order"))[BetaBinomial.label][2]
    assert value_of(shown) == pytest.approx(100 * exact_cover(12), rel=1e-3)


def test_a_new_rule_is_on_the_page_budget() -> None:
    page = open_budget({"bu_rule": "twice"}, n=8, repetitions=50, sets_binary_method="beta_binomial")
    check_sound(page)
    assert not problems(page)
    assert TWICE.label in page.selectbox(key="bu_rule").options
    assert page.session_state["bu_rule"] == "twice"


def test_a_new_rule_is_on_the_desk() -> None:
    page = open_desk(
        {"cu_count_rules": "twice"}, n=12, values=2, repetitions=60, lowest_p=0.25, highest_p=0.25,
        count_methods=["beta_binomial"], tried=["2"], most_error=1.0, accuracy=["root_mean_squared_error"],
    )  # fmt: skip
    check_sound(page)
    assert not problems(page)
    assert page.session_state["cu_count_rules"] == ["twice"]
    words = text(page)
    assert f"with the analysis “{TWICE.label}”" in words
    assert f"{value_shown(exact_cover(12))} %" in words
    for kind in DESK.values():
        assert "twice" in kind.rules


def value_shown(share: float) -> str:
    """A share in per cent as a table has it."""
    return readable(100 * share, 4)


def test_a_rule_without_a_style_of_its_own_has_one_that_no_other_has() -> None:
    assert style_of("twice") is OTHER_RULE
    for part in ("color", "dash", "symbol"):
        assert getattr(OTHER_RULE, part) not in {getattr(one, part) for one in RULE_STYLES.values()}
    assert set(RULES) - {"twice"} == set(RULE_STYLES)
