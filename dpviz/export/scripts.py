"""Short Python scripts that compute the numbers of a page again; they run beside the folder ``dpviz``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from dpviz.calibration.data_kinds import KINDS, Setting
from dpviz.comparisons import Comparison
from dpviz.comparisons.budget import BudgetSplit
from dpviz.core.parameters import validate_choice
from dpviz.designs import Design
from dpviz.export.templates import render
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix

MAX_INLINE_CHARACTERS = 20_000  # of a given matrix that a script carries; a longer one is read from matrix.csv


class _Name(str):
    """Name of a variable of a script, which stands there without quotation marks."""

    __repr__ = str.__str__


def transition_matrix_script(
    synthesizer: Synthesizer, epsilon: float, delta: float, *, given_text: str | None = None
) -> str:
    """Script of the page "Transition matrices" for a promise; `given_text` is the text of a given matrix."""
    return render(
        "export/transition_matrices_script.txt",
        synthesizer=synthesizer,
        arguments=synthesizer.settings(),
        given=isinstance(synthesizer, GivenMatrix),
        text=_inline(given_text),
        epsilon=epsilon,
        delta=delta,
    )


def posterior_recipe(design: Design, counts: Sequence[int], *, given_text: str | None = None) -> str:
    """Lines that give an analyst the posterior from released counts."""
    return render(
        "export/posterior_recipe.txt",
        design=_design_source(replace(design, confidential_count=None), given_text),
        counts=list(counts),
        flat=design.gamma1 == design.gamma2 == 1,
        gamma1=design.gamma1,
        gamma2=design.gamma2,
        level=design.level,
    )


def posterior_script(design: Design, counts: Sequence[int], *, given_text: str | None = None) -> str:
    """Script of the page "Posterior"; the posterior of the confidential data only where they are known."""
    return render(
        "export/posterior_script.txt",
        design=_design_source(design, given_text, always=("gamma1", "gamma2", "level")),
        known=design.confidential_count is not None,
        counts=list(counts),
    )


def coverage_script(design: Design) -> str:
    """Script of the page "Coverage"."""
    source = _design_source(design, always=("p", "level", "repetitions", "seed"))
    return render("export/coverage_script.txt", design=source)


def priors_script(family: str, setting: Setting, sets: int, proportion: float) -> str:
    """Script of the page "Minimum priors"."""
    validate_choice("family", family, KINDS)
    kind = KINDS[family]
    arguments = {name: getattr(setting, name) for name in ("n", "m", "epsilon", "delta", *kind.numbers)}
    return render("export/priors_script.txt", kind=kind, arguments=arguments, sets=sets, proportion=proportion)


def comparison_script(comparison: Comparison) -> str:
    """Script of the page "Compare synthesizers", at its ε."""
    return render("export/comparison_script.txt", comparison=comparison, epsilons=[float(comparison.epsilon)])


def budget_script(split: BudgetSplit) -> str:
    """Script of the page "Budget"."""
    return render("export/budget_script.txt", split=split)


def _inline(given_text: str | None) -> str | None:
    return given_text if given_text is not None and len(given_text) <= MAX_INLINE_CHARACTERS else None


def _design_source(design: Design, given_text: str | None = None, always: Collection[str] = ()) -> dict[str, Any]:
    """What a script says to make a design: the numbers that are always stated, and those that are no default."""
    arguments = design.non_default_fields({"n", "m", "sets", *design.promised, *always})
    is_given = isinstance(design.mechanism, GivenMatrix)
    if is_given:
        arguments["mechanism"] = _Name("matrix")
    return {"arguments": arguments, "given": is_given, "text": _inline(given_text)}
