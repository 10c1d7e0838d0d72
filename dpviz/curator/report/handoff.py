"""The hand-off: the chosen mechanism as a script for OpenDP, a library that is made for releasing data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

from dpviz.comparisons import DataKind, Method
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.binary_methods import GEOMETRIC
from dpviz.comparisons.categories import LAPLACE_CELLS, PriorCellsRelease
from dpviz.comparisons.gaussian_histograms import PerturbedHistogram
from dpviz.comparisons.terms import setting_for
from dpviz.curator.search import Assessed

LIBRARY, VERSION = "OpenDP", "0.16"
"""The scripts were run with this version."""
SAME = (
    "OpenDP has what this design is made of. The script draws the noise with OpenDP; what follows looks at the noisy "
    "numbers alone and costs nothing."
)
OTHER = (
    "OpenDP has no mechanism that makes this release, so there is no script for the chosen design. The script below is "
    "another release, the nearest that OpenDP has, which keeps the same limits on protection: the {name}. Its accuracy "
    "is not that of this design."
)
NONE = "OpenDP has no mechanism that makes this release, and none that is near to it, so there is no script for it."


@dataclass(frozen=True)
class Recipe:
    """How OpenDP makes a release: the name of a text beside this file, and the method if that is only the nearest."""

    text: str
    instead: Method | None = None


@dataclass(frozen=True)
class Handoff:
    """What OpenDP has of a design: a sentence, and a script, empty where there is none; is it the `same` release?"""

    note: str
    script: str
    same: bool


TEXTS = {
    "geometric": "count",
    "laplace": "rounded_count",
    "modips": "posterior_of_count",
    "modips_split": "mean_and_variance",
    "modips_communal": "mean_and_variance",
    "perturbed_histogram": "histogram",
    "perturbed_histogram_safe": "histogram",
    "laplace_cells": "categories",
}
"""The text of what OpenDP has, by the key of the method that it makes."""


def recipe_of(method: Method) -> Recipe | None:
    """Return what OpenDP has for a method that a curator can choose, or is nearest to it; None where there is none."""
    if method.key in TEXTS:
        return Recipe(TEXTS[method.key])
    if isinstance(method, PriorCellsRelease):
        return Recipe("categories", LAPLACE_CELLS)
    return Recipe("count", GEOMETRIC) if isinstance(method, BinaryMethod) else None


def handoff_of(design: Assessed) -> Handoff:
    """Return the chosen mechanism as a script for OpenDP, or the nearest one, or a sentence that there is none."""
    recipe = recipe_of(design.method)
    if recipe is None:
        return Handoff(NONE, "", False)
    text = files("dpviz.curator.report").joinpath(f"opendp_{recipe.text}.txt").read_text(encoding="utf-8")
    made, sets, setting, note = design.method, design.sets, design.setting, SAME
    if recipe.instead is not None:
        other = _setting_of(recipe.instead, design)
        if other is None:
            return Handoff(NONE, "", False)
        made, sets, setting, note = recipe.instead, 1, other, OTHER.format(name=recipe.instead.label)
    numbers = _numbers(made, design.question.data, sets, setting)
    return Handoff(note, Template(text).substitute(numbers), recipe.instead is None)


def _setting_of(other: Method, design: Assessed) -> float | None:
    """Return the ε with which one set by another method keeps the same limits; else what the design really loses."""
    asked = design.question
    if asked.promises:
        return setting_for(other, asked.data, 1, asked.promises)
    real = design.real_epsilon
    return None if real is None or math.isinf(real) else real


def _numbers(method: Method, data: DataKind, sets: int, setting: float) -> dict[str, str]:
    """Return all that a script may need, as it stands in it."""
    share = setting / sets
    found: dict[str, Any] = {one.name: getattr(data, one.name) for one in data.parameters()}
    found |= {"sets": sets, "epsilon": setting, "share": share, "quarter": found["n"] // 4}
    found |= {f"scale_{place}": one for place, one in enumerate(method.noise_scales(data, share).values(), start=1)}
    if isinstance(method, PerturbedHistogram):
        found["bins"] = method.public_bins(found["n"])
    return {"name": method.label, "version": VERSION} | {name: repr(one) for name, one in found.items()}
