"""The first intervals of a study, or those of a class, one below the other: which hold the truth, and which miss it."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.core.formatting import format_number
from dpviz.core.types import BoolArray, FloatArray, IntArray

MISSED, COVERING = style.FAILED_COLOR, style.PALETTE["blue"]
_FARTHEST = -0.5, 1.5  # Where an interval is cut off that is longer than the picture shows, from 0 to 1
WORD_LINES, LINE_PX = 4, 18  # Lines of words that there is always room for, so that nothing moves, and their height
LONGEST_LINE = 48  # Characters, as many as a phone and a small projector show
WORDS_ABOVE = 32 + WORD_LINES * LINE_PX  # Pixels above the intervals, the number of the truth among them
THICK, OUTLINE = 1.6, 3.8  # Pixels of an interval, and of the ink around one that misses
NUMBER_ABOVE = 34  # Pixels above intervals without words: the number of the truth
NAMED_SEATS = 14  # Seats at most that are written beside their intervals


@dataclass(frozen=True)
class _Look:
    """How intervals of one kind are drawn, and what the hover and the saved numbers call one of them."""

    words: str
    color: str
    symbol: str = "circle"
    marked: float = 1.0  # how opaque its mark is
    outlined: bool = False


_HELD = _Look("holds the true share", COVERING)
_EMPTY = _Look("holds it, but runs from 0 to 100 %", "rgba(0, 114, 178, .42)", marked=0.0)
_MISS = _Look("misses it", MISSED, "x", outlined=True)
_NONE = _Look("no interval", style.GREY, "line-ns-open")
_OPEN = _Look("the truth is not known yet", style.PALETTE["slate"])


def caterpillar_chart(
    estimates: FloatArray,
    low: FloatArray,
    high: FloatArray,
    *,
    covered: BoolArray,
    vacuous: BoolArray,
    p: float,
    words: str = "",
    shown: int | None = None,
    of: str = "repetition",
    outlined: bool = True,
) -> style.Figure:
    """The first intervals of a study, one line each, those that miss the true share `p` outlined and crossed.

    `low` and `high` are the ends, infinite where an interval has none and NaN where there is no interval: its mark
    then stands at the estimate. `covered` says whether each holds p, and `vacuous` whether it does because it holds
    all of 0 to 1. `words` stand above them. Only the first `shown` are drawn, in the frame of all. Each is one `of`
    what the vertical axis counts. Where the order sets those that miss it apart, they need not be `outlined`.
    """
    without, drawn = np.isnan(low), np.arange(len(low)) < (len(low) if shown is None else shown)
    left = np.where(without, estimates, np.maximum(low, _FARTHEST[0]))
    right = np.where(without, estimates, np.minimum(high, _FARTHEST[1]))
    traces = []
    for some, look in zip(
        (vacuous, covered & ~vacuous, ~covered & ~without, without), (_EMPTY, _HELD, _MISS, _NONE), strict=True
    ):
        if (some & drawn).any():
            place = np.flatnonzero(some & drawn)
            traces += _intervals(
                place, left[place], right[place], look if outlined else replace(look, outlined=False), of
            )
    ends = float(np.min(left, initial=p)), float(np.max(right, initial=p))
    step = style.round_step(max(ends[1] - ends[0], 1e-3) / style.AXIS_INTERVALS, (1, 2, 5, 10), 0.5)
    reach = max(step * math.floor(ends[0] / step), 0.0), min(step * math.ceil(ends[1] / step), 1.0)
    pad = 0.03 * (reach[1] - reach[0]) or 0.01
    lines = [part for line in words.split("<br>") for part in _wrapped(line)]
    left_above = {"x": 0, "xref": "x domain", "xanchor": "left", "xshift": -46, "align": "left"}
    said = style.label("<br>".join(lines), **left_above, y=1, yref="y domain", yshift=22)
    number = style.label_upright(f"true share {format_number(100 * p, 9)} %", p, side=style.side_at(p))
    return style.build(
        traces,
        x=style.axis("share of yes", range=[reach[0] - pad, reach[1] + pad], tickformat="~%", zeroline=False),
        y=style.axis(of, range=[len(low) + 1, 0], tickvals=[1, len(low)], showgrid=False, zeroline=False),
        uirevision="caterpillar",
        shapes=[style.truth(p)],
        annotations=[{**said, "yanchor": "bottom", "font": {"size": 13}}, number],
        margin={"l": 56, "r": 16, "t": WORDS_ABOVE + LINE_PX * max(len(lines) - WORD_LINES, 0), "b": 52},
        hovermode="closest",
        showlegend=False,
    )


def _wrapped(html: str) -> list[str]:
    """Lines of at most `LONGEST_LINE` characters, tags not counted."""
    lines = [""]
    for word in html.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if len(re.sub(r"<[^>]+>", "", longer)) > LONGEST_LINE:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def class_chart(
    low: FloatArray, high: FloatArray, *, seats: Sequence[int], covered: BoolArray, p: float | None, rows: int
) -> style.Figure:
    """The intervals of a class by seat, as in `caterpillar_chart`, in a frame for so many `rows`, from 0 to 100 %.

    Where `p` is None the truth is not shown, nor which intervals hold it. All have ends.
    """
    left, right = np.maximum(low, 0.0), np.minimum(high, 1.0)
    every = np.ones(len(low), dtype=bool)
    looks = ((every, _OPEN),) if p is None else ((covered, _HELD), (~covered, _MISS))
    names = [f"seat {seat}" for seat in seats]
    traces = [
        trace
        for some, look in looks
        if some.any()
        for trace in _intervals(np.flatnonzero(some), left[some], right[some], look, "seat", names)
    ]
    step = math.ceil(max(rows, 1) / NAMED_SEATS)  # a class that has not come yet has no rows
    named = [*range(0, len(seats), step)]
    ticks = {"tickvals": [1 + one for one in named], "ticktext": [str(seats[one]) for one in named]}
    return style.build(
        traces,
        x=style.axis("share of yes", range=[-0.01, 1.01], tickformat="~%", zeroline=False),
        y=style.axis("seat", range=[rows + 1, 0], showgrid=False, zeroline=False, **ticks),
        uirevision="class",
        shapes=[] if p is None else [style.truth(p)],
        annotations=[]
        if p is None
        else [style.label_upright(f"true share {format_number(100 * p, 3)} %", p, side=style.side_at(p))],
        margin={"l": 50, "r": 16, "t": NUMBER_ABOVE, "b": 52},
        hovermode="closest",
        showlegend=False,
    )


def _intervals(
    place: IntArray, left: FloatArray, right: FloatArray, look: _Look, of: str, names: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return the trace of some intervals, on that of the ink around them where they are outlined."""
    middle = (left + right) / 2

    def bars(color: str, thick: float, size: float, **rest: Any) -> dict[str, Any]:
        bar = style.error_bar(right - middle, color, thickness=thick, width=0)
        marker = {"size": size, "color": color, "symbol": look.symbol, "opacity": look.marked}
        return style.scatter("markers", middle, 1 + place, hover, marker=marker, error_x=bar, **rest)

    called = f"{of} %{{y}}: " if names is None else ""
    hover = f"{called}%{{customdata}}<br>{look.words}<extra></extra>"
    ends = zip(100 * np.maximum(left, 0.0), 100 * np.minimum(right, 1.0), strict=True)
    told = [f"{start:.3g} % to {end:.3g} %" if start < end else f"{start:.3g} %" for start, end in ends]
    if names is not None:
        told = [f"{names[one]}: {words}" for one, words in zip(place.tolist(), told, strict=True)]
    below = [bars(style.TRUTH_COLOR, OUTLINE, 5.5, hoverinfo="skip", meta="")] if look.outlined else []
    return [*below, bars(look.color, THICK, 3.2, meta=look.words, customdata=told)]
