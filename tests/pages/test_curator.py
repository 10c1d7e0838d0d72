"""The page "Curator's desk": sentence, table, pins, buttons and files say what the search finds, all of one result."""

import dataclasses
import json
import random
import re
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.comparisons import CountData, UnknownVariance
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.tasks import TaskPool
from dpviz.curator import report
from dpviz.curator.candidate import Candidate
from dpviz.curator.form import NOT_IN_FORM, form_values, from_form, to_form
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit, PosteriorLimit, RiskRatioLimit
from dpviz.curator.provenance import reported_numbers
from dpviz.curator.question import DesignQuestion
from dpviz.curator.report import chosen_design, design_to_json
from dpviz.curator.search import SearchResult, evaluate_designs, first_result
from pages import curator
from pages.details.curator import SECTIONS, parse_pins, read_file
from tests.pages import apptest
from tests.pages.apptest import cells_of, headline, move, opener, said, set_state, settings, sound, upload, widget

SMALL = {"n": 20, "values": 2, "tried": "1.2", "repetitions": 60}
FEW = {"n": 30, "values": 2, "tried": "1", "repetitions": 60, "count_methods": "geometric"}
COUNTED = DesignQuestion(
    data=CountData(n=20, m=15, p=0.1), lowest=0.1, highest=0.35, values=2, sets=(2,), rules=("rubin_1987",),
    protections=(EpsilonDeltaLimit(most_epsilon=2.0, most_delta=0.001),
    RiskRatioLimit(risk_before=0.2, most_ratio=3.0)),
    limits=(AccuracyLimit("bias", 0.3),), methods=("modips", "beta_binomial"), average=True, goal="bias", level=0.9,
    repetitions=60, seed=7,
)  # fmt: skip
NUMERIC = DesignQuestion(
    data=UnknownVariance(n=9, mean=0.5, sigma=2.0, low=-3.0, high=5.0), lowest=0.5, highest=2.0, values=2, sets=(1,),
    protections=(GuessingLimit(known_before=0.4, most_success=0.9), PosteriorLimit()), methods=("modips_split",),
    repetitions=60,
)  # fmt: skip
PLAN_LINK = "Several statistics of these people: Plan →"
open_desk = opener("curator")
SURVEY = b"smoker,age\nno,17\nyes,41\nno,64\nno,33\nyes,52\nno,28\n"


def question(app: AppTest) -> DesignQuestion:
    asked: DesignQuestion = app.session_state["visit"].valid["curator"][0]
    return asked


def press(app: AppTest, label: str) -> AppTest:
    """Press the button whose label begins so."""
    return sound(next(each for each in app.button if each.label.startswith(label)).click().run())


def design_of(asked: DesignQuestion) -> Candidate:
    *_, desk = evaluate_designs(asked)
    assert desk.best is not None
    return chosen_design(desk, desk.best.key)


# The answer


def test_a_fresh_page_asks_three_things_about_a_small_survey() -> None:
    app = open_desk()
    assert headline(app) == (
        "Geometric sanitizer, one set keeps all your limits with the analysis “Noise-aware score (Wilson's)”: the "
        "estimate is typically off by 0.0353 (at most 0.05) and the interval holds the true value in 93.8 % of all "
        "cases (at least 90 %), at worst over p from 0.1 to 0.4."
    )
    assert apptest.about(app)[1] == "n = 200, m = 200 and p from 0.1 to 0.4"
    assert [slider.label.partition(" · ")[0] for slider in app.select_slider] == [
        "People n", "Largest privacy loss ε", "Largest root mean squared error",
    ]  # fmt: skip
    assert not app.multiselect and not app.selectbox
    assert widget(app, "cu_protect_one").value == ("loss",)
    assert widget(app, "cu_accuracy_one").value == ("root_mean_squared_error", "coverage")


MODIPS = "Model-based (modips), split, BIT, 5 sets"


