"""Two ways to the same number: sums over every release, and draws with a seed, over a grid of designs."""

from __future__ import annotations

import math
from itertools import product

import pytest

from dpviz.coverage import CoveragePlan, exact_coverages, performance_of, run_coverage
from dpviz.designs import Design
from dpviz.inference import RULES
from dpviz.mechanisms import two_cell_synthesizers

REPETITIONS = 20_000
CHAREST = list(product([0.1, 0.25, 0.5], [0.5, 2.0, 250.0], [1, 2, 5]))
OTHERS = [(law, sets) for law in two_cell_synthesizers() for sets in (1, 2, 3)]


def check_agreement(law: str, p: float, n: int, m: int, sets: int, epsilon: float, level: float) -> None:
    release = Design(mechanism=law, n=n, m=m, sets=sets, epsilon=epsilon).release
    rules = tuple(key for key, rule in RULES.items() if rule.min_sets <= sets)
    exact = exact_coverages(synthesizer=release, p=p, sets=sets, rules=rules, level=level)
    plan = CoveragePlan(
        synthesizer=release, p=p, sets=sets, rules=rules, level=level, repetitions=REPETITIONS, seed=2011
    )
    found = performance_of(run_coverage(plan))
    for key in rules:
        for share, simulated in (
            (exact[key].coverage, found.rules[key].coverage.value),
            (exact[key].negative_variance_share, found.rules[key].negative_variance_share.value),
        ):
            error = math.sqrt(max(share * (1 - share), 0.0) / REPETITIONS)
            # Of so many hundred shares some are 3 standard errors away by chance, and next to none 4.
            assert abs(simulated - share) <= 4 * error + exact[key].error_bound + 1.5 / REPETITIONS, key


@pytest.mark.parametrize(("p", "epsilon", "sets"), CHAREST)
def test_the_simulation_lands_on_the_exact_value_in_charests_design(p: float, epsilon: float, sets: int) -> None:
    check_agreement("beta_binomial", p, 100, 100, sets, epsilon, 0.95)


@pytest.mark.parametrize(("law", "sets"), OTHERS)
def test_the_simulation_lands_on_the_exact_value_for_every_law(law: str, sets: int) -> None:
    check_agreement(law, 0.3, 40, 40, sets, 1.5, 0.9)
