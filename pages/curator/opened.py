"""A question, or a design with its question, that is opened from a file and sets the controls."""

import dataclasses
from typing import Any

from dpviz.desk.question import ASKED_KINDS, Question
from dpviz.desk.report.files import load_question, stored_design
from pages.components.address import SETTINGS
from pages.components.downloads import text_of
from pages.curator import SPEC
from pages.curator.controls import (
    GOAL,
    KIND,
    LIMITED,
    METHODS,
    NUMBERS,
    OVER,
    PREFIX,
    PROTECT,
    RULE,
    SETS,
    TRIED,
    WORST,
    asked_by,
    asked_with,
    ends_of,
    limited_by,
    shown,
)
from pages.curator.found import written_key
from pages.curator.pins import PINS

LARGEST = 1  # Megabytes of a file
STORED = f"{PREFIX}stored"
"""What the session keeps of a design that was opened, to be compared with what is computed."""


def opened(content: bytes) -> dict[str, Any]:
    """What the controls are to say, from a file; a ValueError in a sentence refuses it."""
    text = text_of(content, 2_000_000 * LARGEST)
    question, key = load_question(text)
    pinned = [] if key is None else [written_key(key)]  # those of the question before are taken off
    return settings_of(question) | {PINS: pinned, STORED: stored_design(text)}


def settings_of(question: Question) -> dict[str, Any]:
    """What the controls say where this is asked; a ValueError where they cannot."""
    data = question.data
    kind = ASKED_KINDS[data.key]
    protect, limited = [one.key for one in question.protections], [one.key for one in question.limits]
    numbers: dict[str, Any] = data.settings()
    del numbers[data.true_value]
    numbers |= dict(zip(ends_of(kind), (question.lowest, question.highest), strict=True))
    for one in question.protections:
        numbers |= {name: shown(name, getattr(one, its.name)) for name, its in asked_by(one).items()}
    for limit in question.limits:
        name = limited_by(kind, limit.key)
        numbers[name] = shown(name, limit.limit)
    numbers |= question.settings()
    tried = [str(one) for one in question.sets]
    again = asked_with(
        kind, {name: one.default for name, one in NUMBERS.items()} | numbers, protect, limited, rules=question.rules,
        goal=question.goal, average=question.average, sets=question.sets, methods=question.methods,
    ).question  # fmt: skip
    place: dict[str, Any] = {data.true_value: question.lowest}  # of the data alone, of which every true value is tried
    same = again == dataclasses.replace(question, data=dataclasses.replace(data, **place))
    if not (same and {*tried} <= {*SETS} and {*question.rules} <= {*kind.rules}):
        raise ValueError(SPEC.note("no_control"))
    choices = {
        KIND: kind.key, PROTECT: protect, LIMITED: limited, TRIED: tried, GOAL: question.goal,
        OVER: WORST[question.average], RULE[kind.key]: list(question.rules),
        METHODS[kind.key]: list(question.methods) or list(SETTINGS[METHODS[kind.key]].default),
    }  # fmt: skip
    links = {f"{PREFIX}m_is_n": numbers["m"] == numbers["n"]} if "m" in numbers else {}
    return {**{PREFIX + name: value for name, value in numbers.items()}, **choices, **links}
