"""What papers print as small cells that open: what is printed, ours, how far apart they are, why, and where to see."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from dpviz.charts import theme
from dpviz.charts.html import heading_html, scrolled_html
from dpviz.charts.lines import Axis, Line, comparison_chart, method_stroke
from dpviz.claims.drawn_figures import DrawnFigure, FigurePanel, Known, word_of
from dpviz.claims.full_run import read_full_run
from dpviz.claims.printed_layout import Layout, PrintedCell, PrintedGrid, PrintedList
from dpviz.claims.published import Agreement, Erratum, PrintedNumber, Shown, design_in_words
from dpviz.claims.verdicts import AnyRecord, counts_in_words, distance_in_words, printed_alone
from dpviz.core.formatting import format_number

SIGNS = {
    Agreement.AGREES: "",
    Agreement.ROUNDING: "≈",
    Agreement.CHANCE: "±",
    Agreement.DIFFERS: "≠",
    Agreement.UNKNOWN: "?",
}
"""What marks each verdict beside its outline."""

KINDS_OF_CELLS = {
    Agreement.AGREES: "agrees",
    Agreement.ROUNDING: "near",
    Agreement.CHANCE: "near",
    Agreement.DIFFERS: "differs",
    Agreement.UNKNOWN: "unknown",
}
NOT_LITERAL = "*"
"""What marks something that is right only if it is read otherwise than the words around it say."""

OPEN_CELL = "cell"
"""Name of the open cell in the URL, and what the ids of all cells begin with."""


class CellLinks(NamedTuple):
    """Where the links of cells lead: `setting` to the page that shows a record, `cell` to the cell of a word.

    `opened` is the word of the cell that is open; empty where none is.
    """

    setting: Callable[[Shown], str]
    cell: Callable[[str], str]
    opened: str = ""


def cell_word(one: AnyRecord) -> str:
    """Return what the address calls something printed: its paper and the record's own key.

    >>> from dpviz.claims.published import Record
    >>> cell_word(Record(source="Liu (2016), Table 1", what="a", printed=0.5, ours=0.5, reading="r")).rpartition("-")[0]
    'liu_2016'
    """
    return f"{word_of(one.paper)}-{one.key}"


def checked_cell(word: str) -> str:
    """Return the word of a cell; a ValueError if no paper has it."""
    run = read_full_run()
    paper = next((paper for paper in run.papers if word.startswith(f"{word_of(paper)}-")), "")
    if word not in map(cell_word, printed_alone(run.of(paper))):
        raise ValueError(f"{paper} has no such cell." if paper else "no paper has such a cell.")
    return word


def verdicts_html(by_paper: Mapping[str, Mapping[Agreement, int]]) -> str:
    """Table of how many things each paper prints, and of which verdict."""
    head = "".join(f"<th scope=col>{one}</th>" for one in ("", "printed", *map(_signed, Agreement)))
    rows = "".join(
        f"<tr><th scope=row>{escape(paper)}</th>"
        + "".join(f"<td class=count>{one:,}</td>" for one in (sum(found.values()), *(found[one] for one in Agreement)))
        + "</tr>"
        for paper, found in by_paper.items()
    )
    return f"<table class=grid><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _signed(verdict: Agreement) -> str:
    return f"{SIGNS[verdict]} {verdict}".strip()


def layouts_html(layouts: Iterable[Layout], links: CellLinks, drawn: Mapping[str, str] | None = None) -> str:
    """Return tables and lists under the names of their places; `drawn` has where those are that we draw, by place."""
    parts, last, pictures = [], "", drawn or {}
    for one in layouts:
        if one.cells:
            link = f' <a href="{escape(pictures[one.place])}">ours, drawn →</a>' if one.place in pictures else ""
            parts.append("" if one.place == last else f"<h3>{escape(one.place)}{link}</h3>")
            parts.append(_grid(one, links) if isinstance(one, PrintedGrid) else _list(one, links))
            last = one.place
    return f'<div class="dpviz-printed">{"".join(parts)}</div>'


def _grid(grid: PrintedGrid, links: CellLinks) -> str:
    head = "".join(f"<th scope=col>{escape(one)}</th>" for one in (*grid.designs, *grid.columns))
    rows = "".join(f"<tr>{_names(design)}{_cells(cells, links)}</tr>" for design, cells in grid.rows)
    said = [counts_in_words(one.record for one in grid.cells)]
    said += [f"{grid.common} throughout"] if grid.common else []
    notes = f"<p class=said>{NOT_LITERAL} {escape(_read_otherwise(grid))}</p>" if _read_otherwise(grid) else ""
    table = f"<table class=grid><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<p class=said>{escape('. '.join(said))}.</p>{scrolled_html(grid.place, table)}{notes}"


def _read_otherwise(grid: PrintedGrid) -> str:
    """What is said below a table of cells that are not taken for what the words around them say, if there are any."""
    readings = {one.record.reading for one in grid.cells if not one.record.literal}
    if len(readings) > 1:
        return "is read otherwise than the words around it say; each cell says how, and what it would be otherwise."
    return "".join(f"is read otherwise than the words around it say: {one}" for one in readings)


def _names(design: Sequence[float | str]) -> str:
    said = (one if isinstance(one, str) else format_number(one) for one in design)
    return "".join(f"<th scope=row>{escape(one)}</th>" for one in said)


def _cells(cells: Iterable[PrintedCell | None], links: CellLinks) -> str:
    return "".join("<td></td>" if one is None else f"<td>{_cell(one, links)}</td>" for one in cells)


def _list(printed: PrintedList, links: CellLinks) -> str:
    items = "".join(f"<li>{_statement(one, links)}</li>" for one in printed.cells)
    return f"<ul>{items}</ul>"


def _star(one: AnyRecord) -> str:
    return "" if one.literal else NOT_LITERAL


def _cell(cell: PrintedCell, links: CellLinks) -> str:
    one = cell.record
    sign = f"<i>{SIGNS[one.verdict]}{_star(one)}</i>"
    return (
        f"<details {_named(one, links)}>"
        f'<summary aria-label="{escape(one.text)}, {one.verdict}">{escape(one.text)}{sign}</summary>'
        f'<div class="opened">{_opened(cell, links)}</div></details>'
    )


def _statement(cell: PrintedCell, links: CellLinks) -> str:
    one = cell.record
    words = f"{one.what}: {one.text}" if isinstance(one.printed, PrintedNumber) and not one.quote else one.text
    words += f" in “{one.quote}”" if one.quote else ""
    mark = f"<b class=verdict>{_signed(one.verdict)}{_star(one)}</b>"
    return (
        f"<details {_named(one, links)}><summary>{mark} <span>{escape(words)}</span></summary>"
        f"<div>{_opened(cell, links)}</div></details>"
    )


def _named(one: AnyRecord, links: CellLinks) -> str:
    """The attributes of something that opens, one of all at a time."""
    word = cell_word(one)
    is_open = " open" * (word == links.opened)
    return f'id="{OPEN_CELL}-{word}" name="{OPEN_CELL}" class="{KINDS_OF_CELLS[one.verdict]}"{is_open}'


def _opened(cell: PrintedCell, links: CellLinks) -> str:
    one = cell.record
    rows = [("Printed ○", f"<b>{escape(one.text)}</b>")]
    rows += [("Stands in", escape(one.place))] if one.figure else []
    rows.append(_ours(one))
    if not isinstance(one.printed, str) and one.verdict is not Agreement.UNKNOWN:
        rows.append(("Apart by", f"{distance_in_words(one)}".replace("-", "−")))
    rows.append(("Verdict", f"{_signed(one.verdict)}{_star(one)}"))
    rows += [("Why", escape(one.reason))] if one.reason else []
    rows.append(("Read as", escape(one.reading)))
    rows += [("Read otherwise", f"{_ours(other)[1]}: {escape(_other(one, other))}") for other in cell.others]
    said = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in rows)
    setting = f'<a href="{escape(links.setting(one.shown))}">Open this setting →</a> ' if one.shown.page else ""
    itself = f'<a href="{escape(links.cell(cell_word(one)))}">Link to this cell</a>'
    return f"<dl>{said}</dl><p>{setting}{itself}</p>"


def _other(one: AnyRecord, other: AnyRecord) -> str:
    what = "" if other.what == one.what else f"{other.what}. "
    own = {name: value for name, value in other.design.items() if one.design.get(name) != value}
    rows = design_in_words(own).replace("; ", ". ")
    return f"{what}{rows and f'{rows}. '}{other.reading} {other.verdict.capitalize()}."


def _ours(one: AnyRecord) -> tuple[str, str]:
    if one.verdict is Agreement.UNKNOWN:
        return "Ours", "none"
    if isinstance(one.printed, str):
        return "Ours", escape(str(one.ours))
    if one.our_error:
        return "Ours, simulated ●", f"{format_number(one.ours, 4)} ± {format_number(one.our_error, 2)}"
    return "Ours, exact —", format_number(one.ours, 7)


def paper_html(paper: str, layouts: str, errata: Sequence[Erratum]) -> str:
    """Return all of a paper: how much comes out, what it prints in its own layout, its errata, and how ours is made."""
    run = read_full_run()
    counts = counts_in_words(run.of(paper))
    html = f"{heading_html(paper)}<p>{counts}. Each opens, and says what is printed and what is ours.</p>{layouts}"
    if errata:
        html += heading_html("What the paper prints and its own definitions contradict") + errata_html(errata)
    return f'{html}<div class="dpviz-printed"><p class=said>{run.made}</p></div>'


def errata_html(errata: Iterable[Erratum]) -> str:
    """Return what papers print and their own definitions contradict, each with how it is known and why it matters."""
    return f'<div class="dpviz-printed errata">{"".join(map(_erratum, errata))}</div>'


def _erratum(one: Erratum) -> str:
    rows = [("Printed", one.printed), ("True", one.ours), ("Why it matters", one.matters), ("How sure", one.sure)]
    rows += [("Read otherwise", one.otherwise)] if one.otherwise else []
    said = "".join(f"<dt>{name}</dt><dd>{escape(words)}</dd>" for name, words in rows)
    shown = f"<dt>Established by</dt><dd><code>{escape(one.command)}</code></dd>" if one.command else ""
    gives = f"<dt>which prints</dt><dd><code>{escape(one.gives)}</code></dd>" if one.gives else ""
    return f"<h3>{escape(one.place)}: {escape(one.reading)}</h3><dl>{said}{shown}{gives}</dl>"


MEASURE_AXES = {
    "bias": Axis(title="bias of the estimate"),
    "root_mean_squared_error": Axis(title="error of the estimate", log=True),
    "coverage": Axis(title="intervals that hold the truth", percent=True, nominal=0.95),
    "mean_width": Axis(title="mean width of the interval", log=True),
    "standard_error": Axis(title="mean standard error", log=True),
    "density": Axis(title="density"),
    "prior": Axis(title="smallest prior α = β", log=True),
    "range": Axis(title="largest R/σ", log=True),
}
"""The axis of each measure that the figures have."""

BASIS = {Known.OURS: "exact", Known.REFERENCE: "exact", Known.PURE: "exact, δ = 0", Known.PRINTED: "printed"}
"""What the hover says of each kind of line."""


def panel_picture(figure: DrawnFigure, panel: FigurePanel, *, small: bool = False) -> theme.Figure:
    """One measure: exact as lines, simulated as dots with 95 % error bars, printed dashed."""
    short = theme.shorten_labels(line.name for line in panel.lines)
    strokes = {Known.PURE: theme.PURE_LINE, Known.PRINTED: theme.PRINTED_LINE}
    lines = [
        Line(
            name=line.name,
            short=short[line.name],
            x=line.x,
            y=line.y,
            color=line.key,
            stroke=strokes.get(line.known, method_stroke(place, is_reference=line.known is Known.REFERENCE)),
            error=line.error,
            exact=line.error == 0,
            basis=BASIS[line.known],
        )
        for place, line in enumerate(panel.lines)
    ]
    # The axis goes on a little beyond the first and the last point
    places = np.concatenate([line.x for line in panel.lines])
    low, high = float(places.min()), float(places.max())
    pad = 0.015 * (math.log(high / low) if figure.log else high - low)
    ends = (low * math.exp(-pad), high * math.exp(pad)) if figure.log else (low - pad, high + pad)
    return comparison_chart(
        lines,
        Axis(title=figure.axis, symbol=figure.symbol, log=figure.log, low=ends[0], high=ends[1]),
        MEASURE_AXES[panel.measure],
        key=f"{figure.place} {panel.setting} {panel.measure}",
        small=small,
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
    what = MEASURE_AXES[panel.measure].title
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
    title = MEASURE_AXES[panel.measure].title
    table = f"<table class=grid><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    said = f"The numbers of the picture: {title}"
    return f"<details class=numbers><summary>{said}</summary>{scrolled_html(said, table)}</details>"


def _value(found: tuple[float, float] | None) -> str:
    if found is None:
        return ""
    value, error = found
    return f"{format_number(value, 4)} ± {format_number(error, 2)}" if error else format_number(value, 5)
