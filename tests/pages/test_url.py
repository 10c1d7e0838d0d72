"""Settings in the URL: how each kind is written and read, and when a query is a link, a step back, or on its way."""

import math
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.core.declarations import DELTA
from pages import ui
from pages.ui import url
from pages.ui.navigation import Page
from pages.ui.url import MAX_TEXT, Setting, format_value, hidden_number_setting
from tests.pages.apptest import problems, settings, sound
from tests.pages.trial import N, move, open_trial, trial_script


def read(setting: Setting, text: str) -> Any:
    """What a setting makes of a text: a value, or what its refusal says."""
    try:
        return setting.parse(text)
    except ValueError as refusal:
        return refusal.args[0]


# One setting


@pytest.mark.parametrize(
    "value", [0, 5, -3, 123456789, 10**15, 0.1, 1 / 3, 1e-300, 1e-6, math.pi * 1e9, 2.5e20, -0.25, 1e308]
)
def test_every_digit_of_a_number_comes_back(value: float) -> None:
    assert float(format_value(value)) == value
    assert "." not in format_value(5.0) and format_value(1e-6) == "1e-06"


@pytest.mark.parametrize(
    "text", ["inf", "-inf", "nan", "1e999", "", "5.5", "-1", "0", "501", "words", "1" * 400, "½", "５.5"]
)
def test_a_whole_number_out_of_its_domain_is_refused_in_a_sentence(text: str) -> None:
    said = read(ui.number_setting(N), text)
    assert isinstance(said, str) and said.startswith("n (people) must be a whole number from 1 to 500; got ")
    assert len(said) < 150


def test_numbers_are_of_their_kind_and_name_themselves_in_files() -> None:
    count, share = ui.number_setting(N), ui.number_setting(DELTA)
    assert (count.parse("7"), type(count.parse("7")), type(count.fresh)) == (7, int, int)
    assert (share.parse("0"), type(share.parse("0")), type(share.fresh)) == (0.0, float, float)
    assert (count.label, share.label) == ("People n", "Allowed failure δ")
    hidden = hidden_number_setting(N)
    assert hidden.fresh is None and hidden.parse("9") == 9 and hidden.label == "People of your release"


def test_a_choice_takes_its_keys_even_those_that_are_registered_later() -> None:
    keys = ["a", "b, c"]
    setting = ui.choice_setting(lambda: keys, "a")
    assert read(setting, "d") == "it must be one of a, b, c."
    keys.append("d")
    assert setting.parse("d") == "d"
    assert ui.choice_setting(["a"], None).fresh is None


def test_of_several_keys_the_known_ones_are_kept_once() -> None:
    setting = ui.choices_setting(["a", "b", "c"], ["b"])
    assert setting.parse("c.a.c.") == ["c", "a"] and setting.parse("") == [] and setting.format(["c", "a"]) == "c.a"
    with pytest.raises(ValueError, match="each must be one of a, b, c") as refusal:
        setting.parse("a.<b>.x.c")
    assert refusal.value.args[1] == ["a", "c"]
    assert setting.fresh == ["b"] and setting.fresh is not setting.fresh  # nobody changes everybody's default


def test_switches_and_texts() -> None:
    switch = ui.switch_setting(True)
    assert [read(switch, text) for text in ("true", "FALSE", "1")] == [True, False, "it must be one of true, false."]
    assert switch.format(False) == "false"
    text = ui.text_setting("")
    assert text.parse("x" * MAX_TEXT) == text.format("x" * MAX_TEXT) == "x" * MAX_TEXT
    said = "a link carries texts of up to 4,000 characters; this one has 4,001."
    assert read(text, "x" * (MAX_TEXT + 1)) == said and text.format("x" * (MAX_TEXT + 1)) is None


# The URL of a page


