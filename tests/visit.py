"""A visitor of the running app in real Chromium: open a page, move its controls, read what it says."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, ViewportSize, expect

from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.navigation import EVERY_PAGE, GROUPS
from tests.browser import ASKING, settle

PREFIXES = {page.path: page.prefix for page in EVERY_PAGE}
"""What the keys of a page's controls start with, by the end of its address."""

Theme = Literal["light", "dark"]
LARGE: ViewportSize = {"width": 1400, "height": 1000}
LABELS = {key: cls.label for key, cls in SYNTHESIZERS.items()} | {GivenMatrix.key: GivenMatrix.label}
PROBED = tuple(f"/{page}/_stcore/{asked}" for page in filter(None, PREFIXES) for asked in ("health", "host-config"))
"""What Streamlit's browser side looks for below a page's own address, where it is not: it then asks one folder up."""

SMALL = {
    "minimum_priors": "mp_n=12",
    "coverage": "cv_n=30&cv_sets=3&cv_repetitions=2000",
    "posterior": "po_n=20&po_x=6&po_sets=5&po_high=100",
    "compare_synthesizers": "cs_n=20&cs_sets=3",
    "budget": "bu_n=8&bu_repetitions=50",
    "curator": "cu_n=20&cu_values=2&cu_repetitions=60",
}
"""By path of a page that computes: few rows and repetitions, with which it answers at once."""

ENDLESS = "cv_n=10&cv_sets=200&cv_prior=own&cv_alpha=1&cv_repetitions=10000000"
"""A run on "Coverage" that takes most of a minute of a processor: longer than any test looks at it.

With so few rows its exact lines, which each move asks for anew, are there in a third of a second.
"""

PATIENCE = 60_000
"""Milliseconds after which something that was to appear counts as missing; nothing is timed."""

expect.set_options(timeout=PATIENCE)


def until(page: Page, come: Callable[[], bool]) -> None:
    """Wait until it has come: what is heard of a page is noted while that is waited for."""
    end = time.monotonic() + PATIENCE / 1000
    while not come():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


def go_to(page: Page, title: str) -> None:
    """Choose a page in the navigation, below the name of its group where it has one."""
    group = next(name for name, folders in GROUPS.items() if any(one.SPEC.title == title for one in folders))
    if group:
        page.get_by_test_id("stTopNavSection").filter(has_text=group).click()
        page.get_by_test_id("stTopNavDropdownLink").filter(has_text=title).click()
    else:
        page.get_by_test_id("stTopNavLink").filter(has_text=title).click()


def small(path: str) -> str:
    """The address of a page below that of the app, with few rows and repetitions."""
    return f"{path}?{SMALL.get(path, '')}"


REFUSED = """addEventListener('securitypolicyviolation',
  (one) => console.error(`the policy refused ${one.violatedDirective} ${one.blockedURI}`))"""
"""Has a page say as an error what its policy refuses; the browser's own words for that differ."""

_waiting: dict[tuple[object, ...], list[tuple[Page, list[str]]]] = {}
"""Pages that a visitor has left without a fault: what loaded the app once does so again in half the time."""


@contextlib.contextmanager
def visiting(
    chromium: Browser,
    address: str,
    viewport: ViewportSize = LARGE,
    theme: Theme = "light",
    **context: bool,
) -> Iterator[Page]:
    """A new visitor at an address; fails when the page logs an error, throws, or asks another host for anything."""
    host = "/".join(address.split("/")[:3])
    kept = _waiting.setdefault((chromium, host, *context.items()), [])
    page, faults = kept.pop() if kept else _watched(chromium, host, **context)
    faults.clear()
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=theme)
    try:
        page.goto(address)
        settle(page)
        yield page
        assert not faults, faults
        check_calm(page)
        leave(page)
    except Exception as broken:
        broken.add_note(f"{_state(page)}\nFaults before: {faults}")
        page.context.close()
        raise
    kept.append((page, faults))


def leave(page: Page) -> None:
    """Nothing goes on for a visitor who has left, and nothing is kept for the next."""
    page.evaluate("localStorage.clear(), sessionStorage.clear()")
    page.context.clear_cookies()
    page.goto("about:blank")
    page.context.new_cdp_session(page).send("Page.resetNavigationHistory")


