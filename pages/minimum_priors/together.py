"""What several sets need together, for each family, computed once for all sections."""

from __future__ import annotations

from dpviz.priors import Setting, maximum_range
from dpviz.priors.cell_sets import minimum_prior_for_cell_sets
from dpviz.priors.sets import SetPriors, minimum_prior_for_sets
from dpviz.privacy.composition import Bracket
from pages.components.cached import cached

WAITING = "Composing the sets …"


def set_priors(setting: Setting, method: str, sets: int, delta: float) -> SetPriors:
    """`minimum_prior_for_sets` of two cells."""
    return cached(minimum_prior_for_sets, WAITING)(
        method, n=setting.n, m=setting.m, sets=sets, epsilon=setting.epsilon, delta=delta
    )


def cell_set_prior(setting: Setting, method: str, sets: int, delta: float) -> Bracket:
    """`minimum_prior_for_cell_sets` of k cells."""
    return cached(minimum_prior_for_cell_sets, WAITING)(
        method, n=setting.n, m=setting.m, cells=setting.cells, sets=sets, epsilon=setting.epsilon, delta=delta
    )


def range_of_sets(setting: Setting, method: str, sets: int, delta: float) -> float:
    """`maximum_range` of several sets together."""
    return cached(maximum_range)(
        method, n=setting.n, m=setting.m, sigma=setting.sigma, sigma0=setting.sigma0, epsilon=setting.epsilon,
        delta=delta, sets=sets,
    )  # fmt: skip
