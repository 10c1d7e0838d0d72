"""A short Python script that computes a page's numbers again."""

from __future__ import annotations

import dataclasses

from dpviz.checked import checked
from dpviz.synthesizers import Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix

__all__ = ["page_script"]

LONGEST_INLINE = 20_000
"""Characters of a pasted matrix that the script still carries itself."""


@checked()
def page_script(synthesizer: Synthesizer, epsilon: float, delta: float, *, given_text: str | None = None) -> str:
    """The page "Transition matrices" as a script that prints the same numbers.

    Parameters
    ----------
    synthesizer, epsilon, delta
        The page's own parameters.
    given_text
        For a given matrix, its text; a long one is read from ``matrix.csv``.

    Returns
    -------
    str
        Python source. It needs the folder that holds ``dpviz`` on Python's path.
    """
    name = type(synthesizer).__name__
    if isinstance(synthesizer, GivenMatrix):
        imports, make = matrix_source("release", given_text)
    else:
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
    numpy_import = "import numpy as np\n\n" if synthesizer.enumerable else ""
    return f'''"""The numbers of dpviz's page "Transition matrices". Run it in the folder that holds dpviz."""

{numpy_import}from dpviz.parameters import readable
from dpviz.privacy.summary import summarize
{imports}

{make}
summary = summarize(release, epsilon={epsilon!r}, delta={delta!r})
worst, divergence = summary.worst, summary.divergence
{tables if synthesizer.enumerable else ""}
print("exact epsilon:", readable(worst.value, 7))
print("  attained by", release.row_table(worst.likelier), "against", release.row_table(worst.other))
print("delta at the promised epsilon:", readable(divergence.value, 7))
print("least epsilon at the allowed delta:", readable(summary.epsilon_at_delta, 7))
if summary.failure is not None:
    print("probabilistic delta, worst table:", readable(float(summary.failure.max()), 7))
    print("probabilistic delta, joint, even cells:", readable(summary.joint_failure, 7))
if summary.change is not None:
    print("least Pr(released differs from confidential):", readable(float(summary.change.min()), 7))
'''


def matrix_source(name: str, given_text: str | None) -> tuple[str, str]:
    """The import that a given matrix needs, and the line that reads it as `name`."""
    if given_text is not None and len(given_text) <= LONGEST_INLINE:
        return "from dpviz.given import read_matrix", f"{name} = read_matrix({given_text!r})"
    imports = "from pathlib import Path\n\nfrom dpviz.given import read_matrix"
    return imports, f'{name} = read_matrix(Path("matrix.csv").read_bytes())'