def _watched(chromium: Browser, host: str, **context: bool) -> tuple[Page, list[str]]:
    """A page in a context of its own, and the list of faults that grows as it meets them."""
    faults: list[str] = []
    page = chromium.new_context(accept_downloads=True, **context).new_page()
    page.add_init_script(ASKING)
    page.add_init_script(REFUSED)
    page.set_default_timeout(PATIENCE)
    page.on(
        "console",
        lambda said: (
            faults.append(f"console: {said.text} {said.location['url']}")
            if said.type == "error" and not _probe(said, host)
            else None
        ),
    )
    page.on("pageerror", lambda error: faults.append(f"thrown: {error}"))
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith((host, "blob:", "data:", "about:"))
            else faults.append(f"foreign host: {asked.url}")
        ),
    )
    page.on("requestfailed", lambda asked: faults.append(f"failed: {asked.url}") if "/dpviz/" in asked.url else None)
    return page, faults


def _probe(said: ConsoleMessage, host: str) -> bool:
    """Whether an error is one of the two that Streamlit itself causes at the address of a page."""
    return "status of 404" in said.text and said.location["url"] in [host + path for path in PROBED]


def _state(page: Page) -> str:
    """What the page was like when a test failed on it: where, whether its script ran, and all that it said."""
    try:
        script = page.locator("[data-testid=stApp]").get_attribute("data-test-script-state", timeout=5000)
        return f"At {page.url}, script {script}, the page said:\n{page.locator('body').inner_text(timeout=5000)}"
    except Error as gone:
        return f"The page cannot be asked any more: {gone}"


def check_calm(page: Page) -> None:
    """No exception, no number that is not one, no picture that could not be drawn."""
    assert page.locator("[data-testid=stException], [data-testid=stAlert]").count() == 0
    words = page.locator("body").inner_text()
    for sign in ("Traceback", "Error:", "Oh no", "NaN", "nan ", "could not be drawn"):
        assert sign not in words, sign


def control(page: Page, key: str) -> Locator:
    """The control of the page with that key, the page's prefix left out; "More" is unfolded if it is there."""
    unfold(page)
    return page.locator(f".st-key-{PREFIXES[urlsplit(page.url).path.strip('/')]}{key}")


def unfold(page: Page) -> None:
    """Open "More", where there is something more, even behind the closed controls of a narrow screen."""
    folded = page.locator(".st-key-more details:not([open]) summary")
    if folded.count():
        folded.evaluate("(one) => one.click()")
        settle(page)


def choose_law(page: Page, law: str) -> None:
    """Choose a law from the list."""
    field = control(page, "synthesizer").get_by_role("combobox")
    field.click()
    page.get_by_role("option", name=LABELS[law], exact=True).click()
    expect(field).to_have_value(LABELS[law])
    settle(page)


def type_number(page: Page, key: str, text: str) -> None:
    """Type into the box of a number, or of a list of them."""
    box = control(page, key).locator("input")
    box.fill(text)
    box.press("Enter")
    settle(page)


def toggle(page: Page, key: str) -> None:
    """Flip a switch."""
    control(page, key).locator("label").first.click()
    settle(page)


def pick(page: Page, key: str, option: str) -> None:
    """Choose one of the buttons side by side."""
    button = control(page, key).get_by_role("radio", name=option, exact=True)
    button.click()
    expect(button).to_be_checked()
    settle(page)


def press(page: Page, words: str) -> None:
    """Press the button that says Start, Stop, Resume or Run again."""
    control(page, "go").get_by_role("button", name=words, exact=True).click()


def slider(page: Page, key: str) -> Locator:
    """The thumb of a slider."""
    return control(page, f"{key}_slider").locator("input[type=range]")


def answer(page: Page) -> str:
    """The sentence that the page answers with."""
    return page.locator(".dpviz-answer").first.inner_text().replace("\u00a0", " ")  # what no line parts


def taken(page: Page, label: str) -> bytes:
    """The content of the file behind a button, below the lines that say what the page shows, if it may have any.

    A table begins with the mark of UTF-8, and after its address says how it is read.
    """
    with page.expect_download() as download:
        page.get_by_role("button", name=label, exact=True).click()
    content = Path(download.value.path()).read_bytes()
    if download.value.suggested_filename.endswith((".csv", ".py", ".tex")):
        table = download.value.suggested_filename.endswith(".csv")
        mark, rest = (rb"\xef\xbb\xbf", rb"(?:# .*\n)+") if table else (b"", b"")
        head = rb"\A" + mark + rb"([#%]) dpviz (?:.*\n\1 )+address: http.*\n" + rest
        content, said = re.subn(head, b"", content)
        assert said == 1
    return content


