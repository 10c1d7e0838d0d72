"""What every page keeps: its URL, invalid values, both ends of every slider, presets, refusals, closer looks, files."""

import ast
import csv
import io
import itertools
import re
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpviz.core.escape import single_line
from pages.ui import navigation as nav
from tests.helpers import check_short
from tests.pages import apptest
from tests.pages.apptest import answer, markup, move, open_page, problems, set_state, settings, texts, widget, widgets
from tests.pages.cases import CASES, MATRIX, STATISTIC, Case, Query, is_valid

INVALID = (
    "words", "nan", "inf", "-inf", "1e999", "", "<b>x</b>", "![x](http://a.b/c)", "$x$ :red[y]", "x" * 5_000, "-75",
    "1" * 400,
)  # fmt: skip
"""Texts of which most settings take none."""

every_case = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def of_every(entries: Callable[[Case], Any]) -> Any:
    """Parametrize a test over the entries of every page."""
    return pytest.mark.parametrize(
        ("case", "entry"),
        [
            pytest.param(case, entry, id=f"{name}-{place}-{entry!s:.60}")
            for name, case in CASES.items()
            for place, entry in enumerate(entries(case))
        ],
    )


def open_case(case: Case, **query: str) -> AppTest:
    """Open a page with small settings, and check that nothing broke and nothing is refused."""
    app = open_page(case.page.module, **case.small | query)
    assert problems(app) == []
    return app


@cache
def session_of(name: str) -> tuple[AppTest, dict[str, Any]]:
    """A session with small settings of a page, and the state to set it back to."""
    app = open_page(name, **CASES[name].small)
    return app, {key: app.session_state[key] for key in CASES[name].settings}


fresh_page = cache(open_page)
"""A page that nobody touches."""


@cache
def unfolded(name: str, place: int) -> tuple[AppTest, frozenset[str]]:
    """A page in one of its contexts with all controls open, and the keys of the numbers whose sliders it shows."""
    case = CASES[name]
    app = apptest.unfold(open_case(case, **case.contexts[place]))
    return app, frozenset(str(slider.key).removesuffix("_slider") for slider in app.select_slider)


def go_away(app: AppTest, case: Case) -> AppTest:
    """Go on to another page, by the menu."""
    return apptest.visit(app, "lessons" if case.page is not nav.LESSONS else "start")


def drawn(app: AppTest) -> list[Any]:
    """The pictures."""
    return [(key, data["figure"]) for key, data in apptest.figures(app).items()]


def contents(app: AppTest) -> tuple[Any, ...]:
    """All that a page shows, its URL and the line of the reader's release aside, which every link sets."""
    said = [text for text in texts(app) if text.strip() and "Your release:" not in text and text not in problems(app)]
    return said, widgets(app), drawn(app)


def number_of(text: str) -> float:
    """Number that a slider writes."""
    share = 100.0 if text.endswith("%") else 1.0
    text = text.removesuffix(" %").replace(",", "").replace("−", "-")
    mantissa, ten, exponent = text.partition("×10") if "×" in text else ("1", *text.partition("10")[1:])
    if ten and re.fullmatch("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", exponent):
        return float(f"{mantissa}e{exponent.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789'))}") / share
    return float(text) / share


# The URL


def test_every_page_has_its_case() -> None:
    assert {case.page for case in CASES.values()} == {*nav.PAGES}


def others_together(case: Case) -> list[dict[str, str]]:
    """Other values of a page's settings, four at a time; those without a widget by themselves."""
    others = dict(case.others())
    hidden = {key for key in others if case.settings[key].fresh is None and case.settings[key].parameter is not None}
    parts = [[(key, others[key]) for key in others if (key in hidden) is is_hidden] for is_hidden in (True, False)]
    return [dict(part[start : start + 4]) for part in parts for start in range(0, len(part), 4)]


@of_every(others_together)
def test_settings_go_to_the_url_and_come_back_in_a_new_session(case: Case, entry: dict[str, str]) -> None:
    app, state = session_of(case.page.module)
    if any(case.settings[key].fresh is None and case.settings[key].parameter is not None for key in entry):
        app = open_page(case.page.module, **case.small | entry)
    else:
        if "pl_which" in entry:  # its options follow from the statistics, which the test before has changed
            set_state(app, **state)
        set_state(app, **state | {key: case.settings[key].parse(text) for key, text in entry.items()})
    query = settings(app)
    if len(entry) > 1 and (problems(app) or not entry.items() <= query.items()):  # one of them rules out another
        for key, text in entry.items():
            test_settings_go_to_the_url_and_come_back_in_a_new_session(case, {key: text})
        return
    assert (case.small | entry).items() <= query.items()
    assert all(name in {*case.small, *entry} or case.settings[name].fresh is None for name in query)
    copied = open_page(case.page.module, **query)
    assert problems(copied) == [] and contents(copied) == contents(app)


