"""What a report says in sentences: the question, the choice, the caveats, and where its numbers come from."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence

import numpy as np
import scipy

import dpviz
from dpviz.claims.printed_methods import RELEASE_METHODS
from dpviz.comparisons import DataKind
from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import format_distinct, format_number, round_up
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.privacy_limits import WEAK_PROTECTION_NOTE
from dpviz.curator.question import GOALS
from dpviz.desk.candidate import Evaluation
from dpviz.desk.numbers import DesignNumber
from dpviz.desk.order import OrderCriterion, deciding_first
from dpviz.desk.search import SearchResult
from dpviz.desk.told.answer import untold
from dpviz.export.templates import render_paragraphs
from dpviz.privacy.odds_text import factor_of_odds

VERDICTS = {True: "kept", None: "not decided", False: "not kept"}


def sizes(data: DataKind) -> str:
    """All numbers of the data but those that are true and confidential."""
    known = (one for one in data.parameters() if one.name not in (data.true_value, *data.assumed_parameters))
    return ", ".join(f"{one.title.lower()} {one.symbol} = {format_number(getattr(data, one.name))}" for one in known)


def question(design: Evaluation) -> list[str]:
    """What was asked."""
    asked = design.question
    rules = [asked.analysis(one, rule).rule_for(one).label for one in asked.sets for rule in asked.rules]
    return render_paragraphs(
        "desk/report/question.txt",
        design=design,
        asked=asked,
        ranged=asked.true_parameter,
        sizes=sizes(asked.data),
        rules=dict.fromkeys(rules),
        first=GOALS[asked.ranked_by] if asked.promises else "the smallest real ε that is enough for the accuracy",
    )


def answer(design: Evaluation) -> str:
    """The choice in a sentence or two."""
    asked, real, error = design.question, design.real_epsilon, design.worst_cases["root_mean_squared_error"].measure
    near = [design.worst_cases[key].measure for key, one in design.verdicts.items() if one is None]
    (said,) = render_paragraphs(
        "desk/report/answer.txt",
        design=design,
        asked=asked,
        rule=design.analysis.rule_for(design.sets).label,
        simulated=any(one.error > 0 for one in near),
        broken=[f"“{one.text}”" for one in asked.limits if design.verdicts[one.key] is False],
        real=real,
        upper=real and round_up(real, 3),
        odds=None
        if real is None or math.isinf(real)
        else factor_of_odds(real, is_bound=not design.method.exact_epsilon),
        error=error,
        known=not math.isnan(error.value),
        hardly=": ".join(WEAK_PROTECTION_NOTE),
    )
    return said


def choice(desk: SearchResult, design: Evaluation) -> list[str]:
    """How many designs kept the limits, why this one, and what came next."""
    place = next((place for place, one in enumerate(desk.designs, start=1) if one.key == design.key), 0)
    return render_paragraphs(
        "desk/report/choice.txt",
        desk=desk,
        design=design,
        place=place,
        tried=len(desk.designs),
        keeping=len(desk.feasible),
        undecided=len(desk.undecided),
        goal=GOALS[design.question.ranked_by],
        missed=_missed(design),
        nearer=any(one.exceeds_usual_epsilon and one.limit_use.value < design.limit_use.value for one in desk.designs),
        following=_following(desk) + untold(desk) if place == 1 and len(desk.designs) > 1 else "",
    )


def _following(desk: SearchResult) -> str:
    """What came next, and by how much the first beats it in what put them in order."""
    first, other = desk.designs[:2]
    if desk.ties:
        names = ", ".join(one.name for one in desk.ties)
        by = desk.deciding_criterion(other) if other in desk.ties else None
        why = f"It comes first because {by.why}{_against(by, first, other)}" if by else "Nothing in numbers decides"
        label = deciding_first(first).label
        return f"In its {label} it is tied with {names}. {why}."
    if first.meets_limits is not other.meets_limits:
        rest = "It does not keep all limits" if other.meets_limits is False else "Of it that is not decided"
        by = deciding_first(first)
        return f"Next came {other.name}{_against(by, first, other) if desk.feasible else ''}. {rest}."
    telling = desk.deciding_criterion(other)
    if telling is None:
        return f"Next came {other.name}, from which nothing in numbers tells it apart."
    if first.meets_limits is False:
        return f"Next came {other.name}: {_missed(other)}{_of_limits(first, other)}."
    return f"Next came {other.name}, by its {telling.label}{_against(telling, first, other)}."


def _against(by: OrderCriterion, first: Evaluation, other: Evaluation) -> str:
    """Both numbers that decide, the other design's first, and how much more it has; nothing where one is unknown."""
    here, there = by.of(first), by.of(other)
    if not (math.isfinite(here.value) and math.isfinite(there.value)):
        return ""
    said = f", {format_distinct(there.value, here.value, 3)} against {format_distinct(here.value, there.value, 3)}"
    if not here.value > 0 or by.tied(here, there):
        return said
    return f"{said}, which is {format_number(100 * (there.value / here.value - 1), 2)} % more"


def _missed(design: Evaluation) -> str:
    """Which limit a design misses most, and what it has of it."""
    if design.tightest_limit is None:
        return "it misses no limit on accuracy"
    limit, _ = design.tightest_limit
    found = design.worst_cases[limit.key].measure.value
    value = "no number is known" if math.isnan(found) else f"it has {format_distinct(found, limit.limit, 3)}"
    return f"of “{limit.text}”, which it misses most, {value}"


def _of_limits(first: Evaluation, other: Evaluation) -> str:
    """How much of their limits two designs use that break one."""
    here, there = first.limit_use.value, other.limit_use.value
    if not (math.isfinite(here) and math.isfinite(there)):
        return ""
    return (
        f"; of what the limits allow it uses {format_distinct(there, here, 3)} times as much, the chosen one "
        f"{format_distinct(here, there, 3)} times"
    )


def caveats(design: Evaluation, numbers: Sequence[DesignNumber], pilot_note: str) -> list[str]:
    """What a reader must know to trust the numbers no further than they go."""
    record = next((one for one in RELEASE_METHODS if one.key == design.method.audited), None)
    return render_paragraphs(
        "desk/report/caveats.txt",
        design=design,
        asked=design.question,
        numbers=numbers,
        simulated=[one for one in numbers if one.measure.error > 0],
        tried=[
            ACCURACY_MEASURES[key].label
            for key, one in design.worst_cases.items()
            if one.n_tried > 1 and not math.isnan(one.location)
        ],
        hardly=": ".join(WEAK_PROTECTION_NOTE),
        about=design.method.finding or (record.why if record else ""),
        largest=PROMISES.maximum,
        pilot_note=pilot_note,
    )


def origin(design: Evaluation, address: str = "") -> list[str]:
    """Seed, versions and the address of the page."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    return render_paragraphs(
        "desk/report/origin.txt", asked=design.question, version=dpviz.__version__, address=address, **versions
    )
