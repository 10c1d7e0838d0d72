"""Why a printed bound of Zheng (2015) is off, in a sentence each; tested where it can be."""

from __future__ import annotations

ONE_TO_LOSE = (
    "The proof looks at a table without ones, which has no one to lose; the extreme is a table with a single one, so "
    "one pseudo-row less is enough."
)
LAPLACE_HOLDS = "Theorem 2.20, noise of scale sensitivity/ε, is right; the sensitivity put into it is not."
STRONG_PRIOR = "It counts half of the step of the mean, R/n for 2R/n; here the prior shrinks the step enough."
RANGE_STEP = "The proof moves the mean by R/n; substituting a row moves it by up to 2R/n."
TWICE = "The exponential mechanism counts the sensitivity twice; the ratio itself needs half of it."
NO_DELTA = "It prints (ε, δ), but no δ appears and the proof is of ε."
SPLIT = "Composition bounds every row by itself, while the sum of the rows is all that tells."

REASONS: dict[tuple[str, str], str] = {
    ("4.3", "safe"): "The exact prior also grows like 1/δ², with 1/π = 0.318 in place of 2.46.",
    ("6.1", "true"): "It is not random, so neighbours release different numbers with certainty.",
    ("6.2", "unsafe"): (
        "The mode is (n1 + α − 1)/(n + α + β − 2), so one row moves it by 1/(n + α + β − 2), not 1/(n + α + β). "
        + LAPLACE_HOLDS
    ),
    ("6.3", "true"): "Near θ = 0 and θ = 1 one row changes the density by any factor; with δ it becomes possible.",
    ("6.5", "safe"): "It asks for probabilistic privacy, which is stronger than (ε, δ).",
    ("6.9", "safe"): ONE_TO_LOSE,
    ("6.10", "safe"): ONE_TO_LOSE,
    ("6.11", "safe"): ONE_TO_LOSE,
    ("6.12", "safe"): ONE_TO_LOSE,
    ("6.13", "safe"): ONE_TO_LOSE,
    ("6.21", "safe"): TWICE,
    ("6.22", "safe"): TWICE,
    ("7.2", "true"): "It is not random.",
    ("7.3", "unsafe"): f"{RANGE_STEP} {LAPLACE_HOLDS}",
    ("7.3", "safe"): STRONG_PRIOR,
    ("7.4", "true"): "One row may move the mean by any amount.",
    ("7.6", "true"): "Far from both means the ratio of two normal densities has no bound.",
    ("7.7", "safe"): "It bounds the two factors one by one; they cannot both be at their largest.",
    ("7.7 fails", "true"): "The exact limit lies below it for every n and every prior.",
    ("7.8", "unsafe"): RANGE_STEP,
    ("7.8", "safe"): STRONG_PRIOR,
    ("7.10", "true"): "One row may move the mean by any amount.",
    ("7.11", "true"): "Far from both means the ratio of two normal densities has no bound.",
    ("7.12", "unsafe"): RANGE_STEP,
    ("7.13", "unsafe"): RANGE_STEP,
    ("7.12", "safe"): STRONG_PRIOR,
    ("7.13", "safe"): STRONG_PRIOR,
    ("7.14", "unsafe"): f"{RANGE_STEP} {NO_DELTA}",
    ("7.14", "safe"): f"{STRONG_PRIOR} {NO_DELTA}",
    ("7.15", "unsafe"): RANGE_STEP + " The slack of the composition no longer covers that here.",
    ("7.15", "safe"): SPLIT,
    ("7.16", "unsafe"): RANGE_STEP,
    ("7.16", "safe"): SPLIT + " A constant is said to exist and does not appear.",
}
"""By claim and verdict."""
