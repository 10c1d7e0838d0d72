"""What the page computes at the next stops of a slider."""

import dataclasses
from collections.abc import Iterator
from functools import partial

from dpviz.designs import Design
from dpviz.priors.curves import Axis
from pages.components.ahead import Step
from pages.minimum_priors.answer import compute_answer
from pages.minimum_priors.audited import compute_audit
from pages.minimum_priors.controls import PAGE, Asked
from pages.minimum_priors.curves import complete_curves


def compute_ahead(asked: Asked, axis: Axis) -> None:
    """The answer, the audit and the curves at every stop; not where several sets take their time."""

    def steps(design: Design) -> Iterator[Step]:
        there = dataclasses.replace(asked, design=design)
        yield partial(compute_answer, there)
        yield partial(compute_audit, there)
        if asked.kind.in_step:
            yield partial(complete_curves, there, axis)

    if asked.design.sets == 1:
        PAGE.compute_ahead(asked.design, steps, axis, asked.kind, asked.spread, asked.m_is_n)
