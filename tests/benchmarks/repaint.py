"""Key press to repaint of the pages in real Chromium: ``python -m tests.benchmarks.repaint``.

Starts the app, moves a slider by the arrow key, and waits in the page until all that a case watches is new and painted.
Prints the median and the 95th percentile of the milliseconds.
"""

from __future__ import annotations

import statistics
import sys
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.crowd import percentile
from tests.browser import chromium_path, launch, running_app, settle

N_MOVES = 40
N_WARM_UP_MOVES = 3
TIMEOUT_MS = 15_000


class Case(NamedTuple):
    """A slider of a page, and what must be new after a move.

    Attributes
    ----------
    name : str
    url : str
        Relative to the app.
    setting : str
        Key of the number whose slider is moved.
    watched : str
        CSS selector of the parts that must be new.
    goal_ms : int
        For the 95th percentile.
    """

    name: str
    url: str
    setting: str
    watched: str
    goal_ms: int


FIGURE = "[data-drawn]"
TABLES = ".dpviz-answer, .dpviz-list"
MATRIX = ".dpviz-numbers, [data-drawn]"
MATRICES = "transition_matrices?tm_synthesizer=beta_binomial&tm_epsilon=1"
PRIORS = "minimum_priors?mp_n=1000&mp_epsilon=0.05"
COVERAGE = ".dpviz-answer, .st-key-cv_picture [data-drawn]"
POSTERIOR = ".dpviz-answer, .st-key-po_picture [data-drawn]"
CASES = (
    Case("tables, n = m = 5", "transition_matrices", "tm_alpha", MATRIX, 150),
    Case("matrix, n = m = 100", f"{MATRICES}&tm_n=100&tm_alpha=5", "tm_alpha", MATRIX, 150),
    Case("log-odds, n = m = 100", f"{MATRICES}&tm_n=100&tm_alpha=5&tm_picture=log-odds", "tm_alpha", MATRIX, 150),
    Case("matrix, n = m = 1,000", f"{MATRICES}&tm_n=1000&tm_alpha=7", "tm_alpha", MATRIX, 500),
    Case("log-odds, n = m = 1,000", f"{MATRICES}&tm_n=1000&tm_alpha=7&tm_picture=log-odds", "tm_alpha", MATRIX, 500),
    Case("priors: tables, n = m = 1,000", PRIORS, "mp_epsilon", TABLES, 250),
    Case("priors: curves, n = m = 1,000", PRIORS, "mp_epsilon", FIGURE, 1000),
    Case("priors: curves against ε", f"{PRIORS}&mp_axis=against+%CE%B5", "mp_epsilon", FIGURE, 1000),
    Case("priors: tables, Gaussian", f"{PRIORS}&mp_family=Gaussian", "mp_epsilon", TABLES, 250),
    Case("coverage: exact, n = m = 100, M = 2", "coverage?cv_sets=2", "cv_p", COVERAGE, 500),
    Case("coverage: exact, n = m = 100, M = 5", "coverage?cv_sets=5", "cv_p", COVERAGE, 500),
    Case("posterior, n = m = 100", "posterior?po_gamma1=0.2", "po_x", POSTERIOR, 250),
    Case("posterior, n = m = 10,000", "posterior?po_n=10000&po_sets=20", "po_x", POSTERIOR, 500),
)

PROBE = """
([watched, timeout]) => {
  window.marks = [];
  const state = () => [...document.querySelectorAll(watched)].map((part) => part.dataset.drawn ?? part.textContent);
  const painted = (then) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = then;
    channel.port2.postMessage(0);
  };
  let isBusy = false;
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowRight' || isBusy) return;
    isBusy = true;
    const start = performance.now();
    const before = state();
    const poll = () => {
      const isNew = state().every((part, place) => part !== before[place]);
      // A message that is posted in a frame's callback arrives when that frame has been painted.
      if (isNew) { painted(() => { window.marks.push(performance.now() - start); isBusy = false; }); }
      else if (performance.now() - start > timeout) { window.marks.push(timeout); isBusy = false; }
      else requestAnimationFrame(poll);
    };
    requestAnimationFrame(poll);
  }, true);
}
"""


def measure(browser: Browser, url: str, case: Case) -> list[float]:
    """Milliseconds from each move of a slider until every watched part is new, sorted."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(f"{url}/{case.url}")
    settle(page)
    page.evaluate(PROBE, [case.watched, TIMEOUT_MS])
    page.locator(f".st-key-{case.setting}_slider input[type=range]").focus()
    for move in range(N_WARM_UP_MOVES + N_MOVES):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"() => window.marks.length > {move}", timeout=2 * TIMEOUT_MS, polling=50)
        page.wait_for_timeout(60)
    marks: list[float] = page.evaluate("window.marks")
    page.close()
    return sorted(marks[N_WARM_UP_MOVES:])


def main() -> None:
    """Print a line for each case."""
    if chromium_path() is None:
        sys.exit("No Chromium was found; nothing was measured.")
    with running_app() as url, sync_playwright() as playwright:
        browser = launch(playwright)
        print(f"{'case':38} {'p50':>6} {'p95':>6} {'goal':>6}  (ms, {N_MOVES} moves of a slider)")
        for case in CASES:
            marks = measure(browser, url, case)
            p95 = percentile(marks, 0.95)
            verdict = "met" if p95 < case.goal_ms else "missed"
            print(f"{case.name:38} {statistics.median(marks):6.0f} {p95:6.0f} {case.goal_ms:6}  {verdict}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