@pytest.mark.parametrize(
    ("case", "leader", "number"),
    [
        ("A small survey's proportion", "Geometric sanitizer, one set", "off by 0.0353 (at most 0.05)"),
        ("A large register with a tiny p", "Geometric sanitizer, one set", "off by 0.001 (at most 0.0015)"),
        ("A bounded mean", MODIPS, "off by 0.115 ± 0.002 (at most 0.2)"),
    ],
)
def test_a_worked_case_has_a_design_that_keeps_its_limits(case: str, leader: str, number: str) -> None:
    app = open_desk(n=30, values=2, repetitions=1500, tried=1, count_methods="geometric.laplace")
    assert widget(move(app, cu_preset=case), "cu_preset").value == case
    assert headline(app).startswith(f"{leader} keeps all your limits") and number in headline(app)


def test_four_points_and_guesses_at_most_60_per_cent_take_two_clicks_and_three_numbers() -> None:
    app = open_desk(n=1000, count_methods="geometric", tried=1, values=2)
    move(app, cu_protect_one=("guess",), cu_accuracy_one=("mean_width", "coverage"))
    move(app, cu_guesses=60.0, cu_points=4.0)
    assert question(app).protections == (GuessingLimit(most_success=0.6),)
    assert question(app).limits == (AccuracyLimit("coverage", 0.9), AccuracyLimit("mean_width", 0.08))
    assert "the interval is ±3.1 points on average (at most ±4 points)" in said(app)
    assert settings(app)["cu_points"] == "4" and settings(app)["cu_guesses"] == "60"


def test_none_of_the_usual_limits_is_marked_where_there_are_several() -> None:
    app = open_desk(**FEW, protect="loss.guess")
    assert widget(app, "cu_protect_one").value is None
    apptest.unfold(move(app, cu_protect_one=("risk",)))
    assert app.multiselect(key="cu_protect").value == ["risk"]


def test_what_must_give_way_is_enough() -> None:
    limits = {**SMALL, "epsilon": 0.3, "count_methods": "laplace.geometric", "most_error": 0.13, "least_coverage": 0.6}
    app = open_desk(**limits)
    assert headline(app).startswith("none keeps all")
    labels = [each.label for each in app.button if str(each.key).startswith("cu_let_")]
    assert [label.partition(" ")[0] for label in labels] == ["Allow", "Accept"]
    for label in labels:
        changed = press(open_desk(**limits), label)
        assert "keeps all your limits" in said(changed), label
        assert changed.session_state["visit"].release["epsilon"] == changed.session_state["cu_epsilon"], label


def test_an_error_that_no_epsilon_makes_small_enough_is_put_down_to_the_sample_or_the_method() -> None:
    scarce = {**SMALL, "count_methods": "geometric", "most_error": 0.02}
    # √(0.4 · 0.6 / 20) = 0.1095, and 0.24 / 0.02² = 600
    words = "Without any protection, 20 people alone have root mean squared error 0.11 (at most 0.02): about 600 people"
    assert words in said(open_desk(**scarce))
    private = {**scarce, "most_error": 0.13, "least_coverage": 0.6, "epsilon": 0.3}
    assert "Without any protection" not in said(open_desk(**private))


def test_the_table_has_ten_designs_unless_all_are_asked_for() -> None:
    app = open_desk(**SMALL | {"n": 22})
    assert len(cells_of(app, "The designs in order")) == 10
    move(app, cu_every=True)
    table = cells_of(app, "The designs in order")
    *_, desk = evaluate_designs(question(app))
    assert len(table) == len(desk.designs) > 10
    assert desk.designs[0].method.label in next(iter(table)) and settings(app)["cu_every"] == "true"


def test_what_every_design_is_given_is_told_as_it_was_sought() -> None:
    error = "root_mean_squared_error"
    largest, smallest = (said(open_desk(**FEW, accuracy=error, goal=goal)) for goal in (error, "epsilon"))
    assert "Each design is given the largest ε that keeps it, or a smaller one where that was found to be" in largest
    assert "Each design is given the smallest ε found that is enough for your accuracy" in smallest
    assert "the largest ε that keeps it" not in smallest


# All of one result


