"""``python -m tests.frozen``: see the package."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

from tests.frozen.answers import Answers, every
from tests.frozen.record import differences, read, write

RECORD = Path(__file__).with_name("record.json.gz")
LONGEST = 300
"""Characters of a text up to which a difference is printed whole."""


def compare(before: Answers, only: Sequence[str] = (), *, told: bool = True) -> int:
    """Compute the answers again, print what differs from a record, and return how much does."""
    wanted = {key: value for key, value in before.items() if key.startswith(tuple(only) or "")}
    found = dict(every(only, told=told))
    number = 0
    for key in dict.fromkeys((*wanted, *found)):
        for where, one, other in differences(wanted.get(key, "(nothing)"), found.get(key, "(nothing)"), key):
            number += 1
            print(f"{where}\n  before: {_short(one)}\n  after:  {_short(other)}")
    print(f"{len(found)} answers, {number} differences")
    return number


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a record, or compare with one; 1 where something differs."""
    from tests.frozen.adapter import RENAMED
    from tests.frozen.record import renamed

    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", nargs="?", const=RECORD, type=Path, metavar="FILE")
    what.add_argument("--compare", nargs="?", const=RECORD, type=Path, metavar="FILE")
    what.add_argument("--list", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="PREFIX")
    asked = parser.parse_args(arguments)
    if asked.compare:
        return min(compare(renamed(read(asked.compare), RENAMED), asked.only), 1)
    if asked.write:
        write(dict(every(asked.only)), asked.write)
        return 0
    from tests.frozen.answers import keys

    print("\n".join(keys()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
