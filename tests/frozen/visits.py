"""Addresses of the app as a reader meets them: what each page says when nothing grows any more, and its files."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl

import numpy as np
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from pages.components import growing
from pages.components.navigation import PAGES
from tests.pages import address, decode_figure, problems

ADDRESSES = Path(__file__).with_name("addresses.txt")
for one in PAGES:
    for module in (one.module, f"pages.{one.folder}.controls"):
        import_module(module)  # as the app does: a link says what the page that it leads to can be told

FIGURE, START = "dpviz_figure", "go"
"""The component that shows pictures, and the end of the key of the button that starts a simulation."""

MOST_RUNS, LONGEST_RUN = 300, 600
"""Runs after which a page that still moves is a fault, and seconds of one: the machine may be busy."""

Files = dict[str, Callable[[], str]]
VOLATILE = (
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "(identifier)"),
    (re.compile(r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)"
                r" 20\d\d\b"), "(date)"),
    (re.compile(r"[\d.,]+ (?:s|min|h) elapsed, [^;]*?of work(?:, [\d.,]+ a second of work)?"), "(time)"),
    (re.compile(r"<script[^>]*>(?:(?!</script>).){20000,}</script>", re.DOTALL), "(a script of plotly's)"),
)  # fmt: skip
"""What is another at every run, and what is not ours; and what the record has in its place."""

NAMED = re.compile(r"""<[^>]*?\b(?:aria-label|title|alt)="([^"]*)"[^>]*>""")
BREAK = re.compile(r"</(?:p|li|tr|div|summary|h\d|caption|dt|dd|section|article)>|<br ?/?>")
CELL = re.compile(r"</t[dh]>")


@dataclass(frozen=True)
class Visit:
    """One line of ``addresses.txt``: an address below that of the app; ``files`` and ``start`` may follow.

    `files`: its files are in the record. `start`: its simulation is started, and comes to its end.
    """

    address: str
    files: bool = False
    start: bool = False


@dataclass(frozen=True)
class Seen:
    """What a page says, and the texts of its files by name."""

    page: dict[str, Any]
    files: dict[str, str]