@every_case
def test_all_settings_outlive_another_page(case: Case) -> None:
    app = open_page(case.page.module, **case.small)
    for more in ({}, {key: case.settings[key].parse(text) for key, text in case.others()}):
        set_state(app, **more)
        state = {key: app.session_state[key] for key in case.settings}
        query, shown, refused = settings(app), contents(app), problems(app)
        assert not settings(go_away(app, case)).keys() & case.settings.keys()
        apptest.visit(app, case.page.module)
        assert {key: app.session_state[key] for key in case.settings} == state
        assert refused or (problems(app) == [] and contents(app) == shown and query.items() <= settings(app).items())


@every_case
def test_defaults_are_not_in_the_url_and_every_default_is_read_as_it_is_written(case: Case) -> None:
    assert settings(fresh_page(case.page.module)) == {}
    for key, setting in case.settings.items():
        if setting.fresh not in (None, ""):
            assert setting.parse(setting.format(setting.fresh)) == setting.fresh, key


@of_every(lambda case: range(4))
def test_every_invalid_value_of_a_link_is_named_once_and_costs_nothing_else(case: Case, entry: int) -> None:
    """All settings at once, or all but the small ones, which are valid, each with another text in every test."""
    valid = case.small if entry % 2 else {}
    query: Query = {}
    for place, (key, setting) in enumerate(case.settings.items()):
        turn = (3 * entry + place) % len(INVALID)
        refused = [text for text in INVALID[turn:] + INVALID[:turn] if not is_valid(setting, text)]
        query |= {} if key in valid else {key: refused[0]}
    beside = {f"{case.page.prefix}unknown": "<b>1", "utm_source": "mail"}
    app = open_page(case.page.module, **query | valid | beside)
    fresh, said = fresh_page(case.page.module), problems(app)
    said.remove(f"Ignored {case.page.prefix}unknown = <b>1 in the link: the page has no such setting.")
    for key, text in query.items():
        beginning = f"Ignored an invalid value in the link, {key} = {single_line(text)}: "
        assert sum(sentence.startswith(beginning) for sentence in said) == 1, (key, text)
        assert app.session_state[key] == fresh.session_state[key]
    assert len(said) == len(query) and all(len(sentence) < 600 for sentence in said)
    for element in app.error:
        assert not re.search(r"[<>\[\]$`*]|:\S|http:/", element.value.replace("&#", ""))
    assert valid or contents(app) == contents(fresh)
    assert all(app.session_state[key] == case.settings[key].parse(text) for key, text in valid.items())
    assert settings(app)["utm_source"] == "mail" and (not case.page.carries or answer(app))


# Controls


@of_every(lambda case: range(len(case.contexts)))
def test_each_slider_moves_its_box_and_its_url_to_both_ends(case: Case, entry: int) -> None:
    """On one page, and those alone that the contexts before do not show."""
    app, keys = unfolded(case.page.module, entry)
    start: dict[str, Any] = {}
    for key in keys.difference(*(unfolded(case.page.module, place)[1] for place in range(entry))):
        for end in (0, -1)[: 1 if key in case.slow else 2]:
            for moved, value in start.items():
                app.session_state[moved] = value
            number = widget(app, key).value
            start = {key: start.get(key, number)}
            value = type(number)(number_of(widget(app, f"{key}_slider").options[end]))
            held = widget(move(app, **{f"{key}_slider": value}), key).value
            assert held == pytest.approx(value, rel=1e-5) and len(problems(app)) <= 1, key
            setting = case.settings[key]
            assert setting.parse(settings(app).get(key, str(setting.fresh))) == held, key


@every_case
def test_every_number_has_a_slider_in_one_of_the_contexts(case: Case) -> None:
    seen = {key for place in range(len(case.contexts)) for key in unfolded(case.page.module, place)[1]}
    numbers = {key for key, setting in case.settings.items() if setting.parameter and setting.fresh is not None}
    assert numbers - seen <= {"home_n", "home_seed", "tm_drawn_releases", "step", "seed", "game_seed"}  # set by buttons