@pytest.mark.parametrize(
    ("look", "sentence"),
    [
        ("The report", "The chosen design: Laplace sanitizer, one set"),
        ("Side by side", "keeps your limits ✓ all kept ✓ all kept"),
        ("The frontier", "The smallest root mean squared error among these designs: Geometric sanitizer"),
        ("How the choice changes", "among these designs"),
    ],
)
def test_a_question_that_nobody_has_asked_ends_without_a_contradiction(look: str, sentence: str) -> None:
    """The page runs again for every refinement, and draws all of it from one result."""

    def script() -> None:
        import streamlit as st

        from pages import curator
        from pages.ui.background import refining

        st.session_state["runs"] = st.session_state.get("runs", 0) + 1
        with refining():
            curator.page()

    app = AppTest.from_function(script, default_timeout=120)
    limits = {"most_error": random.uniform(0.2, 0.3), "least_coverage": 0.5}
    query = {**SMALL, **limits, "n": 60 + len(look), "look": look}
    pins = "laplace~1~as_if_real.geometric~1~as_if_real"
    app.query_params.update({f"cu_{name}": str(value) for name, value in {**query, "pins": pins}.items()})
    sound(app.run())
    assert app.session_state["runs"] > 1
    assert headline(app).startswith("Geometric sanitizer, one set keeps all your limits")
    assert "Pin for comparison" in [each.label for each in app.button]
    assert "Geometric sanitizer, one set, on" in said(app) and sentence in said(app)
    assert "no design" not in said(app).lower() and "as soon as all" not in said(app).lower()


def test_while_designs_are_judged_nothing_is_said_of_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpviz.curator.search.FIRST_WAIT_S", 60.0)
    monkeypatch.setattr("pages.ui.latest", lambda _function, asked: first_result(asked))
    app = open_desk(**SMALL | {"n": 26}, pins="laplace~1~as_if_real.modips~1~score")
    for look in SECTIONS:
        set_state(app, cu_look=look)
        assert not any(each.label == "Pin for comparison" for each in app.button), look
        assert "So far" in said(app), look
        assert "is no design" not in said(app) and "are no designs" not in said(app), look


def test_a_search_without_a_design_so_far_does_not_hide_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = partial(SearchResult, evaluations=(), absent=(), is_complete=False)
    monkeypatch.setattr("pages.ui.latest", lambda _function, asked: empty(question=asked))
    assert "one was considered. Nearest is Geometric sanitizer, one set" in headline(open_desk(**FEW))


# Sections


@pytest.fixture(scope="module")
def desk() -> AppTest:
    return open_desk(**FEW)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"look": "How to read this page"}, "You want to publish synthetic data instead of confidential data"),
        ({"look": "The frontier"}, "The smallest root mean squared error among these designs"),
        ({"look": "The frontier", "along": "coverage", "across": "guesses"}, "among these designs"),
        ({"look": "The frontier", "along": "release_error"}, "among these designs"),
        ({"look": "How the choice changes"}, "among these designs"),
        ({"look": "How the choice changes", "changed": "truth", "along": "bias"}, "among these designs"),
        ({"look": "Side by side"}, "Nothing is pinned yet"),
        ({"look": "Pilot data"}, "forgotten when you close this section"),
        ({"look": "The report"}, "OpenDP has what this design is made of"),
        ({"look": "Download"}, "takes as long as the table above does"),
        ({"look": "Why, and sources"}, "What is exact and what is simulated."),
    ],
    ids=str,
)
def test_every_section_is_drawn(desk: AppTest, query: dict[str, str], sentence: str) -> None:
    state = {"along": "root_mean_squared_error", "across": "epsilon", "changed": "rows"} | query
    app = set_state(desk, **{f"cu_{name}": value for name, value in state.items()})
    is_path = query["look"] in ("The frontier", "How the choice changes")
    assert sentence in said(app)
    assert any(str(figure.key).startswith("cu_along_") for figure in app.get("bidi_component")) == is_path


