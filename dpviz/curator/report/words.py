"""What a report says in sentences: the question, the choice, the caveats, and where its numbers come from."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Sequence

import numpy as np
import scipy

import dpviz
from dpviz.audits.releases import RELEASE_METHODS
from dpviz.comparisons import DataKind
from dpviz.curator.numbers import Number
from dpviz.curator.question import GOALS
from dpviz.curator.report.handoff import Handoff
from dpviz.curator.search import Assessed, Desk
from dpviz.parameters import readable, readable_apart

VERDICTS = {True: "kept", None: "not decided", False: "not kept"}
COLUMNS = ("bias", "root_mean_squared_error", "coverage", "mean_width")
WARNING = (
    "dpviz explores designs and releases no data. Its own releases are drawn with ordinary floating-point numbers and "
    "are for study alone. To publish anything, use a library made for it, as at the end of this report."
)
PICTURES_KEY = (
    "Against the true value: what is exact is a line through the values tried, what is simulated is dots with bars of "
    "two standard errors. The ring marks the worst of the true values, with its number. A dashed line is a limit."
)
RANKING_KEY = (
    "A filled dot keeps all limits (✓), a hollow one does not (✗) or is not decided (?). The chosen design is framed. "
    "A dash stands for a number that was not needed or is not known."
)
ABSENT = "These were tried and have no place in the ranking:"
REGISTRY = (
    "The fields are those of the registry that OpenDP keeps, for its fullest tier. Only the agency knows those that "
    "say “TO BE FILLED IN”. The registry takes YAML, and JSON is YAML."
)
JSON_FILE = (
    "The page “Curator's desk” loads this file and asks the same question again. Numbers that are not known are null."
)


def sizes(data: DataKind) -> str:
    """All numbers of the data but the true value, which is not known."""
    known = (one for one in data.parameters() if one.name != data.true_value)
    return ", ".join(f"{one.title.lower()} {one.symbol} = {readable(getattr(data, one.name))}" for one in known)


def question(design: Assessed) -> Iterator[str]:
    """What was asked."""
    asked = design.question
    data, ranged = asked.data, asked.ranged
    yield f"The data: {data.label}; {sizes(data)}."
    wanted = next(one for one in data.estimands if one.key == data.estimand)
    yield f"What users of the release want to know: {wanted.label} ({wanted.symbol})."
    low, high = readable(asked.lowest), readable(asked.highest)
    spaced = (
        f"values evenly spaced in probability ({asked.prior_in_words})"
        if asked.prior_in_words
        else "evenly spaced values"
    )
    tried = f"{len(asked.truths)} {spaced} are tried" if len(asked.truths) > 1 else "one value is tried"
    counts = "their average counts" if asked.average else "the worst of them counts"
    yield f"The {ranged.title.lower()} {ranged.symbol} may be anywhere from {low} to {high}: {tried}, and {counts}."
    sets = " or ".join(readable(one) for one in asked.sets)
    rules = " or ".join(dict.fromkeys(asked.analysis(one, rule).rule_for(one).label for one in asked.sets
                                      for rule in asked.rules))  # fmt: skip
    yield f"Synthetic sets: {sets}. What users do with them: {rules}, with intervals of level {readable(asked.level)}."
    methods = "all methods that promise privacy" if not asked.methods else f"{len(asked.tried)} methods"
    yield f"Considered: {methods}. Among those that keep all limits, {GOALS[asked.goal]} comes first."


def answer(design: Assessed) -> str:
    """The choice in a sentence or two."""
    asked, error = design.question, design.figures["root_mean_squared_error"].measure
    if not asked.limits:
        kept = "It keeps every limit on protection."
    elif design.keeps_all:
        kept = "It keeps every limit."
    elif design.keeps_all is None:
        kept = "Whether it keeps every limit is not decided: a simulation is too close to one."
    else:
        broken = " and ".join(f"“{one.words}”" for one in asked.limits if design.verdicts[one.key] is False)
        kept = f"It does not keep {broken}."
    real = design.real_epsilon
    sets = f"Its {design.sets} sets" if design.sets > 1 else "Its one set"
    if design.sets == 1 and real is not None:
        loss = f"has an exact privacy loss of ε = {readable(real, 3)}"
    elif design.sets > 1 and real is not None:
        loss = f"together have an exact privacy loss of ε = {readable(real, 3)}"
    else:
        loss = "give an unknown amount away" if design.sets > 1 else "gives an unknown amount away"
    off = "" if math.isnan(error.value) else (
        f", and an estimate from {'it' if design.sets == 1 else 'them'} is typically off by "
        f"{'about ' if error.error else ''}{readable(error.value, 3)}"
    )  # fmt: skip
    average = "on average over the true values" if asked.average else "at the worst of the true values"
    rule = design.analysis.rule_for(design.sets).label
    chosen = f"The chosen design: {design.name}, analyzed by “{rule}”."
    return f"{chosen} {kept} {sets} {loss}{off}{f' {average}' if off else ''}."


def choice(desk: Desk, design: Assessed) -> Iterator[str]:
    """How many designs kept the limits, why this one, and what came next."""
    tried, keeping, open_ = len(desk.designs), len(desk.keeping), len(desk.undecided)
    undecided = f" Of {open_} it is not decided." if open_ else ""
    many = "all" if keeping == tried > 1 else keeping or "none"
    keep = f"{many} of them keep{'s' if keeping < 2 else ''} all limits"
    yield f"{tried} designs were tried, and {keep}.{undecided}"
    place = next((place for place, one in enumerate(desk.designs, start=1) if one.key == design.key), 0)
    goal = GOALS[design.question.goal]
    if place == 1 and design.keeps_all:
        yield f"The chosen design keeps all limits and has {goal} of those that do."
    elif place == 1 and design.keeps_all is None:
        yield "No design is sure to keep all limits. Of the chosen one, which comes first, it is not decided."
    elif place == 1:
        yield "The chosen design is the nearest: no other exceeds the limit that it breaks most by so little."
    else:
        first = desk.designs[0]
        yield f"The chosen design is number {place} in the ranking, the curator's own choice. First is {first.name}."
    following = next((one for one in desk.designs if one.key not in (design.key, desk.designs[0].key)), None)
    if place == 1 and following is not None:
        here, there = design.aim, following.aim
        by = "" if math.isnan(here.value) or math.isnan(there.value) else (
            f", with {readable_apart(there.value, here.value, 3)} against {readable_apart(here.value, there.value, 3)}"
        )  # fmt: skip
        rest = "" if following.keeps_all else " It does not keep all limits." if following.keeps_all is False else ""
        yield f"Next came {following.name}{by}.{rest}"


def caveats(design: Assessed, numbers: Sequence[Number], pilot_note: str) -> Iterator[str]:
    """What a reader must know to trust the numbers no further than they go."""
    asked, method = design.question, design.method
    yield (
        "Neighbouring data sets have the same n and differ in one row, which is substituted; one person has one row. "
        "Where rows may be added or removed, or a person has several, these numbers do not hold."
    )
    yield (
        "All probabilities are those of mathematically exact distributions. A program that adds noise as "
        "floating-point numbers can give away far more than its ε (Mironov 2012), so a real release needs a library "
        "that guards against it."
    )
    simulated = [one for one in numbers if one.measure.error > 0]
    if simulated:
        names = "; ".join(f"{one.label.lower()} {one.text(4)}" for one in simulated)
        yield (
            f"Simulated, with {asked.repetitions:,} repetitions at each true value and seed {asked.seed}: {names}. The "
            "number after ± is the standard error; the true one is likely within two of them. The worst of several "
            "simulated numbers tends to look somewhat worse than it is. The other numbers are not simulated."
        )
    else:
        yield (
            "No number of this design is simulated: each is an exact sum or a closed form, to rounding, or says that "
            "it is rounded up or a bound."
        )
    if any(one.bound for one in numbers):
        yield "Numbers that say “at most” are bounds that follow from the privacy loss; the true ones may be smaller."
    if len(asked.truths) > 1:
        yield (
            f"Between the {len(asked.truths)} true values that were tried, and outside their range, the accuracy may "
            "be worse."
        )
    yield f"How the data are made is assumed: {asked.data.label.lower()}, {asked.data.assumed}."
    record = next((one for one in RELEASE_METHODS if one.key == method.audited), None)
    about = method.finding or (record.why if record else "")
    yield (
        f"{method.label} is given ε = {readable(design.setting, 4)} for all sets. What counts is not this promise but "
        f"the real loss, which is among the numbers above.{f' Of the method as printed: {about}' if about else ''}"
    )
    if asked.promises:
        yield "The ε that it is given is found to a relative 10⁻⁶, on the private side of every limit."
    yield (
        "Every limit, bound and number of the question must be chosen without the confidential data. Whatever is taken "
        "from them is a further release that no number here accounts for."
    )
    if pilot_note:
        yield pilot_note


def frontier(design: Assessed, beside: Assessed | None) -> str:
    """What the picture over ε shows."""
    fewer = " Dots rest on fewer repetitions than the numbers." if design.question.data.simulated else ""
    next_to = "" if beside is None else f", in grey {beside.name}"
    return (
        f"What a stricter or a looser limit on ε would do: the chosen design{next_to}, each given the largest ε that "
        f"keeps the limit. The thin line is the limit that was asked.{fewer}"
    )


def handing_over(handoff: Handoff) -> str:
    """What OpenDP has of the design."""
    if not handoff.script:
        return handoff.note
    return (
        f"{handoff.note} Put the confidential rows in, check the privacy loss that it prints, the pure ε of all that "
        "it releases, and run it once. The word “contrib” in it enables parts of OpenDP whose proofs have not been "
        "reviewed to the end. dpviz itself releases nothing."
    )


def origin(design: Assessed) -> Iterator[str]:
    """Seed and versions."""
    yield f"Seed {design.question.seed}, {design.question.repetitions:,} repetitions where something is simulated."
    yield (
        f"dpviz {dpviz.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, SciPy "
        f"{scipy.__version__}."
    )
    yield "PDF: print this file from a browser, to A4; nothing is fetched from anywhere."
    yield "The script below prints every number again and writes this file, the same to the last byte."
