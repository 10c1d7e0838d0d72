"""A design as files: JSON that can be loaded again, and the script that makes its report once more."""

from __future__ import annotations

import dataclasses
import json
import math
import textwrap
from functools import partial
from importlib.resources import files
from string import Template
from typing import Any

import dpviz
from dpviz.curator.numbers import numbers_of
from dpviz.curator.question import Question
from dpviz.curator.search import Assessed, Desk, assess
from dpviz.parameters import shown

WIDTH = 112  # Characters of a line of the script, its indent aside
Key = tuple[str, int, str]


def chosen(desk: Desk, key: Key) -> Assessed:
    """Return the design with this key and everything that can be computed of it."""
    found = next((one for one in desk.designs if one.key == tuple(key)), None)
    if found is None:
        names = "; ".join(str(one.key) for one in desk.designs) or "none"
        raise ValueError(f"key must be that of a design of the desk: {names}; got {shown(key)}.")
    return found if found.complete else assess(found.question, found.method, found.sets, found.rule, found.setting)


def design_json(design: Assessed) -> str:
    """Return a question with the chosen design and its numbers, to 12 digits, as JSON; `load_question` reads it."""
    method, sets, rule = design.key
    whole = {
        "dpviz": dpviz.__version__,
        "question": json.loads(design.question.to_json()),
        "design": {"method": method, "sets": sets, "rule": rule, "epsilon": design.setting},
        "numbers": [
            {
                "part": one.part, "label": one.label, "symbol": one.symbol, "value": _written(one.written.value),
                "error": _written(one.written.error), "bound": one.bound, "at": one.at,
            }
            for one in numbers_of(design)
        ],
    }  # fmt: skip
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {_lines(one)}" for name, one in whole.items()) + "\n}\n"


def _lines(value: object) -> str:
    """Return JSON in which every number of a list, or part of an object, has a line."""
    text = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(text(one) for one in value) + "\n]"
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"  {text(name)}: {text(one)}" for name, one in value.items()) + "\n}"
    return text(value)


def _written(value: float) -> float | str | None:
    """A number as JSON can hold it."""
    return None if math.isnan(value) else value if math.isfinite(value) else "infinite"


def load_question(text: str) -> tuple[Question, Key | None]:
    """Return the question of `design_json`, with the key of the design chosen, or of `Question.to_json` alone.

    >>> load_question('{"numbers": []}')
    Traceback (most recent call last):
    ValueError: The file must hold a question, or a design with its question; got '{"numbers": []}'.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"The file must be JSON; got {shown(text)}.") from None
    if not isinstance(whole, dict) or not {"question", "data"} & set(whole):
        raise ValueError(f"The file must hold a question, or a design with its question; got {shown(text)}.")
    if "question" not in whole:
        return Question.from_json(text), None
    question = Question.from_json(json.dumps(whole["question"]))
    design = whole.get("design")
    parts: tuple[Any, ...] = (
        tuple(design.get(one) for one in ("method", "sets", "rule")) if isinstance(design, dict) else ()
    )
    known = len(parts) == 3 and isinstance(parts[0], str) and isinstance(parts[1], int) and isinstance(parts[2], str)
    return question, (parts if known else None)


def report_script(design: Assessed, *, pilot_note: str = "", date: str = "") -> str:
    """Return the script that prints the numbers of a design and writes its report again."""
    asked = design.question
    parts = [asked.data, *asked.protections, *asked.limits]
    imports = sorted({f"from {type(one).__module__} import {type(one).__name__}" for one in parts})
    told = [
        f"{field.name}={getattr(asked, field.name)!r}"
        for field in dataclasses.fields(asked)
        if field.default is dataclasses.MISSING or getattr(asked, field.name) != field.default
    ]
    lines = textwrap.wrap(", ".join(told), WIDTH, break_long_words=False, break_on_hyphens=False)
    text = files("dpviz.curator.report").joinpath("report_script.txt").read_text(encoding="utf-8")
    return Template(text).substitute(
        about=f"The report on {design.name}, made with dpviz {dpviz.__version__}.",
        imports="\n".join(imports),
        question="\n    ".join(lines),
        key=repr(design.key),
        pilot_note=repr(pilot_note),
        date=repr(date),
    )
