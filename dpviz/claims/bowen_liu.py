"""The shares of usable releases that Bowen & Liu print, beside the exact ones, and how many bins Scott's rule makes.

Source: C. M. Bowen and F. Liu, Differentially private data synthesis methods, 2016, supplement, Table 1.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpviz.claims.published import PRINTED_REPETITIONS, PrintedNumber, Record, Shown, printed_rows
from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.privacy.histograms import SCOTT_FACTOR

USABLE_SOURCE = "Bowen & Liu (2016), supplement, Table 1"
STUDY_SETS = 10  # Of the methods that release several; they share ε
STUDY = Analysis(sets=STUDY_SETS)
TRIED_BINS = 200


def binary_methods() -> dict[str, BinaryMethod]:
    """Return the methods of the first study, by key."""
    return {one.key: one for one in BinaryData.methods if isinstance(one, BinaryMethod)}


def usable_before_rounding(n: int, p: float, epsilon: float) -> float:
    """Pr(0 < x + Laplace(1/ε) < n) = 1 − ½E[e^{−εx}] − ½E[e^{−ε(n−x)}], x ~ Binomial(n, p).

    That is how Bowen & Liu (2016) count the usable releases of their Laplace sanitizer. What it releases is rounded.

    >>> round(usable_before_rounding(100, 0.02, 0.5), 4)
    0.7731
    """
    rest = -math.expm1(-epsilon)
    below, above = (1 - p * rest) ** n, (1 - (1 - p) * rest) ** n
    return max(1 - (below + above) / 2, 0.0)


def _usable(row: dict[str, str], method: BinaryMethod | None, reading: str) -> Iterator[Record[float]]:
    """Yield the shares of a row, one for each ε; of the Laplace sanitizer where there is no method."""
    n, p = int(row.pop("n")), float(row.pop("p"))
    for name, printed in row.items():
        epsilon, sets = math.exp(int(name.partition("=")[2])), 1
        if method is None:
            share = usable_before_rounding(n, p, epsilon)
        else:
            sets = method.sets(STUDY_SETS)
            share = method.usable_share(BinaryData(n=n, p=p), epsilon, sets)
        yield Record(
            source=USABLE_SOURCE,
            what=name if method is None else f"{method.key}, {name}",
            printed=PrintedNumber(printed),
            ours=share,
            error=math.sqrt(share * (1 - share) / PRINTED_REPETITIONS),
            reading=reading,
            design={"n": n, "p": p},
            shown=Shown(
                "compare_synthesizers", {"kind": BinaryData.key, "n": n, "p": p, "epsilon": epsilon, "sets": 10}
            ),
        )


def compare_usable_shares() -> tuple[Record[float], ...]:
    """Return every printed share of the Laplace sanitizer beside the exact one, row by row; the error is the paper's.

    >>> found = compare_usable_shares()
    >>> len(found), any(one.far for one in found)
    (54, False)
    """
    reading = "usable unless the noisy number of ones falls outside 0 to n"
    return tuple(one for row in printed_rows("bowen_liu_usable") for one in _usable(row, None, reading))


def compare_other_shares() -> tuple[Record[float], ...]:
    """Return the shares of the other methods in the same way, as far as the text at hand has them.

    >>> found = compare_other_shares()
    >>> len(found), [str(one.verdict) for one in found[:3]]
    (26, ['within simulation error', 'within simulation error', 'agrees'])
    """
    reading, methods = "usable unless every set is all zeros, or every set is all ones", binary_methods()
    rows = printed_rows("bowen_liu_usable_others")
    return tuple(one for row in rows for one in _usable(row, methods[row.pop("method")], reading))


class ScottRule(NamedTuple):
    """The width of a bin, c s n^(−power)."""

    factor: float
    power: float


ONE_DIMENSION, TWO_DIMENSIONS = ScottRule(SCOTT_FACTOR, 1 / 3), ScottRule(3.5, 1 / 4)


def median_bins(n: int, span: float, rule: ScottRule = ONE_DIMENSION) -> int:
    """Return the median of K = ⌈span σ/h⌉, where s² of n normal rows is χ² with n − 1 degrees of freedom.

    K ≤ k where s ≥ span σ/(c n^(−power) k).

    >>> [median_bins(n, 7.0) for n in (40, 100, 1000)]
    [7, 10, 21]
    """
    from scipy.stats import chi2  # it takes long to load, and few ask for it

    bins = np.arange(1, TRIED_BINS)
    smallest = span / (rule.factor * n**-rule.power * bins)
    return int(bins[np.argmax(chi2.sf((n - 1) * smallest**2, n - 1) >= 0.5)])