TABLES = "released tables of 100 rows and ε ="
USUAL = "of the intervals computed by the usual rule for fully synthetic data (Reiter 2002) contain the true share,"
PRESET_ANSWERS: dict[str, dict[str, str]] = {
    "transition_matrices": {
        "a broken promise (A&V, Fig. 1 and 2)": "✗ broken The promise ε = 2 is broken: the real loss is ε = 5.49 . "
        "If 5 yes of 5",
        "posterior draws (A&V, equation 1)": "✗ broken The promise ε = 2 is broken: the real loss is ε = 2.4 . If 5 "
        "yes of 5",
        "a kept promise (A&V, Fig. 3 and 4)": "✓ kept The promise ε = 2 is kept: the real loss is ε = 2 . No "
        "released table moves",
        "noise cut off at the ends (Liu, modips)": "✗ broken The promise ε = 0.1 is broken: the real loss is ε = "
        "0.137 . If 0 yes",
        "100 people, ε = 1 just kept": "✓ kept The promise ε = 1 is kept: the real loss is ε = 1 . No released",
    },
    "coverage": {
        "one in four says yes (Charest)": f"81.2 % With 100 people, a true share of 25 %, 5 {TABLES} 2, only 81.2 % "
        f"{USUAL} not "
        "the promised 95 %: 13.8 points too few. Of them 54.7 % run from 0 to 100 % and say nothing.",
        "one in two says yes (Charest)": f"99.999 % With 100 people, a true share of 50 %, 5 {TABLES} 2, 99.999 % "
        f"{USUAL} more "
        "than the promised 95 %: 5 points too many. Of them 55.8 % run from 0 to 100 % and say nothing.",
        "two tables, along ε (Charest, Fig. 1)": f"87 % With 100 people, a true share of 25 %, 2 {TABLES} 3, only "
        f"87 % {USUAL} not the "
        "promised 95 %: 7.98 points too few. Of them 67.3 % run from 0 to 100 % and say nothing.",
        "hardly any privacy, ε = 250": f"99.4 % With 100 people, a true share of 25 %, 5 {TABLES} 250, 99.4 % {USUAL} "
        "more than the promised 95 %: 4.45 points too many. Of them 34.6 % run from 0 to 100 % and say nothing.",
        "a small δ, fewer invented rows": f"99.1 % With 100 people, a true share of 25 %, 5 {TABLES} 2, δ = 10⁻⁶, "
        f"99.1 % {USUAL} "
        "more than the promised 95 %: 4.14 points too many. Of them 39.3 % run from 0 to 100 % and say nothing.",
    },
    "posterior": {
        "one table, ε = 2 (Charest)": "14.4 to 50.1 % From 35 yes in a released table of 100 rows at ε = 2 (α = 15.65 "
        "in each set), "
        "the share of yes lies between 14.4 % and 50.1 % with 95 % probability. Its standard deviation is 2.02 times "
        "what the secret table leaves. Who takes the released rows for real finds 26.4 % to 44.8 %, which holds the "
        "secret share, 30 %; by the usual formula it is 25.7 % to 44.3 %.",
        "five tables": "14.3 to 64.7 % From 46, 55, 40, 55, 43 yes in 5 released tables of 100 rows at ε = 2 (α = ",
        "strong privacy, ε = 0.1": "2.46 to 97 % From 49 yes in a released table of 100 rows at ε = 0.1 (α = 950.8 "
        "in each set)",
        "hardly any privacy, ε = 250": "17 to 47 % From 30 yes in a released table of 100 rows at ε = 250 (α = "
        "2.669×10⁻¹⁰⁷ in each set)",
        "a small δ, fewer invented rows": "22.3 to 45 % From 34, 45, 27, 44, 31 yes in 5 released tables of 100 "
        "rows at ε = 2, "
        "δ = 10⁻⁶ (α = 12.1 in each set), the share of yes lies between 22.3 % and 45 %",
    },
    "minimum_priors": {
        "1,000 people, δ = 10⁻⁶": "1,164 → 15.2 invented rows To keep ε = 1 with n = m = 1,000 by the Beta-binomial "
        "synthesizer (SYNTH_Post(One)), the agency must mix in 1,164 invented rows for 1,000 real rows, half of them "
        "yes. If it accepts δ = 10⁻⁶, 15.2 are enough.",
        "100 people, δ = 10⁻⁵": "117 → 12.2 invented rows",
        "five categories": "2,910 → 78.2 invented rows",
        "numbers in a range (Theorem 7.8)": "R/σ ≤ 1.9 With n = m = 100, one draw of the mean from its posterior "
        "(SYNTH_Post(One)) keeps ε = 1, δ = 10⁻⁵",
    },
    "plan": {
        "Five statistics": "all limits hold All five limits hold with ε = 0.599 of 1",
        "Five, as right guesses": "all limits hold All five limits hold with 52.9 % right guesses, of 54 % allowed",
        "Households of up to 4": "all limits hold All three limits hold with ε = 0.56 of 1 at δ = 10⁻⁶",
        "Two regions": "all limits hold All three limits hold with ε = 0.72 of 1",
        "A table with small counts": "withholding breaks a limit Both limits hold before small counts are withheld",
    },
}
"""How the answers to presets begin, on pages whose presets say all of it."""