def query(app: AppTest, **values: object) -> AppTest:
    """Let the browser ask for the page with another query: a link, or a step back."""
    app.query_params = {name: str(value) for name, value in values.items()}
    return sound(app.run())


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let time pass: no request is still on its way."""
    monkeypatch.setattr(url, "IN_TRANSIT_S", 0.0)


def test_the_url_has_what_differs_from_a_fresh_page_and_what_belongs_to_others() -> None:
    app = open_trial()
    assert settings(app) == {}
    query(app, tr_n=7, embed="true", tr_gone="1")
    move(app, x=2)
    assert settings(app) == {"tr_n": "7", "tr_x": "2", "embed": "true"}
    move(app, n=40, x=3)
    assert settings(app) == {"embed": "true"}


def test_a_link_stands_as_it_is_until_something_is_moved() -> None:
    app = open_trial(n=40, kind="few", x=5)
    assert settings(app) == {"tr_n": "40", "tr_kind": "few", "tr_x": "5"}
    move(app, n=20)
    assert settings(app) == {"tr_n": "20", "tr_x": "5"}


def test_a_link_that_says_what_cannot_be_is_replaced_by_what_is_shown() -> None:
    app = open_trial(n=40, kind="few", x=500)
    assert settings(app) == {"tr_x": "40"}


def test_a_link_to_the_same_page_replaces_what_the_last_one_said(passing: None) -> None:
    app = open_trial(n=7, words="kept")
    move(app, epsilon=3.0)
    query(app, tr_n=9)
    assert [app.session_state[f"tr_{name}"] for name in ("n", "words", "epsilon")] == [9, "", 2.0]


def test_a_step_back_and_forward_sets_what_the_url_says(passing: None) -> None:
    app = open_trial()
    move(app, n=7)
    move(app, n=8, x=1)
    for back, n, x in (({"tr_n": 7}, 7, 3), ({}, 40, 3), ({"tr_n": 7}, 7, 3), ({"tr_n": 8, "tr_x": 1}, 8, 1)):
        query(app, **back)
        assert (app.session_state["tr_n"], app.session_state["tr_x"]) == (n, x)
        assert settings(app) == {key: str(value) for key, value in back.items()}


def test_a_request_that_was_on_its_way_is_no_step_back() -> None:
    """A control is moved before the browser has the URL of the move before."""
    app = open_trial()
    move(app, n=7)
    app.query_params = {}
    move(app, x=2)
    assert (app.session_state["tr_n"], settings(app)) == (7, {"tr_n": "7", "tr_x": "2"})


def test_what_is_wrong_in_a_link_is_said_until_it_is_moved_and_a_reload_keeps_the_settings() -> None:
    app = open_trial(n="words", x="nan", kind="<b>", epsilon=1.5)
    assert len(problems(app)) == 3 and app.session_state["tr_epsilon"] == 1.5
    sound(app.run())
    assert len(problems(app)) == 3
    move(app, n=41)
    assert [said.partition(" = ")[0].rpartition(" ")[2] for said in problems(app)] == ["tr_x", "tr_kind"]
    assert problems(move(app, x=4, kind="many")) == []
    assert settings(app) == {"tr_n": "41", "tr_x": "4", "tr_kind": "many", "tr_epsilon": "1.5", "tr_detail": "2"}


def test_an_invalid_value_keeps_what_was_set_before(passing: None) -> None:
    app = open_trial(n=9)
    query(app, tr_n="words", tr_x=2)
    assert (app.session_state["tr_n"], app.session_state["tr_x"]) == (9, 2)
    assert problems(app)[0].startswith("Ignored an invalid value in the link, tr_n = words: n (people) must be a whole")


def test_a_longer_text_stays_in_the_session_and_out_of_the_url() -> None:
    app = open_trial()
    move(app, words="x" * (MAX_TEXT + 1))
    assert settings(app) == {} and len(app.session_state["tr_words"]) == MAX_TEXT + 1


@pytest.mark.parametrize(("text", "is_on"), [("1", True), ("true", True), ("0", False), ("<b>", False)])
def test_the_url_decides_on_class_mode_when_the_app_is_opened(text: str, is_on: bool) -> None:
    app = AppTest.from_function(trial_script)
    app.query_params["class"] = text
    assert sound(app.run()).session_state["class"] is is_on


def test_the_full_url_of_a_page_says_everything_that_is_asked_for() -> None:
    page = Page(path="trial", module="", title="Trial", question="?", prefix="tr_")
    assert url.url_of(page, {"tr_a": "β = 1 & 2", "tr_b": ""}) == "trial?tr_a=%CE%B2+%3D+1+%26+2&tr_b="
    assert url.url_of(page, {}) == "trial"


def test_an_unknown_setting_of_a_page_is_named_until_something_is_moved() -> None:
    app = open_trial(nn=4, epsilon=1.5)
    assert problems(app) == ["Ignored tr_nn = 4 in the link: the page has no such setting."]
    move(app, n=41)
    assert problems(app) == [] and settings(app) == {"tr_n": "41", "tr_epsilon": "1.5"}
    assert problems(open_trial(seed=4, gamma1=2)) == []  # which links to every page may have
