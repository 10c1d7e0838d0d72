"""The hand-off: the chosen mechanism as a script for OpenDP, a library that is made for releasing data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpviz.comparisons import ComparedMethod
from dpviz.comparisons.categories import PriorCellsRelease, category_method
from dpviz.comparisons.numeric_releases import (
    HISTOGRAM_METHODS,
    MODIPS_COMMUNAL,
    MODIPS_COMMUNAL_TRUNCATED,
    MODIPS_SPLIT,
    MODIPS_SPLIT_TRUNCATED,
    PERTURBED_HISTOGRAM_SAFE,
    SANITIZE_THEN_BOOTSTRAP,
    public_bins,
)
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.comparisons.terms import setting_for
from dpviz.desk.candidate import Evaluation
from dpviz.export.templates import render, render_paragraphs
from dpviz.mechanisms import GeometricSanitizer, LaplaceCells

LIBRARY, LIBRARY_VERSION = "OpenDP", "0.16"
"""The scripts were run with this version."""


@dataclass(frozen=True)
class Handoff:
    """What OpenDP has of a design, and how it is used; a script, or an empty one; is it the `same` release?"""

    told: tuple[str, ...]
    script: str
    same: bool


TEXTS = {
    "modips_split": "mean_and_variance",
    "modips_communal": "mean_and_variance",
    "perturbed_histogram": "histogram",
    "perturbed_histogram_safe": "histogram",
    "sanitize_bootstrap": "histogram",
}
"""The text of what OpenDP has, by the key of the method that it makes, where no synthesizer says it by `opendp`."""

NEAREST_METHODS: tuple[tuple[type[ComparedMethod], ComparedMethod], ...] = (
    (PriorCellsRelease, category_method(LaplaceCells)),
    (BinaryMethod, BinaryMethod.of(GeometricSanitizer)),
)
"""What is nearest to methods of a class that OpenDP does not have."""

NEAREST_OF: dict[str, ComparedMethod] = {
    **{method.key: PERTURBED_HISTOGRAM_SAFE for method in HISTOGRAM_METHODS},
    MODIPS_SPLIT_TRUNCATED.key: MODIPS_SPLIT,
    MODIPS_COMMUNAL_TRUNCATED.key: MODIPS_COMMUNAL,
}
"""The same of single methods, by key."""


def nearest_method(method: ComparedMethod) -> ComparedMethod | None:
    """Return a method itself where OpenDP makes its release, else the nearest that it makes; None if there is none."""
    if _text_of(method):
        return method
    of_class = next((other for kind, other in NEAREST_METHODS if isinstance(method, kind)), None)
    return NEAREST_OF.get(method.key, of_class)


def _text_of(method: ComparedMethod) -> str:
    return method.opendp if isinstance(method, BinaryMethod) else TEXTS.get(method.key, "")


def handoff_of(design: Evaluation) -> Handoff:
    """Return the chosen mechanism as a script for OpenDP, or the nearest one, or a sentence that there is none.

    The script stops before it spends anything until the confidential rows stand in it, and writes all released rows to
    a file.
    """
    made = nearest_method(design.method)
    same = made == design.method
    setting = None if made is None else design.epsilon if same else _setting_of(made, design)
    if made is None or setting is None:
        return Handoff(tuple(render_paragraphs("desk/report/handoff.txt", near="")), "", False)
    sets = design.sets if same else 1
    data, share = design.question.data, setting / sets
    script = render(
        f"desk/report/opendp_{_text_of(made)}.txt",
        method=made,
        version=LIBRARY_VERSION,
        data=data,
        sets=sets,
        epsilon=setting,
        share=share,
        scales=list(made.noise_scales(data, share).values()),
        bins=public_bins(int(data.settings()["n"])),
        twice=made.key == SANITIZE_THEN_BOOTSTRAP.key,
    )
    return Handoff(tuple(render_paragraphs("desk/report/handoff.txt", near=made.label, same=same)), script, same)


def _setting_of(other: ComparedMethod, design: Evaluation) -> float | None:
    """Return the ε with which one set by another method keeps the same limits; else what the design really loses."""
    asked = design.question
    if asked.promises and not design.is_minimal:
        return setting_for(other, asked.data, 1, asked.promises)
    real = design.real_epsilon
    return None if real is None or math.isinf(real) else real
