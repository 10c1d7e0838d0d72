"""What papers print as small cells that open, and our version of their figures with its numbers."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from dpviz.charts import theme
from dpviz.charts.html import macros
from dpviz.charts.lines import Axis, Line, comparison_chart, method_stroke
from dpviz.core.formatting import format_number
from dpviz.published.figures import Figure, FigurePanel, LineKind, slugify
from dpviz.published.layout import Layout, PrintedTable
from dpviz.published.records import (
    Agreement,
    Kind,
    Record,
    alternative_readings,
    load_errata,
    load_papers,
    load_records,
    provenance,
    summarize,
)

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

BASIS = dict.fromkeys(LineKind, "exact") | {LineKind.PURE_EPSILON: "exact, δ = 0", LineKind.PRINTED: "printed"}
"""What the hover says of each kind of line."""


class CellLinks(NamedTuple):
    """Addresses: `setting` of the page that shows a record, `cell` of a cell by id; `opened` is the open one."""

    setting: Callable[[Record], str]
    cell: Callable[[str], str]
    opened: str = ""


def checked_cell(cell: str) -> str:
    """The id of a cell; a ValueError if no paper has it."""
    paper = next((paper for paper in load_papers().values() if cell.startswith(f"{slugify(paper)}-")), "")
    if cell not in {record.id for record in load_records(paper) if not record.is_alternative}:
        raise ValueError(f"{paper} has no such cell." if paper else "no paper has such a cell.")
    return cell


def verdicts_html() -> str:
    """Table of how many results each paper prints, of which verdict, and what else it prints."""
    summaries = {paper: summarize(load_records(paper)) for paper in load_papers().values()}
    summaries["All papers"] = summarize(load_records())
    return str(macros("published").verdicts(list(Agreement), list(Kind), summaries, SIGNS))


def layouts_html(layouts: Iterable[Layout], links: CellLinks, figure_links: Mapping[str, str] | None = None) -> str:
    """Tables and lists under the names of their places; `figure_links` lead to those that we draw, by place."""
    parts: list[dict[str, Any]] = []
    for layout in layouts:
        is_new = not parts or parts[-1]["place"] != layout.place
        part: dict[str, Any] = {"place": layout.place, "heading": layout.place if is_new else "", "rows": []}
        part["link"] = (figure_links or {}).get(layout.place, "")
        if isinstance(layout, PrintedTable):
            part |= _table_parts(layout, links)
        else:
            part["cells"] = [_cell_parts(record, links) for record in layout.records]
        parts.append(part)
    return str(macros("published").layouts(parts))


def _table_parts(table: PrintedTable, links: CellLinks) -> dict[str, Any]:
    """What the template says of a table: counts, columns, rows, and how cells are read."""
    names = [name for name in table.cells.index.names if name]
    common = [f"{table.caption} throughout"] if table.caption else []
    rows = []
    for values, records in zip(table.cells.index, table.cells.to_numpy(), strict=True):
        design = values if isinstance(values, tuple) else (values,) * len(names)
        rows.append((design, [record and _cell_parts(record, links) for record in records]))
    readings = {record.reading for record in table.records if not record.as_stated}
    note = ""
    if readings:
        how = f": {min(readings)}" if len(readings) == 1 else "; each cell says how, and what it would be otherwise."
        note = f"is read otherwise than the words around it say{how}"
    summary = ". ".join([summarize(table.records).counts, *common])
    return {"summary": summary, "columns": (*names, *table.cells.columns), "rows": rows, "note": note}


def _cell_parts(record: Record, links: CellLinks) -> dict[str, Any]:
    """What the template says of a cell: its text and verdict, and facts when it is open."""
    star = "" if record.as_stated else "*"  # right only if it is read otherwise than the words around it say
    verdict = f"{SIGNS[record.verdict]} {record.verdict}".strip() + star
    statement = f"{record.printed} in “{record.quote}”" if record.quote else record.printed
    if record.is_number and not record.quote:
        statement = f"{record.what}: {record.printed}"
    is_compared = record.is_number and record.verdict is not Agreement.UNKNOWN
    facts = [
        ("Printed ○", record.printed),
        ("Stands in", record.place if record.figure else ""),
        _ours(record),
        ("Apart by", record.distance.replace("-", "−") if is_compared else ""),
        ("Verdict", verdict),
        ("Kind", "" if record.kind is Kind.RESULT else str(record.kind)),
        ("Why", record.reason),
        ("Read as", record.reading),
    ]
    for alternative in alternative_readings().get(record.id, []):
        facts.append(("Read otherwise", f"{_ours(alternative)[1]}: {_difference(record, alternative)}"))
    return {
        "text": record.printed,
        "verdict": record.verdict,
        "sign": f"{SIGNS[record.verdict]}{star}",
        "signed_verdict": verdict,
        "statement": statement,
        "id": f"{OPEN_CELL}-{record.id}",
        "group": OPEN_CELL,
        "kind": CELL_CLASSES.get(record.verdict, "near"),
        "is_open": record.id == links.opened,
        "facts": [(name, text) for name, text in facts if text],
        "setting_link": links.setting(record) if record.page else "",
        "own_link": links.cell(record.id),
    }


def _difference(record: Record, alternative: Record) -> str:
    """What another reading is, as far as it differs."""
    what = "" if alternative.what == record.what else f"{alternative.what}. "
    design = [part for part in alternative.design.split("; ") if part not in record.design.split("; ")]
    rows = "".join(f"{part}. " for part in design if part)
    return f"{what}{rows}{alternative.reading} {alternative.verdict.capitalize()}."


def _ours(record: Record) -> tuple[str, str]:
    if record.verdict is Agreement.UNKNOWN:
        return "Ours", "none"
    if not record.is_number:
        return "Ours", record.ours
    if record.our_error:
        return "Ours, simulated ●", f"{format_number(float(record.ours), 4)} ± {format_number(record.our_error, 2)}"
    return "Ours, exact —", format_number(float(record.ours), 7)


def paper_html(paper: str, layouts: str) -> str:
    """All of a paper: how much comes out, what it prints in its own layout, its errata, and how ours is made."""
    counts = summarize(load_records(paper)).counts
    return str(macros("published").paper(paper, counts, Markup(layouts), load_errata(paper), provenance()))


def panel_picture(figure: Figure, panel: FigurePanel, *, small: bool = False) -> theme.Figure:
    """One measure: exact as lines, simulated as dots with 95 % error bars, printed dashed."""
    short = theme.shorten_labels(line.name for line in panel.lines)
    strokes = {LineKind.PURE_EPSILON: theme.PURE_LINE, LineKind.PRINTED: theme.PRINTED_LINE}
    lines = []
    for place, line in enumerate(panel.lines):
        stroke = strokes.get(line.kind, method_stroke(place, is_reference=line.kind is LineKind.REFERENCE))
        named: dict[str, Any] = {"name": line.name, "short": short[line.name], "basis": BASIS[line.kind]}
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


def panel_alt(figure: Figure, panel: FigurePanel) -> str:
    """What the picture of a measure shows, in a sentence."""
    what = MEASURE_AXES[panel.measure].title
    return f"Ours of {figure.place}: {what}, {figure.axis}; {', '.join(line.name for line in panel.lines)}."


def caption_html(figure: Figure, setting: str) -> str:
    """By whom and where a figure is, and what it shows at a setting."""
    caption = f"{figure.caption}{f' Here: {setting}.' if setting else ''}"
    return str(macros("published").figure(f"{figure.paper}, {figure.place}, as we have it", caption))


def below_html(figure: Figure, panels: Iterable[FigurePanel], printed: str) -> str:
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
