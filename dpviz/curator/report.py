"""The report that defends a choice of design, what makes it again, and files of designs that are opened again.

A report is one HTML file that fetches nothing, prints on A4, and has the same bytes for the same answer.
"""

from __future__ import annotations

import dataclasses
import json
import math
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy

import dpviz
from dpviz.audit.release_audit import RELEASE_METHODS
from dpviz.core.formatting import describe_value, format_distinct, format_number
from dpviz.core.parameters import validate_choice
from dpviz.curator import figures
from dpviz.curator.candidate import ERROR_KEY, Candidate, CandidateKey
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.opendp import OPENDP_VERSION, opendp_script
from dpviz.curator.provenance import reported_numbers
from dpviz.curator.question import DesignQuestion
from dpviz.curator.ranking import leading_criterion
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import TEMPLATES, VOCABULARY, data_alone_sentence, privacy_facts
from dpviz.curator.sweep import AXES, sweep
from dpviz.export.stored import Difference, compare_numbers, json_number, read_stored
from dpviz.export.tables import columns_of, to_csv
from dpviz.export.templates import render, render_paragraphs
from dpviz.inference.rules import RULES

REPORT_VOCABULARY: dict[str, Any] = VOCABULARY | {
    "verdicts": {True: "kept", None: "not decided", False: "not kept"},
    "versions": {
        "dpviz": dpviz.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    },
}
"""What the templates of a report use beside a design."""


# The report


def render_report(
    result: SearchResult, design: Candidate, *, pilot_note: str = "", date: str = "", address: str = ""
) -> str:
    """Report on a design of a complete answer, as HTML.

    Parameters
    ----------
    result : SearchResult
    design : Candidate
        As `chosen_design` returns it.
    pilot_note : str, optional
        What was taken from confidential data.
    date, address : str, optional
        Of the page, printed as they are: nothing else depends on when and where the report is made.
    """
    if not result.is_complete or not design.is_complete:
        raise ValueError("result and design must be complete: take the last answer, and `chosen_design` from it.")
    question, numbers = design.question, reported_numbers(design)
    rules = [question.analysis(sets, rule).rule_for(sets).label for sets in question.sets for rule in question.rules]
    record = RELEASE_METHODS.get(design.method.audited)
    finding = design.method.finding or (record.why if record else "")
    texts: dict[str, object] = {
        "answer": answer_text(design),
        "question_text": _paragraphs("question", design, sizes=_sizes_text(question), rules=dict.fromkeys(rules)),
        "choice": choice_text(result, design),
        "caveats": _paragraphs("caveats", design, numbers=numbers, pilot_note=pilot_note, finding=finding),
        "handoff": opendp_script(design),
        "registry": registry_entry(design, pilot_note=pilot_note),
        "origins": _paragraphs("versions", design, address=address),
        "script": report_script(design, pilot_note=pilot_note, date=date, address=address),
        "json": design_to_json(design),
    }

    # The pictures: the last one is of the chosen design, and the best beside it, at other limits on ε
    runner_up = next((ranked for ranked in result.designs if ranked.key != design.key), None)
    location = design.worst_cases[ERROR_KEY].location
    if not math.isnan(location):  # where the error is worst: all true values would take as many times as long
        question = dataclasses.replace(question, lowest=location, highest=location)
    *_, followed = sweep(AXES["epsilon"], question, [design] if runner_up is None else [design, runner_up])
    texts |= {
        "ranking": figures.ranking_svg(result, design),
        "pictures": figures.accuracy_svgs(design),
        "frontier": figures.frontier_svg(followed),
    }
    return render(
        f"{TEMPLATES}/report.html", date=date, result=result, design=design, question=design.question, numbers=numbers,
        attained={number.label: number for number in numbers}, place=_place(result, design), runner_up=runner_up,
        max_ranked=figures.MAX_RANKED, **texts, **REPORT_VOCABULARY,
    )  # fmt: skip


def chosen_design(result: SearchResult, key: CandidateKey) -> Candidate:
    """Design with a key, with everything that can be computed of it.

    Parameters
    ----------
    result : SearchResult
    key : tuple
        Method, number of sets and rule, see `Candidate.key`.
    """
    designs = {ranked.key: ranked for ranked in result.designs}
    if key not in designs:
        names = "; ".join(map(str, designs)) or "none"
        raise ValueError(f"key must be that of a design of the answer: {names}; got {describe_value(key)}.")
    return designs[key].completed()


