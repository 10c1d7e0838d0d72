"""What every page has: its head, a column of controls beside the results, and closer looks that open below."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.charts.html import part_html
from dpviz.desk.asked import AskedOnPage, Refused
from pages.components import component
from pages.components.address import address_problems, write_address
from pages.components.controls import Choice
from pages.components.guard import address_of
from pages.components.numbers import said_of
from pages.components.refusals import keep_card, offer, refuse
from pages.components.release import bring_release, carried_on
from pages.components.spec import CLASS, PageSpec, class_mode, state_of
from pages.components.words import Html, problem

Given = TypeVar("Given")
OfPage = TypeVar("OfPage", bound=AskedOnPage)
Section = Callable[[Given], object]
"""Shows a closer look at what is given to it."""

RELEASE_LINE = '<p class="dpviz-release" hidden><span></span> <button type="button">change</button></p>'
"""Where `write_address` says which release the reader carries, once there is one; its room is kept until then."""

_panel, _keys = component("panel"), component("keys")


def page_head(page: PageSpec, sections: Collection[str] = ()) -> None:
    """Heading, the line of the reader's release, the switch of class mode, what opens the controls, and the style.

    `sections` are the closer looks of the page.
    """
    _looks(page, sections).keep()
    shown = "dpviz-title dpviz-large" if class_mode() else "dpviz-title"
    title = f'<h1 class="{shown}">{escape(page.question)} <small>{escape(page.title)}</small></h1>'
    lead = f'<p class="dpviz-question">{escape(page.lead)}</p>' if page.lead else ""
    st.html(Html(title + lead + (RELEASE_LINE if page.carries else "")))
    st.toggle(
        "Class mode",
        key=CLASS,
        persist_state="session",
        help="Large type and thick lines for a projector, fewer words and controls. ← and → move the slider that "
        "was touched last, the space bar starts and stops. The address keeps it: one link for the whole class.",
    )
    if class_mode():
        _keys(key="dpviz_keys", data=b"", height=1)
    # The controls come next: so they do for the Tab key.
    data = {"style": address_of("style.css"), "open": page.home, "large": class_mode()}
    _panel(key=f"{page.prefix}panel", data=json.dumps(data).encode(), height=1)
    keep_card()
    if page.carries and (refused := bring_release(page)):
        refuse(refused)


def answerable(
    prefix: str, asked: OfPage | Refused, compute: Callable[[OfPage], object], first: Callable[[], OfPage]
) -> OfPage:
    """Say what is wrong with what was asked; returns it, or what was asked last that `compute` does not refuse.

    `first` is what a fresh page asks for, where there was nothing before.
    """
    state, refusals, valid = state_of(prefix), list(asked.problems), None
    if isinstance(asked, Refused):
        for key, (value, words) in asked.mends.items():
            offer(words, key, st.session_state.__setitem__, (key, value))
    else:
        try:
            compute(asked)
            valid = asked
        except ValueError as broken:
            refusals.append(str(broken))
    said = [*address_problems(prefix), *map(said_of, refusals)]
    if valid is not None:
        refuse(*said)
        state.valid, state.answered, state.refused = valid, dict(state.drawn), frozenset()
        return valid
    state.refused = frozenset(state.drawn)
    before: OfPage | None = state.valid
    shown = first() if before is None else before
    what = "the settings of a fresh page" if before is None else "the last settings that are allowed"
    refuse(*said, aside=f"The page shows the answer for {what}: {shown.named}.")
    return shown


@contextmanager
def answering(
    page: PageSpec,
    sections: Collection[str],
    choose: Callable[[], OfPage | Refused],
    compute: Callable[[OfPage], object],
    first: Callable[[], OfPage],
) -> Iterator[OfPage]:
    """A page between its head and its address: its controls, and beside them what is drawn of what is answered.

    `sections` are its closer looks; all else is as in `answerable`.
    """
    page_head(page, sections)
    controls, results = columns()
    with controls:
        st.html(part_html("Settings"))
        asked = choose()
    with results:
        yield answerable(page.prefix, asked, compute, first)
    write_address(page.prefix, carried_on(page) if page.carries else "")


def columns() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Where the controls stand, and where the results do."""
    left, results = st.columns([1, 3.1], gap="medium")
    return left.container(key="controls"), results


def _looks(page: PageSpec, sections: Collection[str]) -> Choice:
    return Choice("look", "Look closer", list(sections), None, st.pills, wrap=True).on(page.prefix)


def look_closer(page: PageSpec, sections: Mapping[str, Section[Given]]) -> Section[Given] | None:
    """The section that is to be opened below, if any."""
    chosen = _looks(page, sections).draw()
    if chosen in sections:
        st.html(part_html(chosen))
    return sections.get(chosen)


def text_of(page: PageSpec, name: str = "words") -> Section[object]:
    """The section that shows a text beside the page."""

    def show(_answered: object) -> None:
        st.markdown(page.text(name))

    return show


def show_section(show: Section[Given] | None, answered: Given) -> None:
    """A section that is opened, if any; what it cannot show it says in a sentence."""
    if show is None:
        return
    try:
        show(answered)
    except ValueError as broken:
        problem(str(broken))
