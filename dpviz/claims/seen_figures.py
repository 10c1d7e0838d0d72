"""What is seen in the figures that we draw, by which the sentences of the papers about them are judged."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from dpviz.claims.drawn_figures import FigureLine, read_figures
from dpviz.claims.published import Effort
from dpviz.claims.sentences import Judge, Judged
from dpviz.core.types import FloatArray

ERROR_MEASURE, COVERAGE_MEASURE, SPREAD_MEASURE = "root_mean_squared_error", "coverage", "standard_error"
MODIPS_KEYS = "modips", "modips_truncated"
NOMINAL, CLOSE_TO_LEVEL, ALIKE, NOTICED_BIAS, CHANCE_ERRORS = 0.95, 0.02, 0.1, 0.01, 3.0


class SeenPanel(NamedTuple):
    """One panel of a figure: its setting, and its lines by key."""

    setting: str
    lines: dict[str, FigureLine]

    def y(self, key: str) -> FloatArray:
        """The values of a line."""
        return self.lines[key].y

    def slack(self, *keys: str) -> FloatArray:
        """What chance explains of the difference of some lines."""
        return CHANCE_ERRORS * np.sqrt(sum(np.nan_to_num(self.lines[key].error) ** 2 for key in keys))


@cache
def seen(paper: str, place: str, measure: str, where: str = "") -> tuple[SeenPanel, ...]:
    """Return the panels of a measure of a figure, those whose settings begin with some words."""
    figure = next(one for one in read_figures() if (one.paper, one.place) == (paper, place))
    return tuple(
        SeenPanel(one.setting, {line.key: line for line in one.lines})
        for one in figure.panels
        if one.measure == measure and one.setting.startswith(where)
    )


def so_in(holds: Sequence[bool], of: str = "panels") -> Judged:
    """How many of some cases a sentence is right in."""
    return Judged(f"It is so in {sum(holds)} of {len(holds)} {of}.", holds=all(holds))


def figure_judge(found: Callable[[], Judged]) -> Judge:
    """Return a judge of what our lines alone say."""

    def judge(_: Effort) -> Judged:
        return found()

    return judge
