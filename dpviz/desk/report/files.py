"""A design as files: JSON that can be loaded again, and the script that makes its report once more."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from functools import partial

import dpviz
from dpviz.core.parameters import shown
from dpviz.desk.numbers import numbers_of
from dpviz.desk.question import Question
from dpviz.desk.search import Assessed, DesignKey, Desk, assess
from dpviz.desk.texts import filled
from dpviz.inference.rules import RULES


def chosen(desk: Desk, key: DesignKey) -> Assessed:
    """Return the design with this key and everything that can be computed of it."""
    found = next((one for one in desk.designs if one.key == tuple(key)), None)
    if found is None:
        names = "; ".join(str(one.key) for one in desk.designs) or "none"
        raise ValueError(f"key must be that of a design of the desk: {names}; got {shown(key)}.")
    if found.complete:
        return found
    whole = assess(found.question, found.method, found.sets, found.rule, found.setting)
    return dataclasses.replace(whole, enough=found.enough)


def design_json(design: Assessed) -> str:
    """Return a question with the chosen design and its numbers, to 12 digits, as JSON; `load_question` reads it."""
    method, sets, rule = design.key
    whole = {
        "dpviz": dpviz.__version__,
        "question": design.question.written(),
        "design": {"method": method, "sets": sets, "rule": rule, "epsilon": design.setting},
        "numbers": [
            {
                "part": one.part,
                "label": one.label,
                "symbol": one.symbol,
                "value": _written(one.written.value),
                "error": _written(one.written.error),
                "bound": one.bound,
                "at": one.at,
            }
            for one in numbers_of(design)
        ],
    }
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
    return None if math.isnan(value) else value + 0.0 if math.isfinite(value) else "infinite"  # a zero has no sign


def load_question(text: str) -> tuple[Question, DesignKey | None]:
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
    question = Question.of(whole["question"])
    return question, _key(whole["design"], question) if "design" in whole else None


def _key(design: object, question: Question) -> DesignKey:
    """Return the key of a design that a question considers, or raise a ValueError that says what is allowed."""
    if not isinstance(design, dict):
        raise ValueError(f"design must name its method, sets and rule; got {shown(design)}.")
    allowed: dict[str, list[str | int]] = {
        "method": [one.key for one in question.data.methods if not one.reference],
        "sets": sorted({1, *question.sets}),
        "rule": [*RULES],
    }
    for name, known in allowed.items():
        if type(design.get(name)) is bool or design.get(name) not in known:
            raise ValueError(
                f"design.{name} must be one of {', '.join(map(str, known))}; got {shown(design.get(name))}."
            )
    return design["method"], design["sets"], design["rule"]


Difference = tuple[str, str, str]
"""A number of a file that is another one today: its name, the file's value and ours."""


@dataclass(frozen=True)
class Stored:
    """What a file says of a design beside its question: the version that wrote it, its ε and its numbers."""

    version: str
    question: Question
    key: DesignKey
    setting: object
    numbers: tuple[dict[str, object], ...]

    def asks(self, question: Question) -> bool:
        """Whether the file has this question, whatever single true value its data have."""
        one, other = (dataclasses.replace(each, data=each.data_at[0]) for each in (self.question, question))
        return one == other

    @property
    def other_version(self) -> bool:
        """Whether another version than this one wrote it."""
        return self.version != dpviz.__version__

    def differences(self, design: Assessed) -> list[Difference]:
        """Return every number that the file has otherwise than `design`, or that one of both has not."""
        ours = {_name(one.part, one.label, one.symbol): one for one in numbers_of(design)}
        theirs = {
            _name(*(str(one.get(name, ""))[:LONGEST_NUMBER_NAME] for name in ("part", "label", "symbol"))): one
            for one in self.numbers
        }
        found = (
            [] if _same(self.setting, design.setting) else [("ε of the design", *_both(self.setting, design.setting))]
        )
        for name in dict.fromkeys([*ours, *theirs]):
            here = (
                (_written(ours[name].written.value), _written(ours[name].written.error)) if name in ours else NOT_THERE
            )
            there = (theirs[name].get("value"), theirs[name].get("error")) if name in theirs else NOT_THERE
            if not all(map(_same, there, here)):
                found.append((name, _pair(there), _pair(here)))
        return found


NOT_THERE = "not there", "not there"
LONGEST_NUMBER_NAME, MOST_NUMBERS = 120, 300  # Characters of a name, and numbers of a file, that are compared
AGREES = 1e-9  # Relative distance within which processors find the same number


def _name(part: str, label: str, symbol: str) -> str:
    return f"{part}: {label} {symbol}".strip()


def _same(one: object, other: object) -> bool:
    numbers = [value for value in (one, other) if isinstance(value, int | float) and not isinstance(value, bool)]
    return math.isclose(*numbers, rel_tol=AGREES, abs_tol=1e-12) if len(numbers) == 2 else one == other


def _both(there: object, here: object) -> tuple[str, str]:
    return _shown(there), _shown(here)


def _pair(values: tuple[object, object]) -> str:
    value, error = values
    return _shown(value) if values == NOT_THERE or not error else f"{_shown(value)} ± {_shown(error)}"


def _shown(value: object) -> str:
    if value is None:
        return "not known"
    return value if isinstance(value, str) and value in (*NOT_THERE, "infinite") else shown(value)


def stored_design(text: str) -> Stored | None:
    """Return what a file that `load_question` takes says of a design; None where it has a question alone."""
    question, key = load_question(text)
    whole = json.loads(text)
    numbers = whole.get("numbers")
    if key is None or not isinstance(numbers, list):
        return None
    rows = tuple(one for one in numbers[:MOST_NUMBERS] if isinstance(one, dict))
    version = whole.get("dpviz")
    written = version if isinstance(version, str) else "unknown"
    return Stored(written[:LONGEST_NUMBER_NAME], question, key, whole["design"].get("epsilon"), rows)


def report_script(design: Assessed, *, pilot_note: str = "", date: str = "", address: str = "") -> str:
    """Return the script that prints the numbers of a design and writes its report again."""
    asked = design.question
    return filled(
        "report/report_script.txt",
        design=design,
        version=dpviz.__version__,
        types=sorted({type(one) for one in (asked.data, *asked.protections, *asked.limits)}, key=_imported),
        arguments=asked.told(),
        pilot_note=pilot_note,
        date=date,
        address=address,
    )


def _imported(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__name__