def test_pins_stand_in_the_url_and_a_fourth_takes_the_place_of_the_first() -> None:
    app = open_desk(**SMALL, look="Side by side", pins="laplace~1~as_if_real.modips~2~reiter_2003")
    _, second = cells_of(app, "Pinned designs side by side")["root mean squared error"]
    assert "+" in second
    app.multiselect(key="cu_pins").select("beta_binomial~1~as_if_real").run()
    assert settings(app)["cu_pins"] == "laplace~1~as_if_real.modips~2~reiter_2003.beta_binomial~1~as_if_real"
    press(app, "Pin for comparison")
    first, second, third = settings(app)["cu_pins"].split(".")
    assert (first, second) == ("modips~2~reiter_2003", "beta_binomial~1~as_if_real")
    app.multiselect(key="cu_pins").unselect(first).run()
    assert settings(app)["cu_pins"] == f"{second}.{third}"


def test_pins_of_another_question_are_named_and_taken_off() -> None:
    own = "geometric~1~as_if_real"
    others = ["modips_split~5~reiter_2003", "laplace~1~score"]
    app = open_desk(**FEW, look="Side by side", pins=".".join([*others, own]))
    names = ["Model-based (modips), split, BIT, 5 sets, Reiter 2003", "Laplace sanitizer, one set, noise-aware score"]
    assert f"No design of this question any more: {'; '.join(names)}." in said(app)
    assert set(names) < set(app.multiselect(key="cu_pins").options)  # a browser knows them by these, which stay
    move(app, cu_pins=[own])
    assert settings(app)["cu_pins"] == own and "any more" not in said(app)


def test_a_pin_that_names_no_design_is_left_out_in_a_sentence() -> None:
    app = open_desk(**FEW, pins="geometric~1~as_if_real.<b>")
    (error,) = apptest.problems(app)
    assert "cu_pins = geometric~1~as_if_real.<b>: each of up to 3 pins names a method, its sets and" in error
    assert app.session_state["cu_pins"] == ["geometric~1~as_if_real"]
    with pytest.raises(ValueError, match="up to 3 pins") as refusal:
        parse_pins("a~1~b.c~1~d.e~1~f.g~1~h")
    assert refusal.value.args[1] == ["a~1~b", "c~1~d", "e~1~f"]


def test_a_design_leads_to_the_pages_that_know_it() -> None:
    def links(**query: object) -> dict[str, str]:
        app = open_desk(**query)
        return {str(link.proto.label): str(link.proto.query_string) for link in app.get("page_link")}

    counts = links(**FEW)
    assert len(counts) == 7
    assert "cv_n=30&cv_m=30&cv_sets=1&cv_epsilon=1.0" in counts["Coverage →"] and "cv_p=0.4" in counts["Coverage →"]
    cells = links(**SMALL | {"kind": "categories", "n": 9})
    assert list(cells) == ["Transition matrices →", "Minimum priors →", PLAN_LINK]
    categories = said(open_desk(**{**SMALL, "kind": "categories", "n": 9}))
    assert "Judged is the share of one category (p). What must be protected" in categories
    mean = links(**SMALL | {"kind": "gaussian", "gaussian_methods": "modips_split"})
    assert "cs_gaussian_methods=original.modips_split" in mean["Compare synthesizers →"]


@pytest.mark.parametrize(
    ("query", "carried"),
    [
        ({"epsilon": 0.7, "delta": 0.01}, {"protect": "loss", "epsilon": 0.7, "delta": 0.01}),
        ({"protect": "guess", "guesses": 62.5}, {"protect": "guess", "guesses": 62.5, "known_before": 0.5}),
        ({"protect": ""}, {}),
    ],
)
def test_the_link_to_a_plan_has_the_same_people_and_the_same_promise(query, carried) -> None:
    app = open_desk(**FEW | query)
    (link,) = [link for link in app.get("page_link") if link.proto.label == PLAN_LINK]
    plan = apptest.open_page("plan", **dict(parse_qsl(link.proto.query_string)))
    for name, value in {"n": 30, **carried}.items():
        assert plan.session_state[f"pl_{name}"] == value, name
    assert apptest.problems(plan) == []