def test_every_preset_of_these_pages_has_its_answer() -> None:
    for name, answers in PRESET_ANSWERS.items():
        assert answers.keys() == {*CASES[name].quick_presets}


@of_every(lambda case: case.quick_presets)
def test_a_preset_sets_its_case_and_stays_marked_while_it_holds(case: Case, entry: str) -> None:
    prefix = case.page.prefix
    app = open_page(case.page.module, **case.small | {f"{prefix}epsilon": "3"})
    assert problems(move(app, **{f"{prefix}preset": entry})) == [] and answer(app)
    assert apptest.headline(app).startswith(PRESET_ANSWERS.get(case.page.module, {}).get(entry, ""))
    for name, value in case.presets[entry].items():
        assert app.session_state[prefix + name] == value, name
    app.run()
    assert app.session_state[f"{prefix}preset"] == entry
    if entry != case.quick_presets[0]:
        return
    name = f"{prefix}epsilon" if f"{prefix}epsilon" in widgets(app) else f"{prefix}n"
    assert move(app, **{name: 2 * widgets(app)[name]}).session_state[f"{prefix}preset"] is None


@every_case
def test_every_value_of_a_preset_is_one_of_its_setting(case: Case) -> None:
    for name, values in case.presets.items():
        for key, value in values.items():
            setting = case.settings[case.page.prefix + key]
            assert setting.parse(setting.format(value)) == value, (name, key)


