"""Small releases, and every measure of an interval by listing: the sum over all confidential and released counts."""

import math

import numpy as np

from dpviz.inference import RULES
from dpviz.inference.interval_rules import set_statistics
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PosteriorMean, PosteriorMode
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.referees import every_release

SMALL = [
    BetaBinomial(n=4, m=3, alpha=0.7, beta=2.1),
    BetaBinomial(n=3, m=5, alpha=1e-107, beta=1e-107),
    PosteriorMean(n=3, m=4, alpha=0.7, beta=0.7),
    PosteriorMode(n=2, m=3, alpha=1.7, beta=2.1),
    GeometricSanitizer(n=4, epsilon=0.7),
    LaplaceSanitizer(n=3, epsilon=0.4),
    GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])),
]
"""Releases of so few rows that all tuples of counts can be listed."""


def listed_measures(synthesizer, rule, p, sets, level, fixed=None):
    """Moments of the estimate, and what the intervals of a rule do, for x ~ Bin(n, p) or a fixed x.

    Lengths are means over the releases that have an interval; T_M < 0 is decided in whole numbers.
    """
    chance, counts = every_release(synthesizer, sets, p, fixed)
    m, total, squares = synthesizer.m, counts.sum(axis=1), (counts**2).sum(axis=1)
    statistics = set_statistics(synthesizer, sets, total, squares)
    low, high = RULES[rule].ends(statistics, level)
    variance = RULES[rule].variance(statistics)
    below = (sets + 1) * (sets * squares - total**2) * m < sets * (sets - 1) * (total * m - squares)
    estimate = counts.mean(axis=1) / m
    slack = 1e-12 * ((high - low) / 2 + p)
    hit = (low - slack <= p) & (p <= high + slack)
    exists = ~np.isnan(low)
    mean, some = chance @ estimate, np.where(exists, chance, 0.0) / max(chance[exists].sum(), 1e-300)
    return {
        "mean": mean, "spread": chance @ (estimate - mean) ** 2, "mse": chance @ (estimate - p) ** 2,
        "coverage": chance @ hit, "negative": chance @ ~exists, "below": chance @ below,
        "covered_below": chance @ (hit & below), "vacuous": chance @ ((low <= 1e-12) & (high >= 1 - 1e-12)),
        "width": some @ np.nan_to_num(high - low),
        "inside": some @ np.nan_to_num(np.minimum(high, 1) - np.maximum(low, 0)),
        "variance": math.nan if variance is None else chance @ variance,
    }  # fmt: skip
