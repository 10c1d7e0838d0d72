"""Recompute every frozen record, count the verdicts, and fail where a record no longer comes out.

With 5,000 repetitions, as many as the papers have, it takes some minutes; with fewer, what takes long is simulated
instead of summed. Whatever the seed, chance alone makes it fail in at most one of 1,000 runs.
"""

import argparse
import datetime
import sys
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from dpviz.core.declarations import SEED
from dpviz.core.parameters import argument
from dpviz.published.records import Kind, load_papers, load_records, rule_sentence, summarize
from tests.reproduction import abowd_vilhuber, bowen_liu, charest, later_work, liu, zheng
from tests.reproduction.evidence import FILE_DIGITS, SimulationBudget, changed_records, recompute

PAPERS = abowd_vilhuber, bowen_liu, charest, later_work, liu, zheng  # the modules register sections and cells
REPETITIONS = argument("repetitions", 1, 100_000, title="number of repetitions", integer=True)


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options, or leave with a sentence about what is wrong with them."""
    parser = argparse.ArgumentParser(prog="python -m tests.reproduction", description=__doc__)
    parser.add_argument("--paper", choices=load_papers(), action="append", help="one paper; can be repeated")
    for name, default in (("--repetitions", SimulationBudget.repetitions), ("--seed", SimulationBudget.seed)):
        parser.add_argument(name, type=int, default=default, help="of what is simulated (default: %(default)s)")
    parser.add_argument("--csv", type=Path, help="write every record as it is found now to this file")
    options = parser.parse_args(arguments)
    try:
        REPETITIONS.validate(options.repetitions)
        SEED.validate(options.seed)
    except ValueError as error:
        parser.error(str(error))
    if options.csv and (options.csv.is_dir() or not options.csv.parent.is_dir()):
        parser.error(f"--csv must name a file in a folder that exists; got {options.csv}.")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Recompute what the arguments name; return 1 where a record no longer comes out, else 0."""
    options = parse_arguments(arguments)
    budget = SimulationBudget(options.repetitions, options.seed)
    papers = [load_papers()[key] for key in options.paper or load_papers()]
    frozen = [record for record in load_records() if record.paper in papers]
    recomputed = [recompute(record, budget) if record.is_computed else record for record in frozen]

    summary = summarize(recomputed)
    count = f"{summary.n_come_out:,} of {summary.kinds[Kind.RESULT]:,}"
    print(f"{count} results come out. {rule_sentence(summary.n_simulated)}")
    for paper in papers:
        print(f"{paper}: {summarize(record for record in recomputed if record.paper == paper).counts}.")

    # The columns of dpviz/published/data/records.csv
    if options.csv:
        table = pd.DataFrame(map(asdict, recomputed))
        table = table.assign(repetitions=budget.repetitions, seed=budget.seed, computed=datetime.date.today())
        table.to_csv(options.csv, index=False, float_format=f"%.{FILE_DIGITS}g", lineterminator="\n")

    changed = changed_records(frozen, recomputed)
    for record in changed:
        where = ", ".join(filter(None, (record.paper, record.place, record.what, record.design)))
        distance = f", {record.distance}" if record.is_number else ""
        verdict = f"ours {record.ours}{distance}. {record.verdict.capitalize()}"
        print(f"{where}: printed {record.printed}, {verdict}.", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
