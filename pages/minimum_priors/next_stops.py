"""What the page computes at the next stops of a slider, a step each."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from dpviz.priors.curves import Axis
from pages.components.ahead import AHEAD, Step
from pages.minimum_priors.answer import compute_answer
from pages.minimum_priors.audited import compute_audit
from pages.minimum_priors.controls import PAGE, PREFIX, Asked
from pages.minimum_priors.curves import complete_curves


def compute_ahead(asked: Asked, axis: Axis) -> None:
    """The answer, the audit and the curves at every stop; not where several sets take their time."""
    stays, stops = PAGE.next_stops(asked.design)
    if stops and asked.design.sets == 1:
        AHEAD.follow((PREFIX, axis, asked.kind, asked.spread, asked.m_is_n, stays), _steps(asked, stops, axis))


def _steps(asked: Asked, stops: Iterable[Mapping[str, Any]], axis: Axis) -> Iterator[Step]:
    for stop in stops:
        with suppress(ValueError):
            there = dataclasses.replace(asked, design=dataclasses.replace(asked.design, **stop))
            yield partial(compute_answer, there)
            yield partial(compute_audit, there)
            if asked.kind.in_step:
                yield partial(complete_curves, there, axis)
