"""Key press to repaint of the pages, in real Chromium: ``python -m tests.benchmarks.repaint``.

Starts the app, moves a slider with the arrow key, and waits in the page until what the case watches is new and painted:
the verdict and both pictures of "Transition matrices", the tables or the picture of "Minimum priors", the answer and
the picture of "Coverage" and "Posterior". Prints the median
and the 95th percentile in milliseconds.
"""

from __future__ import annotations

import statistics
import sys

from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium_path, launch, running_app, settle

MOVES = 40
LARGE = "transition_matrices?tm_synthesizer=beta_binomial"
CASES = {
    "tables, n = m = 5": ("transition_matrices", 150),
    "matrix, n = m = 100": (f"{LARGE}&tm_n=100&tm_alpha=5&tm_epsilon=1", 150),
    "log-odds, n = m = 100": (
        f"{LARGE}&tm_n=100&tm_alpha=5&tm_epsilon=1&tm_picture=log-odds",
        150,
    ),
    "matrix, n = m = 1,000": (f"{LARGE}&tm_n=1000&tm_alpha=7&tm_epsilon=1", 500),
    "log-odds, n = m = 1,000": (
        f"{LARGE}&tm_n=1000&tm_alpha=7&tm_epsilon=1&tm_picture=log-odds",
        500,
    ),
}
"""Cases of "Transition matrices": name, address, and the goal for the 95th percentile in milliseconds."""

TABLES, PICTURE = ".dpviz-answer, .dpviz-list", "[data-drawn]"
COUNTS = "minimum_priors?mp_n=1000&mp_epsilon=0.05"
PRIOR_CASES = {
    "priors: tables, n = m = 1,000": (COUNTS, TABLES, 250),
    "priors: curves, n = m = 1,000": (COUNTS, PICTURE, 1000),
    "priors: curves against ε": (f"{COUNTS}&mp_axis=against+%CE%B5", PICTURE, 1000),
    "priors: tables, Gaussian": (f"{COUNTS}&mp_family=Gaussian", TABLES, 250),
}
"""Cases of "Minimum priors": name, address, the parts that must be new, and the goal."""

DRAWN = ".dpviz-answer, .st-key-{} [data-drawn]"
LIVE_CASES = {
    "coverage: exact, n = m = 100, M = 2": ("coverage?cv_sets=2", "cv_p", DRAWN.format("cv_picture"), 500),
    "coverage: exact, n = m = 100, M = 5": ("coverage?cv_sets=5", "cv_p", DRAWN.format("cv_picture"), 500),
    "posterior, n = m = 100": ("posterior?po_gamma1=0.2", "po_gamma1", DRAWN.format("po_picture"), 250),
    "posterior, n = m = 10,000": ("posterior?po_n=10000&po_sets=20", "po_x", DRAWN.format("po_picture"), 500),
}
"""Cases of "Coverage" and "Posterior": name, address, slider, the parts that must be new, and the goal."""

PROBE = """
(watched) => {
  window.marks = [];
  const state = () => [...document.querySelectorAll(watched)].map((part) => part.dataset.drawn ?? part.textContent);
  const painted = (then) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = then;
    channel.port2.postMessage(0);
  };
  let busy = false;
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowRight' || busy) return;
    busy = true;
    const start = performance.now(), before = state();
    const poll = () => {
      const now = state();
      const done = now.every((part, place) => part !== before[place]);
      // A message posted in a frame's callback arrives when that frame has been painted.
      if (done) { painted(() => { window.marks.push(performance.now() - start); busy = false; }); }
      else if (performance.now() - start > 15000) { window.marks.push(15000); busy = false; }
      else requestAnimationFrame(poll);
    };
    requestAnimationFrame(poll);
  }, true);
}
"""


def measure(browser: Browser, name: str, address: str, control: str, watched: str, goal: float) -> None:
    """Move one slider and print the times until every watched part is new."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(address)
    settle(page)
    page.evaluate(PROBE, watched)
    page.locator(f".st-key-{control}_slider input[type=range]").focus()
    for move in range(MOVES + 3):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"() => window.marks.length > {move}", timeout=20000, polling=50)
        page.wait_for_timeout(60)
    marks = sorted(page.evaluate("window.marks")[3:])
    p95 = marks[round(0.95 * (len(marks) - 1))]
    verdict = "met" if p95 < goal else "missed"
    print(f"{name:38} {statistics.median(marks):6.0f} {p95:6.0f} {goal:6.0f}  {verdict}", flush=True)
    page.close()


def main() -> None:
    """Measure every case and print a line for each."""
    if chromium_path() is None:
        sys.exit("No Chromium was found; nothing was measured.")
    with running_app() as address, sync_playwright() as playwright:
        browser = launch(playwright)
        print(f"{'case':38} {'p50':>6} {'p95':>6} {'goal':>6}  (ms, {MOVES} moves of a slider)")
        for name, (query, goal) in CASES.items():
            measure(browser, name, f"{address}/{query}", "tm_alpha", ".dpviz-numbers, [data-drawn]", goal)
        for name, (path, watched, goal) in PRIOR_CASES.items():
            measure(browser, name, f"{address}/{path}", "mp_epsilon", watched, goal)
        for name, (path, control, watched, goal) in LIVE_CASES.items():
            measure(browser, name, f"{address}/{path}", control, watched, goal)
        browser.close()


if __name__ == "__main__":
    main()
