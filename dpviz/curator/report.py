"""The report that defends a choice of design, what makes it again, and files of designs that are opened again.

A report is one HTML file that fetches nothing, prints on A4, and has the same bytes for the same answer.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import dpviz
from dpviz.audit.release_audit import RELEASE_METHODS
from dpviz.core.formatting import describe_value
from dpviz.curator import figures
from dpviz.curator.candidate import ERROR_KEY, Candidate, CandidateKey
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.opendp import OPENDP_VERSION, opendp_script
from dpviz.curator.provenance import reported_numbers
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import TEMPLATES, VOCABULARY, data_alone_sentence, paragraphs, privacy_facts
from dpviz.curator.sweep import AXES, sweep
from dpviz.export.stored import compare_numbers, json_number, read_stored
from dpviz.export.tables import columns_of, to_csv
from dpviz.export.templates import render
from dpviz.inference.rules import RULES

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
    origin = {"pilot_note": pilot_note, "date": date, "address": address}

    # At other limits on ε: the chosen design and the best of another release, where the error is worst, as all true
    # values would take as many times as long
    runner_up = next((ranked for ranked in result.designs if ranked.name != design.name), None)
    location = design.worst_cases[ERROR_KEY].location
    changes: dict[str, Any] = {} if math.isnan(location) else {"lowest": location, "highest": location}
    followed = [design] if runner_up is None else [design, runner_up]
    *_, at_other_limits = sweep(AXES["epsilon"], dataclasses.replace(question, **changes), followed)

    record = RELEASE_METHODS.get(design.method.audited)
    facts = {
        "result": result, "design": design, "question": question, "numbers": numbers, "runner_up": runner_up,
        "attained": {number.label: number for number in numbers}, "max_ranked": figures.MAX_RANKED,
        "finding": design.method.finding or (record.why if record else ""), **origin,
    }  # fmt: skip
    texts = {
        "answer": answer_text(design), "choice": choice_text(result, design), "handoff": opendp_script(design),
        "registry": registry_entry(design, pilot_note=pilot_note), "script": report_script(design, **origin),
        "json": design_to_json(design), "ranking": figures.ranking_svg(result, design),
        "pictures": figures.accuracy_svgs(design), "frontier": figures.frontier_svg(at_other_limits),
        **{name: paragraphs(f"{name}.txt", **facts) for name in ("question", "caveats", "versions")},
    }  # fmt: skip
    return render(f"{TEMPLATES}/report.html", texts=texts, **facts, **VOCABULARY)


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
    return paragraphs("answer.txt", design=design, question=design.question, privacy=privacy_facts(design))[0]


def choice_text(result: SearchResult, design: Candidate) -> list[str]:
    """How many designs meet the limits, why this one, and what came next.

    Parameters
    ----------
    result : SearchResult
    design : Candidate
        As `chosen_design` returns it.
    """
    data_alone = data_alone_sentence(result)
    return paragraphs("choice.txt", result=result, design=design, question=design.question, data_alone=data_alone)


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
    return to_csv(columns | {"why_empty": ["".join(paragraphs("why_empty.txt", design=design)) for design in designs]})


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
    limit, loss = design.question.epsilon_delta_limit, design.outcomes[0].real_loss
    epsilon = loss.proven if design.method.has_epsilon and loss.proven != math.inf else None
    parameters = {} if epsilon is None else {"epsilon": epsilon}
    if limit is not None and limit.most_delta > 0 and (epsilon is None or epsilon > limit.most_epsilon):
        parameters = {"epsilon": limit.most_epsilon, "delta": limit.most_delta}
    text = render(
        f"{TEMPLATES}/registry.json", design=design, question=design.question, method=design.method, epsilon=epsilon,
        parameters=parameters, is_exact=loss.exact, pilot_note=pilot_note, numbers=reported_numbers(design),
        slug=re.sub(r"[^a-z0-9]+", "-", design.name.lower()).strip("-"), has_script=opendp_script(design).is_same,
        opendp_version=OPENDP_VERSION, **VOCABULARY,
    )  # fmt: skip
    return json.dumps(json.loads(text), ensure_ascii=False, indent=2)


def design_to_json(design: Candidate) -> str:
    """Question, design and its numbers to 12 digits as JSON, a number a line; `load_design` reads it."""
    to_text = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    chosen = dict(zip(("method", "sets", "rule", "epsilon"), (*design.key, design.epsilon), strict=True))
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

    def differences(self, design: Candidate) -> list[tuple[str, str, str]]:
        """Numbers that the file has otherwise than the design, or that one of both has not."""
        epsilons = ([{"name": "ε of the design", "value": value}] for value in (self.epsilon, design.epsilon))
        return [*compare_numbers(*epsilons), *compare_numbers(self.entries, _entries(design))]


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

    # Its key names a design that the question considers
    design, version = content["design"], content.get("dpviz")
    if not isinstance(design, dict):
        raise ValueError(f"design must name its method, sets and rule; got {describe_value(design)}.")
    methods = [method.key for method in question.data.methods if not method.reference]
    choices: dict[str, list[Any]] = {"method": methods, "sets": sorted({1, *question.sets}), "rule": [*RULES]}
    for name, allowed in choices.items():
        value = design.get(name)
        if type(value) is not type(allowed[0]) or value not in allowed:
            words = ", ".join(map(str, allowed))
            raise ValueError(f"design.{name} must be one of {words}; got {describe_value(value)}.")
    key, version = tuple(design[name] for name in choices), version[:40] if isinstance(version, str) else "unknown"
    return question, StoredDesign(question, key, version, design.get("epsilon"), content.get("numbers"))