def told(page: Page) -> dict[str, Any]:
    """All that the page says and how every control stands, those under "More" as well."""
    unfold(page)
    return page.evaluate(
        """() => ({
          said: [...document.querySelectorAll('.dpviz-answer, .dpviz-numbers, .dpviz-note, .dpviz-table, .dpviz-list')]
            .map((part) => part.textContent.replaceAll('\\u00a0', ' ')),
          figures: [...document.querySelectorAll('[role=figure]')].map((part) => part.getAttribute('aria-label')),
          boxes: [...document.querySelectorAll('.stMain input:not([type=file])')]
            .map((box) => [box.ariaLabel, box.getAttribute('aria-valuetext') ?? box.value, box.checked]),
          buttons: [...document.querySelectorAll('.stMain [role=radio]')]
            .filter((button) => button.ariaChecked === 'true').map((button) => button.textContent),
        })"""
    )


@contextlib.contextmanager
def restored(page: Page) -> Iterator[Page]:
    """Another visitor at the page's address, who is told and sees set what the first one is and does."""
    before, address, browser = told(page), page.url, page.context.browser
    assert browser is not None
    with visiting(browser, address) as other:
        assert told(other) == before
        assert other.url == address
        yield other


def check_restored(page: Page) -> None:
    """The page's address restores all that it says, and how every control stands."""
    with restored(page):
        pass


@contextlib.contextmanager
def misled(chromium: Browser, address: str, bad: dict[str, str], good: str = "") -> Iterator[Page]:
    """A visitor with values in the address that do not hold: each is named once, left out, and forgotten when set.

    Beside them stands what is `good`.
    """
    with visiting(chromium, f"{address}?{good}") as page:
        fresh = told(page)
    asked = "&".join([good, *(f"{key}={value}" for key, value in bad.items())])
    with visiting(chromium, f"{address}?{asked}") as page:
        page.wait_for_timeout(1500)  # what is drawn again in the meantime takes no sentence away
        shown = page.locator(".dpviz-problem").all_inner_texts()
        for key, value in bad.items():
            assert sum(f"the link, {key} = {value}: " in sentence for sentence in shown) == 1, key
        assert told(page) == fresh
        rows = next(key for key in bad if key.endswith("_n"))
        type_number(page, "n", "40")
        expect(page.locator(".dpviz-problem").filter(has_text=rows)).to_have_count(0)
        yield page


def check_inside_the_app(page: Page, title: str) -> None:
    """The page's heading, navigation at the top, wide layout."""
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(title))
    for group in filter(None, GROUPS):
        expect(page.get_by_test_id("stTopNavSection").filter(has_text=group)).to_be_visible()
    taken_up = page.locator(".stMainBlockContainer").evaluate("(part) => part.offsetWidth / innerWidth")
    assert taken_up > 0.95


def check_arrow_keys_move_epsilon(page: Page, picture: str) -> None:
    """An arrow key moves ε, the answer and the picture, keeps the focus, and the other one moves them back."""
    before, drawn = answer(page), control(page, picture).locator(".scatterlayer").inner_html()
    thumb, box = slider(page, "epsilon"), control(page, "epsilon").locator("input")
    start = box.input_value()
    thumb.focus()
    page.keyboard.press("ArrowRight")
    expect(box).not_to_have_value(start)
    value = float(box.input_value())
    assert value > float(start)
    expect(page.locator(".dpviz-answer").first).to_contain_text(f"ε = {value:g}")
    settle(page)
    assert control(page, picture).locator(".scatterlayer").inner_html() != drawn
    expect(thumb).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(box).to_have_value(start)
    expect(page.locator(".dpviz-answer").first).to_have_text(before)


def check_saved(page: Page, picture: str) -> None:
    """A picture's toolbar saves it as PNG and as SVG, under its name."""
    for format_name, magic in (("PNG", b"\x89PNG\r\n\x1a\n"), ("SVG", b"<svg ")):
        with page.expect_download() as download:
            control(page, picture).locator(f"[data-title='Download as {format_name}']").click()
        assert re.fullmatch(rf"[a-z]+_{picture}\.{format_name.lower()}", download.value.suggested_filename)
        assert Path(download.value.path()).read_bytes().startswith(magic)
