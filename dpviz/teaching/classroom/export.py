"""What a room has found as a file, and the script that computes it again."""

from collections.abc import Sequence

from dpviz.export.tables import to_csv
from dpviz.teaching.classroom.results import Reports, class_results
from dpviz.teaching.classroom.settings import RoomSettings

COLUMNS = [
    "round", "mode", "place", "seat", "mechanism", "n", "x", "epsilon", "sets", "rule", "level", "seed", "released",
    "estimate", "low", "high", "answer", "guess", "right", "long_run", "allowed",
]  # fmt: off
"""Names of the columns: `right` says whether the interval holds x/n, or the guess is the answer.

`place` is that in the order of arrival; `long_run` the exact share of intervals that hold it, or of right guesses of
the best guesser; `allowed` the level of the interval, or what ε allows the best guesser.
"""

SCRIPT = '''"""Print the table of a class experiment again, to the digit; run it in the folder that holds dpviz."""

from dpviz.teaching.classroom.export import results_csv
from dpviz.teaching.classroom.settings import RoomSettings

ROUNDS = [
{rounds}]
"""Settings that the class has seen, each with the seats and guesses of its round in the order in which they came."""

print(results_csv((RoomSettings.from_json(settings), reports) for settings, reports in ROUNDS), end="")
'''

Rounds = Sequence[tuple[RoomSettings, Reports]]
"""Settings that a class has seen, and what seats have reported in the round of each."""


def results_csv(rounds: Rounds) -> str:
    """Return a line for each report under each of some settings, every digit, with all parameters and seeds.

    >>> results_csv([]).startswith("round,mode,place,seat")
    True
    """
    rows = []
    for settings, reports in rounds:
        design = settings.design
        shared = {"round": settings.round, "mode": settings.mode, "mechanism": design.mechanism, "n": design.n}
        shared |= {"x": settings.secret, "epsilon": design.epsilon, "seed": design.seed}
        for place, row in enumerate(class_results(settings, reports).rows(), 1):
            values = shared | row | {"place": place}
            rows.append(values)
    return to_csv({name: [row.get(name) for row in rows] for name in COLUMNS})


def results_script(rounds: Rounds) -> str:
    """Return a script that prints `results_csv`."""
    entries = [
        f"    (\n        {settings.to_json()!r},\n        {list(reports)!r},\n    ),\n" for settings, reports in rounds
    ]
    return SCRIPT.format(rounds="".join(entries))
