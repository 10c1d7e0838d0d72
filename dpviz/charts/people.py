"""People and tables as dots, and rows counted in bars: orange said yes, blue said no, striped is invented."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.core.formatting import format_number
from dpviz.core.formatting import format_percent as in_percent

STRIPES = {"shape": "/", "fgcolor": "rgba(255,255,255,.8)", "size": 7, "solidity": 0.45, "fillmode": "overlay"}
_YOURS = " ← your guess"
_GUESSED = f"<b>{_YOURS}</b>"
_LETTER = 7.3  # Pixels of a letter of the names left of bars
_LONGEST_LINE = 15  # Letters of them in a line
_ROOM, _ROOM_OF_LETTER = 1.12, 0.034  # Times the longest bar that the axis is long, and what each letter behind it adds


@dataclass(frozen=True, kw_only=True)
class DotTable:
    """People, or rows of a table, as dots: so many of a `number` said `yes`; the dot at `ringed` has a ring."""

    name: str
    yes: int
    number: int
    across: int
    ringed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar: how many rows said `yes` and `no` and were `invented` (half of them yes), or a `plain` length; `text`
    stands at its end.

    A plain bar has its own `color`; one that is `guessed` says so.
    """

    name: str
    text: str
    yes: float = 0.0
    no: float = 0.0
    invented: float = 0.0
    plain: float = 0.0
    color: str = style.GREY
    guessed: bool = False

    @property
    def length(self) -> float:
        """Return the length of all its parts."""
        return self.yes + self.no + self.invented + self.plain


def people_chart(tables: Sequence[DotTable], columns: int = 1) -> style.Figure:
    """Tables of dots in so many `columns`; the name of one with a single line of dots stands left of it, else above."""
    traces, notes = [], []
    wide = max(one.across for one in tables) + (1.5 if columns > 1 else 0)
    high = max(-(-one.number // one.across) for one in tables)
    flat = high == 1
    step = 1.35 if flat else high + 2.2
    for place, one in enumerate(tables):
        left, top = place % columns * wide, -(place // columns) * step
        number = np.arange(one.number)
        x, y = left + number % one.across, top - number // one.across
        said = np.where(number < one.yes, "yes", "no")
        marker = style.dot_marker(18 if flat else 11, "", 0) | {
            "color": [style.YES_COLOR if yes else style.NO_COLOR for yes in number < one.yes]
        }
        hover = f"{one.name}: %{{customdata}}<extra></extra>"
        traces.append(style.scatter("markers", x, y, hover, marker=marker, customdata=said, name=one.name))
        if one.ringed is not None:
            ring = {"size": 27 if flat else 17, "symbol": "circle-open", "color": style.TRUTH_COLOR}
            at = [float(x[one.ringed])], [float(y[one.ringed])]
            traces.append(style.scatter("markers", *at, "the ringed person<extra></extra>", marker=ring))
        beside = {"x": left - 0.8, "y": top, "xanchor": "right", "yanchor": "middle"}
        above = {"x": left - 0.5, "y": top + 0.9, "xanchor": "left", "yanchor": "bottom"}
        notes.append(style.label(one.name, **(beside if flat else above)) | {"font": {"size": 13}})
    bare = {"visible": False, "fixedrange": True}
    lines = -(-len(tables) // columns)
    reach = [-9.5 if flat else -1.0, min(len(tables), columns) * wide - (0 if columns > 1 else 0.2)]
    return style.build(
        traces,
        x=bare | {"range": reach},
        y=bare | {"range": [-(lines - 1) * step - high + 0.2, 0.9 if flat else 2.4], "scaleanchor": "x"},
        uirevision="people",
        annotations=notes,
        margin={"l": 6, "r": 6, "t": 30, "b": 6},
        showlegend=False,
        dragmode=False,
    )


def bars_chart(
    bars: Sequence[Bar],
    title: str,
    *,
    log: bool = False,
    percent: bool = False,
    low: float = 1.0,
    even: float | None = None,
) -> style.Figure:
    """Bars one below the other with their numbers; a logarithmic axis begins at `low`, which is where they begin.

    Its ticks are plain numbers, or shares in `percent`, as the bars have them: nobody need know powers of ten here.

    A thin rule stands at `even`, where a bar would say nothing.
    """
    names = [_in_lines(one.name) for one in bars]
    places = list(range(len(bars)))
    kinds: list[tuple[str, list[float], dict[str, Any]]] = [
        ("yes", [one.yes for one in bars], {"color": style.YES_COLOR}),
        ("invented, yes", [one.invented / 2 for one in bars], {"color": style.YES_COLOR, "pattern": STRIPES}),
        ("invented, no", [one.invented / 2 for one in bars], {"color": style.NO_COLOR, "pattern": STRIPES}),
        ("no", [one.no for one in bars], {"color": style.NO_COLOR}),
        ("", [one.plain for one in bars], {"color": [one.color for one in bars]}),
    ]
    base: dict[str, Any] = {"base": low} if log else {}
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "x": [one - low for one in lengths] if log else lengths,
            "y": places,
            "customdata": lengths,
            "name": name or title,
            "marker": look,
            "width": 0.62,
            **base,
            "hovertemplate": f"%{{y}}: %{{customdata:.6g}}<extra>{name or title}</extra>",
        }
        for name, lengths, look in kinds
        if any(lengths)
    ]
    longest = max(one.length for one in bars)
    room = _ROOM + _ROOM_OF_LETTER * max(len(one.text) + len(_YOURS) * one.guessed for one in bars)
    ends = [one.length for one in bars]
    notes = [
        style.label(
            f"<b>{one.text}</b>{_GUESSED if one.guessed else ''}",
            x=math.log10(end) if log else end,
            y=place,
            xanchor="left",
            xshift=6,
            yanchor="middle",
        )
        | {"font": {"size": 13}}
        for place, (one, end) in enumerate(zip(bars, ends, strict=True))
    ]
    if log:
        first, last = math.log10(low), math.log10(longest)
        scale = style.log_scale(first, first + room * (last - first))
        told = in_percent if percent else format_number
        ticks = [one for one in scale["tickvals"] if one <= 1 or not percent]
        axis = style.axis(title, **scale | {"tickvals": ticks, "ticktext": [told(one, 3) for one in ticks]})
    else:
        axis = style.axis(title, range=[0, room * longest], tickformat=".0%" if percent else ",~r")
    left = 14 + _LETTER * max(max(map(len, one.split("<br>"))) for one in names)
    return style.build(
        traces,
        x=axis | {"zeroline": False},
        y=style.axis_of_rows(names),
        uirevision=f"bars {title}",
        annotations=notes,
        shapes=[] if even is None else [style.rule(x=even)],
        barmode="stack",
        margin={"l": round(left), "r": 12, "t": 30, "b": 52},
        showlegend=False,
        dragmode=False,
    )


def _in_lines(name: str) -> str:
    """A name in lines of few letters."""
    lines = [""]
    for word in name.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= _LONGEST_LINE:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "<br>".join(lines)
