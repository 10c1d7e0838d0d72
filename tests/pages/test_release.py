"""One release on all pages: what two pages know of it arrives unchanged, by the menu and by links."""

import math
from importlib import import_module
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.mechanisms import SYNTHESIZERS
from pages.ui.navigation import CURATOR, PAGES, START, Page
from pages.ui.release import describe_release
from tests.pages.apptest import answer, links, move, open_page, problems, set_state, settings, texts, visit
from tests.pages.cases import CASES, MATRIX

CARRYING = [page for page in PAGES if page.carries]
DRAW: dict[str, Any] = {
    "synthesizer": "beta_binomial", "n": 20, "epsilon": 2.5, "p": 0.35, "x": 7, "seed": 4, "sets": 1,
}  # fmt: skip
RELEASES = {"a posterior draw": DRAW, "several sets": DRAW | {"sets": 3}, "noise": DRAW | {"synthesizer": "geometric"}}
QUICK = {"bu_repetitions": 50, "cs_repetitions": 50, "cu_repetitions": 60, "cu_values": 2}
"""Settings with which pages answer at once, none of which belongs to a release."""

every_page = pytest.mark.parametrize("first", CARRYING, ids=lambda page: page.module)


def query_of(page: Page, values: dict[str, Any]) -> dict[str, Any]:
    """The query of a link to a page with a release."""
    query = {page.prefix + name: value for name, value in values.items()}
    return query | {key: value for key, value in QUICK.items() if key.startswith(page.prefix)}


def open_release(page: Page, values: dict[str, Any]) -> AppTest:
    """A page that a reader opens by the link of a release, before any other."""
    app = open_page(page.module, **query_of(page, values))
    for key, value in QUICK.items():
        app.session_state[key] = value
    return app


def shown_on(app: AppTest, page: Page) -> dict[str, Any]:
    """The reader's release as a page has it, by the names that the page has settings for."""
    module = import_module(f"pages.{page.module}")
    names = [name for name in app.session_state["visit"].release if page.prefix + name in module.SETTINGS]
    return {name: app.session_state[page.prefix + name] for name in names if name in ("n", "epsilon", "p", "x", "seed")}


def carried_by(app: AppTest) -> dict[str, Any]:
    """The reader's release."""
    return dict(app.session_state["visit"].release)


def state_of(app: AppTest, *keys: str) -> tuple[Any, ...]:
    return tuple(app.session_state[key] for key in keys)


def release_line(app: AppTest) -> str:
    return next((text.strip() for text in texts(app) if "Your release" in text), "")


@every_page
@pytest.mark.parametrize("name", RELEASES)
def test_what_two_pages_know_of_a_release_arrives_by_the_menu(first: Page, name: str) -> None:
    app = open_release(first, RELEASES[name])
    carried = carried_by(app)
    for second in [*(page for page in CARRYING if page is not first), first]:
        visit(app, second.module)
        for key, value in shown_on(app, second).items():
            assert value == pytest.approx(carried[key], rel=1e-12), (second.module, key)
        for key in ("synthesizer", "sets"):
            setting = second.prefix + key
            if second is not START and key in carried and setting in app.session_state:
                assert app.session_state[setting] in (carried[key], None), (second.module, key)
        assert carried_by(app) == carried


@every_page
def test_what_two_pages_know_of_a_release_arrives_by_the_links(first: Page) -> None:
    app = open_release(first, DRAW)
    targets = links(app)
    reached = [page for page in CARRYING if page.title in targets]
    assert len(reached) >= 5
    for second in reached:
        there = open_page(second.module, **targets[second.title])  # in another browser
        assert problems(there) == [], second.module
        if first.prefix not in ("cs_", "bu_", "cu_"):  # these lead on with the release that they have found
            for key, value in shown_on(there, second).items():
                assert value == pytest.approx(app.session_state["visit"].release.get(key, value), rel=1e-12), key


def test_every_page_says_which_release_the_reader_carries() -> None:
    for module in ("transition_matrices", "coverage", "posterior", "minimum_priors"):
        assert release_line(open_page(module)) == ""  # nobody has set one
    app = open_release(START, DRAW)
    for page in CARRYING[1:]:
        visit(app, page.module)
        line = "Your release: Beta-binomial (posterior draw), 20 people, 1 set, ε = 2.5."
        assert release_line(app) == ("" if page is CURATOR else line)  # whose designs are others
    app = move(visit(app, "coverage"), cv_n=1)  # in the same run
    assert release_line(app) == "Your release: Beta-binomial (posterior draw), 1 person, 1 set, ε = 2.5."


def test_no_two_mechanisms_of_a_release_are_called_alike() -> None:
    assert len({describe_release({"synthesizer": key}) for key in SYNTHESIZERS}) == len(SYNTHESIZERS)


