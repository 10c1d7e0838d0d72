"""The report as one HTML file: it fetches nothing, prints on A4, and the same desk gives the same bytes.

A PDF is what a browser prints of it. Typst makes one in 0.3 s, but takes 80 MB and a second layout of every page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

import dpviz
from dpviz.core.formatting import format_number
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.desk.candidate import Evaluation
from dpviz.desk.following import stream_path
from dpviz.desk.numbers import DesignNumber, numbers_of
from dpviz.desk.paths import PATHS
from dpviz.desk.report import words
from dpviz.desk.report.files import design_json, registry_json, report_script
from dpviz.desk.report.handoff import handoff_of
from dpviz.desk.report.pictures import RANKED_DESIGNS, frontier_picture, ranking_picture, truth_pictures
from dpviz.desk.search import SearchResult
from dpviz.export.templates import capitalize_first, render

BRIEF = 4  # Digits of a number beside its limit, or in the ranking


def report_html(
    desk: SearchResult, design: Evaluation, *, pilot_note: str = "", date: str = "", address: str = ""
) -> str:
    """Return the report on a design of a complete desk.

    `pilot_note` says what confidential data told, where they did, and `date` and the `address` of the page are printed
    as they are given: nothing else in the file depends on when and where it is made.
    """
    if not desk.is_complete or not design.is_complete:
        raise ValueError("desk and design must be complete: take the last answer of the search, and `chosen` from it.")
    numbers = numbers_of(design)
    handoff = handoff_of(design)
    return render(
        "desk/report/report.html",
        version=dpviz.__version__,
        date=date,
        design=design,
        answer=words.answer(design),
        question=words.question(design),
        limits=_limits(design, numbers),
        choice=_choice(desk, design),
        numbers=numbers,
        pictures=_pictures(desk, design),
        caveats=words.caveats(design, numbers, pilot_note),
        handoff=handoff,
        registry=registry_json(design, pilot_note=pilot_note),
        origins=words.origin(design, address),
        script=report_script(design, pilot_note=pilot_note, date=date, address=address),
        json=design_json(design),
    )


def _limits(design: Evaluation, numbers: Sequence[DesignNumber]) -> list[list[str]]:
    """Every limit, what the design attains of it, and whether it is kept."""
    asked, rows = design.question, []
    reached = {one.label: one for one in numbers}
    for one in asked.protections:
        found = reached.get(capitalize_first(one.attained_label))
        text = f"{one.symbol} = {found.text(BRIEF)}" if found else "not known"
        if design.real_epsilon is not None and isinstance(one, EpsilonDeltaLimit):
            sign = "=" if design.method.exact_epsilon else "≤"
            text = f"L {sign} {format_number(design.real_epsilon, BRIEF)}, {text}"
        rows.append([one.full_text, text, words.VERDICTS[True]])
    for limit in asked.limits:
        figure = design.worst_cases[limit.key]
        text = next(one.text(BRIEF) for one in numbers if one.symbol == limit.measure.symbol)
        kept = words.VERDICTS[design.verdicts[limit.key]]
        where = (
            f" at {asked.true_parameter.symbol} = {format_number(figure.location)}"
            if not math.isnan(figure.location)
            else ""
        )
        where += f", the worst of {figure.n_tried} values" if where and figure.n_tried > 1 else ""
        rows.append([limit.text, text + where, kept])
    return rows


def _choice(desk: SearchResult, design: Evaluation) -> dict[str, Any]:
    """Why this one, the picture of the ranking, and its table."""
    measures = {"bias": "bias", "error": "root_mean_squared_error", "coverage": "coverage", "length": "mean_width"}
    shown, rows = desk.designs[:RANKED_DESIGNS], []
    for place, one in enumerate(shown, start=1):
        figures = [_brief(one.worst_cases[key].measure.shown) for key in measures.values()]
        real = one.format_real_epsilon(BRIEF) + (" (hardly protects)" if one.exceeds_usual_epsilon else "")
        rule = one.analysis.rule_for(one.sets).abbreviation
        kept = words.VERDICTS[one.meets_limits]
        rows.append([f"{place}. {one.name}", rule, _brief(one.epsilon), real, *figures, kept])
    return {
        "sentences": words.choice(desk, design),
        "picture": Markup(ranking_picture(desk, design)),
        "head": ["design", "analysis", "ε given", "real ε", *measures, "kept"],
        "rows": rows,
        "here": next((place for place, one in enumerate(shown) if one.key == design.key), -1),
        "further": len(desk.designs) - len(shown),
        "absent": [f"{name}: {why}." for name, why in desk.absent],
    }


def _brief(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else format_number(value, 3)


def _pictures(desk: SearchResult, design: Evaluation) -> dict[str, Any]:
    beside = next((one for one in desk.designs if one.key != design.key), None)
    asked, at = desk.question, design.worst_cases["root_mean_squared_error"].location
    if not math.isnan(at):  # where the error is worst: following all true values would take as many times as long
        asked = replace(asked, lowest=at, highest=at)
    *_, followed = stream_path(PATHS["epsilon"], asked, [design] if beside is None else [design, beside])
    return {
        "against_truth": [Markup(one) for one in truth_pictures(design)],
        "frontier": Markup(frontier_picture(followed)),
        "beside": beside,
    }
