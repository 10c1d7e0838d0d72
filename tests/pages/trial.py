"""A small page with a widget of every kind, for tests of the widgets and of the URL."""

from dataclasses import replace
from typing import Any

from streamlit.testing.v1 import AppTest

from dpviz.core.declarations import EPSILON
from dpviz.core.parameters import Parameter
from pages import ui
from pages.ui.navigation import Page
from tests.pages import apptest
from tests.pages.apptest import sound

PAGE = Page(path="trial", module="controls", title="Trial", question="What holds?", prefix="tr_", carries=False)
N = Parameter(name="n", symbol="n", title="People", minimum=1, maximum=500, default=40, help="", integer=True)
NUMBERS = {
    "n": N, "m": replace(N, name="m", symbol="m", title="Released rows"),
    "x": replace(N, name="x", symbol="x", title="Who say yes", minimum=0, default=3), "epsilon": EPSILON,
}  # fmt: skip
KINDS = {"few": "a few", "many": "a great many"}
CASE = {"n": 7, "m_is_n": True, "kind": "few"}
SETTINGS = {
    **ui.number_settings(NUMBERS, "tr_"), **ui.link_settings("tr_", "m"),
    "tr_kind": ui.choice_setting(KINDS, "few", "Kind"), "tr_methods": ui.choices_setting("abc", ["a"], "Methods"),
    "tr_detail": ui.choice_setting(["1", "2", "3"], "1"), "tr_on": ui.switch_setting(False),
    "tr_words": ui.text_setting("", "Words"), "tr_look": ui.section_setting(["B"]),
}  # fmt: skip


def show_b(_question: object) -> None:
    raise ValueError("This section <b>cannot</b> be shown.")


def controls() -> dict[str, Any]:
    places = ui.control_places({"seven": CASE, "eight": CASE | {"n": 8}})
    n = ui.number_control("n", place=places.first)
    values = {"n": n, "m": ui.linked_number("m", n, place=places.folded)}
    values["x"] = ui.number_control("x", place=places.main, maximum=n)
    values["epsilon"] = ui.number_control("epsilon", place=places.first)
    values["kind"] = ui.choice("kind", place=places.main)
    values["methods"] = ui.choices("methods", {"a": "A", "b": "B", "c": "C"}, place=places.folded)
    details = ["1", "2"] if values["kind"] == "few" else ["2", "3"]
    values["detail"] = ui.segmented("detail", details, "Detail")
    values["on"] = ui.toggle("on", "On", place=places.folded)
    values["words"] = ui.text_control("words")
    return values


def page() -> None:
    """A page with one of each."""
    with ui.page_frame(PAGE, SETTINGS, controls) as (question, parts):
        with parts.results:
            ui.answer(str(question["n"]), f"The answer is {question}.", "Short.")
        with parts.details:
            ui.look_closer({"B": show_b}, question)


def trial_script() -> None:
    """The page as a script of its own."""
    from tests.pages.trial import page

    page()


def open_trial(**query: object) -> AppTest:
    """Open the page by a link with settings by their names without the prefix."""
    app = AppTest.from_function(trial_script, default_timeout=60)
    app.query_params.update({f"tr_{name}": str(value) for name, value in query.items()})
    return sound(app.run())


def move(app: AppTest, **values: Any) -> AppTest:
    """Set widgets by their names without the prefix."""
    return apptest.move(app, **{f"tr_{name}": value for name, value in values.items()})
