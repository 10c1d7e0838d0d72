"""Several readers press Start at once: how soon each sees simulated dots: ``python -m tests.benchmarks.crowd``."""

from __future__ import annotations

import sys
import time

from playwright.sync_api import sync_playwright

from tests.browser import chromium_path, launch, running_app, settle

READERS, GOAL = 5, 1.0
REPETITIONS = 100_000
PRESS = """
() => {
  const start = performance.now();
  window.first = null;
  window.whole = null;
  const poll = () => {
    // The captions alone: laying out the whole page at every frame would keep the processors busy that are measured.
    const captions = [...document.querySelectorAll('[data-testid=stCaptionContainer]')];
    const text = captions.map((caption) => caption.textContent).join(' ');
    if (window.first === null && / of 100,000 repetitions/.test(text)) window.first = performance.now() - start;
    if (/100,000 of 100,000 repetitions/.test(text)) window.whole = performance.now() - start;
    else requestAnimationFrame(poll);
  };
  requestAnimationFrame(poll);
  document.querySelector('.st-key-cv_go button').click();
}
"""


def main() -> None:
    """Print, for each reader, the seconds to the first picture and to the end of the run."""
    if chromium_path() is None:
        sys.exit("No Chromium was found; nothing was measured.")
    with running_app() as address, sync_playwright() as playwright:
        browser = launch(playwright)
        pages = []
        for reader in range(READERS):
            page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
            page.goto(f"{address}/coverage?cv_repetitions={REPETITIONS}&cv_seed={reader + 1}")
            settle(page)
            pages.append(page)
        time.sleep(2)
        for page in pages:
            page.evaluate(PRESS)
        for page in pages:
            page.wait_for_function("window.whole !== null", timeout=60_000)
        firsts = [page.evaluate("window.first") / 1e3 for page in pages]
        wholes = [page.evaluate("window.whole") / 1e3 for page in pages]
        print(f"{READERS} readers, {REPETITIONS:,} repetitions each, n = m = 100, M = 5, every rule")
        print("first picture, s:", *(f"{one:.2f}" for one in firsts), "goal", GOAL)
        print("whole run, s:    ", *(f"{one:.2f}" for one in wholes))
        browser.close()


if __name__ == "__main__":
    main()