GIVES_WAY: list[tuple[str, Query, dict[str, Any], dict[str, Any]]] = [
    ("coverage", {"cv_axis": "against ε"}, {"cv_prior": "own"}, {"cv_axis": "against p"}),
    ("minimum_priors", {"mp_look": "Uneven priors"}, {"mp_family": "Gaussian"}, {"mp_look": None}),
    ("posterior", {"po_x": "18"}, {"po_n": 10}, {"po_x": 10}),
    ("transition_matrices", {"tm_synthesizer": "given_matrix", "tm_recognized": "posterior_mean-5-5-0.5-0.5"},
     {"tm_paste": MATRIX}, {"tm_recognized": "as_given"}),
    ("compare_synthesizers", {"cs_kind": "gaussian", "cs_n": "2000"}, {"cs_kind": "binary"}, {"cs_n": 1000}),
    ("budget", {"bu_sets_kind": "gaussian", "bu_n": "2000"}, {"bu_sets_kind": "binary"}, {"bu_n": 1000}),
    ("curator", {"cu_gaussian_methods": "modips_split"}, {"cu_kind": "gaussian", "cu_n": 9000}, {"cu_n": 2000}),
    ("published", {"pub_paper": "liu"}, {"pub_paper": "charest"}, {"cell": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "query", "moved", "changed"), GIVES_WAY, ids=lambda entry: str(entry)[:40])
def test_what_another_control_rules_out_gives_way(name, query, moved, changed) -> None:
    case = CASES[name]
    app = open_page(name, **case.small | query)
    assert problems(app) == []
    set_state(app, **moved)
    for key, value in changed.items():
        assert app.session_state[key] == value
    assert len(problems(app)) <= 1
    linked = open_page(name, **case.small | query | {key: str(value) for key, value in moved.items()})
    assert [linked.session_state[key] for key in changed] == list(changed.values())


# What is refused

GIVEN = {"po_synthesizer": "given_matrix", "po_counts": "0"}
REFUSED: list[tuple[str, Query, dict[str, Any], str]] = [
    ("transition_matrices", {"tm_alpha": "0.5"}, {"tm_synthesizer": "posterior_mode"}, "alpha .* a number above"),
    ("transition_matrices", {"tm_synthesizer": "given_matrix"}, {"tm_paste": "0.5,<b>\n0.5,0.5"}, "value 2 is “<b>”"),
    ("coverage", {}, {"cv_rules": []}, "Choose at least one rule"),
    ("coverage", {"cv_m_is_n": "false", "cv_m": "7"}, {"cv_synthesizer": "laplace"}, r"m .* must equal n = 30"),
    ("coverage", {"cv_alpha": "0.5", "cv_prior": "own"}, {"cv_synthesizer": "posterior_mode"}, "alpha .* above 1"),
    ("posterior", {"po_source": "typed"}, {"po_counts": "7, [x](http://a.b)"}, "The synthetic counts must be .* got"),
    ("posterior", GIVEN, {"po_paste": "0.5, 0.6\n0.5, 0.5"}, "Line 1 sums to 1.1, not to 1"),
    ("posterior", GIVEN | {"po_source": "typed", "po_paste": "1,0,0\n0,0,1"}, {"po_counts": "0, 2"}, "does not exist"),
    ("minimum_priors", {}, {"mp_delta": 1e-315}, "delta .* must be 0, or from"),
    ("compare_synthesizers", {}, {"cs_first": 50.0, "cs_last": 2.0}, "smallest ε in the pictures must be below"),
    ("compare_synthesizers", {}, {"cs_binary_methods": ["original"]}, "Choose at least one method that promises"),
    ("compare_synthesizers", {"cs_kind": "gaussian"}, {"cs_n": 2}, "must be a whole number from 4 to 2,000; got 2"),
    ("compare_synthesizers", {"cs_kind": "gaussian"}, {"cs_low": 5.0}, r"low \(lower bound\) must be below high"),
    ("budget", {"bu_spending": "share"}, {"bu_low": 5.0}, r"low \(lower bound\) must be below high"),
    ("budget", {"bu_spending": "share"}, {"bu_mean": 9.0}, "mean .* must lie strictly between the bounds"),
    ("budget", {"bu_spending": "share"}, {"bu_n": 3}, "must be a whole number from 4 to 2,000; got 3"),
    ("budget", {"bu_sets_kind": "gaussian"}, {"bu_low": 3.0, "bu_high": 2.0}, "must be"),
    ("curator", {}, {"cu_lowest_p": 0.5, "cu_highest_p": 0.3}, "must not be above"),
    ("curator", {}, {"cu_count_methods": []}, "Choose at least one method"),
    ("curator", {}, {"cu_tried": []}, "Choose at least one number of sets and one analysis"),
    ("curator", {}, {"cu_protect": [], "cu_accuracy": []}, "Set at least one limit"),
    ("curator", {"cu_protect": "guess"}, {"cu_guesses": 40.0}, "largest share of right guesses must be above 0.5"),
    ("curator", {"cu_kind": "gaussian"}, {"cu_n": 2}, "must be a whole number from 4 to 2,000; got 2"),
    ("plan", {}, {"pl_groups": "North"}, "^“Disjoint groups”, under “More”: Groups must be"),
]


@pytest.mark.parametrize(
    ("name", "query", "refused", "sentence"), REFUSED, ids=[f"{entry[0]}-{next(iter(entry[2]))}" for entry in REFUSED]
)
def test_refused_settings_are_told_once_and_the_last_valid_answer_stays(name, query, refused, sentence) -> None:
    case = CASES[name]
    app = open_case(case, **query)
    before = {key: app.session_state[key] for key in refused}
    shown = answer(app), apptest.about(app), drawn(app)
    set_state(app, **refused)
    (said,) = problems(app)
    assert re.search(sentence, said) and said.endswith("The page still shows the last valid answer.")
    assert (answer(app), apptest.about(app), drawn(app)) == shown
    assert {key: app.session_state[key] for key in refused} == refused
    assert problems(set_state(app, **before)) == [] and answer(app) == shown[0]

    # In a link there is no last valid answer
    link = {key: case.settings[key].format(value) for key, value in refused.items()}
    linked = open_page(name, **case.small | query | link)
    (said,) = problems(linked)
    assert re.search(sentence, said) and said.endswith("The page shows its own settings instead.")
    assert answer(linked) == answer(fresh_page(name))


# Closer looks and files


@of_every(lambda case: case.sections)
def test_every_closer_look_opens_and_says_something(case: Case, entry: str) -> None:
    app, state = session_of(case.page.module)
    set_state(app, **state | {f"{case.page.prefix}look": entry})
    assert len(texts(app)) >= len(texts(fresh_page(case.page.module))) + 2 and problems(app) == []
    assert 'dpviz-problem" role="alert"' not in markup(app)


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Text of every file that a page offers, by its name."""
    found: dict[str, str] = {}
    button = st.download_button

    def collect(label: str, data: Callable[[], str], file_name: str, *rest: Any, **arguments: Any) -> Any:
        found[file_name] = data()
        return button(label, data, file_name, *rest, **arguments)

    monkeypatch.setattr(st, "download_button", collect)
    return found


IDENTIFIER = re.compile("[0-9a-f]{8}-[0-9a-f-]{27}")


def head_of(text: str) -> dict[str, str]:
    """The lines before a table by what they begin with."""
    lines = itertools.takewhile(lambda line: line.startswith("#"), text.removeprefix("\ufeff").splitlines())
    return dict(line.removeprefix("# ").split(": ", 1) for line in lines if ": " in line)


def query_in(text: str) -> Query:
    """Settings of the address in the head of a file."""
    return dict(parse_qsl(urlsplit(head_of(text)["address"]).query, keep_blank_values=True))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "Download" in case.sections])
def test_every_file_says_all_settings_and_its_address_makes_it_again(name: str, files: dict[str, str]) -> None:
    case = CASES[name]
    query = {f"{case.page.prefix}epsilon": "1.75", f"{case.page.prefix}look": "Download"}
    app = open_case(case, **query)
    made = dict(files)
    tables = {name: text for name, text in made.items() if name.endswith(".csv")}
    assert tables and ast.parse(app.code[-1].value).body
    for file_name, text in tables.items():
        link = query_in(text)
        assert query.items() <= link.items()
        for key, word in link.items():
            assert case.settings[key].parse(word) == app.session_state[key], key
            assert case.settings[key].label in head_of(text)["settings"]
        top, *rows = csv.reader(line for line in text.removeprefix("\ufeff").splitlines() if not line.startswith("#"))
        found = pd.read_csv(io.BytesIO(text.encode()), comment="#")
        assert list(found.columns) == top and len(found) == len(rows)
        assert f'pandas.read_csv("{file_name}", comment="#")' in head_of(text)["to read it"]
    for file_name, text in made.items():
        if file_name.endswith(".py"):
            compile(text, file_name, "exec")
            assert "# settings: " in text and "# neighbouring data sets: " in text
            assert (" from 0.1 to 0.4\n" in text) == (case.page is nav.CURATOR)  # the question of the page
    files.clear()
    open_page(name, **query_in(next(iter(tables.values()))))
    again, before = ({key: IDENTIFIER.sub("", text) for key, text in texts.items()} for texts in (files, made))
    assert again == before


def test_where_settings_are_refused_the_files_are_those_of_the_answer(files: dict[str, str]) -> None:
    app = open_case(CASES["posterior"], po_source="typed", po_look="Download")
    before = dict(files)
    set_state(app, po_counts="no counts")
    assert problems(app) and files == before and query_in(files["posterior.csv"])["po_counts"] == "4"


# Texts from outside, and class mode

HOSTILE = "<img src=x onerror=alert(1)> [a](http://a.b) $x$ `c` :red[d] **e**"
FRAGMENTS = ("<img src=x", "[a](http", "$x$", "`c`", ":red[d]", "**e**")
TOLD = ("html", "markdown", "caption", "error", "toggle", "button", "select_slider")


def raw(app: AppTest) -> str:
    """All that the browser takes for HTML or Markdown."""
    parts: list[Any] = [part for kind in TOLD for part in app.get(kind)]
    return " ".join(str(getattr(part.proto, name, "")) for part in parts for name in ("body", "label"))


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("transition_matrices", {"tm_synthesizer": "given_matrix", "tm_paste": f"{HOSTILE},0.5\n0.5,0.5"}),
        ("transition_matrices", dict.fromkeys(("tm_look", "tm_n", "tm_recognized"), HOSTILE)),
        ("posterior", {"po_source": "typed", "po_counts": HOSTILE}),
        ("posterior", {"po_look": "k categories", "po_tables": HOSTILE}),
        ("plan", {"pl_groups": f"{HOSTILE} = 5"}),
        ("plan", {"pl_statistics": STATISTIC.replace("Works", HOSTILE), "pl_look": "The report"}),
        ("published", {"cell": HOSTILE}),
        ("coverage", {"cv_rules": f"as_if_real.{HOSTILE}"}),
        ("curator", {"cu_pins": HOSTILE}),
        ("class_experiment", {"room": HOSTILE}),
    ],
    ids=str,
)
def test_texts_from_outside_never_become_markup(name: str, query: Query) -> None:
    app = open_page(name, **CASES[name].small | query)
    assert not [fragment for fragment in FRAGMENTS if fragment in raw(app)]


@pytest.mark.parametrize("name", ["transition_matrices", "posterior"])
def test_an_uploaded_matrix_is_read_or_refused_its_name_is_plain_and_the_url_has_none_of_it(name: str) -> None:
    case = CASES[name]
    prefix = case.page.prefix
    app = open_case(case, **{f"{prefix}synthesizer": "given_matrix"})
    typed = answer(app)
    for content, is_read in ((b"0.7,0.3\n0.1,0.9", True), (b"PK\x03\x04", False), (b"\xff\xfe\x00", False)):
        assert bool(problems(apptest.upload(app, f"{HOSTILE}.csv", content))) is not is_read
        assert not [fragment for fragment in FRAGMENTS if fragment in raw(app)]
        assert f"{prefix}paste" not in settings(app) and answer(app) != typed
    assert problems(apptest.press(app, f"{prefix}use_text")) == [] and answer(app) == typed


CLASS_ANSWERS = {
    nav.START: ("ε = 1", "The attacker is right 51.6 % of the time, the analyst 25.3 %."),
    nav.MATRICES: ("✗ broken", "The real loss is ε = 2.43, and not the promised 2."),
    nav.COVERAGE: ("91.9 %", "Reiter 2002, 30 people, 3 tables: 91.9 % of intervals are right, not 95 %."),
    nav.POSTERIOR: ("15.3 to 91.3 %", "The share of yes lies between 15.3 % and 91.3 %, with 95 % probability."),
    nav.PUBLISHED: ("676 of 756", "Of 756 printed results, 676 come out when they are computed again."),
    nav.PRIORS: ("6.9 → 3.88 invented rows", "That many keep ε = 1.5, without δ and with δ = 0.0001."),
    nav.COMPARE: ("Geometric sanitizer", "Best private method at ε = 1: typically off by 17.8 points."),
    nav.BUDGET: ("16 sets", "Best division at ε = 1: the estimate is typically off by 24.6 points."),
    nav.CURATOR: ("none keeps all", "The nearest design misses one: root mean squared error 0.199 (at most 0.05)."),
    nav.PLAN: ("must give way", "Not all limits hold: errors must be 14.5 times as large."),
}


@every_case
def test_class_mode_comes_with_a_link_stays_on_every_page_and_is_short(case: Case) -> None:
    app = open_page(case.page.module, **case.small | {"class": "1"})
    assert settings(app)["class"] == "1" and "dpviz-class-mode" in markup(app) and app.toggle(key="class").value
    if case.page in CLASS_ANSWERS:
        mark, sentence = CLASS_ANSWERS[case.page]
        assert apptest.mark(app) == mark and apptest.headline(app) == f"{mark} {sentence}"
        check_short(sentence)
    assert all(query["class"] == "1" for query in apptest.links(app).values())
    assert settings(apptest.sound(go_away(app, case))) == {"class": "1"}
    assert settings(move(app, **{"class": False})) == {} and "dpviz-class-mode" not in markup(app)


@pytest.mark.parametrize("case", [case for case in CASES.values() if case.presets], ids=lambda case: case.page.title)
def test_in_class_mode_presets_and_a_few_numbers_are_in_sight_and_all_else_is_one_click_away(case: Case) -> None:
    usual = apptest.unfold(open_page(case.page.module, **case.small))
    classroom = open_page(case.page.module, **case.small | {"class": "1"})
    assert f"{case.page.prefix}preset" in widgets(classroom)
    sliders = [str(slider.key).removesuffix("_slider") for slider in classroom.select_slider]
    assert f"{case.page.prefix}epsilon" in sliders and len(sliders) <= 3
    assert widgets(apptest.unfold(classroom)).keys() == widgets(usual).keys()
    assert apptest.figures(classroom).keys() == apptest.figures(usual).keys()
