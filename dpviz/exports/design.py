"""The lines of a script that make a design again."""

from __future__ import annotations

import dataclasses
import textwrap

from dpviz.designs import Design
from dpviz.exports.script import matrix_source
from dpviz.synthesizers.given_matrix import GivenMatrix

WIDTH = 112
"""Characters of a line of a script, its indent aside."""


def design_source(design: Design, given_text: str | None) -> tuple[str, str]:
    """The lines of a script that import what a design needs, and those that make it as `design`.

    Parameters
    ----------
    design
        What the page asks for; what has its default is left out.
    given_text
        For a given matrix, its text; a long one is read from ``matrix.csv``.
    """
    imports, make, values = "from dpviz.designs import Design", "", dict(vars(design))
    if isinstance(design.mechanism, GivenMatrix):
        matrix_import, make = matrix_source("matrix", given_text)
        imports, make = f"{matrix_import}\n{imports}", f"{make}\n"
    told = {
        field.name: repr(values[field.name])
        for field in dataclasses.fields(design)
        if field.name in ("n", "m") or values[field.name] != field.default
    }
    if make:
        told["mechanism"] = "matrix"
    arguments = ", ".join(f"{name}={value}" for name, value in told.items())
    lines = textwrap.wrap(arguments, WIDTH, break_long_words=False, break_on_hyphens=False)
    return imports, f"{make}design = Design(\n    " + "\n    ".join(lines) + "\n)"