def test_what_is_moved_on_one_page_is_moved_on_the_next_and_comes_back() -> None:
    app = move(open_page("minimum_priors", mp_n=12), mp_n=40, mp_epsilon=1.5)
    for module, prefix in (("coverage", "cv_"), ("posterior", "po_")):
        assert state_of(visit(app, module), f"{prefix}n", f"{prefix}epsilon") == (40, 1.5)
    move(app, po_epsilon=2.5)
    for module, prefix in (("minimum_priors", "mp_"), ("transition_matrices", "tm_")):
        assert state_of(visit(app, module), f"{prefix}n", f"{prefix}epsilon") == (40, 2.5)


def test_a_fresh_reader_meets_each_page_as_it_is() -> None:
    app = open_page("transition_matrices")
    assert visit(app, "coverage").session_state["cv_n"] == 100
    assert visit(app, "minimum_priors").session_state["mp_n"] == 1000


def test_a_preset_replaces_the_release_on_its_page_and_one_click_brings_it_back() -> None:
    app = visit(move(open_page("coverage"), cv_n=30), "posterior")
    assert state_of(move(app, po_preset="strong privacy, ε = 0.1"), "po_n", "po_epsilon") == (100, 0.1)
    assert move(app, po_preset="your release").session_state["po_n"] == 30
    assert visit(app, "coverage").session_state["cv_n"] == 30


def test_a_page_that_does_not_take_the_release_says_so_and_it_stays_on_the_others() -> None:
    app = visit(open_page("minimum_priors", mp_n=20_000), "transition_matrices")
    largest = app.session_state["tm_n"]
    assert largest < 20_000
    (sentence,) = problems(app)
    assert sentence.startswith("Your release has n = 20,000; this page takes ")
    assert sentence.endswith(f" It shows {largest:,}.")
    assert visit(app, "minimum_priors").session_state["mp_n"] == 20_000


def test_a_mechanism_that_a_page_does_not_take_stays_on_the_others_and_is_said() -> None:
    app = open_page("coverage", cv_synthesizer="poisson_count", cv_n=40, cv_alpha=2.5, cv_sets=2)
    sentence = "Your release is not shown here. Poisson count releases one set. Choose a method that releases several."
    assert sentence in " ".join(texts(visit(set_state(app, **QUICK), "budget")))
    visit(app, "posterior")
    assert state_of(app, "po_synthesizer", "po_alpha") == ("poisson_count", 2.5) and problems(app) == []


def test_a_link_opens_a_page_that_was_seen_before_with_its_own_settings() -> None:
    app = open_page("coverage", cv_n=30)
    visit(app, "start")
    visit(app, "start", home_n=1000)
    visit(app, "coverage", **links(app)["Coverage"])
    assert app.session_state["cv_n"] == 1000


def test_many_people_lead_to_pages_that_take_them_and_the_others_are_no_link() -> None:
    for page in CARRYING:
        setting = import_module(f"pages.{page.module}").SETTINGS.get(f"{page.prefix}n")
        if page.max_people < math.inf:
            assert page.max_people == setting.parameter.maximum, page
    app = open_page("posterior", po_synthesizer="geometric", po_n=10_000)
    assert "Coverage" not in links(app) and "Transition matrices" not in links(app)
    for module, title in {"compare_synthesizers": "Compare synthesizers", "budget": "Budget"}.items():
        target = open_page(module, **links(app)[title])
        assert problems(target) == [] and "n = 10,000" in answer(target), module


def test_what_came_with_a_release_stays_in_the_url_of_a_page_without_a_control_for_it() -> None:
    app = open_release(next(page for page in CARRYING if page.prefix == "mp_"), RELEASES["a posterior draw"])
    assert {"mp_x": "7", "mp_seed": "4", "mp_p": "0.35"}.items() <= settings(app).items()
    assert "mp_x" not in {box.key for box in app.number_input}


@pytest.mark.parametrize(("module", "prefix"), [("compare_synthesizers", "cs_"), ("budget", "bu_")])
def test_fewer_rows_than_people_and_a_public_guess_go_along_to_the_pages_of_methods(module: str, prefix: str) -> None:
    app = open_page("coverage", cv_n=40, cv_m=20, cv_m_is_n="false", cv_epsilon=1.5, cv_sets=2)
    visit(set_state(app, **QUICK), module)
    assert problems(app) == [] and state_of(app, f"{prefix}n", f"{prefix}m") == (40, 20)
    assert state_of(visit(app, "posterior"), "po_n", "po_m") == (40, 20)
    app = open_page("coverage", cv_synthesizer="poisson_gamma", cv_public_share=0.4, cv_n=20, cv_sets=2)
    visit(set_state(app, **QUICK), module)
    assert problems(app) == [] and app.session_state[f"{prefix}public_share"] == 0.4


def prior_on(app: AppTest, page: Page) -> float:
    """The α of each set with which a page answers."""
    question = app.session_state["visit"].valid[page.path][0]
    alpha: float = question.design.alpha_of_one_set
    return alpha


WITH_DESIGN = [CASES[name].page for name in ("transition_matrices", "coverage", "posterior", "start")]


