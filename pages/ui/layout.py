"""What every page has: head, controls beside the results, last valid answer, pictures, and closer looks below."""

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from html import escape
from typing import Any, NamedTuple, TypeVar

import streamlit as st
from plotly.io.json import to_json_plotly

from dpviz.charts.html import fragment
from dpviz.charts.theme import Figure
from dpviz.core.escape import escape_markdown, single_line
from dpviz.core.formatting import shorten_numbers
from dpviz.export.templates import render
from pages.ui import url
from pages.ui.controls import choice
from pages.ui.downloads import about_page
from pages.ui.navigation import CURATOR, Page
from pages.ui.release import LINKED, TakeRelease, apply_release, describe_release, matching_case, update_release
from pages.ui.server import PLOTLY_NAME, static_url
from pages.ui.text import note, page_note, page_sections, problem, words
from pages.ui.url import Setting, Settings, visit

CLASS_MODE_HEIGHT = 1.2  # factor of the height of a picture in class mode, for its larger words
Question = TypeVar("Question")
Section = Callable[[Any], object]


class Columns(NamedTuple):
    """Parts of a page: controls, beside them the answer with its picture, and below that all else."""

    controls: Any
    results: Any
    details: Any


@contextmanager
def page_frame(
    page: Page, settings: Settings, controls: Callable[[], Question],
    check: Callable[[Question], object] = lambda _: None, take_release: TakeRelease | None = None,
) -> Iterator[tuple[Question, Columns]]:  # fmt: skip
    """Draw a page around its answer: head, controls with the question that they ask, and in the end the URL.

    ``with page_frame(PAGE, SETTINGS, controls, compute) as (question, parts):`` is what a page begins with; see
    `last_valid` for `controls` and `check`.
    """
    open_page(page, settings, take_release)
    parts = columns()
    with parts.controls:
        question = last_valid(controls, check)
    with parts.results:
        show_problems()
    yield question, parts
    close_page()


def open_page(
    page: Page, settings: Settings, take_release: TakeRelease | None = None, *, is_loaded: bool = False
) -> None:
    """Read the URL and the carried release, and draw the head of a page. The first call of every page.

    `is_loaded` says that the page has called `load` itself, as its head depends on the settings.
    """
    if not is_loaded:
        url.load(page, settings)
    current = visit()
    current.page = page  # whose heading may depend on its settings
    for key, text in current.address.query.items() if current.is_linked else ():
        if key not in settings and key.removeprefix(page.prefix) not in LINKED:
            url.report_problem(key, f"Ignored {key} = {single_line(text)} in the link: the page has no such setting.")
    if page.carries:
        apply_release(page, settings, take_release)
    lead = f'<p class="dpviz-question">{escape(page.lead)}</p>' if page.lead else ""
    marker = '<div class="dpviz-class-mode" hidden></div>' if url.class_mode() else ""
    st.html(f'<h1 class="dpviz-title">{escape(page.question)} <small>{escape(page.title)}</small></h1>{lead}{marker}')
    st.toggle("Class mode", key=url.CLASS_MODE, persist_state="session", help=page_note("controls", "class mode"))
    has_line = page.carries and page is not CURATOR  # its designs are others than the reader's release
    current.release_line = st.container(key="release") if has_line else None  # filled below; st.empty would vanish
    with st.container(key="head"):  # an empty one is left: what follows keeps its place
        if current.is_entered:  # a browser keeps the style sheet
            _show_component("page", "page_head", {"style": static_url("style.css")})


def close_page() -> None:
    """Write the URL, and what files of pictures say of the page. The last call of every page."""
    current = visit()
    with current.problem_place or st.container():
        for sentence in url.problems():
            st.error(escape_markdown(sentence))
    url.save()
    current.problem_place = None
    current.is_moved = False
    # The style sheet once more: a run that follows at once may take the head away before a browser has drawn it
    reading = render("export/how_to_read.txt", name="FILE").strip()
    data = {"style": static_url("style.css"), "about": about_page(), "reading": reading}
    _show_component("page", "page_foot", data)


def columns() -> Columns:
    """Draw the parts of a page: on a wide screen the controls stand at the left, on a phone below the picture."""
    with st.container(key="page"):
        controls = st.container(key="controls").expander("Controls", expanded=True, key="settings")
        return Columns(controls, st.container(key="results"), st.container(key="details"))


