"""Axes of pictures, with round numbers as their ticks."""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.core.formatting import SUPERSCRIPTS, format_number
from dpviz.core.types import FloatArray


def axis(title: str, **rest: Any) -> dict[str, Any]:
    """Axis with a title."""
    return {"title": {"text": title}, "exponentformat": "power", **rest}


def whole_ticks(counts: int) -> dict[str, Any]:
    """Ticks of an axis of so many counts: few have one each, as plotly would else name halves."""
    return {"dtick": 1} if counts < 9 else {}


def axis_of_rows(names: Sequence[str], **rest: Any) -> dict[str, Any]:
    """Vertical axis with a name for each row, from the top down."""
    ticks = {"tickvals": list(range(len(names))), "ticktext": list(names), "range": [len(names) - 0.5, -0.5]}
    return axis("", **ticks, showgrid=False, zeroline=False, **rest)


MEASURES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("measures.toml").read_text("utf-8"))
"""By key what axes and pictures are called: of comparisons, of published figures, and along smallest priors."""

AXIS_INTERVALS = 4  # about how many an axis is cut into


def round_step(rough: float, digits: Sequence[float] = (1, 2, 5, 10), share: float = 1.0) -> float:
    """First of some digits times a power of ten that is at least about as large as a rough step.

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


def power_of_ten(exponent: int) -> str:
    """10 raised to `exponent`, as text."""
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPTS)


def decade_ticks(lowest: int, highest: int) -> tuple[list[int], list[str]]:
    """Exponents for about seven ticks of a base-10 logarithmic axis, with their texts.

    Parameters
    ----------
    lowest, highest : int
    """
    step = max(1, math.ceil((highest - lowest) / 7))
    exponents = list(range(highest, lowest - 1, -step))[::-1]
    return exponents, [power_of_ten(exponent) for exponent in exponents]


DECADE_TICKS = ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 1.5, 2, 3, 4, 5, 7), (1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5))


def log_scale(low: float, high: float) -> dict[str, Any]:
    """Logarithmic axis with as many ticks as stand well apart.

    Parameters
    ----------
    low, high : float
        Exponents of ten at its ends.
    """
    span = high - low
    if span > 2.2:
        exponents, texts = decade_ticks(math.floor(low), math.ceil(high))
        powers_of_ten = [10.0**exponent for exponent in exponents]
        return {"type": "log", "range": [low, high], "tickvals": powers_of_ten, "ticktext": texts}
    if span < 0.3:  # a factor of two: equal steps
        step = round_step((10.0**high - 10.0**low) / AXIS_INTERVALS)
        ticks = [place * step for place in range(math.ceil(10.0**low / step), math.floor(10.0**high / step) + 1)]
    else:  # the most ticks per decade that have an eighth of the axis each
        roomy = (digits for digits in DECADE_TICKS if np.diff(np.log10([*digits, 10])).min() >= span / 8)
        powers = range(math.floor(low), math.ceil(high) + 1)
        digits = next(roomy, DECADE_TICKS[-1])
        ticks = [digit * 10.0**power for power in powers for digit in digits]
    texts = [format_number(tick, 3) for tick in ticks]
    return {"type": "log", "range": [low, high], "tickvals": ticks, "ticktext": texts}


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
    ticks: tuple[float, ...] = ()  # in place of those of the scale
    has_plain_ticks: bool = False  # within four decades around 1: plain numbers and no powers of ten

    def position(self, value: float) -> float:
        """Place of a value in units of the axis: its exponent of ten if it is logarithmic."""
        return math.log10(value) if self.log else value

    def to_plotly(self, values: Sequence[FloatArray]) -> dict[str, Any]:
        """The axis on which these values stand."""
        shown = np.concatenate([*values, [math.nan]])
        shown = shown[np.isfinite(shown) & ((shown > 0) | (not self.log))]
        low = self.low if self.low is not None else float(shown.min()) if len(shown) else 0.1
        high = self.high if self.high is not None else float(shown.max()) if len(shown) else 1.0
        if self.log:
            high = max(high, 1.5 * low)
            pad = self.pad * (math.log10(high) - math.log10(low))
            scale = log_scale(math.log10(low) - pad, math.log10(high) + pad)
        else:
            pad = self.pad * (high - low) if high > low else 1.0
            scale = {"range": [low - pad if self.low is None else low, high + pad]}
        scale |= {"tickformat": ".0%"} if self.percent else {}
        if self.has_plain_ticks and max(map(abs, scale["range"])) <= 4:
            scale["ticktext"] = [format_number(tick, 3) for tick in scale["tickvals"]]
        if self.ticks:
            scale |= {"tickvals": [*self.ticks], "ticktext": [f"{tick:.3g}" for tick in self.ticks]}
        return axis(self.title, **scale)
