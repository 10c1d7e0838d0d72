"""What papers print as small cells that open, and our version of their figures with its numbers."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from markupsafe import Markup

from dpviz.charts import theme
from dpviz.charts.axes import MEASURES, Axis
from dpviz.charts.html import fragment
from dpviz.charts.lines import Line, comparison_chart
from dpviz.charts.theme import Look
from dpviz.core.formatting import format_number
from dpviz.published.figures import Figure, FigurePanel, LineKind, slugify
from dpviz.published.layout import Layout
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

OPEN_CELL = "cell"
"""Name of the open cell in the URL; in the template the ids of all cells begin with it."""

MEASURE_AXES = {key: Axis(**axis) for key, axis in MEASURES["published"].items()}
"""The axis of each measure that the figures have."""

SPECIAL_LINES: dict[LineKind, Look] = {
    LineKind.PURE_EPSILON: {"basis": "exact, δ = 0", "stroke": theme.PURE_LINE},
    LineKind.PRINTED: {"basis": "printed", "stroke": theme.PRINTED_LINE},
    LineKind.REFERENCE: {"is_reference": True},
}
"""Attributes of lines by their kind."""


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
    return fragment("verdicts", list(Agreement), list(Kind), summaries, template="published")


def layouts_html(layouts: Iterable[Layout], links: CellLinks, figure_links: Mapping[str, str]) -> str:
    """Tables and lists under the names of their places.

    Parameters
    ----------
    figure_links : mapping
        To those figures that we draw, by place.
    """
    values = list(layouts), links, figure_links, alternative_readings(), summarize
    return fragment("layouts", *values, template="published")


def paper_html(paper: str, layouts: str) -> str:
    """All of a paper: how much comes out, what it prints in its own layout, its errata, and how ours is made.

    Parameters
    ----------
    layouts : str
        HTML of `layouts_html`.
    """
    values = paper, summarize(load_records(paper)).counts, Markup(layouts), load_errata(paper), provenance()
    return fragment("paper", *values, template="published")


def panel_chart(figure: Figure, panel: FigurePanel, *, small: bool = False) -> tuple[theme.Figure, str]:
    """One measure, and what its picture shows: exact as lines, simulated as dots with error bars, printed dashed.

    Parameters
    ----------
    small : bool, optional
        Without names and legend.
    """
    short = theme.shorten_labels(line.name for line in panel.lines)
    lines = [
        Line(
            name=line.name, short=short[line.name], x=line.x, y=line.y, error=line.error, exact=line.error == 0,
            color=line.key, **SPECIAL_LINES.get(line.kind, {}),
        )
        for line in panel.lines
    ]  # fmt: skip
    measure, names = MEASURE_AXES[panel.measure], ", ".join(line.name for line in panel.lines)
    alt = f"Ours of {figure.place}: {measure.title}, {figure.axis}; {names}."
    x = Axis(title=figure.axis, symbol=figure.symbol, log=figure.log, pad=0.015)
    key = f"{figure.place} {panel.setting} {panel.measure}"
    return comparison_chart(lines, x, measure, key=key, small=small), alt


def below_html(figure: Figure, panels: Iterable[FigurePanel], printed: str) -> str:
    """What there is to know of our figure, what is printed of it, and the numbers of its pictures, folded.

    Parameters
    ----------
    printed : str
        HTML of `layouts_html`.
    """
    tables = []
    for panel in panels:
        values = [{x: (y, e) for x, y, e in zip(line.x, line.y, line.error, strict=True)} for line in panel.lines]
        places = sorted({x for line in panel.lines for x in line.x.tolist()})
        rows = [(format_number(x, 3), [line.get(x) for line in values]) for x in places]
        tables.append((MEASURE_AXES[panel.measure].title, [line.name for line in panel.lines], rows))
    return fragment("below", figure.note, Markup(printed), figure.symbol, tables, template="published")
