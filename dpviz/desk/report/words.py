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
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.assessed import Assessed
from dpviz.desk.numbers import DesignNumber
from dpviz.desk.order import OrderCriterion, deciding_first
from dpviz.desk.protection import HARDLY
from dpviz.desk.question import GOALS
from dpviz.desk.search import Desk
from dpviz.desk.told.answer import untold
from dpviz.export.templates import render_paragraphs
from dpviz.privacy.odds_text import factor_of_odds

VERDICTS = {True: "kept", None: "not decided", False: "not kept"}


def sizes(data: DataKind) -> str:
    """All numbers of the data but those that are true and confidential."""
    known = (one for one in data.parameters() if one.name not in (data.true_value, *data.assumed_parameters))
    return ", ".join(f"{one.title.lower()} {one.symbol} = {format_number(getattr(data, one.name))}" for one in known)


def question(design: Assessed) -> list[str]:
    """What was asked."""
    asked = design.question
    rules = [asked.analysis(one, rule).rule_for(one).label for one in asked.sets for rule in asked.rules]
    return render_paragraphs(
        "desk/report/question.txt",
        design=design,
        asked=asked,
        ranged=asked.ranged,
        sizes=sizes(asked.data),
        rules=dict.fromkeys(rules),
        first=GOALS[asked.ranked_by] if asked.promises else "the smallest real ε that is enough for the accuracy",
    )


def answer(design: Assessed) -> str:
    """The choice in a sentence or two."""
    asked, real, error = design.question, design.real_epsilon, design.figures["root_mean_squared_error"].measure
    near = [design.figures[key].measure for key, one in design.verdicts.items() if one is None]
    (said,) = render_paragraphs(
        "desk/report/answer.txt",
        design=design,
        asked=asked,
        rule=design.analysis.rule_for(design.sets).label,
        simulated=any(one.error > 0 for one in near),
        broken=[f"“{one.words}”" for one in asked.limits if design.verdicts[one.key] is False],
        real=real,
        upper=real and round_up(real, 3),
        odds=None
        if real is None or math.isinf(real)
        else factor_of_odds(real, is_bound=not design.method.exact_epsilon),
        error=error,
        known=not math.isnan(error.value),
        hardly=": ".join(HARDLY),
    )
    return said


def choice(desk: Desk, design: Assessed) -> list[str]:
    """How many designs kept the limits, why this one, and what came next."""
    place = next((place for place, one in enumerate(desk.designs, start=1) if one.key == design.key), 0)
    return render_paragraphs(
        "desk/report/choice.txt",
        desk=desk,
        design=design,
        place=place,
        tried=len(desk.designs),
        keeping=len(desk.keeping),
        undecided=len(desk.undecided),
        goal=GOALS[design.question.ranked_by],
        missed=_missed(design),
        nearer=any(one.gives_much_away and one.slack.value < design.slack.value for one in desk.designs),
        following=_following(desk) + untold(desk) if place == 1 and len(desk.designs) > 1 else "",
    )


def _following(desk: Desk) -> str:
    """What came next, and by how much the first beats it in what put them in order."""
    first, other = desk.designs[:2]
    if desk.ties:
        names = ", ".join(one.name for one in desk.ties)
        by = desk.beats(other) if other in desk.ties else None
        why = f"It comes first because {by.why}{_against(by, first, other)}" if by else "Nothing in numbers decides"
        label = deciding_first(first).label
        return f"In its {label} it is tied with {names}. {why}."
    if first.keeps_all is not other.keeps_all:
        rest = "It does not keep all limits" if other.keeps_all is False else "Of it that is not decided"
        by = deciding_first(first)
        return f"Next came {other.name}{_against(by, first, other) if desk.keeping else ''}. {rest}."
    telling = desk.beats(other)
    if telling is None:
        return f"Next came {other.name}, from which nothing in numbers tells it apart."
    if first.keeps_all is False:
        return f"Next came {other.name}: {_missed(other)}{_of_limits(first, other)}."
    return f"Next came {other.name}, by its {telling.label}{_against(telling, first, other)}."


def _against(by: OrderCriterion, first: Assessed, other: Assessed) -> str:
    """Both numbers that decide, the other design's first, and how much more it has; nothing where one is unknown."""
    here, there = by.of(first), by.of(other)
    if not (math.isfinite(here.value) and math.isfinite(there.value)):
        return ""
    said = f", {format_distinct(there.value, here.value, 3)} against {format_distinct(here.value, there.value, 3)}"
    if not here.value > 0 or by.tied(here, there):
        return said
    return f"{said}, which is {format_number(100 * (there.value / here.value - 1), 2)} % more"


def _missed(design: Assessed) -> str:
    """Which limit a design misses most, and what it has of it."""
    if design.tightest is None:
        return "it misses no limit on accuracy"
    limit, _ = design.tightest
    found = design.figures[limit.key].measure.value
    value = "no number is known" if math.isnan(found) else f"it has {format_distinct(found, limit.limit, 3)}"
    return f"of “{limit.words}”, which it misses most, {value}"


def _of_limits(first: Assessed, other: Assessed) -> str:
    """How much of their limits two designs use that break one."""
    here, there = first.slack.value, other.slack.value
    if not (math.isfinite(here) and math.isfinite(there)):
        return ""
    return (
        f"; of what the limits allow it uses {format_distinct(there, here, 3)} times as much, the chosen one "
        f"{format_distinct(here, there, 3)} times"
    )


def caveats(design: Assessed, numbers: Sequence[DesignNumber], pilot_note: str) -> list[str]:
    """What a reader must know to trust the numbers no further than they go."""
    record = next((one for one in RELEASE_METHODS if one.key == design.method.audited), None)
    return render_paragraphs(
        "desk/report/caveats.txt",
        design=design,
        asked=design.question,
        numbers=numbers,
        simulated=[one for one in numbers if one.measure.error > 0],
        tried=[ACCURACY[key].label for key, one in design.figures.items() if one.tried > 1 and not math.isnan(one.at)],
        hardly=": ".join(HARDLY),
        about=design.method.finding or (record.why if record else ""),
        largest=PROMISES.maximum,
        pilot_note=pilot_note,
    )


def origin(design: Assessed, address: str = "") -> list[str]:
    """Seed, versions and the address of the page."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    return render_paragraphs(
        "desk/report/origin.txt", asked=design.question, version=dpviz.__version__, address=address, **versions
    )
