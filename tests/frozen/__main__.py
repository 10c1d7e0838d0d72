"""Command line of the frozen record: ``python -m tests.frozen``, described in the package."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded; idle threads would spin

from tests.frozen.answers import Answers, all_answers, answer_keys
from tests.frozen.record import MISSING, differences, read_record, write_record

RECORD = Path(__file__).with_name("record.json.gz")
MAX_PRINTED = 300  # characters of an answer


def compare(record: Answers, prefixes: Sequence[str] = (), *, verbose: bool = True) -> int:
    """Compute answers again, print the differences to a record, and return their number.

    Parameters
    ----------
    record : dict
        Answers by key.
    prefixes : sequence of str, optional
        Only answers whose keys begin with one of them.
    verbose : bool, optional
        Whether the keys are printed to stderr as well.

    Returns
    -------
    int
    """
    selected = {key: answer for key, answer in record.items() if key.startswith(tuple(prefixes) or "")}
    current = dict(all_answers(prefixes, verbose=verbose))
    count = 0
    for key in dict.fromkeys((*selected, *current)):
        for difference in differences(selected.get(key, MISSING), current.get(key, MISSING), key):
            count += 1
            print(f"{difference.key}\n  before: {_short(difference.before)}\n  after:  {_short(difference.after)}")
    print(f"{len(current)} answers, {count} differences")
    return count


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= MAX_PRINTED else f"{text[:MAX_PRINTED]} …"


def main() -> int:
    """Write the record, compare with it or list its keys; returns 1 where an answer differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", nargs="?", const=RECORD, type=Path, metavar="FILE")
    action.add_argument("--compare", nargs="?", const=RECORD, type=Path, metavar="FILE")
    action.add_argument("--list", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="PREFIX", help="of the keys; may be repeated")
    arguments = parser.parse_args()
    if arguments.compare:
        return min(compare(read_record(arguments.compare), arguments.only), 1)
    if arguments.write:
        write_record(dict(all_answers(arguments.only)), arguments.write)
    else:
        print("\n".join(answer_keys()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
