"""What would have to give way where no design keeps all limits, and which analysis would rescue one."""

from collections.abc import Iterator
from dataclasses import dataclass

from dpviz.desk.candidate import Evaluation
from dpviz.desk.search import SearchResult, assess
from dpviz.desk.seeking import seek_smallest
from dpviz.desk.steps import telling


@dataclass(frozen=True)
class Relaxed:
    """What would let a design keep all limits: by limit the value that it needs, or an ε instead of the present one.

    What a simulation found is needed with two standard errors more; a value that is not known is NaN. `analyzed` is the
    design with an analysis that knows how it was made and keeps all limits, where coverage alone breaks its limit.
    """

    design: Evaluation
    values: dict[str, float]
    epsilon: float | None
    analyzed: Evaluation | None = None


def stream_relaxations(desk: SearchResult, number: int = 3) -> Iterator[tuple[Relaxed, ...]]:
    """Yield, of the nearest designs where none keeps all limits, which limit would have to give way and how far.

    What is known comes as it is found: first nothing, and again after every ε that is tried. The ε is that of
    `seek_smallest`, of all sets together as it is given to the method.
    """
    found: list[Relaxed] = []
    yield ()
    for one in () if desk.feasible else desk.designs[:number]:
        broken = {
            limit.key: limit.measure.certain_limit(one.worst_cases[limit.key].measure)
            for limit in desk.question.limits
            if not one.verdicts[limit.key]
        }
        analyzed = rescued(one) if [*broken] == ["coverage"] else None
        enough = yield from telling(seek_smallest(one.tried), lambda: tuple(found))
        found.append(Relaxed(one, broken, None if enough is None else enough.epsilon, analyzed))
        yield tuple(found)


def rescued(design: Evaluation) -> Evaluation | None:
    """Return a design with the first further analysis that knows how it was made and keeps all limits; None if none."""
    asked = design.question
    others = [one for key, one in asked.data.rules.items() if one.is_noise_aware and key not in asked.rules]
    found = (assess(asked, design.method, design.sets, one.key, design.epsilon) for one in others)
    return next((one for one in found if one.meets_limits), None)
