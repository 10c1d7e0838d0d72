"""Whatever a reader brings, no request leaves the machine, nothing of it is markup, and the server says so itself."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from urllib.parse import parse_qsl, urlencode

import pytest
from playwright.sync_api import Browser, FilePayload, Page

from dpviz.designs import Design
from pages.components.guard import POLICY
from tests.browser import ASKING, settle
from tests.visit import LARGE, PATIENCE, SMALL, leave, until

pytestmark = pytest.mark.browser

MARKUP = "<style>*{display:none}</style><img src=//out.invalid/a.png>![](http://out.invalid/md.png)"
MORE = "<b>bold</b> [go](http://out.invalid) http://out.invalid/auto :material/home: \u202egnp"
TABLE = f'"{MARKUP}","{MORE}"\n' + "\n".join(f'"{MARKUP}{row % 2}",{row}' for row in range(20))


Watched = tuple[Page, list[str]]
"""A page, and what it asks of other hosts or its policy refuses."""


@pytest.fixture(scope="session")
def guarded(server: str, chromium: Browser) -> Iterator[Watched]:
    """One for all tests: what loaded the app once does so again in half the time."""
    page, left = chromium.new_context(viewport=LARGE).new_page(), list[str]()
    page.add_init_script(ASKING)
    page.expose_function("dpvizRefused", lambda words: left.append(words))
    page.add_init_script(
        "addEventListener('securitypolicyviolation', (e) => dpvizRefused(`${e.violatedDirective} ${e.blockedURI}`))"
    )
    page.on(
        "request",
        lambda asked: None if asked.url.startswith((server, "blob:", "data:", "about:")) else left.append(asked.url),
    )
    page.on("requestfailed", lambda asked: left.remove(asked.url) if asked.failure == "csp" else None)  # named already
    yield page, left
    page.context.close()


@pytest.fixture
def watched(guarded: Watched) -> Iterator[Watched]:
    """That page for a new visitor; no host that a test names exists, so that no such request leaves."""
    guarded[1].clear()
    yield guarded
    leave(guarded[0])


def test_the_policy_refuses_what_would_leave(server: str, watched: Watched) -> None:
    """A picture, a script, a form's target and a call, each put into the page as markup would."""
    page, left = watched
    page.goto(server)
    settle(page)
    page.evaluate(
        """() => {
          for (const [tag, name] of [['img', 'src'], ['script', 'src'], ['iframe', 'src']]) {
            const one = document.createElement(tag);
            one[name] = `http://out.invalid/${tag}`;
            document.body.append(one);
          }
          fetch('http://out.invalid/call').catch(() => {});
        }"""
    )
    until(page, lambda: len(left) >= 4)
    assert sorted(one.split()[0] for one in left) == ["connect-src", "frame-src", "img-src", "script-src-elem"]


def test_every_answer_carries_the_headers_and_metrics_are_closed(server: str) -> None:
    for path in ("", "coverage", "_stcore/health", "nothing/here.js"):
        try:
            answer = urllib.request.urlopen(f"{server}/{path}")
        except urllib.error.HTTPError as refused:
            answer = refused
        assert answer.headers["content-security-policy"].count(";") == len(POLICY) - 1
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{server}/_stcore/metrics")


def _pilot(page: Page) -> None:
    page.locator("input[type=file]").first.set_input_files(
        FilePayload(name=f"{MARKUP.replace('/', ':')}.csv", mimeType="text/csv", buffer=TABLE.encode())
    )


def _matrix(page: Page) -> None:
    page.locator("input[type=file]").first.set_input_files(
        FilePayload(name=f"{MARKUP.replace('/', ':')}.csv", mimeType="text/csv", buffer=b"0.5,0.5\n0.25,0.75")
    )


def _json(text: str) -> Callable[[Page], None]:
    def choose(page: Page) -> None:
        page.locator("input[type=file]").first.set_input_files(
            FilePayload(name="file.json", mimeType="application/json", buffer=text.encode())
        )

    return choose


RUN = {
    "dpviz_run": 1,
    "about": {**Design(mechanism="beta_binomial", n=5).to_address(), "synthesizer": MARKUP},
    "fingerprint": MARKUP,
    "counts": {MORE: 1},
}


@pytest.mark.parametrize(
    ("path", "query", "bring"),
    [
        ("curator", {"cu_look": "Pilot data"}, _pilot),
        ("curator", {"cu_look": "The report"}, _json(json.dumps({MARKUP: MORE}))),
        ("transition_matrices", {"tm_synthesizer": "given_matrix"}, _matrix),
        ("transition_matrices", {"tm_synthesizer": "given_matrix", "tm_paste": f"{MARKUP},1\n{MORE},1"}, None),
        ("transition_matrices", {"tm_synthesizer": MARKUP, "tm_n": MORE, "tm_look": MARKUP}, None),
        ("coverage", {"cv_look": "Download"}, _json(json.dumps(RUN))),
        ("posterior", {"po_source": "typed", "po_counts": MARKUP}, None),
        ("curator", {"cu_pins": MARKUP, "cu_protect": f"{MARKUP}.loss"}, None),
    ],
    ids=range(8),
)
def test_hostile_texts_are_shown_as_texts_and_ask_nobody(
    server: str, watched: Watched, path: str, query: dict[str, str], bring: Callable[[Page], None] | None
) -> None:
    page, left = watched
    page.goto(f"{server}/{path}?{urlencode(dict(parse_qsl(SMALL.get(path, ''))) | query)}")
    settle(page)
    if bring is not None:
        page.evaluate("window.dpvizAsked = undefined")
        bring(page)
        page.wait_for_function("window.dpvizAsked !== undefined", timeout=PATIENCE)  # a run with the file is asked for
        settle(page)
    assert page.locator("h1").is_visible()  # no style of the text hides it
    assert page.locator("[src*='out.invalid'], [href*='out.invalid']").count() == 0
    assert not left
