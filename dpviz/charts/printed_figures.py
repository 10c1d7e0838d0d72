"""Our version of the papers' figures: one picture for each measure at a setting, and its numbers as a table."""

import math
from collections.abc import Iterable, Mapping
from html import escape

import numpy as np

from dpviz.charts.comparison import Series, comparison_chart
from dpviz.charts.html import heading_html, scrolled_html
from dpviz.charts.lines import DrawnScale
from dpviz.charts.style import PRINTED_LINE, PURE_LINE, Figure, Stroke, shorten_labels
from dpviz.claims.drawn_figures import DrawnFigure, FigureLine, FigurePanel, Known
from dpviz.core.formatting import format_number

MEASURE_SCALES = {
    "bias": DrawnScale(title="bias of the estimate"),
    "root_mean_squared_error": DrawnScale(title="error of the estimate", log=True),
    "coverage": DrawnScale(title="intervals that hold the truth", percent=True, nominal=0.95),
    "mean_width": DrawnScale(title="mean width of the interval", log=True),
    "standard_error": DrawnScale(title="mean standard error", log=True),
    "density": DrawnScale(title="density"),
    "prior": DrawnScale(title="smallest prior α = β", log=True),
    "range": DrawnScale(title="largest R/σ", log=True),
}
"""The axis of each measure that the figures have."""

KNOWN_STROKES: Mapping[Known, Stroke | None] = {
    Known.OURS: None,
    Known.REFERENCE: None,
    Known.PURE: PURE_LINE,
    Known.PRINTED: PRINTED_LINE,
}
TOLD = {Known.OURS: "exact", Known.REFERENCE: "exact", Known.PURE: "exact, δ = 0", Known.PRINTED: "printed"}


BEYOND_ENDS = 0.015  # Share of its length by which an axis goes on beyond the first and the last point


def panel_picture(figure: DrawnFigure, panel: FigurePanel, *, small: bool = False) -> Figure:
    """Return the picture of one measure: exact as lines, simulated as dots with 95 % error bars, printed dashed."""
    every, short = np.concatenate([one.x for one in panel.lines]), shorten_labels(one.name for one in panel.lines)
    low, high = float(every.min()), float(every.max())
    beyond = math.log(high / low) if figure.log else high - low
    ends = (low * math.exp(-BEYOND_ENDS * beyond), high * math.exp(BEYOND_ENDS * beyond))
    return comparison_chart(
        [_series(one, short[one.name]) for one in panel.lines],
        MEASURE_SCALES[panel.measure],
        axis=figure.axis,
        chosen=math.nan,
        span=ends if figure.log else (low - BEYOND_ENDS * beyond, high + BEYOND_ENDS * beyond),
        key=f"{figure.place} {panel.setting} {panel.measure}",
        symbol=figure.symbol,
        log=figure.log,
        small=small,
    )


def _series(line: FigureLine, short: str) -> Series:
    return Series(
        key=line.key,
        name=line.name,
        short=short,
        x=line.x,
        y=line.y,
        error=line.error,
        exact=line.error == 0,
        reference=line.known is Known.REFERENCE,
        stroke=KNOWN_STROKES[line.known],
        told=TOLD[line.known],
    )


def caption_html(figure: DrawnFigure, setting: str) -> str:
    """Return by whom and where a figure is, and what it shows at a setting."""
    words = f"{escape(figure.caption)}{f' Here: {escape(setting)}.' if setting else ''}"
    said = f'<div class="dpviz-printed"><p class=said>{words}</p></div>'
    return f"{heading_html(f'{figure.paper}, {figure.place}, as we have it')}{said}"


def below_html(figure: DrawnFigure, panels: Iterable[FigurePanel], said: str) -> str:
    """Return what stands below a figure: what there is to know of ours, what is `said` of it, and its numbers."""
    numbers = "".join(panel_table_html(figure, one) for one in panels)
    note = f'<div class="dpviz-printed"><p class=said>{escape(figure.note)}</p></div>'
    return f'{note}{said}<div class="dpviz-printed">{numbers}</div>'


def panel_alt(figure: DrawnFigure, panel: FigurePanel) -> str:
    """Return what the picture of a measure shows, in a sentence."""
    what = MEASURE_SCALES[panel.measure].title
    return f"Ours of {figure.place}: {what}, {figure.axis}; {', '.join(one.name for one in panel.lines)}."


def panel_table_html(figure: DrawnFigure, panel: FigurePanel) -> str:
    """Return the numbers of a picture as a table, folded: a row for each place of the axis, ± standard errors."""
    places = sorted({x for one in panel.lines for x in one.x.tolist()})
    values = [
        {x: (y, error) for x, y, error in zip(*(part.tolist() for part in one[3:]), strict=True)} for one in panel.lines
    ]
    head = "".join(f"<th scope=col>{escape(one)}</th>" for one in (figure.symbol, *(one.name for one in panel.lines)))
    cells = {x: "".join(f"<td class=count>{_value(one.get(x))}</td>" for one in values) for x in places}
    rows = "".join(f"<tr><th scope=row>{format_number(x, 3)}</th>{said}</tr>" for x, said in cells.items())
    title = MEASURE_SCALES[panel.measure].title
    table = f"<table class=grid><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    said = f"The numbers of the picture: {title}"
    return f"<details class=numbers><summary>{said}</summary>{scrolled_html(said, table)}</details>"


def _value(found: tuple[float, float] | None) -> str:
    if found is None:
        return ""
    value, error = found
    return f"{format_number(value, 4)} ± {format_number(error, 2)}" if error else format_number(value, 5)
