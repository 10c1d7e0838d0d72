"""The report as one HTML file: it fetches nothing, prints on A4, and the same desk gives the same bytes.

A PDF is what a browser prints of it. Typst makes one in 0.3 s, but takes 80 MB and a second layout of every page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from string import Template

import dpviz
from dpviz.curator.numbers import Number, numbers_of
from dpviz.curator.paths import PATHS, stream_path
from dpviz.curator.protection import PrivacyLoss
from dpviz.curator.report import words
from dpviz.curator.report.files import design_json, report_script
from dpviz.curator.report.handoff import handoff_of
from dpviz.curator.report.pictures import RANKED, frontier_picture, ranking_picture, truth_pictures
from dpviz.curator.report.registry import registry_json
from dpviz.curator.search import Assessed, Desk
from dpviz.exports.markup import raised
from dpviz.parameters import readable

TABLE_DIGITS, BRIEF = 6, 4
HEAD = "number", "value", "how it follows"


def report_html(desk: Desk, design: Assessed, *, pilot_note: str = "", date: str = "") -> str:
    """Return the report on a design of a complete desk.

    `pilot_note` says what confidential data told, where they did, and `date` is printed as it is given: nothing else in
    the file depends on when it is made.
    """
    if not desk.complete or not design.complete:
        raise ValueError("desk and design must be complete: take the last answer of the search, and `chosen` from it.")
    numbers = numbers_of(design)
    handoff = handoff_of(design)
    parts = [
        _section("The question", _list(words.question(design))),
        _section("The limits", _limits(design, numbers)),
        _section("The choice", _choice(desk, design)),
        _section("Every number", _numbers(numbers), page=True),
        _section("Pictures", _pictures(desk, design), page=True),
        _section("Caveats", _list(words.caveats(design, numbers, pilot_note))),
        _section("Handing over to a production library",
                 _paragraphs(words.handing_over(handoff)) + _code(handoff.script)),
        _section("Entry for OpenDP's registry of deployments", _paragraphs(words.REGISTRY)
                 + _code(registry_json(design, pilot_note=pilot_note)), page=True),
        _section("Seed, versions and script", _list(words.origin(design))
                 + _code(report_script(design, pilot_note=pilot_note, date=date)), page=True),
        _section("Question, design and numbers, to 12 digits",
                 _paragraphs(words.JSON_FILE) + _code(design_json(design)), page=True),
    ]  # fmt: skip
    folder = files("dpviz.curator.report")
    return Template(folder.joinpath("report.html").read_text(encoding="utf-8")).substitute(
        version=dpviz.__version__,
        title=escape(f"A private release by {design.method.label}"),
        style=folder.joinpath("report.css").read_text(encoding="utf-8").strip(),
        about=escape(f"Report of dpviz {dpviz.__version__}{f', {date}' if date else ''}"),
        answer=escape(words.answer(design)),
        warning=escape(words.WARNING),
        body="\n".join(parts),
    )


def _section(heading: str, body: str, *, page: bool = False) -> str:
    return f"<section{' class=page' if page else ''}>\n<h2>{escape(heading)}</h2>\n{body}\n</section>"


def _paragraphs(*sentences: str) -> str:
    return "".join(f"<p>{escape(one)}</p>" for one in sentences)


def _list(sentences: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in sentences)}</ul>"


def _code(text: str) -> str:
    return f"<pre>{escape(text)}</pre>" if text else ""


def _table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numeric: Sequence[int] = (),
    chosen: int = -1,
    kind: str = "stack",
) -> str:
    """Return a table of cells that are HTML; on a phone its rows become lists."""
    kinds = ["num" if place in numeric else "" for place in range(len(head))]
    named = list(zip(head, kinds, strict=True))
    top = "".join(f"<th{f' class={one}' if one else ''}>{escape(name)}</th>" for name, one in named)
    body = []
    for place, row in enumerate(rows):
        cells = "".join(
            f'<td{f" class={one}" if one else ""} data-label="{escape(name)}">{cell}</td>'
            for (name, one), cell in zip(named, row, strict=True)
        )
        body.append(f"<tr{' class=chosen' if place == chosen else ''}>{cells}</tr>")
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def _limits(design: Assessed, numbers: Sequence[Number]) -> str:
    """Every limit, what the design attains of it, and whether it is kept."""
    asked, rows = design.question, []
    reached = {one.label: one for one in numbers}
    for one in asked.protections:
        found = reached.get(one.measured[0].upper() + one.measured[1:])
        text = f"{one.symbol} = {found.text(BRIEF)}" if found else "not known"
        if design.real_epsilon is not None and isinstance(one, PrivacyLoss):
            text = f"L = {readable(design.real_epsilon, BRIEF)}, {text}"
        rows.append([escape(f"{one.words} ({one.translated})"), escape(text), words.VERDICTS[True]])
    for limit in asked.limits:
        figure = design.figures[limit.key]
        text = next(one.text(BRIEF) for one in numbers if one.symbol == limit.measure.symbol)
        kept = words.VERDICTS[design.verdicts[limit.key]]
        where = f" at {asked.ranged.symbol} = {readable(figure.at)}" if not math.isnan(figure.at) else ""
        rows.append([escape(limit.words), escape(text + where), kept])
    return _table(["limit", "this design", "kept"], rows)


def _choice(desk: Desk, design: Assessed) -> str:
    """Why this one, the picture of the ranking, and its table."""
    head = ["design", "analysis", "ε given", "real ε", "bias", "error", "coverage", "length", "kept"]
    shown = desk.designs[:RANKED]
    rows = []
    for place, one in enumerate(shown, start=1):
        figures = [_brief(one.figures[key].measure.value) for key in words.COLUMNS]
        real = _brief(one.real_epsilon)
        rule = one.analysis.rule_for(one.sets).abbreviation
        kept = words.VERDICTS[one.keeps_all]
        rows.append([escape(f"{place}. {one.name}"), escape(rule), _brief(one.setting), real, *figures, kept])
    here = next((place for place, one in enumerate(shown) if one.key == design.key), -1)
    more = len(desk.designs) - len(shown)
    after = f"{more} further designs came after these." if more > 0 else ""
    absent = [f"{name}: {why}." for name, why in desk.absent]
    return (
        _paragraphs(*words.choice(desk, design))
        + f"<div class=scroll>{ranking_picture(desk, design)}</div>"
        + f"<p class=small>{escape(words.RANKING_KEY)}</p>"
        + _table(head, rows, range(2, 8), here, "stack wide")
        + _paragraphs(*filter(None, [after]))
        + (f"<p>{escape(words.ABSENT)}</p>{_list(absent)}" if absent else "")
    )


def _brief(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else escape(readable(value, 3))


def _numbers(numbers: Sequence[Number]) -> str:
    """A table for each part."""
    found = []
    for part in dict.fromkeys(one.part for one in numbers):
        rows = [
            [
                f"{escape(one.label)} <i>{raised(escape(one.symbol))}</i>",
                f"<b>{escape(one.text(TABLE_DIGITS))}</b>" + (f"<br><small>{escape(one.at)}</small>" if one.at else ""),
                f"{raised(escape(one.formula))}<br><small>{raised(escape(_origin(one)))}</small>",
            ]
            for one in numbers
            if one.part == part
        ]
        found.append(f"<h3>{escape(part)}</h3>{_table(HEAD, rows, kind='stack numbers')}")
    return "".join(found)


def _origin(one: Number) -> str:
    told = (("Computed", one.how), ("Source", one.source), ("Page", one.page))
    return " ".join([*filter(None, [one.note]), *(f"{name}: {said}." for name, said in told if said)])


def _pictures(desk: Desk, design: Assessed) -> str:
    drawn = truth_pictures(design)
    figures = "".join(f"<figure>{one}</figure>" for one in drawn)
    beside = next((one for one in desk.designs if one.key != design.key), None)
    asked, at = desk.question, design.figures["root_mean_squared_error"].at
    if not math.isnan(at):  # where the error is worst: following all true values would take as many times as long
        asked = replace(asked, lowest=at, highest=at)
    *_, followed = stream_path(PATHS["epsilon"], asked, [design] if beside is None else [design, beside])
    frontier, further = frontier_picture(followed), ""
    if frontier:
        further = f"<p>{escape(words.frontier(design, beside))}</p><figure class=scroll>{frontier}</figure>"
    if drawn:
        further = f"<p>{escape(words.PICTURES_KEY)}</p><div class=pictures>{figures}</div>{further}"
    return further
