"""Pictures of lessons and classes: people as dots, bars of rows, a reader's guess, and how a class guesses.

Orange said yes, blue said no, striped is invented.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import Axis, axis, axis_of_rows, log_scale
from dpviz.charts.lines import Line, Mark, line_chart
from dpviz.charts.theme import ReferenceLine
from dpviz.core.formatting import format_number, format_percent
from dpviz.core.types import FloatArray
from dpviz.privacy.odds_text import belief_text

GUESS_COLOR = theme.PALETTE["other"]
STRIPES = {"shape": "/", "fgcolor": "rgba(255,255,255,.8)", "size": 7, "solidity": 0.45, "fillmode": "overlay"}


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
    """A bar of rows, or of a length of another kind, with a text at its end."""

    name: str
    text: str
    yes: float = 0.0  # rows that said yes
    no: float = 0.0
    invented: float = 0.0  # half of them yes
    plain: float = 0.0  # a length of another kind, in a color of its own
    color: str = theme.GREY

    @property
    def length(self) -> float:
        """Length of all its parts."""
        return self.yes + self.no + self.invented + self.plain


def people_chart(tables: Sequence[DotTable], columns: int = 1) -> theme.Figure:
    """Tables of dots; the name of one with a single line of dots stands left of it, else above.

    Parameters
    ----------
    tables : sequence of DotTable
    columns : int, optional
        Of tables side by side.
    """
    traces, labels = [], []
    width = max(table.across for table in tables) + (1.5 if columns > 1 else 0)
    height = max(math.ceil(table.number / table.across) for table in tables)
    is_flat = height == 1
    step = 1.35 if is_flat else height + 2.2
    for place, table in enumerate(tables):
        left, top = place % columns * width, -(place // columns) * step
        number = np.arange(table.number)
        x, y = left + number % table.across, top - number // table.across
        is_yes = (number < table.yes).tolist()
        colors = [theme.YES_COLOR if yes else theme.NO_COLOR for yes in is_yes]
        marker = theme.dot_marker(18 if is_flat else 11, "", 0) | {"color": colors}
        hover, answers = f"{table.name}: %{{customdata}}<extra></extra>", ["yes" if yes else "no" for yes in is_yes]
        traces.append(theme.scatter("markers", x, y, hover, marker=marker, customdata=answers, name=table.name))
        if table.ringed is not None:
            ring = {"size": 27 if is_flat else 17, "symbol": "circle-open", "color": theme.TRUTH_COLOR}
            point = [float(x[table.ringed])], [float(y[table.ringed])]
            traces.append(theme.scatter("markers", *point, "the ringed person<extra></extra>", marker=ring))
        at_left = {"x": left - 0.8, "y": top, "xanchor": "right", "yanchor": "middle"}
        above = {"x": left - 0.5, "y": top + 0.9, "xanchor": "left", "yanchor": "bottom"}
        labels.append(theme.label(table.name, 13, **(at_left if is_flat else above)))
    bare = {"visible": False, "fixedrange": True}
    lines, shown_columns = math.ceil(len(tables) / columns), min(len(tables), columns)
    right = shown_columns * width - (0 if columns > 1 else 0.2)
    bottom, top = -(lines - 1) * step - height + 0.2, 0.9 if is_flat else 2.4
    axes = bare | {"range": [-9.5 if is_flat else -1.0, right]}, bare | {"range": [bottom, top], "scaleanchor": "x"}
    layout: dict[str, Any] = {"margin": {"l": 6, "r": 6, "t": 30, "b": 6}, "showlegend": False, "dragmode": False}
    return theme.figure(traces, *axes, "people", labels=labels, **layout)


def bars_chart(
    bars: Sequence[Bar], title: str, *, log: bool = False, percent: bool = False, low: float = 1.0,
    even: float | None = None, longest: float | None = None,
) -> theme.Figure:  # fmt: skip
    """Bars one below the other with their numbers.

    Parameters
    ----------
    bars : sequence of Bar
    log, percent : bool, optional
        Whether the axis is logarithmic, and whether it is of shares; its ticks are plain numbers in any case.
    low : float, optional
        Where a logarithmic axis and its bars begin.
    even, longest : float, optional
        Place of a thin line, where a bar would say nothing, and the longest bar that a slider can make.
    """
    names = ["<br>".join(wrap(bar.name, 15, break_long_words=False, break_on_hyphens=False)) for bar in bars]
    letters = max(len(bar.text) for bar in bars)
    if longest is None:
        longest = max(bar.length for bar in bars)
    else:
        letters = max(letters, 9)  # for the numbers of bars that a slider moves
    room = 1.12 + 0.034 * letters  # for the numbers at the ends of bars
    if log:
        first, last = math.log10(low), math.log10(longest)
        scale = log_scale(first, first + room * (last - first))
        ticks = [tick for tick in scale["tickvals"] if tick <= 1 or not percent]
        texts = [format_percent(tick, 3) if percent else format_number(tick, 3) for tick in ticks]
        scale |= {"tickvals": ticks, "ticktext": texts}
    else:
        scale = {"range": [0, room * longest], "tickformat": ",~r"}
        if percent:  # no tick in the room beyond 100 %
            scale |= {"tickformat": ".0%", "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    longest_name = max(len(line) for name in names for line in name.split("<br>"))
    layout: dict[str, Any] = {"barmode": "stack", "showlegend": False, "dragmode": False}
    layout["margin"] = {"l": round(14 + 7.3 * longest_name), "r": 12, "t": 30, "b": 52}
    layout["labels"] = [_bar_label(bar, place, log) for place, bar in enumerate(bars)]
    layout["references"] = [] if even is None else [ReferenceLine(x=even)]
    traces, x = _bar_traces(bars, title, low if log else None), axis(title, zeroline=False, **scale)
    return theme.figure(traces, x, axis_of_rows(names), f"bars {title}", **layout)


def _bar_traces(bars: Sequence[Bar], title: str, low: float | None) -> list[dict[str, Any]]:
    """The parts of bars by kind; on a logarithmic axis they begin at `low`."""
    striped = {"pattern": STRIPES}
    kinds: list[tuple[str, list[float], dict[str, Any]]] = [
        ("yes", [bar.yes for bar in bars], {"color": theme.YES_COLOR}),
        ("invented, yes", [bar.invented / 2 for bar in bars], {"color": theme.YES_COLOR, **striped}),
        ("invented, no", [bar.invented / 2 for bar in bars], {"color": theme.NO_COLOR, **striped}),
        ("no", [bar.no for bar in bars], {"color": theme.NO_COLOR}),
        (title, [bar.plain for bar in bars], {"color": [bar.color for bar in bars]}),
    ]
    traces = []
    for name, lengths, marker in kinds:
        if any(lengths):
            shown = {"x": lengths} if low is None else {"x": [length - low for length in lengths], "base": low}
            trace = {"type": "bar", "orientation": "h", "y": list(range(len(bars))), "customdata": lengths, **shown}
            hover = f"%{{y}}: %{{customdata:.6g}}<extra>{name}</extra>"
            traces.append({**trace, "name": name, "marker": marker, "width": 0.62, "hovertemplate": hover})
    return traces


def _bar_label(bar: Bar, place: int, log: bool) -> dict[str, Any]:
    """The number at the end of a bar."""
    end = {"x": math.log10(bar.length) if log else bar.length, "xanchor": "left", "xshift": 6}
    return theme.label(f"<b>{bar.text}</b>", 13, **end, y=place, yanchor="middle")


def with_guess(
    figure: theme.Figure, text: str, *, x: float | None = None, y: float | None = None, low: bool = False
) -> theme.Figure:
    """Picture with a reader's guess: a dashed line at `x` or at `y`, or a mark at the point of both.

    Parameters
    ----------
    x, y : float, optional
        A guess beyond the end of an axis stands at that end.
    low : bool, optional
        Whether the words of an upright line stand at its lower end.
    """
    spec = figure.to_dict()
    layout, traces = spec["layout"], list(spec["data"])
    shapes, labels = [*layout["shapes"]], [*layout["annotations"]]
    words: dict[str, Any] = theme.label(f"<b>{text}</b>", 13)
    words["font"]["shadow"] = "auto"  # a line that the words cross stays in sight, and they readable
    look: dict[str, Any] = {"color": GUESS_COLOR, "width": 2.4, "dash": "dash", "layer": "above"}
    if x is not None:
        x, place, share = _inside(layout["xaxis"], x)
        look_x = {"xanchor": "right", "xshift": -8} if share >= 0.55 else {"xanchor": "left", "xshift": 8}
        words |= look_x | {"x": place}
    else:
        words |= {"x": 0.995, "xref": "x domain", "xanchor": "right"}
    if y is not None:
        y, place, share = _inside(layout["yaxis"], y)
        words |= {"y": place, "yanchor": "top" if share >= 0.85 else "bottom"}
    else:
        words |= {"yref": "y domain"} | ({"y": 0.03, "yanchor": "bottom"} if low else {"y": 0.97, "yanchor": "top"})
    if x is not None and y is not None:
        marker = theme.dot_marker(13, GUESS_COLOR, symbol="diamond")
        traces.append(theme.mark(x, y, f"{text}<extra></extra>", "markers", marker=marker, name=text))
    else:
        shapes.append(ReferenceLine(x=x, y=y, **look).shape)
    return theme.Figure(traces, {**layout, "shapes": shapes, "annotations": [*labels, words]})


def _inside(axis: dict[str, Any], value: float) -> tuple[float, float, float]:
    """A value within the ends of an axis, its place in units of the axis, and the share of its length."""
    is_log = axis.get("type") == "log"
    first, last = axis["range"]
    place = min(max(math.log10(value) if is_log else value, min(first, last)), max(first, last))
    return 10**place if is_log else place, place, (place - first) / (last - first)


def side_by_side(left: theme.Figure, right: theme.Figure) -> theme.Figure:
    """Two pictures with the same vertical axis side by side in one, to the same scale.

    Parameters
    ----------
    left, right : Figure
    """
    first, second = left.to_dict(), right.to_dict()
    layout, added = first["layout"], second["layout"]
    ends = zip(layout["xaxis"]["range"], added["xaxis"]["range"], strict=True)
    low, high = next(ends), next(ends)
    reach, moved = {"range": [min(low), max(high)]}, {"x": "x2", "x domain": "x2 domain"}

    def across(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**part, "xref": moved[part.get("xref", "x")]} for part in parts]

    return theme.Figure(
        [*first["data"], *({**trace, "xaxis": "x2"} for trace in second["data"])],
        {
            **layout,
            "xaxis": {**layout["xaxis"], **reach, "domain": [0, 0.45]},
            "xaxis2": {**added["xaxis"], **reach, "domain": [0.55, 1], "anchor": "y"},
            "shapes": [*layout["shapes"], *across(added["shapes"])],
            "annotations": [*layout["annotations"], *across(added["annotations"])],
        },
    )


def guesses_chart(
    so_far: FloatArray, interval: tuple[float, float], *, optimum: float, promised: float, n_guesses: int
) -> theme.Figure:
    """Share of right guesses of a class.

    Parameters
    ----------
    so_far, interval : ndarray and tuple of float
        Share after each guess, and the interval of 95 % around the last.
    optimum, promised : float
        Share of the best guesser, and what ε allows.
    n_guesses : int
        Room for guesses.
    """
    right, color = max(n_guesses, len(so_far), 10), theme.SIMULATED_COLOR
    places, stroke = np.arange(1.0, len(so_far) + 1), theme.Stroke("solid", 2.5)
    best = f"best guesser {belief_text(optimum)}"
    lines = [
        Line(name="the class", x=places, y=so_far, basis="so far", color=color, stroke=stroke),
        Line(name=best, x=np.array([0, right]), y=np.full(2, optimum), color=theme.EXACT_COLOR),
    ]
    marks = []
    if len(so_far):
        marks.append(Mark(x=len(so_far), y=float(so_far[-1]), color=color, name="the class", ends=interval))
    allowed = ReferenceLine(text=f"ε allows {belief_text(promised)}", y=promised, dash="dash")
    x = Axis(title="guesses so far", symbol="guesses", low=0, high=right, pad=0.02)
    y = Axis(title="share of right guesses", percent=True, low=0.0, high=1.02, pad=0, digits=".1%")
    references = [allowed, ReferenceLine(text="a coin 50 %", y=0.5)]
    return line_chart(lines, x, y, key="guesses", marks=marks, references=references)