@pytest.mark.parametrize("first", WITH_DESIGN, ids=lambda page: page.module)
@pytest.mark.parametrize("is_own", [False, True])
def test_a_release_has_the_same_prior_on_every_page(first: Page, is_own: bool) -> None:
    """α is 20/(exp(2.5) − 1) by the rule; on a page whose prior is a number, and from there on, it may be another."""
    values = DRAW | ({"prior": "own", "alpha": 3.0} if is_own else {"prior": "pure"})
    if first is START and is_own:
        return
    app = open_release(first, values)
    expected = 3.0 if is_own else 20 / (math.exp(2.5) - 1)
    assert prior_on(app, first) == pytest.approx(expected, rel=1e-12)
    for second in WITH_DESIGN:
        if second is not first and not (is_own and second is START):  # which shows the rule alone, and says so
            there = open_page(second.module, **links(app).get(second.title, query_of(second, values)))
            assert prior_on(there, second) == pytest.approx(expected, rel=1e-12), second.module
            assert prior_on(visit(app, second.module), second) == pytest.approx(expected, rel=1e-12), second.module


def test_a_prior_that_is_a_number_stays_where_the_promise_moves() -> None:
    app = move(visit(open_release(WITH_DESIGN[2], DRAW), "transition_matrices"), tm_epsilon=3.0)
    assert visit(app, "posterior").session_state["po_prior"] == "own"
    assert prior_on(app, WITH_DESIGN[2]) == pytest.approx(20 / (math.exp(2.5) - 1), rel=1e-12)
    app = open_page("transition_matrices", tm_synthesizer="beta_binomial")  # α = 0.5, which a link need not say
    assert prior_on(app, WITH_DESIGN[0]) == 0.5


def test_a_matrix_of_the_readers_own_stays_on_its_page() -> None:
    app = open_release(WITH_DESIGN[1], DRAW)
    carried = carried_by(app)
    visit(app, "transition_matrices", tm_synthesizer="given_matrix", tm_paste=MATRIX)
    assert carried_by(move(app, tm_epsilon=3.0)) == carried
    assert state_of(visit(app, "posterior"), "po_synthesizer", "po_epsilon") == ("beta_binomial", 2.5)
    assert state_of(visit(app, "transition_matrices"), "tm_synthesizer", "tm_paste") == ("given_matrix", MATRIX)


WITHOUT_X = [page for page in CARRYING if page.module not in ("start", "posterior")]


@pytest.mark.parametrize("first", WITHOUT_X, ids=lambda page: page.module)
def test_the_people_who_say_yes_follow_the_number_of_people(first: Page) -> None:
    app = open_release(first, DRAW)
    move(app, **{f"{first.prefix}n": 40})
    second = next(page for page in WITH_DESIGN[1:] if page is not first)
    assert state_of(visit(app, second.module), f"{second.prefix}n", f"{second.prefix}x") == (40, 14)
    assert problems(app) == []


@every_page
def test_presets_do_not_change_the_release(first: Page) -> None:
    app = open_release(first, DRAW)
    carried = carried_by(app)
    for name in CASES[first.module].quick_presets[:2]:
        assert carried_by(move(app, **{f"{first.prefix}preset": name})) == carried


HOSTILE = {
    "synthesizer": "<b>x</b>", "n": "nan", "m": "inf", "m_is_n": "false", "sets": "1e999", "epsilon": "-inf",
    "prior": "![x](http://a.b)", "alpha": "nan", "x": "x" * 5000, "seed": "-1", "p": "words", "cells": "nan",
}  # fmt: skip


@every_page
def test_a_hostile_release_in_a_link_is_refused_and_goes_nowhere(first: Page) -> None:
    app = open_release(first, DRAW)
    visit(app, first.module, **query_of(first, HOSTILE))
    assert problems(app) and answer(app)
    for second in (CARRYING[1], CARRYING[2], first):
        assert answer(visit(app, second.module))
        values = [value for name, value in carried_by(app).items() if name != "m_is_n"]
        assert all(value is not None and str(value) not in HOSTILE.values() for value in values)


@pytest.mark.parametrize("name", ["compare_synthesizers", "curator"])
def test_a_kind_of_data_stays_while_the_mechanism_does_and_the_rows_go_along(name: str) -> None:
    prefix = CASES[name].page.prefix
    app = visit(open_release(CASES["coverage"].page, DRAW), name)
    small = {"n": 9, "low": -3.0, "high": 4.0, "gaussian_methods": ["modips_split"], "tried": ["2"], "kind": "gaussian"}
    set_state(app, **{f"{prefix}{key}": value for key, value in small.items()})
    move(visit(app, "transition_matrices"), tm_n=12)
    assert state_of(visit(app, name), f"{prefix}kind", f"{prefix}n") == ("gaussian", 12)
    move(visit(app, "transition_matrices"), tm_synthesizer="geometric")
    assert visit(app, name).session_state[f"{prefix}kind"] in ("binary", "count")
