"""The Pratt bound: how short, on average, an interval can be that keeps its level at every p."""

from dataclasses import dataclass

import numpy as np

from dpviz.analysis import LEVEL, PROPORTION
from dpviz.checked import checked
from dpviz.inference.confidential import along_axis
from dpviz.inference.sum_law import ReleaseSums
from dpviz.types import FloatArray

# Trapezoids of the integral over p', at equal steps of arcsin √p'; every other node left out shows the error
NODES = 400
UNLIKELY = 1e-14  # Probability under p below which a sum costs nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class LengthLimit:
    """The smallest expected length at each true proportion; `error` is the change of the integral at half the step."""

    length: FloatArray
    error: FloatArray


@checked(proportions=PROPORTION, level=LEVEL)
def length_limit(sums: ReleaseSums, *, proportions: FloatArray | float, level: float = 0.95) -> LengthLimit:
    """∫₀¹ β(p', p) dp', β the smallest probability under p with which a test of p' at the level accepts.

    An interval that holds every p' with probability `level` or more tests every p' at that level, and its expected
    length inside 0 to 1 is ∫ Pr(p' in the interval | p) dp'. Neyman and Pearson's test of p' against p accepts the sums
    with the smallest Pr(S | p) / Pr(S | p') first, with a coin toss at the last. The bound holds for every procedure
    that reads the sum of the counts, randomized ones too; one that reads all counts may be shorter.
    Source: Pratt (1961), Length of confidence intervals, for the identity and the bound.

    >>> found = length_limit(ReleaseSums(np.full((3, 2), 0.5)), proportions=0.3, level=0.9)
    >>> [round(float(value), 9) for value in (found.length[0], found.error[0])]
    [0.9, 0.0]
    """
    p = along_axis(proportions)
    nodes = np.sin(np.linspace(0, np.pi / 2, NODES + 1)) ** 2
    laws = sums.law(nodes)
    found = np.array([_integral(sums, float(value), level, nodes, laws) for value in p])
    return LengthLimit(length=found[:, 0], error=found[:, 1])


def _integral(sums: ReleaseSums, p: float, level: float, nodes: FloatArray, laws: FloatArray) -> tuple[float, float]:
    """Trapezoids on both sides of p, where the integrand, `level`, has a corner, and their change with the step."""
    own = sums.law(p)[0]
    least = _least_acceptance(own, laws, level)
    fine, coarse = (
        float(np.trapezoid(np.insert(least[::step], place, level), np.insert(nodes[::step], place, p)))
        for step in (1, 2)
        for place in [int(np.searchsorted(nodes[::step], p))]
    )
    return fine, abs(fine - coarse)


def _least_acceptance(own: FloatArray, others: FloatArray, level: float) -> FloatArray:
    """β of each row p' of `others` against p: the mass under p of the sums that the most powerful test accepts.

    Sums that are next to impossible under p are accepted at once. For most synthesizers the ratio rises or falls with
    the sum, so that there is nothing to sort.
    """
    costly = own > UNLIKELY
    missing = level - others[:, ~costly].sum(axis=1)
    own, others = own[costly], others[:, costly]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(others > 0, own / others, np.inf)
    change = ratio[:, 1:] >= ratio[:, :-1]
    rising, falling = change.all(axis=1), ~change.any(axis=1)
    mixed = ~rising & ~falling
    own = np.broadcast_to(own, others.shape).copy()
    own[falling], others[falling] = own[falling, ::-1], others[falling, ::-1]
    if mixed.any():
        order = np.argsort(ratio[mixed], axis=1, kind="stable")
        own[mixed], others[mixed] = (np.take_along_axis(table[mixed], order, axis=1) for table in (own, others))
    before = np.cumsum(others, axis=1) - others
    share = np.clip((missing[:, None] - before) / np.maximum(others, 1e-300), 0.0, 1.0)
    return np.einsum("ps,ps->p", share, own)
