"""Tables that rooms hold as CSV files beside their code, and sentences that they hold as templates."""

import csv
from importlib.resources import files
from typing import Any


def table_text(table: str) -> str:
    """A table as it is in its file, by room and name: "audit/theorems" is ``dpviz/audit/data/theorems.csv``."""
    room, name = table.split("/")
    return files("dpviz").joinpath(room, "data", f"{name}.csv").read_text("utf-8")


def read_table(table: str) -> list[dict[str, str]]:
    """The rows of a table by column, every cell as text."""
    return list(csv.DictReader(table_text(table).splitlines()))


def sentence_macros(room: str, **names: Any) -> Any:
    """Macros of ``dpviz/<room>/sentences.txt``, a Jinja template.

    Parameters
    ----------
    room : str
    **names
        What the macros use beside their arguments; functions are filters as well.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # loaded with the first sentence

    environment = Environment(
        loader=PackageLoader(f"dpviz.{room}", ""), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {name: value for name, value in names.items() if callable(value)}
    environment.globals |= names
    return environment.get_template("sentences.txt").module
