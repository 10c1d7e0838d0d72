"""What papers claim about privacy, held against the exact answer at any setting: theorems, and methods of release."""

import csv
from importlib.resources import files


def read_table(name: str) -> list[dict[str, str]]:
    """Rows of a file in the folder ``data``, by column, as text."""
    text = files("dpviz.audit").joinpath("data", f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))
