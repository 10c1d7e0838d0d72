"""The figures of Zheng's thesis: beta distributions, and the exact thresholds beside the bounds in the tables."""

from collections.abc import Iterator

import numpy as np

from dpviz.audit.curves import Curves, prior_curves
from dpviz.calibration.data_kinds import GAUSSIAN, KINDS
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.claims.drawn_figures import FigureLine, FigurePanel, Known
from dpviz.claims.zheng_printed import AUDITED_AT

BETAS_OF_FIGURE_3_1 = {"beta_binomial": (2, 5), "posterior_mean": (3, 9), "laplace": (6, 6)}
"""The distributions that the caption names, by the key of a color."""
DENSITY_POINTS = 51


def beta_panels() -> Iterator[FigurePanel]:
    """Yield the densities of Figure 3.1."""
    from scipy.stats import beta  # it takes long to load, and few ask for it

    x = np.linspace(0, 1, DENSITY_POINTS)
    lines = [
        FigureLine(key, f"α = {a}, β = {b}", Known.OURS, x, beta.pdf(x, a, b), 0 * x)
        for key, (a, b) in BETAS_OF_FIGURE_3_1.items()
    ]
    yield FigurePanel("", "density", tuple(lines))


def bounds_panels(family: str) -> Iterator[FigurePanel]:
    """Yield T of Figure 6.1 or 7.1 against ε: exact with and without δ, and as the theorems bound it."""
    kind = KINDS[family]
    measure = "range" if kind is GAUSSIAN else "prior"
    yield FigurePanel("", measure, tuple(_lines(prior_curves(family, AUDITED_AT, "epsilon"))))


def _lines(found: Curves) -> Iterator[FigureLine]:
    for one in found.lines:
        some = np.isfinite(one.values)
        if some.any():
            method = PRIOR_METHODS[one.method]
            known = Known.PRINTED if one.theorem else Known.PURE if one.pure else Known.OURS
            name = f"{one.theorem or ('δ = 0' if one.pure else '')}, {method.label}".removeprefix(", ")
            x, y = found.points[some], one.values[some]
            yield FigureLine(method.color, name, known, x, y, 0 * x)
