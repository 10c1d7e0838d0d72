"""The hand-off: the chosen mechanism as a script for OpenDP, a library that is made for releasing data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

from dpviz.comparisons import Method
from dpviz.comparisons.binary_methods import (
    BetaBinomialRelease,
    BinnedPosteriorExactRelease,
    BinnedPosteriorRelease,
    ExponentialCountsRelease,
    ExponentialRowsRelease,
    GeometricRelease,
    LaplaceRelease,
    ModipsRelease,
    ModipsTruncatedRelease,
    PlugInRelease,
)
from dpviz.comparisons.gaussian_histograms import PerturbedHistogram, PerturbedHistogramSafe
from dpviz.comparisons.gaussian_methods import ModipsCommunal, ModipsSplit
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
    "another release, the nearest that OpenDP has: the number of ones with whole-number noise that keeps the same "
    "limits on protection, the Geometric sanitizer. Its accuracy is not that of this design."
)
NONE = "OpenDP has no mechanism that makes this release, and none that is near to it, so there is no script for it."


@dataclass(frozen=True)
class Recipe:
    """How OpenDP makes the release of a method: the name of a text beside this file, and what is to be said of it."""

    text: str
    note: str = SAME


@dataclass(frozen=True)
class Handoff:
    """What OpenDP has of a design: a sentence, and a script, empty where there is none; is it the `same` release?"""

    note: str
    script: str
    same: bool


NEAREST = Recipe("count", OTHER)
RECIPES: Mapping[type[Method], Recipe] = {
    GeometricRelease: Recipe("count"),
    LaplaceRelease: Recipe("rounded_count"),
    ModipsRelease: Recipe("posterior_of_count"),
    ModipsSplit: Recipe("mean_and_variance"),
    ModipsCommunal: Recipe("mean_and_variance"),
    PerturbedHistogram: Recipe("histogram"),
    PerturbedHistogramSafe: Recipe("histogram"),
    **dict.fromkeys(
        (BetaBinomialRelease, PlugInRelease, ModipsTruncatedRelease, ExponentialRowsRelease, ExponentialCountsRelease,
         BinnedPosteriorRelease, BinnedPosteriorExactRelease),
        NEAREST,
    ),
}  # fmt: skip
"""What OpenDP has for a method; for any other it has nothing."""


def handoff_of(design: Assessed) -> Handoff:
    """Return the chosen mechanism as a script for OpenDP, or the nearest one, or a sentence that there is none."""
    recipe = RECIPES.get(type(design.method))
    if recipe is None:
        return Handoff(NONE, "", False)
    text = files("dpviz.curator.report").joinpath(f"opendp_{recipe.text}.txt").read_text(encoding="utf-8")
    numbers = _numbers(design)
    if recipe is NEAREST:
        setting = _setting_of_nearest(design)
        if setting is None:
            return Handoff(NONE, "", False)
        numbers["epsilon"] = repr(setting)
    return Handoff(recipe.note, Template(text).substitute(numbers), recipe is not NEAREST)


def _setting_of_nearest(design: Assessed) -> float | None:
    """Return the ε with which noise on the count keeps the same limits; else that which the design really has."""
    asked = design.question
    if asked.promises:
        return setting_for(GeometricRelease(), asked.data, 1, asked.promises)
    real = design.real_epsilon
    return None if real is None or math.isinf(real) else real


def _numbers(design: Assessed) -> dict[str, str]:
    """Return all that a script may need of a design, as it stands in it."""
    data, method, share = design.question.data, design.method, design.setting / design.sets
    found: dict[str, Any] = {one.name: getattr(data, one.name) for one in data.parameters()}
    found |= {"sets": design.sets, "epsilon": design.setting, "share": share, "quarter": found["n"] // 4}
    found |= {f"scale_{place}": one for place, one in enumerate(method.noise_scales(data, share).values(), start=1)}
    if isinstance(method, PerturbedHistogram):
        found["bins"] = method.bins.public(found["n"])
    return {"name": design.name, "version": VERSION} | {name: repr(one) for name, one in found.items()}
