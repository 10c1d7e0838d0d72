"""The chosen mechanism as a script for OpenDP, a library that is made for releasing data."""

from __future__ import annotations

import math
from typing import NamedTuple

from dpviz.comparisons import ComparedMethod, numeric_releases
from dpviz.comparisons.categories import CategoryMethod, category_method
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.comparisons.terms import setting_for
from dpviz.curator.candidate import Candidate
from dpviz.export.templates import render, render_paragraphs
from dpviz.mechanisms import GeometricSanitizer, LaplaceCells

OPENDP_VERSION = "0.16"  # with which the scripts were run
TEMPLATES = {
    "modips_split": "mean_and_variance",
    "modips_communal": "mean_and_variance",
    "perturbed_histogram": "histogram",
    "perturbed_histogram_safe": "histogram",
    "sanitize_bootstrap": "histogram",
}
"""Template of a method by key; that of a synthesizer is in its `opendp`."""

NEAREST_METHODS: dict[str, ComparedMethod] = {
    **{method.key: numeric_releases.PERTURBED_HISTOGRAM_SAFE for method in numeric_releases.HISTOGRAM_METHODS},
    numeric_releases.MODIPS_SPLIT_TRUNCATED.key: numeric_releases.MODIPS_SPLIT,
    numeric_releases.MODIPS_COMMUNAL_TRUNCATED.key: numeric_releases.MODIPS_COMMUNAL,
}
"""Nearest to a method that OpenDP does not have, by key."""


class OpenDPScript(NamedTuple):
    """What OpenDP has of a design: a script, or an empty one, and whether it makes the same release."""

    text: str
    is_same: bool
    explanation: str


def opendp_script(design: Candidate) -> OpenDPScript:
    """Script that makes the release of a design, or the nearest one that keeps its privacy limits, with OpenDP.

    Notes
    -----
    It spends nothing until the confidential rows stand in it, and writes all released rows to a file.
    """
    method = nearest_method(design.method)
    is_same = method == design.method
    epsilon = design.epsilon if is_same else _equivalent_epsilon(method, design)
    text, label = "", ""
    if method is not None and epsilon is not None:
        data, sets, label = design.question.data, design.sets if is_same else 1, method.label
        text = render(
            f"curator/templates/opendp_{_template_of(method)}.txt", method=method, version=OPENDP_VERSION, data=data,
            sets=sets, epsilon=epsilon, share=epsilon / sets,
            scales=list(method.noise_scales(data, epsilon / sets).values()),
            bins=numeric_releases.public_bins(int(data.settings()["n"])),
            twice=method.key == numeric_releases.SANITIZE_THEN_BOOTSTRAP.key,
        )  # fmt: skip
    explanation = render_paragraphs("curator/templates/handoff.txt", near=label, same=is_same)
    return OpenDPScript(text, is_same, " ".join(explanation))


def nearest_method(method: ComparedMethod) -> ComparedMethod | None:
    """Method itself if OpenDP makes its release, else the nearest that it makes; None if there is none."""
    if _template_of(method):
        return method
    if isinstance(method, CategoryMethod):
        return category_method(LaplaceCells)
    if isinstance(method, BinaryMethod):
        return BinaryMethod.of(GeometricSanitizer)
    return NEAREST_METHODS.get(method.key)


def _template_of(method: ComparedMethod) -> str:
    return method.opendp if isinstance(method, BinaryMethod) else TEMPLATES.get(method.key, "")


def _equivalent_epsilon(method: ComparedMethod | None, design: Candidate) -> float | None:
    """ε with which one set by another method keeps the same limits; else what the design really loses."""
    question = design.question
    if method is None:
        return None
    if question.promises and not design.is_minimal:
        return setting_for(method, question.data, 1, question.promises)
    return None if math.isinf(design.real_epsilon) else design.real_epsilon
