"""The first visitors of a server that starts: ``python -m tests.benchmarks.first [--readers 1] [--times 5] [PAGE …]``.

Printed are, for each start, the seconds of a processor that the server has used from ``streamlit run`` until all have
their page, its workers apart, and how long the last of them has waited since the server could be reached.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time

from tests.benchmarks.crowd import PAGES, Reader, processor
from tests.browser import started_app

GOAL, PATIENCE = 1.2, 2.5
"""Seconds of a processor until one reader has the first page, and until ten who come at once have any page."""


async def come(host: str, page: str, readers: int) -> None:
    """So many readers open a page at once."""
    await asyncio.gather(*(Reader(page, place).visit(host, 0) for place in range(readers)))


def first_page(page: str, readers: int) -> tuple[float, float]:
    """Return the seconds of the processor, and those of the wait."""
    with started_app() as (address, process):
        start = time.perf_counter()
        asyncio.run(come(address.removeprefix("http://"), page, readers))
        return processor(process)[0], time.perf_counter() - start


def main() -> None:
    """Each page, as often as asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", help="by their paths; 'start' for the first one")
    parser.add_argument("--readers", type=int, default=1)
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    for page in ["" if one == "start" else one for one in asked.pages] or PAGES:
        used, waited = zip(*(first_page(page, asked.readers) for _ in range(asked.times)), strict=True)
        print(
            f"{page or 'start':20} {asked.readers:3} readers: processor "
            f"{' '.join(f'{one:.2f}' for one in used)}, median {statistics.median(used):.2f} s (goal {GOAL} for one on "
            f"the first page); waited {' '.join(f'{one:.2f}' for one in waited)} s (goal {PATIENCE})",
            flush=True,
        )


if __name__ == "__main__":
    main()
