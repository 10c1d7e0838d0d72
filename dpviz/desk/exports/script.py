"""Short Python scripts that compute the numbers of a page again."""

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

from dpviz.designs import Design
from dpviz.desk.texts import filled
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix

__all__ = ["coverage_script", "page_script", "posterior_recipe", "posterior_script"]

LONGEST_INLINE = 20_000  # Characters of a pasted matrix that the script still carries itself


def page_script(synthesizer: Synthesizer, epsilon: float, delta: float, *, given_text: str | None = None) -> str:
    """Return the page "Transition matrices" as a script that prints the same numbers, run beside the folder ``dpviz``.

    `given_text` is the text of a given matrix; a long one is read from ``matrix.csv``.
    """
    return filled(
        "exports/transition_matrices_script.txt",
        synthesizer=synthesizer,
        arguments=synthesizer.settings(),
        given=isinstance(synthesizer, GivenMatrix),
        text=_inline(given_text),
        epsilon=epsilon,
        delta=delta,
    )


def posterior_recipe(design: Design, counts: Sequence[int], *, given_text: str | None = None) -> str:
    """Return the call that gives an analyst the posterior from these counts, to be copied beside ``dpviz``."""
    secret = dataclasses.replace(design, confidential_count=None)
    return filled(
        "exports/posterior_recipe.txt",
        design=_source(secret, given_text),
        counts=list(counts),
        flat=design.gamma1 == design.gamma2 == 1,
        gamma1=design.gamma1,
        gamma2=design.gamma2,
        level=design.level,
    )


def coverage_script(design: Design) -> str:
    """Return the page "Coverage" as a script, as for `page_script`."""
    stated = ("p", "level", "repetitions", "seed")
    return filled("exports/coverage_script.txt", design=_source(design, stated=stated))


def posterior_script(design: Design, counts: Sequence[int], *, given_text: str | None = None) -> str:
    """The page "Posterior" as a script, as for `page_script`; the posterior of the data only where they are known."""
    return filled(
        "exports/posterior_script.txt",
        design=_source(design, given_text, stated=("gamma1", "gamma2", "level")),
        known=design.confidential_count is not None,
        counts=list(counts),
    )


class NameInScript(str):
    """A text that stands in a script as it is: the name of something that the script has made."""

    __repr__ = str.__str__


def _inline(given_text: str | None) -> str | None:
    """Return the text of a matrix that a script carries itself; None where it reads a file."""
    return given_text if given_text is not None and len(given_text) <= LONGEST_INLINE else None


def _source(design: Design, given_text: str | None = None, stated: Collection[str] = ()) -> dict[str, Any]:
    """Return what a script says to make a design.

    What the release follows from and the numbers `stated` are always there; of others, those that are not a default.
    """
    told = design.non_default_fields({"n", "m", "sets", *design.promised, *stated})
    given = isinstance(design.mechanism, GivenMatrix)
    if given:
        told["mechanism"] = NameInScript("matrix")
    return {"arguments": told, "given": given, "text": _inline(given_text)}
