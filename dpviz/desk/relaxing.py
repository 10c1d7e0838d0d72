"""What would have to give way where no design keeps all limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from dpviz.desk.search import Assessed, Desk, stream_assessment
from dpviz.desk.seeking import seek_smallest


@dataclass(frozen=True)
class Relaxed:
    """What would let a design keep all limits: by limit the value that it needs, or an ε instead of the present one.

    What a simulation found is needed with two standard errors more; a value that is not known is NaN.
    """

    design: Assessed
    values: dict[str, float]
    epsilon: float | None


def stream_relaxations(desk: Desk, number: int = 3) -> Iterator[tuple[Relaxed, ...]]:
    """Yield, of the nearest designs where none keeps all limits, which limit would have to give way and how far.

    What is known comes as it is found: first nothing, and again after every ε that is tried. The ε is that of
    `seek_smallest`, of all sets together as it is given to the method.
    """
    found: list[Relaxed] = []
    yield ()
    for one in () if desk.keeping else desk.designs[:number]:
        broken = {
            limit.key: limit.measure.surely(one.figures[limit.key].measure)
            for limit in desk.question.limits
            if not one.verdicts[limit.key]
        }
        judge = partial(stream_assessment, desk.question, one.method, one.sets, one.rule)
        enough = yield from seek_smallest(judge, lambda: tuple(found))
        found.append(Relaxed(one, broken, None if enough is None else enough.setting))
        yield tuple(found)
