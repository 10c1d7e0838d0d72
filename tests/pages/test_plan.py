"""The page Plan: its list is edited and refused, comes back from a URL and a file, and is answered."""

import contextlib
import io
import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.plans import BoundedMean, ReleasePlan, YesNoShare, solution_json, solve_plan
from dpviz.plans.files import plan_script
from dpviz.plans.forms import groups_line, read_groups_line, read_statistics_line, statistics_line
from pages.plan import PLACES, PRESETS, SECTIONS, SETTINGS, read_file
from tests.pages import apptest
from tests.pages.apptest import answer, move, open_page, press, problems, set_state, settings, texts

FIVE = PRESETS["Five statistics"]["statistics"]
REGIONS = PRESETS["Two regions"]["statistics"]
TWO = (YesNoShare(name="Works", limit=0.01), BoundedMean(name="Hours", lower=0.0, upper=80.0, limit=0.8))


def open_plan(**values: Any) -> AppTest:
    """The page with settings by their names without the prefix, as a link has them."""
    query = {f"pl_{name}": value for name, value in values.items()}
    return open_page("plan", **{key: SETTINGS[key].format(value) for key, value in query.items()})


def listed(app: AppTest) -> Any:
    return app.session_state["pl_statistics"]


def refusals(app: AppTest) -> list[str]:
    """What is said beside the fields, and above the answer."""
    return list(dict.fromkeys(text.strip() for text in texts(app) if " must be " in text and len(text) < 200))


@pytest.mark.parametrize(
    ("values", "headline"),
    [
        ({"n": 100}, "must give way Not all limits can hold while the privacy loss is at most ε = 1"),
        ({"spend": True}, "all limits hold All five limits hold with ε = 0.599 of 1, when one row is substituted. The"),
        ({"neighbours": "add_remove"}, "all limits hold All five limits hold with ε = 0.388 of 1"),
        ({"protect": "odds"}, "all limits hold All five limits hold with ε = 0.599 of 1.099"),
        ({"protect": "risk", "most_ratio": 3.0}, "all limits hold All five limits hold with ε = 0.599 of "),
        ({"protect": "guess", "guesses": 100.0}, "all limits hold All five limits hold whatever is told"),
        ({"person_rows": 2}, "must give way Not all limits can hold while the privacy loss is at most ε = 1, when all"),
    ],
)
def test_every_control_is_part_of_the_question(values: dict[str, Any], headline: str) -> None:
    assert apptest.headline(open_plan(**values)).startswith(headline)


@pytest.mark.parametrize(("is_public", "needed"), [(False, "0.72"), (True, "0.518")])
def test_disjoint_groups_need_less_where_it_is_public_who_is_in_which(is_public: bool, needed: str) -> None:
    groups = "North = 7,000; South = 5,000"
    app = open_plan(groups=groups, statistics=REGIONS, public=is_public)
    assert f"ε = {needed} of 1" in answer(app)
    assert "share of yes in “North”" in " ".join([*texts(app), *app.radio(key="pl_which").options])


def test_the_fields_change_the_statistic_that_is_chosen() -> None:
    app = open_plan(which="2")
    assert app.text_input(key="pl_one_name").value == "Region"
    move(move(app, pl_one_limit=0.5), pl_one_categories=4)
    assert (listed(app)[1].limit, listed(app)[1].categories) == (0.005, 4)
    assert (*listed(app)[:1], *listed(app)[2:]) == (*FIVE[:1], *FIVE[2:])
    copied = open_page("plan", **settings(app))
    assert listed(copied) == listed(app) and texts(copied) == texts(app)


def test_what_is_folded_away_can_be_set_and_fits_the_statistic() -> None:
    app = open_plan(statistics=REGIONS, groups="North = 7,000; South = 5,000", public=True)
    set_state(app, pl_one_more=True)
    assert app.selectbox(key="pl_one_mechanism").options == [
        "Whichever is best", "Geometric noise", "Rounded Laplace noise",
    ]  # fmt: skip
    assert app.selectbox(key="pl_one_group").options == ["All rows", "North", "South"]
    for changed in ({"mechanism": "laplace_count"}, {"group": ""}, {"highest": 0.5}, {"suppress_below": 5}):
        move(app, **{f"pl_one_{name}": value for name, value in changed.items()})
    expected = YesNoShare(name="In work, North", limit=0.001, mechanism="laplace_count", highest=0.5, suppress_below=5)
    assert listed(app)[0] == expected


@pytest.mark.parametrize(
    ("groups", "refusal"),
    [
        (
            "North 7000",
            "Groups must be written as “North = 7,000; South = 5,000”, at most 12 of them; got 'North 7000'.",
        ),
        (
            "A = 7,000; B = 9,000",
            "groups must be disjoint, each with a name of its own, of 12,000 rows in all; got 'A = 7,000; B = 9,000'.",
        ),
        ("North = 7,000", "Statistic “In work, South”: group must be one of North; got 'South'."),
    ],
)
def test_refused_groups_are_told_above_the_answer_and_beside_their_box(groups: str, refusal: str) -> None:
    app = open_plan(groups="North = 7,000; South = 5,000", statistics=REGIONS)
    before = answer(app)
    app.text_input(key="pl_groups").set_value(groups).run()
    (above,) = problems(app)
    assert above == f"“Disjoint groups”, under “More”: {refusal} The page still shows the last valid answer."
    assert [text.strip() for text in texts(app)].count(refusal) == 1 and answer(app) == before


