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
from dpviz.charts.lines import Axis, Line, Mark, axis, axis_of_rows, line_chart, log_scale
from dpviz.charts.theme import Look, ReferenceLine
from dpviz.core.formatting import format_percent
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


def people_chart(tables: Sequence[DotTable], columns: int = 1) -> theme.Figure:
    """Tables of dots; the name of one with a single line of dots stands left of it, else above.

    Parameters
    ----------
    columns : int, optional
        Of tables side by side.
    """
    traces, labels = [], []
    width = max(table.across for table in tables) + (1.5 if columns > 1 else 0)
    height = max(math.ceil(table.number / table.across) for table in tables)
    is_flat = height == 1
    step, size, ring_size = (1.35, 18, 27) if is_flat else (height + 2.2, 11, 17)
    for place, table in enumerate(tables):
        left, top = place % columns * width, -(place // columns) * step
        number = np.arange(table.number)
        x, y, is_yes = left + number % table.across, top - number // table.across, number < table.yes
        marker = theme.dot_marker(size, "", 0) | {"color": np.where(is_yes, theme.YES_COLOR, theme.NO_COLOR).tolist()}
        look = {"marker": marker, "customdata": np.where(is_yes, "yes", "no").tolist(), "name": table.name}
        traces.append(theme.scatter("markers", x, y, f"{table.name}: %{{customdata}}", **look))
        if table.ringed is not None:
            ring = {"size": ring_size, "symbol": "circle-open", "color": theme.TRUTH_COLOR}
            point = [float(x[table.ringed])], [float(y[table.ringed])]
            traces.append(theme.scatter("markers", *point, "the ringed person", marker=ring))
        at_left = {"x": left - 0.8, "y": top, "xanchor": "right", "yanchor": "middle"}
        above = {"x": left - 0.5, "y": top + 0.9, "xanchor": "left", "yanchor": "bottom"}
        labels.append(theme.label(table.name, 13, **(at_left if is_flat else above)))
    bare = {"visible": False, "fixedrange": True}
    right = min(len(tables), columns) * width - (0 if columns > 1 else 0.2)
    bottom = -(math.ceil(len(tables) / columns) - 1) * step - height + 0.2
    across = {**bare, "range": [-9.5 if is_flat else -1.0, right]}
    down = {**bare, "range": [bottom, 0.9 if is_flat else 2.4], "scaleanchor": "x"}
    return theme.figure(traces, across, down, "people", labels=labels, margin=(6, 6, 30, 6), legend="", dragmode=False)


def bars_chart(
    bars: Sequence[Bar], title: str, *, percent: bool = False, longest: float | None = None,
    base: float | None = None, ends: tuple[float, float] | None = None, column: bool = False,
) -> theme.Figure:  # fmt: skip
    """Bars one below the other with their numbers.

    Parameters
    ----------
    percent : bool, optional
        Whether the axis is of shares; its ticks are plain numbers in any case.
    longest : float, optional
        Longest bar that a slider can make.
    base, ends : float and tuple, optional
        Where the bars of a logarithmic axis begin, and the exponents of ten at its ends; by default it begins there.
    column : bool, optional
        Whether the numbers stand in a column at the right, clear of a line across the bars.
    """
    names = ["<br>".join(wrap(bar.name, 15, break_long_words=False, break_on_hyphens=False)) for bar in bars]
    letters = max([*(len(bar.text) for bar in bars), 0 if longest is None else 10])  # 10 for texts that change
    room = 1.12 + 0.034 * letters  # for the numbers at the ends of bars
    totals = [bar.yes + bar.no + bar.invented + bar.plain for bar in bars]
    longest = max(totals) if longest is None else longest
    if base is None:
        scale: Look = {"range": [0, room * longest], "tickformat": ",~r"}
        if percent:  # no tick in the room beyond 100 %
            scale |= {"tickformat": ".0%", "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    else:
        first = math.log10(base)
        scale = log_scale(*(ends or (first, first + room * (math.log10(longest) - first))))
        if percent:
            ticks = [tick for tick in scale["tickvals"] if tick <= 1]
            scale |= {"tickvals": ticks, "ticktext": [format_percent(tick, 3) for tick in ticks]}

    # The parts of bars by kind; on a logarithmic axis they begin at its base
    yes, no = {"color": theme.YES_COLOR}, {"color": theme.NO_COLOR}
    kinds: list[tuple[str, list[float], Look]] = [
        ("yes", [bar.yes for bar in bars], yes),
        ("invented, yes", [bar.invented / 2 for bar in bars], {**yes, "pattern": STRIPES}),
        ("invented, no", [bar.invented / 2 for bar in bars], {**no, "pattern": STRIPES}),
        ("no", [bar.no for bar in bars], no),
        (title, [bar.plain for bar in bars], {"color": [bar.color for bar in bars]}),
    ]
    look: Look = {"type": "bar", "orientation": "h", "y": list(range(len(bars))), "width": 0.62}
    look |= {"base": base} if base else {}
    traces = []
    for name, lengths, marker in kinds:
        hover = f"%{{y}}: %{{customdata:.6g}}<extra>{name}</extra>"
        named = {"name": name, "customdata": lengths, "hovertemplate": hover, "marker": marker}
        traces += [{**look, **named, "x": [length - (base or 0) for length in lengths]}] if any(lengths) else []

    # The number at the end of each bar, or in its row at the right
    labels = []
    for row, (bar, total) in enumerate(zip(bars, totals, strict=True)):
        end = total if base is None else math.log10(max(total, base))
        place: Look = {"x": end, "xanchor": "left", "xshift": 6}
        place = {"x": 0.995, "xref": "x domain", "xanchor": "right"} if column else place
        labels.append(theme.label(f"<b>{bar.text}</b>", 13, y=row, yanchor="middle", **place))
    layout: Look = {"labels": labels, "references": [ReferenceLine(x=base)] if base else [], "margin": (14, 12, 30)}
    axes = axis(title, zeroline=False, **scale), axis_of_rows(names)
    return theme.figure(traces, *axes, f"bars {title}", legend="", barmode="stack", dragmode=False, **layout)


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
    layout = spec["layout"]
    guess: dict[str, Any] = {name: value for name, value in (("x", x), ("y", y)) if value is not None}
    edge: Look = {"y": 0.03, "yanchor": "bottom"} if low else {"y": 0.97, "yanchor": "top"}
    words = theme.label(f"<b>{text}</b>", 13, xref="x domain", x=0.995, xanchor="right", yref="y domain", **edge)
    words["font"]["shadow"] = "auto"  # a line that the words cross stays in sight, and they readable
    for name, value in guess.items():
        axis_of_guess = layout[f"{name}axis"]
        first, last = axis_of_guess["range"]
        share = min(max(theme.place_on(axis_of_guess, value)[1], 0.0), 1.0)
        place = first + share * (last - first)
        guess[name] = 10**place if axis_of_guess.get("type") == "log" else place
        across = {"xanchor": "right", "xshift": -8} if share >= 0.55 else {"xanchor": "left", "xshift": 8}
        up = {"yanchor": "top" if share >= 0.85 else "bottom"}
        words |= {name: place, f"{name}ref": name} | (across if name == "x" else up)
    layout["annotations"].append(words)
    if len(guess) == 2:
        mark = Mark(**guess, color=GUESS_COLOR, symbol="diamond", size=13, name=text, hover=" ")
        spec["data"].append(mark.trace(Axis(title="")) | {"name": text})
    else:
        layout["shapes"].append(ReferenceLine(**guess, color=GUESS_COLOR, width=2.4, dash="dash", layer="above").shape)
    return theme.Figure(spec["data"], layout)


def side_by_side(left: theme.Figure, right: theme.Figure) -> theme.Figure:
    """Two pictures with the same axes side by side in one.

    Parameters
    ----------
    left, right : Figure
    """
    first, second = left.to_dict(), right.to_dict()
    layout, added = first["layout"], second["layout"]
    for trace in second["data"]:
        trace["xaxis"] = "x2"
    for name in ("shapes", "annotations"):
        for part in added[name]:
            part["xref"] = part.get("xref", "x").replace("x", "x2", 1)
        layout[name] += added[name]
    layout["xaxis2"] = {**added["xaxis"], "domain": [0.55, 1], "anchor": "y"}
    layout["xaxis"]["domain"] = [0, 0.45]
    return theme.Figure([*first["data"], *second["data"]], layout)


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
    levels = {  # named in the legend: words in the picture would be crossed by the line of the class
        f"best guesser {belief_text(optimum)}": (optimum, theme.EXACT_COLOR, theme.EXACT_LINE),
        f"ε allows {belief_text(promised)}": (promised, theme.GREY, theme.THIN_LINE._replace(dash="dash")),
        "a coin 50 %": (0.5, theme.GREY, theme.THIN_LINE),
    }
    lines = [Line(name="the class", x=places, y=so_far, basis="so far", color=color, stroke=stroke)]
    for name, (level, level_color, level_stroke) in levels.items():
        x_ends, y_ends = np.array([0, right]), np.full(2, level)
        lines.append(Line(name=name, x=x_ends, y=y_ends, color=level_color, stroke=level_stroke))
    last = so_far[-1:].tolist()
    marks = [Mark(x=len(so_far), y=share, color=color, name="the class", ends=interval) for share in last]
    x = Axis(title="guesses so far", symbol="guesses", low=0, high=right, pad=0.02)
    y = Axis(title="share of right guesses", percent=True, low=0.0, high=1.02, pad=0, digits=".1%")
    return line_chart(lines, x, y, key="guesses", marks=marks)
