"""What papers print as small cells that open, and our version of their figures with its numbers."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from dpviz.charts import theme
from dpviz.charts.html import macros
from dpviz.charts.lines import Axis, Line, comparison_chart, method_stroke
from dpviz.claims.drawn_figures import DrawnFigure, FigurePanel, Known, word_of
from dpviz.claims.full_run import read_full_run
from dpviz.claims.printed_layout import Layout, PrintedCell, PrintedGrid
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

CELL_CLASSES = {Agreement.AGREES: "agrees", Agreement.DIFFERS: "differs", Agreement.UNKNOWN: "unknown"}
OPEN_CELL = "cell"
"""Name of the open cell in the URL, and what the ids of all cells begin with."""

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


class CellLinks(NamedTuple):
    """Where cells lead: `setting` to the page that shows a record, `cell` to a cell; `opened` is the open one."""

    setting: Callable[[Shown], str]
    cell: Callable[[str], str]
    opened: str = ""


def cell_word(record: AnyRecord) -> str:
    """Word of something printed in the address: its paper and its own key.

    >>> from dpviz.claims.published import Record
    >>> cell_word(Record(source="Liu (2016), Table 1", what="a", printed=0.5, ours=0.5, reading="r")).rpartition("-")[0]
    'liu_2016'
    """
    return f"{word_of(record.paper)}-{record.key}"


def checked_cell(word: str) -> str:
    """The word of a cell; a ValueError if no paper has it."""
    run = read_full_run()
    paper = next((paper for paper in run.papers if word.startswith(f"{word_of(paper)}-")), "")
    if word not in map(cell_word, printed_alone(run.of(paper))):
        raise ValueError(f"{paper} has no such cell." if paper else "no paper has such a cell.")
    return word


def verdicts_html(by_paper: Mapping[str, Mapping[Agreement, int]]) -> str:
    """Table of how many things each paper prints, and of which verdict."""
    return str(macros("published").verdicts(list(Agreement), by_paper, SIGNS))


def layouts_html(layouts: Iterable[Layout], links: CellLinks, figure_links: Mapping[str, str] | None = None) -> str:
    """Tables and lists under the names of their places; `figure_links` lead to those that we draw, by place."""
    shown: list[dict[str, Any]] = []
    for layout in layouts:
        if not layout.cells:
            continue
        is_new = not shown or shown[-1]["place"] != layout.place
        part: dict[str, Any] = {"place": layout.place, "heading": layout.place if is_new else "", "rows": []}
        part["link"] = (figure_links or {}).get(layout.place, "")
        if isinstance(layout, PrintedGrid):
            common = [f"{layout.common} throughout"] if layout.common else []
            part["summary"] = ". ".join([counts_in_words(cell.record for cell in layout.cells), *common])
            part["columns"] = (*layout.designs, *layout.columns)
            for design, cells in layout.rows:
                names = [value if isinstance(value, str) else format_number(value) for value in design]
                part["rows"].append((names, [cell and _shown_cell(cell, links) for cell in cells]))
            readings = {cell.record.reading for cell in layout.cells if not cell.record.literal}
            reading = "is read otherwise than the words around it say"
            part["note"] = f"{reading}: {min(readings)}" if readings else ""
            if len(readings) > 1:
                part["note"] = f"{reading}; each cell says how, and what it would be otherwise."
        else:
            part["cells"] = [_shown_cell(cell, links) for cell in layout.cells]
        shown.append(part)
    return str(macros("published").layouts(shown))


def _shown_cell(cell: PrintedCell, links: CellLinks) -> dict[str, Any]:
    """What the template says of a cell: its text and verdict, and facts when it is open."""
    record, word = cell.record, cell_word(cell.record)
    star = "" if record.literal else "*"  # right only if it is read otherwise than the words around it say
    verdict = f"{SIGNS[record.verdict]} {record.verdict}".strip() + star
    statement = f"{record.what}: {record.text}"
    if record.quote or not isinstance(record.printed, PrintedNumber):
        statement = f"{record.text} in “{record.quote}”" if record.quote else record.text
    facts = [("Printed ○", record.text), ("Stands in", record.place if record.figure else ""), _ours(record)]
    if not isinstance(record.printed, str) and record.verdict is not Agreement.UNKNOWN:
        facts.append(("Apart by", f"{distance_in_words(record)}".replace("-", "−")))
    facts += [("Verdict", verdict), ("Why", record.reason), ("Read as", record.reading)]
    facts += [("Read otherwise", f"{_ours(reading)[1]}: {_difference(record, reading)}") for reading in cell.others]
    return {
        "text": record.text,
        "verdict": record.verdict,
        "sign": f"{SIGNS[record.verdict]}{star}",
        "signed_verdict": verdict,
        "statement": statement,
        "id": f"{OPEN_CELL}-{word}",
        "group": OPEN_CELL,
        "kind": CELL_CLASSES.get(record.verdict, "near"),
        "is_open": word == links.opened,
        "facts": [(name, text) for name, text in facts if text],
        "setting_link": links.setting(record.shown) if record.shown.page else "",
        "own_link": links.cell(word),
    }


def _difference(record: AnyRecord, alternative: AnyRecord) -> str:
    """What another reading is, as far as it differs."""
    what = "" if alternative.what == record.what else f"{alternative.what}. "
    own = {name: value for name, value in alternative.design.items() if record.design.get(name) != value}
    rows = design_in_words(own).replace("; ", ". ")
    return f"{what}{rows and f'{rows}. '}{alternative.reading} {alternative.verdict.capitalize()}."


def _ours(record: AnyRecord) -> tuple[str, str]:
    if record.verdict is Agreement.UNKNOWN:
        return "Ours", "none"
    if isinstance(record.printed, str):
        return "Ours", str(record.ours)
    if record.our_error:
        return "Ours, simulated ●", f"{format_number(record.ours, 4)} ± {format_number(record.our_error, 2)}"
    return "Ours, exact —", format_number(record.ours, 7)


def paper_html(paper: str, layouts: str, errata: Iterable[Erratum]) -> str:
    """All of a paper: how much comes out, what it prints in its own layout, its errata, and how ours is made."""
    run = read_full_run()
    return str(
        macros("published").paper(paper, counts_in_words(run.of(paper)), Markup(layouts), list(errata), run.made)
    )


def panel_picture(figure: DrawnFigure, panel: FigurePanel, *, small: bool = False) -> theme.Figure:
    """One measure: exact as lines, simulated as dots with 95 % error bars, printed dashed."""
    short = theme.shorten_labels(line.name for line in panel.lines)
    strokes = {Known.PURE: theme.PURE_LINE, Known.PRINTED: theme.PRINTED_LINE}
    lines = []
    for place, line in enumerate(panel.lines):
        stroke = strokes.get(line.known, method_stroke(place, is_reference=line.known is Known.REFERENCE))
        named: dict[str, Any] = {"name": line.name, "short": short[line.name], "basis": BASIS[line.known]}
        values = {"x": line.x, "y": line.y, "error": line.error, "exact": line.error == 0}
        lines.append(Line(**named, **values, color=line.key, stroke=stroke))
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


def panel_alt(figure: DrawnFigure, panel: FigurePanel) -> str:
    """What the picture of a measure shows, in a sentence."""
    what = MEASURE_AXES[panel.measure].title
    return f"Ours of {figure.place}: {what}, {figure.axis}; {', '.join(line.name for line in panel.lines)}."


def caption_html(figure: DrawnFigure, setting: str) -> str:
    """By whom and where a figure is, and what it shows at a setting."""
    caption = f"{figure.caption}{f' Here: {setting}.' if setting else ''}"
    return str(macros("published").figure(f"{figure.paper}, {figure.place}, as we have it", caption))


def below_html(figure: DrawnFigure, panels: Iterable[FigurePanel], printed: str) -> str:
    """What there is to know of our figure, what is `printed` of it, and the numbers of its pictures, folded."""
    tables = []
    for panel in panels:
        values = [{x: (y, e) for x, y, e in zip(line.x, line.y, line.error, strict=True)} for line in panel.lines]
        places = sorted({x for line in panel.lines for x in line.x.tolist()})
        rows = [(format_number(x, 3), [_value_text(line.get(x)) for line in values]) for x in places]
        tables.append((MEASURE_AXES[panel.measure].title, [line.name for line in panel.lines], rows))
    return str(macros("published").below(figure.note, Markup(printed), figure.symbol, tables))


def _value_text(value: tuple[float, float] | None) -> str:
    if value is None:
        return ""
    return f"{format_number(value[0], 4)} ± {format_number(value[1], 2)}" if value[1] else format_number(value[0], 5)
