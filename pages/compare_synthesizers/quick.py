"""What is known at once at the reader's own ε: the first outcome of every method, and the smallest error."""

import math
from collections.abc import Iterator

from dpviz.comparisons import Compared, DataKind, Method, Outcome, Terms
from dpviz.comparisons.base import Analysis, stream_comparison
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.cached import cached
from pages.components.growing import Growing, growing_of

ROUNDING = 1e-6  # Relative distance within which a real ε is the promised one


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


def ranked(asked: Asked) -> Growing[Compared]:
    """All outcomes at the reader's ε, first what is known at once; with δ the smallest error comes last."""
    data, methods, analysis, terms = asked.comparison
    epsilon = asked.design.epsilon

    def begin() -> Iterator[Compared]:
        return stream_comparison(data, methods, [epsilon], analysis, terms)

    growing = growing_of(f"{PREFIX}ranking", ("ranking", *map(repr, asked.comparison), epsilon), Compared, begin)
    if growing.latest is None:
        least = None if terms.delta else cached(data.least_error)(epsilon)
        known = {} if least is None else {epsilon: least}
        growing.latest = Compared({(one.method.key, epsilon): one for one in first_outcomes(asked)}, known)
    return growing


def least_error(asked: Asked) -> float | None:
    """The smallest error that any release can add at the reader's ε and terms, where it is known by now."""
    found = ranked(asked).latest
    return found.least.get(asked.design.epsilon) if found else None


def broken(one: Outcome, terms: Terms) -> bool:
    """Whether a method that promises a pure ε is known to give away more."""
    promises = not one.method.reference and terms.delta == 0
    return promises and one.real_epsilon is not None and one.real_epsilon > one.epsilon * (1 + ROUNDING)


def error_of(outcome: Outcome) -> float:
    """The root mean squared error."""
    return outcome.root_mean_squared_error.value


def in_order(found: list[Outcome]) -> list[Outcome]:
    """Outcomes by their error, the smallest first; those without one last."""
    return sorted(found, key=lambda one: (math.isnan(error_of(one)), error_of(one)))
