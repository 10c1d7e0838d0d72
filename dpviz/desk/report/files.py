"""Designs as files: all of them as a table and a script; one as JSON that can be loaded again, as the script that makes
its report once more, and as its entry for the registry of deployments that OpenDP keeps.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import dpviz
from dpviz.core.formatting import describe_value, format_number
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.question import DesignQuestion
from dpviz.desk.candidate import DesignKey, Evaluation
from dpviz.desk.numbers import ACCURACY_PART, numbers_of
from dpviz.desk.report.handoff import LIBRARY, LIBRARY_VERSION, handoff_of
from dpviz.desk.report.words import sizes
from dpviz.desk.search import SearchResult
from dpviz.export.tables import to_csv
from dpviz.export.templates import render
from dpviz.inference.rules import RULES


def chosen(desk: SearchResult, key: DesignKey) -> Evaluation:
    """Return the design with this key and everything that can be computed of it."""
    found = next((one for one in desk.designs if one.key == tuple(key)), None)
    if found is None:
        names = "; ".join(str(one.key) for one in desk.designs) or "none"
        raise ValueError(f"key must be that of a design of the desk: {names}; got {describe_value(key)}.")
    return found if found.is_complete else found.completed()


def design_json(design: Evaluation) -> str:
    """Return a question with the chosen design and its numbers, to 12 digits, as JSON; `load_question` reads it."""
    method, sets, rule = design.key
    whole = {
        "dpviz": dpviz.__version__,
        "question": design.question.to_dict(),
        "design": {"method": method, "sets": sets, "rule": rule, "epsilon": design.epsilon},
        "numbers": _numbers(design),
    }
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {_lines(one)}" for name, one in whole.items()) + "\n}\n"


def _numbers(design: Evaluation) -> list[dict[str, object]]:
    return [
        {
            **{name: getattr(one, name) for name in ("part", "label", "symbol")},
            "value": _written(one.written.value),
            "error": _written(one.written.error),
            "bound": one.bound,
            "at": one.at,
        }
        for one in numbers_of(design)
    ]


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


def load_question(text: str) -> tuple[DesignQuestion, DesignKey | None]:
    """Return the question of `design_json`, with the key of the design chosen, or of `DesignQuestion.to_json` alone.

    >>> load_question('{"numbers": []}')
    Traceback (most recent call last):
    ValueError: The file must hold a question, or a design with its question; got '{"numbers": []}'.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"The file must be JSON; got {describe_value(text)}.") from None
    if not isinstance(whole, dict) or not {"question", "data"} & set(whole):
        raise ValueError(f"The file must hold a question, or a design with its question; got {describe_value(text)}.")
    if "question" not in whole:
        return DesignQuestion.from_json(text), None
    question = DesignQuestion.of(whole["question"])
    return question, _key(whole["design"], question) if "design" in whole else None


def _key(design: object, question: DesignQuestion) -> DesignKey:
    """Return the key of a design that a question considers, or raise a ValueError that says what is allowed."""
    if not isinstance(design, dict):
        raise ValueError(f"design must name its method, sets and rule; got {describe_value(design)}.")
    allowed: dict[str, list[str | int]] = {
        "method": [one.key for one in question.data.methods if not one.reference],
        "sets": sorted({1, *question.sets}),
        "rule": [*RULES],
    }
    for name, known in allowed.items():
        if type(design.get(name)) not in (str, int) or design.get(name) not in known:
            raise ValueError(
                f"design.{name} must be one of {', '.join(map(str, known))}; got {describe_value(design.get(name))}."
            )
    return design["method"], design["sets"], design["rule"]


Difference = tuple[str, str, str]
"""A number of a file that is another one today: its name, the file's value and ours."""


@dataclass(frozen=True)
class Stored:
    """What a file says of a design beside its question: the version that wrote it, its ε and its numbers."""

    version: str
    question: DesignQuestion
    key: DesignKey
    setting: object
    numbers: tuple[dict[str, object], ...]

    def asks(self, question: DesignQuestion) -> bool:
        """Whether the file has this question, whatever single true value its data have."""
        one, other = (dataclasses.replace(each, data=each.data_at_truths[0]) for each in (self.question, question))
        return one == other

    def differences(self, design: Evaluation) -> list[Difference]:
        """Return every number that the file has otherwise than `design`, or that one of both has not."""
        ours = {"ε of the design": (design.epsilon, None)} | _by_name(_numbers(design))
        theirs = {"ε of the design": (self.setting, None)} | _by_name(self.numbers)
        pairs = {name: (theirs.get(name, NOT_THERE), ours.get(name, NOT_THERE)) for name in [*ours, *theirs]}
        return [
            (name, _pair(there), _pair(here))
            for name, (there, here) in pairs.items()
            if not all(map(_same, there, here))
        ]


NOT_THERE = "not there", "not there"
LONGEST_NUMBER_NAME, MOST_NUMBERS = 120, 300  # Characters of a name, and numbers of a file, that are compared
AGREES = 1e-9  # Relative distance within which processors find the same number


def _by_name(numbers: Iterable[dict[str, object]]) -> dict[str, tuple[object, object]]:
    """Values and errors by what a number is called, as far as a name is read."""
    found = {}
    for one in numbers:
        part, label, symbol = (str(one.get(name, ""))[:LONGEST_NUMBER_NAME] for name in ("part", "label", "symbol"))
        found[f"{part}: {label} {symbol}".strip()] = one.get("value"), one.get("error")
    return found