def test_the_comparison_has_the_numbers_of_a_report_on_normal_data() -> None:
    design = design_of(dataclasses.replace(NUMERIC, sets=(2,), highest=0.5, repetitions=5000))
    numbers = {number.label: number for number in reported_numbers(design)}
    values = design.comparison_settings
    query = {name: ".".join(value) if isinstance(value, list) else value for name, value in values.items()}
    app = opener("compare_synthesizers")(**query)
    assert not app.error
    error, bias, coverage, width, usable, real, *_ = cells_of(app, "The methods in order")[design.method.label]
    for cell, label in ((error, "Root mean squared error"), (bias, "Bias"), (width, "Length of the interval")):
        assert numbers[label].page == "Compare synthesizers"
        assert cell.lstrip("−").startswith(format_number(numbers[label].measure.value, 4))
    for cell, label in ((coverage, "Coverage"), (usable, "Usable share of the releases")):
        assert float(cell.partition(" %")[0]) == pytest.approx(100 * numbers[label].measure.value, abs=0.006)
    assert real == numbers["Exact privacy loss of all sets"].text(4)


def test_the_pages_on_a_count_have_the_numbers_of_a_report() -> None:
    changes = {"methods": ("beta_binomial",), "sets": (1,), "rules": ("as_if_real",), "highest": 0.1}
    design = design_of(dataclasses.replace(COUNTED, data=CountData(n=20, m=20, p=0.1), **changes))
    assert design.release_design is not None
    numbers = {number.label: number for number in reported_numbers(design)}
    for module, label in {"transition_matrices": "Exact privacy loss of all sets", "coverage": "Coverage"}.items():
        app = opener(module)(**design.release_design.to_address())
        assert not app.error
        assert numbers[label].page.lower().replace(" ", "_") == module
        shares = f"{100 * numbers[label].measure.value:.2f}".rstrip("0")
        expected = shares if label == "Coverage" else numbers[label].text(7)
        assert expected in said(app)


# Files


@pytest.mark.parametrize("asked", [COUNTED, NUMERIC], ids=["a count", "numbers"])
def test_a_design_file_sets_every_control_and_pins_its_design(asked: DesignQuestion) -> None:
    design = design_of(asked)
    app = open_file(design_to_json(design))
    assert question(app) == dataclasses.replace(asked, data=question(app).data)
    assert app.session_state["cu_pins"] == ["~".join(map(str, design.key))]
    assert "All numbers of the file were computed again and are the same." in said(app)


def open_file(content: str) -> AppTest:
    return upload(open_desk(**FEW, look="The report"), "question.json", content.encode(), "application/json")


def test_numbers_of_a_file_that_are_others_now_are_listed() -> None:
    design = design_of(COUNTED)
    file = json.loads(design_to_json(design))
    for number in file["numbers"]:
        if number["label"] == "Coverage":
            number["value"] = 0.99
    app = open_file(json.dumps(file | {"dpviz": "<b>9.9</b>"}))
    assert "computed again, and 1 of them differs." in said(app)
    assert "9.9" in said(app)
    coverage = next(each for each in reported_numbers(design) if each.label == "Coverage").rounded.value
    (cells,) = cells_of(app, "Numbers that differ from the file").values()
    assert cells == ["0.99", describe_value(coverage)]
    assert "<b>9.9" not in apptest.markup(app)
    other = {"method": "laplace", "sets": 2, "rule": "rubin_1987", "epsilon": 99}
    assert "not among those that are found" in said(open_file(json.dumps(file | {"design": other})))


@pytest.mark.parametrize("content", ["{}", "no JSON", '{"data": {"kind": "cat"}, "lowest": 0, "highest": 1}'])
def test_a_file_that_is_no_question_is_refused_and_nothing_changes(content: str) -> None:
    app = open_file(content)
    assert "The file was not opened, and nothing has changed" in said(app)
    assert question(app).data == CountData(n=30, m=30, p=0.1)


def test_a_form_refuses_what_it_cannot_ask() -> None:
    variance = dataclasses.replace(NUMERIC.data, estimand="variance")
    for asked in (dataclasses.replace(COUNTED, sets=(3,)), dataclasses.replace(NUMERIC, data=variance)):
        with pytest.raises(ValueError, match=NOT_IN_FORM[:40]):
            form_values(asked)
    wide = dataclasses.replace(COUNTED, limits=(AccuracyLimit("mean_width", 5.0),))
    with pytest.raises(ValueError, match="at most 50; got 250"):
        form_values(wide)
    assert read_file(COUNTED.to_json().encode())["cu_seed"] == 7
    assert read_file(COUNTED.to_json().encode())["cu_pins"] == []


