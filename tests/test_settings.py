"""The settings of every page: what is refused, in a box or in the address, costs nothing that was there before."""

from __future__ import annotations

import math
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.desk.addresses import SETTINGS
from tests.pages import (
    address,
    check_sound,
    marks,
    open_budget,
    open_comparison,
    open_coverage,
    open_desk,
    open_page,
    open_posterior,
    open_priors,
    problems,
    text,
)

OPEN = {
    "tm_": open_page,
    "mp_": open_priors,
    "cv_": open_coverage,
    "po_": open_posterior,
    "cs_": open_comparison,
    "bu_": open_budget,
    "cu_": open_desk,
}
STILL = "The page shows the answer for the last settings that are allowed: "
FRESH = "The page shows the answer for the settings of a fresh page: "
SHOWN: dict[str, dict[str, Any]] = {
    "tm_": {"m_is_n": False, "beta_is_alpha": False, "look": "The attacker", "worst": False},
    "mp_": {"m_is_n": False, "look": "Uneven priors", "n": 50, "m": 50},
    "cv_": {"m_is_n": False, "n": 20, "m": 20, "sets": 2, "prior": "exact"},
    "po_": {
        "m_is_n": False,
        "look": "If n is secret",
        "around": False,
        "size_prior": "around a guess",
        "prior": "exact",
    },
    "bu_": {"n": 8, "repetitions": 50, "spending": "share", "sets": 2},
    "cs_": {"n": 20, "sets": 2, "terms": "privacy"},
    "cu_": {"n": 20, "values": 2, "repetitions": 60, "m_is_n": False, "m": 20},
}
"""Settings under which a page shows most of its boxes."""


@pytest.fixture(scope="module", autouse=True)
def _registered() -> None:
    """Every setting is known once its page has been opened."""
    for opened in OPEN.values():
        check_sound(opened())


def numbers(prefix: str) -> list[str]:
    """The keys of a page's numbers."""
    return [key for key, one in SETTINGS.items() if key.startswith(prefix) and isinstance(one.default, int | float)
            and not isinstance(one.default, bool)]  # fmt: skip


def told(page: AppTest) -> list[str]:
    """The answer of a page, without what is said of a refused value."""
    return marks(page)[:1]


@pytest.mark.parametrize("prefix", OPEN)
def test_a_box_that_is_refused_keeps_the_last_answer_and_says_so(prefix: str) -> None:
    page = OPEN[prefix](**SHOWN[prefix])
    check_sound(page)
    assert not problems(page)
    before, boxes = marks(page), [str(box.key) for box in page.number_input]
    assert len(boxes) > 5
    for key in boxes:  # each is put back as the next is moved
        good = page.session_state[key]
        for value in (-1e300, None):
            page.number_input(key=key).set_value(value).run()
            check_sound(page)
            said = problems(page)
            assert len(said) == 1, key
            assert " must be " in said[0]
            assert ("its box is empty" in said[0]) == (value is None), said
            assert marks(page) == before, key
            assert page.number_input(key=key).value == value
            assert STILL in text(page) or "The page shows the answer for " in said[0]
        page.number_input(key=key).set_value(good)
    page.run()
    assert not problems(page)
    assert marks(page) == before


def test_half_a_row_is_refused_once_where_m_follows_n() -> None:
    page = open_page(n=7)
    before = text(page)
    page.number_input(key="tm_n").set_value(5.5).run()
    check_sound(page)
    assert problems(page) == ["n (people) must be a whole number from 1 to 5,000; got 5.5."]
    named = f"{STILL}Posterior-mean plug-in, n = 7, m = 7, α = 0.5, β = 0.5, ε = 2, δ = 10⁻⁵."
    assert named in text(page)
    card = f"Not accepted {problems(page)[0]} {named}"
    assert text(page).replace(card, "").split() == before.split()
    page.button(key="mend_tm_n").click().run()
    assert not problems(page)
    assert page.session_state["tm_n"] == 5


def test_a_million_sets_leave_the_coverage_of_five() -> None:
    page = open_coverage(n=20, p=0.4)
    before = marks(page)
    page.number_input(key="cv_sets").set_value(999999999.0).run()
    check_sound(page)
    assert problems(page) == ["sets (released sets) must be a whole number from 1 to 500; got 999999999."]
    assert marks(page) == before
    assert f"{STILL}20 people, a true share of 40 %, 5 released tables of 20 rows and ε = 2." in text(page)


def test_a_prior_that_the_mode_refuses_leaves_the_release_before() -> None:
    page = open_page(n=6)
    before = marks(page)
    page.selectbox(key="tm_synthesizer").set_value("posterior_mode").run()
    check_sound(page)
    assert problems(page) == ["alpha (invented rows with yes) must be a number above 1, at most 10¹²; got 0.5."]
    assert marks(page) == before
    assert f"{STILL}Posterior-mean plug-in, n = 6" in text(page)
    assert page.session_state["tm_alpha"] == 0.5


REFUSED_TOGETHER = {
    "tm_": {"tm_synthesizer": "posterior_mode", "tm_n": "9"},
    "cv_": {"cv_prior": "own", "cv_synthesizer": "posterior_mode", "cv_alpha": "0.5"},
    "po_": {"po_n": "20", "po_x": "25"},
}


@pytest.mark.parametrize("prefix", REFUSED_TOGETHER)
def test_settings_that_are_refused_together_in_the_address_show_a_fresh_page_and_say_so(prefix: str) -> None:
    page = OPEN[prefix](REFUSED_TOGETHER[prefix])
    check_sound(page)
    assert len(problems(page)) == 1
    assert " must be " in problems(page)[0]
    assert told(page) == told(OPEN[prefix]())
    assert FRESH in text(page)
    for key, value in REFUSED_TOGETHER[prefix].items():
        assert address(page)[key] == value


def test_a_section_keeps_its_answer_where_its_own_settings_are_refused() -> None:
    page = open_posterior(look="If n is secret", around=False, low=60, high=70)
    before = marks(page)
    page.number_input(key="po_low").set_value(80.0).run()
    check_sound(page)
    assert problems(page) == [
        "The fewest rows must be at most the most, 70; got 80. The page shows the answer for 60 to 70 rows."
    ]
    assert marks(page) == before
    page = open_posterior(look="k categories", n=30)
    page.text_area(key="po_tables").set_value("5, 3, 2").run()
    before = marks(page)
    page.text_area(key="po_tables").set_value("5, 3, x").run()
    check_sound(page)
    assert "got x. The page shows the answer for 5, 3, 2." in problems(page)[0]
    assert marks(page) == before


def test_every_setting_is_written_to_the_address_as_it_is_read() -> None:
    for key, one in SETTINGS.items():
        if one.default is not None:
            assert one.read(one.write(one.default)) == one.default, key
    for value in (0.1, 1 / 3, 1e-300, 5, 123456789, 1e-6, math.pi * 1e9):
        assert float(SETTINGS["tm_alpha"].write(value)) == value
