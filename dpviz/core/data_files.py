"""Tables that rooms hold as CSV files beside their code."""

import csv
from importlib.resources import files


def table_text(table: str) -> str:
    """A table as it is in its file, by room and name: "audit/theorems" is ``dpviz/audit/data/theorems.csv``."""
    room, name = table.split("/")
    return files("dpviz").joinpath(room, "data", f"{name}.csv").read_text("utf-8")


def read_table(table: str) -> list[dict[str, str]]:
    """The rows of a table by column, every cell as text."""
    return list(csv.DictReader(table_text(table).splitlines()))
