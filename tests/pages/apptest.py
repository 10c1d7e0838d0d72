"""A page under Streamlit's AppTest: opened by its URL, without a browser or a server."""

import functools
import html
import json
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl

from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, local_script_runner

from pages.ui import background
from pages.ui.navigation import PAGES

TIMEOUT_S = 120
SHOWN = ("html", "markdown", "caption", "error", "warning", "info")
WRONG = re.compile(r"\bnan\b|Traceback|\bNone\b(?! (that|of)\b)|\binf\b|[a-z]Error\b")
MODULE = "module_of_test"

# Every page searches all installed packages for components: 0.1 s each time, with the same result.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

_check_deltas = local_script_runner.require_widgets_deltas


def _wait(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the end of a page's run: polling every millisecond took a twentieth of all tests of pages."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    _check_deltas(runner, 0.1)


local_script_runner.require_widgets_deltas = _wait

config.set_option("client.showErrorDetails", "full")
config.set_option("global.disableWidgetStateDuplicationWarning", True)
_stream = background._stream


def _stream_copies(*task: Any) -> Iterator[Any]:
    """Compute in a thread, but with copies: a process is sent pickled tasks, and sends pickled results back."""
    results = _stream(*pickle.loads(pickle.dumps(task)))
    latest = copy = None
    while True:
        try:
            result = next(results)
        except StopIteration as end:
            return pickle.loads(pickle.dumps(end.value))
        if result is not latest:
            latest = result
            copy = pickle.loads(pickle.dumps(result))
        yield copy


patch.object(background, "_stream", _stream_copies).start()


def open_page(module: str, *, session: Mapping[str, object] | None = None, **query: object) -> AppTest:
    """Run the page of ``pages/<module>.py`` with a query in a new session, until everything on it is complete.

    `session` is what the session has before, such as a release that was carried there.
    """

    def script(module_key: str) -> None:
        from importlib import import_module

        import streamlit as st

        import_module(f"pages.{st.session_state[module_key]}").page()

    app = AppTest.from_function(script, kwargs={"module_key": MODULE}, default_timeout=TIMEOUT_S)
    for key, value in (session or {}).items():
        app.session_state[key] = value
    return visit(app, module, **query)


def opener(module: str) -> Callable[..., AppTest]:
    """Function that opens a page with settings by their names without the prefix, in class mode if `is_large`."""
    (prefix,) = (page.prefix for page in PAGES if page.module == module)

    def open_with(*, is_large: bool = False, session: Mapping[str, object] | None = None, **values: object) -> AppTest:
        query = {prefix + name: value for name, value in values.items()} | ({"class": 1} if is_large else {})
        return open_page(module, session=session, **query)

    return open_with


def visit(app: AppTest, module: str, **query: object) -> AppTest:
    """Go on to a page in the same session, as by the menu, or by a link that has a query."""
    app.session_state[MODULE] = module
    app.query_params = {key: str(value) for key, value in query.items()}
    return sound(app.run())


def set_state(app: AppTest, **state: object) -> AppTest:
    """Run the page again with other values in its session."""
    for key, value in state.items():
        app.session_state[key] = value
    return sound(app.run())


def unfold(app: AppTest) -> AppTest:
    """Open "More": what stands there is drawn only then."""
    return set_state(app, more=True)


def move(app: AppTest, **values: object) -> AppTest:
    """Set widgets by their keys, and run the page once."""
    for key, value in values.items():
        widget(app, key).set_value(value)
    return sound(app.run())


def press(app: AppTest, key: str) -> AppTest:
    """Press a button by its key."""
    return sound(widget(app, key).click().run())


def upload(app: AppTest, name: str, content: bytes, kind: str = "text/csv") -> AppTest:
    """Upload a file where the page takes one."""
    uploader: Any = app.get("file_uploader")[0]
    return sound(uploader.set_value((name, content, kind)).run())


def widget(app: AppTest, key: str) -> Any:
    """The widget with a key."""
    return next(part for part in elements(app.main) if getattr(part, "key", None) == key)


def elements(block: Any) -> Iterator[Any]:
    """Everything in a block of the page, in its order."""
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from elements(child)
        else:
            yield child


def texts(app: AppTest) -> list[str]:
    """Everything that the page says, without tags, in the order of the page."""
    parts = (part for part in elements(app.main) if part.type in SHOWN)
    return [plain_text(str(getattr(part, "value", None) or part.proto.body)) for part in parts]


def said(app: AppTest) -> str:
    """The same as one line."""
    return " ".join(" ".join(texts(app)).split())


def rows_of(app: AppTest, name: str) -> dict[str, dict[str, str]]:
    """Cells of a table by the bold words of the first in each row (all, where others have them), and the column."""
    bodies = [part.proto.body for part in app.get("html")]
    table = next(body for body in bodies if f'aria-label="{name}' in html.unescape(body))
    lines = re.findall(r"<tr\b[^>]*>(.*?)</tr>", table, re.DOTALL)
    head, *rows = (re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines)
    found = {}
    for row in rows:
        label = re.search(r"<b>(.*?)</b>", row[0])
        columns, cells = ([" ".join(plain_text(cell).split()) for cell in line] for line in (head, row))
        found[label[1] if label and label[1] not in found else cells[0]] = dict(zip(columns, cells, strict=True))
    return found


def cells_of(app: AppTest, name: str) -> dict[str, list[str]]:
    """The same without the names of the columns and the first cells."""
    return {plain_text(label): [*cells.values()][1:] for label, cells in rows_of(app, name).items()}


def markup(app: AppTest) -> str:
    """The HTML of the page's own elements."""
    return "".join(str(part.proto.body) for part in app.get("html"))


def answer(app: AppTest) -> str:
    """The sentence that the page answers with."""
    found = re.search(r'class="dpviz-answer">(.*?)</p>', markup(app))
    assert found is not None
    return plain_text(found[1])


def headline(app: AppTest) -> str:
    """The same with single spaces, as a reader sees it."""
    return " ".join(answer(app).split())


def mark(app: AppTest) -> str:
    """The framed word of the page's answer."""
    found = re.search(r'class="dpviz-mark">([^<]*)<', markup(app))
    assert found is not None
    return plain_text(found[1])


def problems(app: AppTest) -> list[str]:
    """Sentences about settings that are refused, as a reader sees them."""
    return [plain_text(element.value) for element in app.error]


def plain_text(markup: str) -> str:
    """Text of HTML, with ordinary spaces, and without what breaks addresses in a text that was made plain."""
    return html.unescape(re.sub(r"<[^>]+>", " ", markup)).replace("\u00a0", " ").replace("\u2060", "")


def settings(app: AppTest) -> dict[str, str]:
    """The settings that the URL of the page would have."""
    return {key: values[0] if isinstance(values, list) else values for key, values in app.query_params.items()}


def widgets(app: AppTest) -> dict[str, Any]:
    """Values of the widgets of the page by key, buttons, uploads and components aside."""
    parts = (part for part in elements(app.main) if getattr(part, "key", None) and hasattr(part, "set_value"))
    return {str(part.key): part.value for part in parts if part.type != "bidi_component"}


def links(app: AppTest) -> dict[str, dict[str, str]]:
    """Queries of the links to other pages by their labels without the arrow."""
    return {
        link.proto.label.removesuffix(" →"): dict(parse_qsl(link.proto.query_string)) for link in app.get("page_link")
    }


def figures(app: AppTest) -> dict[str, dict[str, Any]]:
    """What was sent to the browser for each picture, by its key."""
    return component_data(app, "dpviz_figure")


def figure(app: AppTest, key: str) -> dict[str, Any]:
    """Data and layout of a picture, with its arrays."""
    from tests.helpers import decode_figure  # which imports registries, that a test may add to first

    return decode_figure(json.dumps(figures(app)[key]["figure"]))


def about(app: AppTest) -> list[str]:
    """Head lines of the files of the page's pictures."""
    lines: list[str] = component_data(app, "dpviz_page")["page_foot"]["about"]
    return lines


def component_data(app: AppTest, name: str) -> dict[str, dict[str, Any]]:
    """Data of the components of a name, by key."""
    found = [part.proto for part in app.get("bidi_component") if part.proto.component_name == name]
    keys = [str(part.key) for part in app.get("bidi_component") if part.proto.component_name == name]
    return {key: json.loads(proto.bytes or proto.json) for key, proto in zip(keys, found, strict=True)}


def sound(app: AppTest) -> AppTest:
    """Check that nothing broke: no exception, and no number in the page's words that is none."""
    assert not app.exception, app.exception[0].message
    said = problems(app)  # which repeat what is refused
    wrong = WRONG.search(" ".join(text for text in texts(app) if text not in said))
    assert not wrong, wrong
    return app