def answer_text(design: Candidate) -> str:
    """The choice in a sentence or two."""
    undecided = [design.worst_cases[key].measure for key, verdict in design.verdicts.items() if verdict is None]
    is_simulated = any(measure.error > 0 for measure in undecided)
    return _paragraphs("answer", design, privacy=privacy_facts(design), is_simulated=is_simulated)[0]


def choice_text(result: SearchResult, design: Candidate) -> list[str]:
    """How many designs meet the limits, why this one, and what came next."""
    place = _place(result, design)
    first, *following = result.designs
    runner_up = following[0] if place == 0 and following else None
    criterion, numbers = None, ""

    # What put the first design before the next, and both numbers of it where they are known
    if runner_up is not None and not (result.ties and runner_up not in result.ties):
        criterion = result.deciding_criterion(runner_up)
        if first.meets_limits is not runner_up.meets_limits:
            criterion = leading_criterion(first) if result.feasible else None
    if runner_up is not None and criterion is not None:
        value, next_value = criterion.value(first).value, criterion.value(runner_up).value
        if math.isfinite(value) and math.isfinite(next_value):
            numbers = f", {format_distinct(next_value, value, 3)} against {format_distinct(value, next_value, 3)}"
    return _paragraphs(
        "choice", design, result=result, place=place, runner_up=runner_up, criterion=criterion, numbers=numbers,
        format_distinct=format_distinct, data_alone=data_alone_sentence(result),
    )  # fmt: skip


def _place(result: SearchResult, design: Candidate) -> int:
    """Place of a design in the order, from 0; −1 where it has none."""
    return next((place for place, ranked in enumerate(result.designs) if ranked.key == design.key), -1)


def _paragraphs(name: str, design: Candidate, **facts: object) -> list[str]:
    facts = REPORT_VOCABULARY | {"design": design, "question": design.question} | facts
    return render_paragraphs(f"{TEMPLATES}/{name}.txt", **facts)


def _sizes_text(question: DesignQuestion) -> str:
    """Numbers of the data but those that are true and confidential."""
    known = [p for p in question.data.parameters() if p not in question.secret_parameters]
    return ", ".join(f"{p.title.lower()} {p.symbol} = {format_number(getattr(question.data, p.name))}" for p in known)


# What makes it again, and files for machines


def report_script(design: Candidate, *, pilot_note: str = "", date: str = "", address: str = "") -> str:
    """Script that prints the numbers of a design and writes its report again.

    Parameters
    ----------
    design : Candidate
    pilot_note, date, address : str, optional
        As in `render_report`.
    """
    origin = {"pilot_note": pilot_note, "date": date, "address": address}
    return render(f"{TEMPLATES}/report_script.txt", design=design, version=dpviz.__version__, **origin)


def search_script(question: DesignQuestion) -> str:
    """Script that searches for the designs and prints the same numbers."""
    return render(f"{TEMPLATES}/search_script.txt", question=question)


def designs_csv(result: SearchResult) -> str:
    """Every design with all its measures in order; where one is empty, the last column says why."""
    designs = result.designs
    columns: dict[str, Sequence[object]] = {"place": range(1, len(designs) + 1), **columns_of("design", designs)}
    for key in ACCURACY_MEASURES:
        worst = columns_of("worst_case", [design.worst_cases[key] for design in designs])
        columns |= {f"{key}{suffix}": values for suffix, values in worst.items()}
    return to_csv(columns | {"why_empty": list(map(_why_empty, designs))})


def _why_empty(design: Candidate) -> str:
    """Why measures of a design are empty in a file; nothing where none is."""
    if all(worst.is_known for worst in design.worst_cases.values()):
        return ""
    if design.is_complete:
        return "there is no such number"
    if broken := [key for key, verdict in design.verdicts.items() if verdict is False]:
        return f"not computed, because the design breaks a limit: {', '.join(broken)}"
    return "not computed, because no limit asks for it and other designs come first"


