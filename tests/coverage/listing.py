"""Every measure of an interval by listing: the sum over all confidential counts and all released ones."""

import math

import numpy as np

from dpviz.inference import RULES
from dpviz.inference.interval_rules import set_statistics
from tests.referees import every_release


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
