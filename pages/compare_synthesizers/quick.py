"""What is known at once at the reader's own ε: the first outcome of every method, and the smallest error."""

import math

from dpviz.comparisons import DataKind, Method, Outcome, Terms
from dpviz.comparisons.base import Analysis
from pages.compare_synthesizers.controls import Asked
from pages.components.cached import cached


def first_outcomes(asked: Asked) -> list[Outcome]:
    """What is known at once of every method at the reader's ε."""
    return cached(_first)(*asked.comparison, asked.design.epsilon)


def _first(
    data: DataKind, methods: tuple[Method, ...], analysis: Analysis, terms: Terms, epsilon: float
) -> list[Outcome]:
    found: dict[str, Outcome] = {}
    for outcome in data.compare(methods, [epsilon], analysis, terms):
        if outcome.method.key in found:
            break
        found[outcome.method.key] = outcome
    return list(found.values())


def least_error(asked: Asked, epsilon: float) -> float | None:
    """The smallest error that any release can add at this ε, on the reader's terms."""
    return cached(asked.data.least_error, "The best that is possible …")(epsilon, asked.terms.delta)


def error_of(outcome: Outcome) -> float:
    """The root mean squared error."""
    return outcome.root_mean_squared_error.value


def in_order(found: list[Outcome]) -> list[Outcome]:
    """Outcomes by their error, the smallest first; those without one last."""
    return sorted(found, key=lambda one: (math.isnan(error_of(one)), error_of(one)))
