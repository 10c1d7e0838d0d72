"""Short Python scripts that compute the numbers of a page again."""

import dataclasses
import textwrap
from collections.abc import Sequence
from importlib.resources import files
from string import Template

from dpviz.checked import checked
from dpviz.designs import Design
from dpviz.synthesizers import Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix

__all__ = ["coverage_script", "page_script", "posterior_recipe", "posterior_script"]

LONGEST_INLINE = 20_000  # Characters of a pasted matrix that the script still carries itself

WIDTH = 112  # Characters of a line of a script, its indent aside

KNOWN = """    "of the confidential data": posterior_if_known(
        confidential_count=design.confidential_count, n=design.n, **prior
    ),
"""


@checked()
def page_script(synthesizer: Synthesizer, epsilon: float, delta: float, *, given_text: str | None = None) -> str:
    """Return the page "Transition matrices" as a script that prints the same numbers, run beside the folder ``dpviz``.

    `given_text` is the text of a given matrix; a long one is read from ``matrix.csv``.
    """
    if isinstance(synthesizer, GivenMatrix):
        imports, make = _matrix_source("release", given_text)
    else:
        name = type(synthesizer).__name__
        imports = f"from dpviz.synthesizers import {name}"
        arguments = ", ".join(
            f"{field.name}={getattr(synthesizer, field.name)!r}"
            for field in dataclasses.fields(synthesizer)
            if "parameter" in field.metadata
        )
        make = f"release = {name}({arguments})"
    tables = """
with np.printoptions(precision=6, suppress=True):
    print(release.transition_matrix())
    print(release.log_odds_table())
"""
    numpy_import, tables = ("import numpy as np\n\n", tables) if synthesizer.enumerable else ("", "")
    parts = {"numpy_import": numpy_import, "imports": imports, "make": make, "tables": tables}
    return script_of("transition_matrices", **parts, epsilon=repr(epsilon), delta=repr(delta))


@checked()
def posterior_recipe(design: Design, counts: Sequence[int], *, given_text: str | None = None) -> str:
    """Return the call that gives an analyst the posterior from these counts, to be copied beside ``dpviz``."""
    source = _design_source(dataclasses.replace(design, confidential_count=None), given_text)  # x is secret
    prior = "" if design.gamma1 == design.gamma2 == 1 else f", gamma1={design.gamma1!r}, gamma2={design.gamma2!r}"
    return (
        f"{source['imports']}\nfrom dpviz.inference import posterior_given\n\n{source['make']}\n"
        f"post = posterior_given(design.release, {list(counts)!r}{prior})\n"
        f"print(post.mean, post.interval({design.level!r}))"
    )


@checked()
def coverage_script(design: Design) -> str:
    """Return the page "Coverage" as a script, as for `page_script`."""
    return script_of("coverage", **_design_source(design))


@checked()
def posterior_script(design: Design, counts: Sequence[int], *, given_text: str | None = None) -> str:
    """The page "Posterior" as a script, as for `page_script`; the posterior of the data only where they are known."""
    known, names = "", ""
    if design.confidential_count is not None:
        known, names = KNOWN, "posterior_if_known, "
    return script_of(
        "posterior", **_design_source(design, given_text), known=known, names=names, counts=repr(list(counts))
    )


def script_of(page: str, **parts: str) -> str:
    """Return the script of a page, from its text with these parts."""
    return Template(files("dpviz.exports").joinpath(f"{page}_script.txt").read_text(encoding="utf-8")).substitute(parts)


def _matrix_source(name: str, given_text: str | None) -> tuple[str, str]:
    """Return the import that a given matrix needs, and the line that reads it as `name`."""
    if given_text is not None and len(given_text) <= LONGEST_INLINE:
        return "from dpviz.given import read_matrix", f"{name} = read_matrix({given_text!r})"
    imports = "from pathlib import Path\n\nfrom dpviz.given import read_matrix"
    return imports, f'{name} = read_matrix(Path("matrix.csv").read_bytes())'


def _design_source(design: Design, given_text: str | None = None) -> dict[str, str]:
    """Return what a script imports for a design, and how it makes it; what has its default is left out."""
    imports, make = "from dpviz.designs import Design", ""
    told = {
        field.name: repr(value)
        for field in dataclasses.fields(design)
        if (value := getattr(design, field.name)) != field.default or field.name in ("n", "m")
    }
    if isinstance(design.mechanism, GivenMatrix):
        matrix_import, make = _matrix_source("matrix", given_text)
        imports, make = f"{matrix_import}\n{imports}", f"{make}\n"
        told["mechanism"] = "matrix"
    arguments = ", ".join(f"{name}={value}" for name, value in told.items())
    lines = textwrap.wrap(arguments, WIDTH, break_long_words=False, break_on_hyphens=False)
    return {"imports": imports, "make": "\n    ".join([f"{make}design = Design(", *lines]) + "\n)"}
