"""What the pages say at the URLs of ``addresses.txt``, and the files that they offer, read without a browser."""

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl

import numpy as np
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.ui.navigation import PAGES
from tests.helpers import decode_figure
from tests.pages.apptest import open_page, settings

ADDRESSES = Path(__file__).with_name("addresses.txt")
FIGURE = "dpviz_figure"
MAX_RUNS = 100  # after which a page that still changes counts as broken

VOLATILE = (
    (r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "(identifier)"),
    (r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) 20\d\d\b",
     "(date)"),
    (r"<script[^>]*>(?:(?!</script>)[\s\S]){20000,}</script>", "(a script of plotly's)"),
)  # fmt: skip
"""Patterns of what is different in every run, or is not ours, and what the record has in its place."""

STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
ACCESSIBLE_NAME = re.compile(r"""<[^>]*?\b(?:aria-label|title|alt)="([^"]*)"[^>]*>""")
LINE_END = re.compile(r"</(?:p|li|tr|div|summary|h\d|caption|dt|dd|section|article)>|<br ?/?>")
CELL_END = re.compile(r"</t[dh]>")
BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")

FileTexts = dict[str, Callable[[], str]]
"""Functions that make the texts of files, by the names of the files."""


@dataclass(frozen=True)
class Visit:
    """A line of ``addresses.txt``: a URL relative to the app; ``files`` and ``start`` may follow it.

    Attributes
    ----------
    url : str
    with_files : bool
        Whether the files of the page are in the record.
    with_simulation : bool
        Whether the simulation of the page is started, and read when it is complete.
    """

    url: str
    with_files: bool = False
    with_simulation: bool = False


@dataclass(frozen=True)
class Reading:
    """What a page says, and the texts of its files by name."""

    page: dict[str, Any]
    files: dict[str, str]


@functools.cache
def listed_visits() -> tuple[Visit, ...]:
    """The visits of ``addresses.txt``, in order."""
    lines = [line.split() for line in ADDRESSES.read_text("utf-8").splitlines() if not line.startswith("#")]
    return tuple(Visit(line[0], "files" in line[1:], "start" in line[1:]) for line in lines if line)


def read_page(visit: Visit) -> Reading:
    """Open a page at a URL, wait until it is complete, and read it.

    Parameters
    ----------
    visit : Visit

    Returns
    -------
    Reading
    """
    path, _, query = visit.url.partition("?")
    page = next(page for page in PAGES if page.path == path)
    file_texts: FileTexts = {}
    with _recorded_files(file_texts):
        app = open_page(page.module, **dict(parse_qsl(query, keep_blank_values=True)))
        app.session_state["more"] = True  # controls that are folded away are not drawn
        app.run()
        if visit.with_simulation:
            app.button(key=f"{page.prefix}go").click().run()
        text = _final_text(app, file_texts)
    files = {name: make() for name, make in file_texts.items()} if visit.with_files else {}
    content = {
        "text": _without_volatile(text),
        "address": settings(app),
        "refused": "\n".join(unescape(error.value) for error in app.error),
    }
    return Reading(content, {name: _without_volatile(text) for name, text in files.items()})


@contextmanager
def _recorded_files(file_texts: FileTexts) -> Iterator[None]:
    """Note the function behind every download button that is drawn."""
    download_button: Callable[..., Any] = st.download_button

    def recorded(label: str, make: Callable[[], str], name: str, *args: Any, **arguments: Any) -> Any:
        file_texts[name] = make
        return download_button(label, make, name, *args, **arguments)

    with patch.object(st, "download_button", recorded):
        yield


def _final_text(app: AppTest, file_texts: FileTexts) -> str:
    """Text of a page once two runs say the same: the first differs in links that take the release along."""
    text = ""
    for _ in range(MAX_RUNS):
        assert not app.exception, app.exception[0].value
        previous = text
        text = page_text(app)
        if text == previous:
            return text
        file_texts.clear()
        app.run()
    raise AssertionError("The page does not come to rest.")


def _without_volatile(text: str) -> str:
    for pattern, replacement in VOLATILE:
        text = re.sub(pattern, replacement, text)
    return text


def page_text(app: AppTest) -> str:
    """What a page says and draws, in order, without empty lines."""
    lines = [line for part in _block_texts(app.main) for line in part.split("\n")]
    return "\n".join(line for line in lines if line.strip())


def _block_texts(block: Any) -> Iterator[str]:
    """Yield the texts of a container's elements, each container's label in brackets."""
    for child in block.children.values():
        if hasattr(child, "children"):
            label = getattr(child, "label", "") or getattr(getattr(child, "proto", None), "label", "")
            yield f"[{label}]" if isinstance(label, str) and label else ""
            yield from _block_texts(child)
        else:
            yield element_text(child)


def element_text(element: Any) -> str:
    """What an element says: words without markup, a control with its value, a picture in words and sums."""
    kind = element.type
    if kind == "html":
        return html_text(STYLE.sub("", element.proto.body))
    if kind == "bidi_component":
        return figure_text(element.proto.bytes) if element.proto.component_name == FIGURE else ""
    if kind in ("markdown", "caption", "error"):
        return unescape(str(element.value))
    if kind == "page_link":
        return f"link {element.proto.label} {element.proto.query_string}"
    if kind == "code":  # the text of a file, which is among the files
        return ""
    return _control_text(element)


def _control_text(element: Any) -> str:
    label = getattr(element, "label", None)
    if not isinstance(label, str):
        label = getattr(getattr(element, "proto", None), "label", "")
    value = getattr(element, "value", None)
    if isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    options = getattr(element, "options", None)
    has_few_options = options is not None and element.type != "select_slider"
    return f"{element.type} {label} = {value!r}" + (f" of {list(options)}" if has_few_options else "")


def html_text(html: str) -> str:
    """Words of HTML, a row of a table in a line, accessible names in braces."""
    named = ACCESSIBLE_NAME.sub(lambda match: f"{{{match[1]}}}", html)
    lines = CELL_END.sub(" | ", LINE_END.sub("\n", named))
    words = unescape(re.sub(r"<[^>]+>", " ", lines))
    return "\n".join(BLANKS.sub(" ", line).strip() for line in words.split("\n"))


def figure_text(data: bytes) -> str:
    """Accessible name of a picture; name, number of points and sums of each trace; and its annotations."""
    message = decode_figure(data.decode())
    lines = [f"picture {message['alt']}"]
    for trace in message["figure"]["data"]:
        sums = [f"{axis}: {_array_text(trace[axis])}" for axis in ("x", "y", "z") if trace.get(axis) is not None]
        lines.append(f"trace {trace.get('type', 'scatter')} {trace.get('name') or ''} {', '.join(sums)}")
    annotations = message["figure"]["layout"].get("annotations", ())
    return "\n".join([*lines, *(html_text(str(annotation.get("text", ""))) for annotation in annotations)])


def _array_text(values: Any) -> str:
    """Number of entries; of finite numbers the sum and the sum of absolute values to nine digits."""
    array = np.asarray(values).ravel()
    try:
        numbers = array.astype(float)
    except (TypeError, ValueError):
        return f"{len(array)} words"
    finite = numbers[np.isfinite(numbers)]
    total, absolute = (float(f"{value:.9g}") for value in (finite.sum(), np.abs(finite).sum()))
    return f"{len(array)} points, {total!r}, {absolute!r}"
