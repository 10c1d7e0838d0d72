"""Print every published number beside ours, and fail where one should agree and does not.

The verdict comes first, then every paper and table. With 5,000 repetitions, as many as the papers have, it takes about
a minute; with fewer, what takes long is simulated instead of summed.
"""

import argparse
import datetime
import sys
from pathlib import Path
from typing import Any

from dpviz.claims.papers import PAPERS, parts_of, stream_records
from dpviz.claims.published import PRINTED_REPETITIONS, Effort, Record
from dpviz.claims.verdicts import headline_of_records, told_part, told_record, verdicts_csv

BAR_LENGTH = 30  # Characters of the bar that shows how far it is
USUAL_SEED = Effort().seed


def _asked(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dpviz.published", description=__doc__)
    parser.add_argument("--paper", choices=PAPERS, action="append", help="one paper; can be repeated (default: all)")
    parser.add_argument(
        "--repetitions", type=int, default=PRINTED_REPETITIONS, help="of what is simulated (default: 5000)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=USUAL_SEED,
        help="of what is simulated (default: %(default)s); with another, one of some 250 simulated cells may be beyond "
        "three standard errors by chance",
    )
    parser.add_argument("--csv", type=Path, help="write every record to this file")
    asked = parser.parse_args(arguments)
    if asked.repetitions < 1 or asked.seed < 0:
        parser.error("repetitions must be at least 1, and the seed at least 0.")
    return asked


def _progress(done: int, parts: int, name: str) -> None:
    """Draw how far it is, on a terminal alone."""
    if sys.stderr.isatty():
        filled = BAR_LENGTH * done // parts
        sys.stderr.write(
            f"\r\x1b[K[{'#' * filled}{' ' * (BAR_LENGTH - filled)}] {name}" if done < parts else "\r\x1b[K"
        )
        sys.stderr.flush()


def main(arguments: list[str] | None = None) -> int:
    """Print the comparison that the arguments ask for; return 1 where a number should agree and does not, else 0."""
    asked = _asked(arguments)
    effort, papers = Effort(asked.repetitions, asked.seed), asked.paper or list(PAPERS)
    names = [name for name, _ in parts_of(papers)]
    parts: list[tuple[str, list[Record[Any]]]] = []
    _progress(0, len(names), names[0])
    for name, records in stream_records(papers, effort):
        parts.append((name, records))
        _progress(len(parts), len(names), names[min(len(parts), len(names) - 1)])
    everything = [one for _, records in parts for one in records]
    print(headline_of_records(everything))
    for name, records in parts:
        print("", *told_part(name, records), sep="\n")
    for slip in (slip for key in papers for slip in PAPERS[key].errata):
        print("", f"{slip.source}, {slip.reading}. {slip.printed} {slip.ours}", sep="\n")
        print(*(f"  {line}" for line in (slip.matters, slip.otherwise, slip.command) if line), sep="\n")
    if asked.csv:
        asked.csv.write_text(verdicts_csv(everything, effort, datetime.date.today()), encoding="utf-8")
    wrong = [one for one in everything if one.unexplained]
    for one in wrong:
        print(f"{one.paper}, {told_record(one)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
