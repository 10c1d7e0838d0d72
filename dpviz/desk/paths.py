"""How designs do along an axis: ε, which is the frontier, the true value, the number of rows, the number of sets."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.comparisons.terms import pure_within
from dpviz.curator.privacy_limits import MAX_EPSILON, EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.desk.candidate import Evaluation

FRONTIER_REACH = 10.0  # The frontier goes from the wanted ε divided by this to this times it
FRONTIER_POINTS = 15
RELEASED_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # Of n
CONFIDENTIAL_SHARES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # Times n
SETS_ALONG = (1, 2, 3, 5, 10, 20, 50)


@dataclass(frozen=True, kw_only=True)
class Path:
    """One number of a question that is changed while all others stay.

    Without `label` and `symbol` it has those of the true value. `values` are the places on the axis, rising, none where
    the data have no such number; `at` is the question at one of them, and `here` where the question itself stands, NaN
    where it has no such number.
    """

    key: str
    label: str = ""
    symbol: str = ""
    log: bool = True
    values: Callable[[DesignQuestion], list[float]]
    at: Callable[[DesignQuestion, float], DesignQuestion]
    here: Callable[[DesignQuestion], float] = lambda _: math.nan
    sets: Callable[[Evaluation, float], int] = lambda design, _: design.sets
    """How many sets a design releases at a place."""

    def __reduce__(self) -> tuple[Callable[[str], Path], tuple[str]]:
        """Another process has it by its key."""
        return _known, (self.key,)

    def title(self, question: DesignQuestion) -> str:
        """Return what the axis is called."""
        return self.label or question.true_parameter.title.lower()

    def sign(self, question: DesignQuestion) -> str:
        """Return the symbol of the number that is changed."""
        return self.symbol or question.true_parameter.symbol

    def smallest_error(self, question: DesignQuestion, value: float) -> float | None:
        """Return the smallest error that any release can add there, where that is known."""
        asked = self.at(question, value)
        if len(asked.promises) != 1:
            return None
        found = asked.data.least_error(*asked.promises[0])
        return found.lower_bound if found else None


def _epsilon_here(question: DesignQuestion) -> float:
    """The ε that with the δ of the question says all that its limits on protection say, if there is one."""

    def says(epsilon: float, delta: float, other: float, more: float) -> bool:
        return (epsilon <= other and delta <= more) or (delta == 0 and epsilon <= pure_within(other, more))

    asked = [one for one in question.promises if one[0] > 0 and one[1] == question.max_delta]
    return next((one[0] for one in asked if all(says(*one, *other) for other in question.promises)), math.nan)


def _epsilons(question: DesignQuestion) -> list[float]:
    here = _epsilon_here(question)
    if math.isnan(here):
        here = min((epsilon for epsilon, _ in question.promises if epsilon > 0), default=1.0)
    middle = min(max(here, FRONTIER_REACH * MAX_EPSILON.minimum), MAX_EPSILON.maximum)
    found = np.geomspace(
        middle / FRONTIER_REACH, min(middle * FRONTIER_REACH, MAX_EPSILON.maximum), FRONTIER_POINTS
    ).tolist()
    return sorted({float(f"{one:.6g}") for one in [*found, middle]})


def _at_epsilon(question: DesignQuestion, value: float) -> DesignQuestion:
    loss = EpsilonDeltaLimit(most_epsilon=value, most_delta=question.max_delta)
    return dataclasses.replace(question, protections=(loss,))


def _among(question: DesignQuestion, wanted: Iterable[float], *names: str) -> list[float]:
    """Those of the wanted numbers that all of these sizes can have; none where the data lack them."""
    fits = [one for one in question.data.parameters() if one.name in names]
    low, high = max((one.minimum for one in fits), default=1.0), min((one.maximum for one in fits), default=0.0)
    return sorted(float(one) for one in set(wanted) if low <= one <= high)


def _size(question: DesignQuestion, name: str) -> int:
    """Return a size of the data, 0 where they lack it."""
    return int(getattr(question.data, name, 0))


def _with(question: DesignQuestion, value: float, *names: str) -> DesignQuestion:
    changed: dict[str, Any] = dict.fromkeys(names, int(value))
    return dataclasses.replace(question, data=dataclasses.replace(question.data, **changed))


def _at_rows(question: DesignQuestion, value: float) -> DesignQuestion:
    """As many are released as there are, if that was so."""
    rows = _size(question, "n")
    return _with(question, value, *(name for name in ("n", "m") if _size(question, name) == rows))


PATHS: dict[str, Path] = {
    one.key: one
    for one in (
        # The promised ε, with the δ of the question: the frontier
        Path(
            key="epsilon",
            label="privacy loss ε, left is more private",
            symbol="ε",
            values=_epsilons,
            at=_at_epsilon,
            here=_epsilon_here,
        ),
        Path(
            key="rows",
            label="people n",
            symbol="n",
            at=_at_rows,
            values=lambda asked: _among(
                asked, [round(_size(asked, "n") * one) for one in CONFIDENTIAL_SHARES], "n", "m"
            ),
            here=lambda asked: _size(asked, "n"),
        ),
        Path(
            key="released",
            label="released rows m",
            symbol="m",
            at=lambda asked, value: _with(asked, value, "m"),
            values=lambda asked: _among(
                asked, [_size(asked, "m"), *(round(_size(asked, "n") * one) for one in RELEASED_SHARES)], "m"
            ),
            here=lambda asked: _size(asked, "m"),
        ),
        # A method that releases one set only stays where it is.
        Path(
            key="sets",
            label="synthetic sets M",
            symbol="M",
            values=lambda asked: sorted({float(one) for one in (*SETS_ALONG, *asked.sets)}),
            at=lambda asked, value: dataclasses.replace(asked, sets=(int(value),)),
            sets=lambda design, value: design.method.sets(int(value)),
        ),
        Path(
            key="truth",
            log=False,
            values=lambda asked: list(asked.truths),
            at=lambda asked, value: dataclasses.replace(asked, lowest=value, highest=value),
        ),
    )
}
"""Every axis, by key."""


def _known(key: str) -> Path:
    return PATHS[key]
