"""What a room has found as a file, and the script that computes it again."""

from collections.abc import Sequence

from dpviz.desk.exports.tables import csv_text
from dpviz.desk.texts import filled
from dpviz.teaching.rooms.class_intervals import Reports
from dpviz.teaching.rooms.modes import MODES
from dpviz.teaching.rooms.settings import RoomSettings

ROOM_COLUMNS = [
    "round", "mode", "place", "seat", "mechanism", "n", "x", "epsilon", "sets", "rule", "level", "seed", "released",
    "estimate", "low", "high", "answer", "guess", "right", "long_run", "allowed",
]  # fmt: off
"""Names of the columns: `right` says whether the interval holds x/n, or the guess is the answer.

`place` is that in the order of arrival; `long_run` the exact share of intervals that hold it, or of right guesses of
the best guesser; `allowed` the level of the interval, or what ε allows the best guesser.
"""

Rounds = Sequence[tuple[RoomSettings, Reports]]
"""The settings of each round at its end, and what seats have reported in it."""


def room_csv(rounds: Rounds) -> str:
    """Return a line for each report of each round, every digit, with all parameters and seeds.

    >>> room_csv([]).startswith("round,mode,place,seat")
    True
    """
    rows = []
    for settings, reports in rounds:
        found = MODES[settings.mode].found.of(settings, reports)
        for place, row in enumerate(found.rows(), 1):
            values = {"round": settings.round, "mode": settings.mode, "place": place, **row}
            rows.append([values.get(name) for name in ROOM_COLUMNS])
    return csv_text(ROOM_COLUMNS, rows)


def room_script(rounds: Rounds) -> str:
    """Return a script that prints `room_csv`, run beside the folder ``dpviz``."""
    told = []
    for settings, reports in rounds:
        mode = MODES[settings.mode]
        given = list(reports) if mode.waits else [seat for seat, _ in reports]
        design = settings.asking(sets=1).design if mode.waits else settings.design
        stated = {"n", "sets", "epsilon", "level", "seed"}
        told.append(
            {
                "mode": mode.key,
                "arguments": design.non_default_fields(stated),
                "round": settings.round,
                "reports": given,
            }
        )
    return filled("exports/room_script.txt", head=ROOM_COLUMNS, rounds=told)