@pytest.mark.parametrize("name", ["most_success", "points", "half", "most_error"])
@pytest.mark.parametrize("value", [0.08, 0.6, 0.123456789, 1 / 3])
def test_a_form_and_its_question_have_the_same_numbers(name: str, value: float) -> None:
    assert from_form(to_form({name: value})) == {name: pytest.approx(value, rel=1e-11)}


def test_the_report_begins_on_the_page_as_in_its_file() -> None:
    query = {**SMALL, "tried": 1, "look": "The report", "most_error": 0.5, "least_coverage": 0.5}
    app = open_desk(**query, pins="laplace~1~as_if_real")
    assert app.selectbox(key="cu_report_of").value == ""
    *_, desk = evaluate_designs(question(app))
    design = chosen_design(desk, ("laplace", 1, "as_if_real"))
    for sentence in (report.answer_text(design), *report.choice_text(desk, design)):
        assert re.sub(r"\s+", " ", sentence) in said(app)
    assert [each.proto.label for each in app.get("download_button")] == [
        "Report, HTML", "Design and question, JSON", "Registry entry, JSON", "The report's script",
        "The release, for OpenDP",
    ]  # fmt: skip
    move(app, cu_report_of="beta_binomial~1~as_if_real")
    assert "OpenDP has no mechanism that makes this release" in said(app)
    copied = apptest.open_page("curator", **settings(app))  # the chosen design is part of the URL
    assert said(copied) == said(app) and copied.session_state["cu_report_of"] == "beta_binomial~1~as_if_real"
    unknown = open_desk(**query, report_of="laplace~9~as_if_real")
    assert "No design of this question any more: Laplace sanitizer, 9 sets, as if real." in said(unknown)
    assert "The chosen design: Geometric sanitizer, one set" in said(unknown)
    nothing = open_desk(kind="gaussian", gaussian_methods="perturbed_histogram_scott", look="The report", n=20)
    assert "There is no design to report" in said(nothing)


# Pilot data


def open_pilot(content: bytes = SURVEY) -> AppTest:
    return upload(open_desk(**FEW, look="Pilot data"), "survey.csv", content)


def test_of_a_file_only_numbers_that_are_taken_reach_the_url() -> None:
    app = open_pilot()
    before = settings(app)
    assert "spends privacy that no ε of the design accounts for" in said(app)
    move(app, cu_column="age")
    assert settings(app) == before
    press(app, "Use bounds 15 to 65")
    assert {key: text for key, text in settings(app).items() if before.get(key) != text} == {
        "cu_kind": "gaussian", "cu_low": "15", "cu_high": "65", "cu_lowest_mean": "25", "cu_highest_mean": "53",
        "cu_sigma": "17",
    }  # fmt: skip
    report = said(set_state(app, cu_look="The report"))
    assert "These numbers were taken from a column of confidential data: " in report
    assert "standard deviation" in report.partition("confidential data: ")[2][:120]
    assert "standard deviation" not in said(set_state(app, cu_sigma=5.0)).partition("confidential data: ")[2][:120]


def test_a_file_is_forgotten_when_its_section_is_closed_or_the_page_is_left() -> None:
    app = open_pilot()
    assert list(app.session_state["visit"].memory) == ["pilot"]
    assert set_state(app, cu_look="Side by side").session_state["visit"].memory == {}
    app = apptest.visit(open_pilot(), "published")
    assert app.session_state["visit"].memory == {} and "cu_pilot" not in app.session_state


def test_nothing_of_a_file_is_given_to_a_cache_or_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []

    def record(pool: TaskPool, key: object, function: Any) -> Any:
        keys.append(repr(key))
        return make(pool, key, function)

    make = TaskPool.task
    monkeypatch.setattr(TaskPool, "task", record)
    app = open_pilot(b"city,x\n" + b"Xanadu-77,1\nAvalon,0\n" * 9)
    assert "Xanadu-77" in [option for box in app.selectbox for option in box.options]
    assert keys and not any("Xanadu" in key for key in keys)
    assert "Xanadu" not in str(settings(app))


