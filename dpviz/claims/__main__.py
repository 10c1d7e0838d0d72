"""Print every published number beside ours, and fail where one should agree and does not.

The verdict comes first, then every paper and table. With 5,000 repetitions, as many as the papers have, it takes about
a minute; with fewer, what takes long is simulated instead of summed. Whatever the seed, chance alone makes it fail in
at most one of 1,000 runs.
"""

import argparse
import datetime
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from dpviz.claims.papers import PAPERS, parts_of, stream_records
from dpviz.claims.published import Effort, Record
from dpviz.claims.verdicts import (
    headline_of_records,
    simulated_rule,
    told_part,
    told_record,
    verdicts_csv,
    with_chance,
)
from dpviz.core.declarations import SEED
from dpviz.core.parameters import argument

BAR_LENGTH = 30  # Characters of the bar that shows how far it is
ASKED_REPETITIONS = argument("repetitions", 1, 100_000, title="number of repetitions", integer=True)


def _asked(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m dpviz.claims", description=__doc__)
    parser.add_argument("--paper", choices=PAPERS, action="append", help="one paper; can be repeated (default: all)")
    for name, default in (("--repetitions", Effort.repetitions), ("--seed", Effort.seed)):
        parser.add_argument(name, type=int, default=default, help="of what is simulated (default: %(default)s)")
    parser.add_argument("--csv", type=Path, help="write every record to this file")
    asked = parser.parse_args(arguments)
    try:
        ASKED_REPETITIONS.validate(asked.repetitions)
        SEED.validate(asked.seed)
    except ValueError as refused:
        parser.error(str(refused))
    if asked.csv and (asked.csv.is_dir() or not asked.csv.parent.is_dir()):
        parser.error(f"--csv must name a file in a folder that exists; got {asked.csv}.")
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
    everything = with_chance([one for _, records in parts for one in records])
    print(headline_of_records(everything), simulated_rule(everything))
    told = iter(everything)
    for name, records in parts:
        print("", *told_part(name, list(islice(told, len(records)))), sep="\n")
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