def _same(one: object, other: object) -> bool:
    plain = (value for value in (one, other) if isinstance(value, int | float) and not isinstance(value, bool))
    numbers = [value for value in plain if not sys.float_info.max < abs(value) < math.inf]  # an int may be any
    return math.isclose(*numbers, rel_tol=AGREES, abs_tol=1e-12) if len(numbers) == 2 else one == other


def _pair(values: tuple[object, object]) -> str:
    value, error = values
    return _shown(value) if values == NOT_THERE or not error else f"{_shown(value)} ± {_shown(error)}"


def _shown(value: object) -> str:
    if value is None:
        return "not known"
    return value if isinstance(value, str) and value in (*NOT_THERE, "infinite") else describe_value(value)


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


def report_script(design: Evaluation, *, pilot_note: str = "", date: str = "", address: str = "") -> str:
    """Return the script that prints the numbers of a design and writes its report again."""
    asked = design.question
    types = {type(one) for one in (asked.data, *asked.protections, *asked.limits)}
    return render(
        "desk/report/report_script.txt",
        design=design,
        version=dpviz.__version__,
        types=sorted(types, key=lambda one: (one.__module__, one.__name__)),
        arguments=asked.non_default_fields(),
        pilot_note=pilot_note,
        date=date,
        address=address,
    )


def registry_entry(design: Evaluation, *, pilot_note: str = "") -> dict[str, Any]:
    """Return what the registry asks of a deployment, as far as the design says it; the rest is to be confirmed.

    Sections and names are those of its schema, ``schemas/deployments-schema.yaml`` of opendp/deployments-registry-data
    at commit 057e5d8: basic, dp_variant, privacy_loss, deployment_model, implementation and administrative, for tier 3.
    Its entries are YAML, of which JSON is a part.
    """
    asked, data = design.question, design.question.data
    loss, limit = design.outcomes[0].real_loss, asked.epsilon_delta_limit
    known = loss.proven if design.method.has_epsilon and loss.proven != math.inf else None
    parameters = {} if known is None else {"epsilon": known}
    if limit is not None and limit.most_delta > 0 and (known is None or known > limit.most_epsilon):
        parameters = {"epsilon": limit.most_epsilon, "delta": limit.most_delta}
    low, high, symbol = format_number(asked.lowest), format_number(asked.highest), asked.true_parameter.symbol
    text = render(
        "desk/report/registry.json",
        design=design,
        asked=asked,
        method=design.method,
        slug=re.sub(r"[^a-z0-9]+", "-", design.name.lower()).strip("-"),
        sizes=sizes(data),
        secret=[one.symbol for one in data.parameters() if one.name in (data.true_value, *data.assumed_parameters)],
        supposed=[f"{symbol} from {low} to {high}", *data.in_symbols(names=data.assumed_parameters)],
        parameters=parameters,
        variant="Approximate DP" if "delta" in parameters else "Pure DP" if parameters else "to be confirmed",
        known=known,
        exact=loss.exact,
        same=handoff_of(design).same,
        library=f"{LIBRARY} {LIBRARY_VERSION}",
        numbers=[one for one in numbers_of(design) if one.part == ACCURACY_PART],
        pilot_note=pilot_note,
        version=dpviz.__version__,
    )
    found: dict[str, Any] = json.loads(text)
    return found


def registry_json(design: Evaluation, *, pilot_note: str = "") -> str:
    """Return the entry as text."""
    return json.dumps(registry_entry(design, pilot_note=pilot_note), ensure_ascii=False, indent=2)


FIGURE_ENDS = ("", "_error", "_at", "_of_values")
"""A measure, its Monte Carlo error, the true value at which it is worst, and of how many; 0 is all in the range."""
DESIGN_HEAD = ["place", "method", "sets", "rule", "setting", "real_epsilon", "real_epsilon_exact", "keeps_all"]


def _why_empty(one: Evaluation) -> str:
    """Why measures of a design are empty in a file; nothing where none is."""
    if not any(math.isnan(one.value(key)) for key in ACCURACY_MEASURES):
        return ""
    if one.is_complete:
        return "there is no such number"
    broken = [key for key, kept in one.verdicts.items() if kept is False]
    if broken:
        return f"not computed, because the design breaks a limit: {', '.join(broken)}"
    return "not computed, because no limit asks for it and other designs come first"


def desk_csv(desk: SearchResult) -> str:
    """Return every design with all its measures in order, every digit that is known.

    Where there is no number it is empty, and the last column says why.
    """
    rows = []
    for place, one in enumerate(desk.designs, start=1):
        exact, figures = one.method.exact_epsilon, [one.worst_cases[key] for key in ACCURACY_MEASURES]
        row: list[object] = [place, *one.key, one.epsilon, one.real_epsilon, exact, one.meets_limits]
        for figure in figures:
            row += [figure.measure.shown, figure.measure.error, figure.location, float(figure.n_tried)]
        rows.append([*row, _why_empty(one)])
    head = [*DESIGN_HEAD, *(f"{key}{end}" for key in ACCURACY_MEASURES for end in FIGURE_ENDS), "why_empty"]
    return to_csv({name: [row[place] for row in rows] for place, name in enumerate(head)})


def desk_script(question: DesignQuestion) -> str:
    """Return the search for the designs as a script that prints the same numbers."""
    return render("desk/report/desk_script.txt", question=question)
