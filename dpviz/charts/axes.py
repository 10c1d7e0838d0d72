"""Axes of pictures, with round numbers as their ticks."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.core.formatting import SUPERSCRIPTS, format_number
from dpviz.core.types import FloatArray

MEASURES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("measures.toml").read_text("utf-8"))
"""By key what axes and pictures are called: of comparisons, of published figures, and along smallest priors."""

AXIS_INTERVALS = 4  # about how many an axis is cut into
DECADE_TICKS = ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 4, 5, 7), (1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5))


def axis(title: str, **rest: Any) -> dict[str, Any]:
    """Axis with a title."""
    return {"title": {"text": title}, "exponentformat": "power", **rest}


def axis_of_rows(names: Sequence[str]) -> dict[str, Any]:
    """Vertical axis with a name for each row, from the top down, and as much room as the names need."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": list(names), "range": [len(names) - 0.5, -0.5]}
    return axis("", **ticks, showgrid=False, zeroline=False, automargin=True)


def rows_height(rows: int) -> int:
    """Pixels of a picture of so many rows."""
    return 150 + 36 * rows


def round_step(rough: float, digits: Sequence[float] = (1, 2, 5, 10), share: float = 1.0) -> float:
    """Smallest digit times a power of ten that is at least `share` times a rough step.

    Parameters
    ----------
    digits : sequence of float, optional
        From the smallest.
    share : float, optional
        Of the rough step that is enough.

    >>> round_step(0.25), round_step(30.0)
    (0.5, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return next(digit * power for digit in digits if digit * power >= rough * share)


def decade_ticks(lowest: int, highest: int) -> dict[int, str]:
    """Exponents for about seven ticks of a base-10 logarithmic scale, with the powers of ten as texts.

    Parameters
    ----------
    lowest, highest : int
    """
    exponents = range(highest, lowest - 1, -max(1, math.ceil((highest - lowest) / 7)))
    return {exponent: "10" + str(exponent).translate(SUPERSCRIPTS) if exponent else "1" for exponent in exponents[::-1]}


def log_scale(low: float, high: float) -> dict[str, Any]:
    """Logarithmic axis with as many ticks as stand well apart: plain numbers within four decades around 1.

    Parameters
    ----------
    low, high : float
        Exponents of ten at its ends.
    """
    span, texts = high - low, list[str]()
    if span > 2.2:
        decades = decade_ticks(math.floor(low), math.ceil(high))
        ticks = [10.0**exponent for exponent in decades]
        texts = [] if max(-low, high) <= 4 else [*decades.values()]
    elif span < 0.3:  # a factor of two: equal steps
        step = round_step((10.0**high - 10.0**low) / AXIS_INTERVALS)
        ticks = [place * step for place in range(math.ceil(10.0**low / step), math.floor(10.0**high / step) + 1)]
    else:  # the most ticks per decade that have an eighth of the axis each
        roomy = (digits for digits in DECADE_TICKS if np.diff(np.log10([*digits, 10])).min() >= span / 8)
        digits, powers = next(roomy, DECADE_TICKS[-1]), range(math.floor(low), math.ceil(high) + 1)
        ticks = [digit * 10.0**power for power in powers for digit in digits]
    ticktext = texts or [format_number(tick, 3) for tick in ticks]
    return {"type": "log", "range": [low, high], "tickvals": ticks, "ticktext": ticktext}


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis, whose ends are those of its values, with some room, unless they are given."""

    title: str
    symbol: str = ""  # what the hover calls its values
    log: bool = False
    percent: bool = False
    low: float | None = None
    high: float | None = None
    pad: float = 0.03  # room beyond the ends as a share of their distance
    digits: str = ".6g"  # format of its values in the hover
    nominal: float | None = None  # a promised value
    look: Mapping[str, Any] = field(default_factory=dict)  # further attributes of plotly's axis

    def position(self, value: float) -> float:
        """Place of a value in units of the axis: its exponent of ten if it is logarithmic."""
        return math.log10(value) if self.log else value

    def to_plotly(self, values: Sequence[FloatArray]) -> dict[str, Any]:
        """The axis on which these values stand."""
        shown = np.concatenate([*values, [math.nan]])
        shown = shown[np.isfinite(shown) & ((shown > 0) | (not self.log))]
        low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.1, 1.0)
        low, high = low if self.low is None else self.low, high if self.high is None else self.high
        if self.log:
            ends = math.log10(low), math.log10(max(high, 1.5 * low))
            pad = self.pad * (ends[1] - ends[0])
            scale = log_scale(ends[0] - pad, ends[1] + pad)
        else:
            pad = self.pad * (high - low) if high > low else 1.0
            scale = {"range": [low - pad if self.low is None else low, high + pad]}
        scale |= {"tickformat": ".0%"} if self.percent else {}
        return axis(self.title, **scale | dict(self.look))