def registry_entry(design: Candidate, *, pilot_note: str = "") -> str:
    """Entry of OpenDP's registry of deployments as JSON, as far as the design says it; the rest is to be confirmed.

    Parameters
    ----------
    design : Candidate
    pilot_note : str, optional
        As in `render_report`.

    References
    ----------
    ``schemas/deployments-schema.yaml`` of opendp/deployments-registry-data at commit 057e5d8, for tier 3.
    """
    question, data, loss = design.question, design.question.data, design.outcomes[0].real_loss
    epsilon = loss.proven if design.method.has_epsilon and loss.proven != math.inf else None
    parameters, limit = {} if epsilon is None else {"epsilon": epsilon}, question.epsilon_delta_limit
    if limit is not None and limit.most_delta > 0 and (epsilon is None or epsilon > limit.most_epsilon):
        parameters = {"epsilon": limit.most_epsilon, "delta": limit.most_delta}
    text = render(
        f"{TEMPLATES}/registry.json", design=design, question=question, method=design.method, pilot_note=pilot_note,
        sizes=_sizes_text(question), slug=re.sub(r"[^a-z0-9]+", "-", design.name.lower()).strip("-"),
        version=dpviz.__version__, assumed=data.in_symbols(names=data.assumed_parameters), parameters=parameters,
        epsilon=epsilon, is_exact=loss.exact, has_script=opendp_script(design).is_same,
        library=f"OpenDP {OPENDP_VERSION}",
        numbers=[number for number in reported_numbers(design) if number.part == "Accuracy"],
    )  # fmt: skip
    return json.dumps(json.loads(text), ensure_ascii=False, indent=2)


def design_to_json(design: Candidate) -> str:
    """Question, design and its numbers to 12 digits as JSON, a number a line; `load_design` reads it."""
    to_text = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    method, sets, rule = design.key
    chosen = {"method": method, "sets": sets, "rule": rule, "epsilon": design.epsilon}
    lines = [f'"dpviz": {to_text(dpviz.__version__)}']
    for name, part in {"question": design.question.to_dict(), "design": chosen}.items():
        items = ",\n".join(f"  {to_text(key)}: {to_text(value)}" for key, value in part.items())
        lines.append(f'"{name}": {{\n{items}\n}}')
    entries = ",\n".join(map(to_text, _entries(design)))
    return "{\n" + ",\n".join([*lines, f'"numbers": [\n{entries}\n]']) + "\n}\n"


def _entries(design: Candidate) -> list[dict[str, object]]:
    return [
        {
            "part": number.part, "label": number.label, "symbol": number.symbol,
            "value": json_number(number.rounded.value), "error": json_number(number.rounded.error),
            "bound": number.is_bound, "at": number.location,
        }
        for number in reported_numbers(design)
    ]  # fmt: skip


# Files that are opened again


@dataclass(frozen=True)
class StoredDesign:
    """What a file says of a design: its question and key, the version that wrote it, its ε and its numbers."""

    question: DesignQuestion
    key: CandidateKey
    version: str
    epsilon: object
    entries: object

    def answers(self, question: DesignQuestion) -> bool:
        """Whether the file has this question, whatever single true value its data have."""
        own, current = (dataclasses.replace(item, data=item.data_at_truths[0]) for item in (self.question, question))
        return own == current

    def differences(self, design: Candidate) -> list[Difference]:
        """Numbers that the file has otherwise than the design, or that one of both has not."""
        name = "ε of the design"
        return [
            *compare_numbers([{"name": name, "value": self.epsilon}], [{"name": name, "value": design.epsilon}]),
            *compare_numbers(self.entries, _entries(design)),
        ]


def load_design(text: str) -> tuple[DesignQuestion, StoredDesign | None]:
    """Question of a file in JSON, or of a report, and the design that it holds, if any; refuses others in a sentence.

    Examples
    --------
    >>> load_design('{"numbers": []}')
    Traceback (most recent call last):
    ValueError: The file must hold a question, or a design with its question; got '{"numbers": []}'.
    """
    content = read_stored(text)
    if not {"question", "data"} & content.keys():
        raise ValueError(f"The file must hold a question, or a design with its question; got {describe_value(text)}.")
    question = DesignQuestion.of(content.get("question", content))
    if "question" not in content or "design" not in content:
        return question, None
    key, version = _read_key(content["design"], question), content.get("dpviz")
    version = version[:40] if isinstance(version, str) else "unknown"
    return question, StoredDesign(question, key, version, content["design"].get("epsilon"), content.get("numbers"))


def _read_key(design: object, question: DesignQuestion) -> CandidateKey:
    """Key of a design that a question considers, or a ValueError that says what is allowed."""
    if not isinstance(design, dict):
        raise ValueError(f"design must name its method, sets and rule; got {describe_value(design)}.")
    method, sets, rule = (design.get(name) for name in ("method", "sets", "rule"))
    validate_choice("design.method", method, [item.key for item in question.data.methods if not item.reference])
    validate_choice("design.rule", rule, RULES)
    allowed = sorted({1, *question.sets})
    if type(sets) is not int or sets not in allowed:
        choices = ", ".join(map(str, allowed))
        raise ValueError(f"design.sets must be one of {choices}; got {describe_value(sets)}.")
    return str(method), sets, str(rule)
