"""What a room has found as a file, and the script that computes it again."""

from collections.abc import Sequence

from dpviz.export.tables import to_csv
from dpviz.export.templates import render
from dpviz.teaching.classroom.results import Reports, class_results
from dpviz.teaching.classroom.settings import RoomSettings

COLUMNS = [
    "round", "mode", "place", "seat", "mechanism", "n", "x", "epsilon", "sets", "rule", "level", "seed", "released",
    "estimate", "low", "high", "answer", "guess", "right", "long_run", "allowed",
]  # fmt: skip
"""Names of the columns: `place` is that in the order of arrival, the others as in `ClassResults`."""

Rounds = Sequence[tuple[RoomSettings, Reports]]
"""Settings that a class has seen, and what seats have reported in the round of each."""


def results_csv(rounds: Rounds) -> str:
    """Return a line for each report under each of some settings, every digit, with all parameters and seeds.

    >>> results_csv([]).startswith("round,mode,place,seat")
    True
    """
    table: dict[str, list[object]] = {name: [] for name in COLUMNS}
    for settings, reports in rounds:
        design, results = settings.design, class_results(settings, reports)
        n_rows, guesses = len(results.right), settings.requires_answer
        shared = {"round": settings.round, "mode": settings.mode, "mechanism": design.mechanism, "n": design.n}
        shared |= {"x": settings.secret, "epsilon": design.epsilon, "seed": design.seed}
        shared |= {"sets": 1 if guesses else design.sets, "long_run": results.long_run, "allowed": results.allowed}
        shared |= {} if guesses else {"rule": settings.rule, "level": design.level}
        columns = {name: list(column) for name, column in results.columns.items()} | {"right": results.right.tolist()}
        columns["place"] = list(range(1, n_rows + 1))
        columns["released"] = [" ".join(map(str, counts)) for counts in results.columns["counts"].tolist()]
        for name, cells in table.items():
            cells += columns.get(name, [shared.get(name)] * n_rows)
    return to_csv(table)


def results_script(rounds: Rounds) -> str:
    """Return a script that prints `results_csv`."""
    entries = [(settings.to_json(), list(reports)) for settings, reports in rounds]
    return render("teaching/classroom/class_script.txt", rounds=entries)
