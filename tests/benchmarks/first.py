"""First visitors of a server that starts: ``python -m tests.benchmarks.first [--readers 1] [--times 5] [PAGE …]``.

For each page the processor seconds that the server, without its workers, has used from its start until all readers
have the page, and the seconds that the last of them has waited since the server could be reached.
"""

import argparse
import asyncio
import statistics
import time

from tests.benchmarks.crowd import PAGES
from tests.benchmarks.processors import processor_time
from tests.benchmarks.reader import Reader
from tests.browser import started_app

MAX_PROCESSOR_S = 1.2  # until one reader has the first page
MAX_WAIT_S = 2.5  # until ten readers who come at once have any page


async def open_at_once(host: str, page: str, n_readers: int) -> None:
    """Have readers open a page at the same time."""
    await asyncio.gather(*(Reader(page, number).visit(host, 0) for number in range(n_readers)))


def first_page(page: str, n_readers: int) -> tuple[float, float]:
    """Processor seconds of the server, and seconds of the wait, until all readers have a page."""
    with started_app() as (url, process):
        start = time.perf_counter()
        asyncio.run(open_at_once(url.removeprefix("http://"), page, n_readers))
        waited = time.perf_counter() - start
        return processor_time(process)[0], waited


def main() -> None:
    """Print a line for each page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pages", nargs="*", help="paths; 'start' for the first page")
    parser.add_argument("--readers", type=int, default=1)
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    for page in [path.removeprefix("start") for path in arguments.pages] or PAGES:
        pairs = [first_page(page, arguments.readers) for _ in range(arguments.times)]
        used = [processor for processor, _ in pairs]
        waited = [seconds for _, seconds in pairs]
        print(
            f"{page or 'start':20} {arguments.readers:3} readers: processor {' '.join(f'{s:.2f}' for s in used)}, "
            f"median {statistics.median(used):.2f} s (goal {MAX_PROCESSOR_S} for one on the first page); "
            f"waited {' '.join(f'{s:.2f}' for s in waited)} s (goal {MAX_WAIT_S})",
            flush=True,
        )


if __name__ == "__main__":
    main()