def last_valid(controls: Callable[[], Question], check: Callable[[Question], object]) -> Question:
    """Draw the controls and return what they ask for, or where that is refused, what was last answered.

    `controls` draws the widgets and returns the question, and `check` computes its answer; both raise a ValueError with
    a sentence for the reader. Where nothing was answered before, the settings become those of a fresh page.
    """
    current = visit()
    page, settings = current.page, current.settings
    try:
        question = controls()
        check(question)
    except ValueError as error:
        if page.path not in current.valid:
            url.report_problem(f"{page.prefix}reset", f"{error} The page shows its own settings instead.")
            current.reset_path = page.path
            st.rerun()
        url.report_problem(url.REFUSED, f"{error} The page still shows the last valid answer.")
        question = current.valid[page.path][0]
    else:
        visible = {key: setting for key, setting in settings.items() if key in current.shown}
        current.valid[page.path] = (question, url.query_of(visible, with_defaults=True))
    current.shown_controls = set(current.shown)
    if page.carries:
        # What the page shows becomes the reader's release, and its head says which that is
        update_release(page, settings)
    if current.release_line is not None:
        line = describe_release(current.release)
        line = f"Your release: {line}." if line else "\u00a0"
        case = {page.prefix + name: value for name, value in matching_case(page).items()}
        if any(key in current.shown and st.session_state[key] != value for key, value in case.items()):
            line += " This page shows another one."
        line += " This page shows its best reading." if getattr(question, "best", False) else ""  # on Start
        current.release_line.html(f'<p class="dpviz-release">{escape(line)}</p>')
    return question


def show_problems() -> None:
    """Keep a place above the answer for what is wrong with the settings; `close_page` fills it."""
    visit().problem_place = st.container()


def last_valid_value(
    name: str, value: Any, compute: Callable[[Any], Question], default: Any, describe: Callable[[Any], str] = str
) -> Question:
    """Result of `compute` for the value of a widget; where that refuses, its sentence and the last valid result.

    The result is that of `default` where no value was valid before; `describe` has words for a value.
    """
    valid_key = f"{url.current_page().prefix}{name}_valid"
    try:
        result = compute(value)
    except ValueError as error:
        last = st.session_state.get(valid_key, default)
        problem(f"{error} Shown is the answer for {describe(last)}.")
        return compute(last)
    st.session_state[valid_key] = value
    return result


@cache
def component(name: str) -> Callable[..., Any]:
    """Component that ``static/<name>.js`` draws: a run sends the line that fetches the script, not the script."""
    address = static_url(f"{name}.js")
    # In two lines: Streamlit takes a single one for the name of a file.
    script = f'const ours = await import(new URL("{address}", document.baseURI));\nexport default ours.default;'
    return st.components.v2.component(f"dpviz_{name}", js=script, isolate_styles=False)


def _show_component(name: str, key: str, data: Mapping[str, Any]) -> None:
    """Draw a component that has no picture; its data go as UTF-8 JSON.

    Streamlit searches a mapping for data frames in every run, which takes longer than all else that it does here.
    """
    component(name)(key=key, data=json.dumps(data, ensure_ascii=False).encode(), height=1)


def show_figure(figure: Figure, name: str, alt: str = "", *, height: int = 420, hero: bool = False) -> None:
    """Draw a figure in place of the one that was drawn before under a `name`, after which its files are named too.

    Colours and font come from the app's theme except where it sets its own. The reader's zoom survives until its
    ``layout.uirevision`` changes. `alt` is its accessible name, which stands in the text of the page as "alt" and its
    name if empty; `height` in pixels. A `hero` is the first picture of a page, which fills a screen in class mode.
    """
    key = url.current_page().prefix + name
    is_large = url.class_mode()
    pixels = round(CLASS_MODE_HEIGHT * height) if is_large else height
    settings = to_json_plotly({
        "time": time.time(),  # first: while a browser loads the script, Streamlit may call it in another order
        "plotly": static_url(PLOTLY_NAME), "alt": alt or words(f"alt {name}"), "name": key, "height": pixels,
        "large": is_large, "hero": hero,
    })  # fmt: skip
    drawing = figure.json_text(shorten_numbers if is_large else None)
    data = f'{settings.removesuffix("}")},"figure":{drawing}}}'.encode()
    component("figure")(key=key, data=data, height="content")  # a narrow one grows by its legend


def section_setting(sections: Collection[str]) -> Setting:
    """Setting of the closer look that is open, named ``prefix + "look"``."""
    return url.choice_setting(sections, None, "Look closer")


def section_if(can_show: Callable[[Any], bool], show: Section, sentence: str) -> Section:
    """Section that is drawn where a condition holds; else a note, which is in the text of the page."""
    return lambda question: show(question) if can_show(question) else note(words(sentence))


def look_closer(sections: Mapping[str, Section], question: Any) -> None:
    """Draw the choice of closer looks, and the one that is open; a ValueError is shown in its place.

    It begins with the section of the page's text that has its name, if there is one.
    """
    name = choice("look", list(sections), widget=st.pills, wrap=True)
    if name in sections:
        st.html(fragment("heading", name, "part"))
        if name in page_sections(visit().page.module):
            note(words(name))
        try:
            sections[name](question)
        except ValueError as error:
            problem(str(error))