@pytest.mark.parametrize("value", [-1.0, None, 0.0])
def test_a_refused_field_has_one_sentence_and_the_list_stays(value: float | None) -> None:
    app = open_plan()
    before = answer(app)
    (sentence,) = refusals(move(app, pl_one_limit=value))
    got = "nothing: its box is empty." if value is None else f"{value:g}.".replace("-", "−")
    assert sentence == f"limit (at most, in points) must be a number from 10⁻¹⁰ to 10⁸; got {got}"
    assert listed(app) == FIVE and answer(app) == before
    assert refusals(move(app, pl_one_limit=0.15)) == [] and listed(app) == FIVE


def test_two_bounds_are_moved_one_after_the_other() -> None:
    app = open_plan(which="4")
    assert refusals(move(app, pl_one_lower=100.0)) == ["lower must be below upper; got 100 and 80."]
    move(app, pl_one_upper=180.0)
    assert (listed(app)[3].lower, listed(app)[3].upper) == (100.0, 180.0)


def test_a_statistic_is_added_becomes_a_mean_and_is_removed() -> None:
    app = press(open_plan(), "pl_one_add")
    assert listed(app)[-1] == YesNoShare(name="Statistic 6", limit=0.01)
    assert listed(move(app, pl_one_kind="mean"))[-1] == BoundedMean(name="Statistic 6", limit=1.0)
    assert "limit was set anew" in app.toast[0].value
    move(move(move(app, pl_one_kind="categories"), pl_one_limit=0.2), pl_one_kind="cross_table")
    assert listed(app)[-1].limit == 0.002 and not app.toast
    assert listed(press(app, "pl_one_remove")) == FIVE and app.session_state["pl_which"] == PLACES[4]
    app = open_plan(statistics=TWO[:1])
    assert app.button(key="pl_one_remove").disabled and not app.button(key="pl_one_add").disabled
    app = open_plan(statistics=tuple(YesNoShare(name=f"s{place}") for place in range(20)))
    assert app.button(key="pl_one_add").disabled


def test_a_name_twice_is_refused_and_the_last_answer_stays() -> None:
    app = open_plan(statistics=TWO)
    before = answer(app)
    assert "must have names of their own; got one name twice." in problems(move(app, pl_one_name="  Hours "))[0]
    assert answer(app) == before and app.text_input(key="pl_one_name").value == "Hours"
    assert not move(app, pl_one_name="Reads").error and listed(app)[0].name == "Reads"


def test_lines_of_statistics_and_groups_are_read_again() -> None:
    assert read_statistics_line(statistics_line(FIVE)) == FIVE
    groups = (("North", 7000), ("A = B", 5))
    assert read_groups_line(groups_line(groups)) == groups
    too_many = json.dumps([{"kind": "yes_no", "name": "a"}] * 21)
    for wrong in ("", "[]", "[" * 12_000, "{}", "nan", " " * 12_001, '[{"kind": "sum"}]', too_many):
        with pytest.raises(ValueError, match=r"\.$"):
            read_statistics_line(wrong)
    for wrong in ("North", "= 3", "North = many", "North = 1e3"):
        with pytest.raises(ValueError, match="must be written"):
            read_groups_line(wrong)


HOUSEHOLDS = PRESETS["Households of up to 4"]


@pytest.mark.parametrize(
    "values",
    [
        PRESETS["Five, as right guesses"],
        HOUSEHOLDS | {"person_rows": 2, "statistics": HOUSEHOLDS["statistics"][:2]},
        PRESETS["A table with small counts"],
    ],
    ids=["right guesses", "households", "small counts"],
)
def test_every_section_opens(values: dict[str, Any]) -> None:
    app = open_plan(**values)
    before = len(texts(app))
    for section in SECTIONS:
        assert not set_state(app, pl_look=section).error, section
        assert len(texts(app)) > before, section


def test_sections_say_what_the_plan_comes_to() -> None:
    what_if = " ".join(texts(open_plan(**HOUSEHOLDS, look="What if")))
    assert "then not all limits hold" in what_if and "all limits hold up to seven rows of a person." in what_if
    composition = " ".join(texts(open_plan(delta=1e-5, epsilon=0.5, look="Exact and basic")))
    assert "2.18 times as large. For this design they would add up to ε = 1.16, instead of ε = 0.5." in composition
    assert "No statistic withholds small counts." in " ".join(texts(open_plan(look="Withheld counts")))
    buttons = [button.key for button in open_plan(look="The report").get("download_button")]
    assert buttons == ["pl_get_plan.html", "pl_get_plan.json", "pl_get_plan.ipynb"]


def test_a_file_sets_every_control_and_its_script_prints_the_same_numbers() -> None:
    plan = ReleasePlan(n=1000, statistics=FIVE[:2], groups=(("A", 300),), person_rows=2)
    solved = solve_plan(plan)
    state = read_file(solution_json(solved).encode())
    app = open_plan(**{key.removeprefix("pl_"): value for key, value in state.items() if key in SETTINGS})
    question, query = app.session_state["visit"].valid["plan"]
    assert question.plan == plan and not app.error
    assert read_statistics_line(query["pl_statistics"]) == plan.statistics  # of the address in its files
    assert question.description == "2 statistics of n = 1,000 rows, ε = 1"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(plan_script(plan), "script", "exec"), {})
    assert f"with which the promise is kept: {solved.factor!r}\n" in printed.getvalue()
    assert f"of ε promised: {solved.design.epsilon(0.0)!r} of 1.0\n" in printed.getvalue()
    with pytest.raises(ValueError, match="no semicolon"):
        read_file(ReleasePlan(n=10, statistics=TWO, groups=(("a;b", 3),)).to_json().encode())
