"""Texts and numbers that are declared in files: sentences, methods, and the sizes and bounds of data."""

import dataclasses
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from dpviz.core.data_files import read_table
from dpviz.core.parameters import Parameter

TEXTS: dict[str, dict[str, Any]] = tomllib.loads(files("dpviz.comparisons").joinpath("texts.toml").read_text("utf-8"))
"""Sentences about releases and comparisons, by the table of texts.toml."""

METHOD_TEXTS = {row["name"]: row for row in read_table("comparisons/methods")}
"""Texts of the methods that are no registered synthesizer, by the name of the row."""


def format_text(text: str, **facts: str) -> str:
    """A text of `TEXTS` in one line, with facts in its places."""
    return text.strip().replace("\n", " ").format(**facts)


def declare_numbers(tables: Mapping[str, Mapping[str, Any]], bases: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Numbers that are declared in tables, by name.

    Parameters
    ----------
    tables : mapping
        Fields of each number; its `base` is a number above it, or one of `bases`, from which it differs by the others.
    bases : mapping
    """
    numbers: dict[str, Parameter] = {}
    for name, table in tables.items():
        values = {key: value for key, value in table.items() if key != "base"}
        if "help" in values:
            values["help"] = format_text(values["help"])
        base = {**bases, **numbers}.get(table.get("base", ""))
        if base is None:
            numbers[name] = Parameter(name=name, **values)
        else:
            numbers[name] = dataclasses.replace(base, name=name, **values)
    return numbers