@pytest.mark.parametrize("cells", ["1111", "1122334455", "abcdabcdabcd", "01" * 1500], ids=len)
def test_every_button_of_a_pilot_file_sets_what_the_desk_takes(cells: str) -> None:
    content = ("x\n" + "\n".join(cells)).encode()
    app = open_pilot(content)
    readings = next((list(box.options) for box in app.radio if box.key == "cu_reading_1_0"), [])
    for reading in readings:
        move(app, cu_reading_1_0=reading)
        labels = [each.label for each in app.button if str(each.key).startswith("cu_take_")]
        assert labels or "The desk takes none of these numbers" in said(app)
        for label in labels[:1] + labels[1:][-1:]:
            other = move(open_pilot(content), cu_reading_1_0=reading)
            assert not press(other, label).error, (reading, label)


def test_a_reader_says_whether_a_file_has_a_header_and_what_means_no_value() -> None:
    app = open_pilot(b"17,north\n41,south\n64,south\n")
    assert app.selectbox(key="cu_column").options == ["17", "north"]
    app.checkbox(key="cu_header_1").uncheck().run()
    assert app.selectbox(key="cu_column").options == ["1", "2"]
    assert "rows with a value 3" in said(app)
    assert "1 of the 3 cells of “1” hold no value" in said(move(app, cu_missing_text="41"))


@pytest.mark.parametrize(
    ("content", "reading", "sentence"),
    [
        (b"x\n0\n0\n0\n0\n100", "numbers", "the skewness is 1.5, and that of a normal distribution is 0"),
        (b"x\n1.500\n2.300\n950\n4.100\n", "", "mean 2,212"),  # (1500 + 2300 + 950 + 4100) / 4 = 2212.5
        (b"x;y\n" + b"1;2\n0;3\n" * 15_000, "", "You take n and the share of ones"),
    ],
)
def test_what_a_column_says_is_told(content: bytes, reading: str, sentence: str) -> None:
    app = open_pilot(content)
    assert sentence in said(move(app, cu_reading_1_0=reading) if reading else app)


def test_a_reader_chooses_the_decimal_mark_and_another_file_is_read_afresh() -> None:
    app = open_pilot(b"x\n1.500\n2.300\n950\n4.100\n")
    assert "mean 239.5" in said(move(app, cu_marks_1_0="."))  # (1.5 + 2.3 + 950 + 4.1) / 4 = 239.475
    upload(app, "other.csv", b"x\n10\n25\n31\n44\n")
    assert app.radio(key="cu_reading_2_0").value == "numbers"
    assert "mean 27.5" in said(app)  # (10 + 25 + 31 + 44) / 4


@pytest.mark.parametrize("content", [b"", b"\x00\xff\x00\x01", b"a,b\n1,2\n3\n", b"a\n=1+1\n2\n", b"a,a\n1,2\n"])
def test_a_file_that_is_no_table_is_refused_in_a_sentence_and_the_answer_stays(content: bytes) -> None:
    app = open_pilot(content)
    (problem,) = re.findall(r'<p class="dpviz-problem"[^>]*>(.*?)</p>', apptest.markup(app))
    assert problem.endswith(".")
    assert "keeps" in headline(app)


# Settings


def test_a_release_brings_its_kind_of_data_and_numbers_without_a_widget_are_handed_on() -> None:
    assert curator.take_release({"synthesizer": "laplace_cells"}) == {"kind": "categories"}
    assert curator.take_release({"synthesizer": "modips"}) == {"kind": "count"}
    assert curator.take_release({"n": 30}) == {}
    app = open_desk(**FEW, x=7, p=0.3)
    assert app.session_state["visit"].release["x"] == 7
    move(app, cu_epsilon=2.0)
    assert settings(app)["cu_x"] == "7" and settings(app)["cu_p"] == "0.3"