@functools.cache
def listed() -> tuple[Visit, ...]:
    """The addresses, in order."""
    lines = (line.split() for line in ADDRESSES.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return tuple(Visit(line[0], "files" in line[1:], "start" in line[1:]) for line in lines if line)


def visited(visit: Visit) -> Seen:
    """Open the address, wait until nothing grows, and read the page."""
    path, _, query = visit.address.partition("?")
    spec = next(one for one in PAGES if one.path == path.strip("/"))
    files: Files = {}
    page = AppTest.from_file(str(spec.file), default_timeout=LONGEST_RUN)
    page.session_state["more"] = True  # what is folded away is read as well
    for key, word in parse_qsl(query, keep_blank_values=True):
        page.query_params[key] = word
    with quiet(), offered(files):
        grown(page, files)
        if visit.start:
            page.button(key=f"{spec.prefix}{START}").click()
            grown(page, files)
    texts = {name: make() for name, make in files.items()} if visit.files else {}
    said = {
        "says": "\n".join(one for part in below(page.main) for one in part.split("\n") if one.strip()),
        "address": address(page),
        "refused": "\n".join(problems(page)),
    }
    return Seen(steady(said), steady(texts))


def steady(found: Any) -> Any:
    """The same without what is another at every run."""
    if isinstance(found, dict):
        return {key: steady(one) for key, one in found.items()}
    for pattern, word in VOLATILE:
        found = pattern.sub(word, found)
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """What grows is complete at once, and installed packages are looked through once."""
    scan = functools.cache(manifest_scanner.scan_component_manifests)
    with (
        patch.object(manifest_scanner, "scan_component_manifests", scan),
        patch.object(growing, "AT_ONCE", LONGEST_RUN),
    ):
        yield


@contextmanager
def offered(files: Files) -> Iterator[None]:
    """While it lasts, what makes the text of every file that is offered is kept by its name."""
    real: Callable[..., Any] = st.download_button

    def keep(label: str, make: Callable[[], str], name: str, *rest: Any, **more: Any) -> Any:
        files[name] = make
        return real(label, make, name, *rest, **more)

    with patch.object(st, "download_button", keep):
        yield


def grown(page: AppTest, files: Files) -> None:
    """Run a page until nothing in its session has a stream that goes on, and no simulation runs; then once more.

    What a first run shows may differ from what every further one does, as links that take a release along.
    """
    rested = False
    for _ in range(MOST_RUNS):
        files.clear()  # those of the last run count
        page.run()
        assert not page.exception, page.exception[0].value
        held = page.session_state._state._state.filtered_state.values()  # it lists its keys nowhere else
        moving = [one for one in held if getattr(one, "stream", None) is not None or getattr(one, "running", False)]
        if not moving and rested:
            return
        rested = not moving
        for one in moving:
            if not hasattr(one, "running"):
                one.advance(math.inf)
    raise AssertionError("the page does not come to rest")


def below(node: Any) -> Iterator[str]:
    """What a part of a page says, in order."""
    for one in node.children.values():
        if hasattr(one, "children"):
            label = getattr(one, "label", "") or getattr(getattr(one, "proto", None), "label", "")
            yield f"[{label}]" if isinstance(label, str) and label else ""
            yield from below(one)
        else:
            yield said(one)


def said(one: Any) -> str:
    """What an element says: words without markup, a control with its state, a picture in words and sums."""
    kind = one.type
    if kind == "html":
        return words(re.sub(r"<style>.*?</style>", "", one.proto.body, flags=re.DOTALL))
    if kind == "bidi_component":
        return picture(one) if one.proto.component_name == FIGURE else ""
    if kind in ("markdown", "caption"):
        return str(one.value)
    if kind == "page_link":
        return f"link {one.proto.label} {one.proto.query_string}"
    if kind == "code":
        return ""  # the text of a file, which is among the files
    label, value = getattr(one, "label", None), getattr(one, "value", None)
    value = float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    proto = getattr(one, "proto", None)
    label = label if isinstance(label, str) else getattr(proto, "label", "")
    options = getattr(one, "options", None)
    many = kind == "select_slider"
    return f"{kind} {label} = {value!r}" + (f" of {list(options)}" if options is not None and not many else "")


def words(html: str) -> str:
    """The words of HTML, one line a row, with those that are read aloud alone."""
    spoken = NAMED.sub(lambda found: f"{{{found[1]}}}", html)
    lines = CELL.sub(" | ", BREAK.sub("\n", spoken))
    plain = unescape(re.sub(r"<[^>]+>", " ", lines))
    return "\n".join(re.sub(r"[ \t\r\f\v\xa0]+", " ", line).strip() for line in plain.split("\n"))


def picture(one: Any) -> str:
    """The accessible name of a picture, and of each of its traces the name, the number of points and their sums."""
    message = decode_figure(one.proto.bytes)
    lines = [f"picture {message['alt']}"]
    for trace in message["figure"]["data"]:
        sums = [f"{axis}: {_sum(trace[axis])}" for axis in ("x", "y", "z") if trace.get(axis) is not None]
        lines.append(f"trace {trace.get('type', 'scatter')} {trace.get('name') or ''} {', '.join(sums)}")
    notes = message["figure"]["layout"].get("annotations", ())
    return "\n".join([*lines, *(words(str(note.get("text", ""))) for note in notes)])


def _sum(values: Any) -> str:
    """Number of entries, and the sum of those that are numbers to nine digits."""
    flat = np.asarray(values).ravel()
    try:
        found = flat.astype(float)
    except (TypeError, ValueError):
        return f"{len(flat)} words"
    found = found[np.isfinite(found)]
    return f"{len(flat)} points, {float(f'{found.sum():.9g}')!r}, {float(f'{np.abs(found).sum():.9g}')!r}"


def as_text(found: dict[str, Any]) -> str:
    """A page as one text, for a reader of differences."""
    return json.dumps(found, ensure_ascii=False, indent=1)
