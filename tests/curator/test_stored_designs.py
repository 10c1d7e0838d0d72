"""Files of the report: their numbers are compared with those of today, and designs that they name are checked."""

import dataclasses
import json
import re

import pytest

from dpviz.comparisons import CountData
from dpviz.core.formatting import format_number
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, RiskRatioLimit
from dpviz.curator.provenance import reported_numbers
from dpviz.curator.question import DesignQuestion
from dpviz.curator.report import StoredDesign, chosen_design, design_to_json, load_design
from dpviz.curator.search import evaluate_designs
from dpviz.curator.summary import comparison_table
from tests.curator.questions import answered, asking
from tests.pages.apptest import plain_text

COUNTED = DesignQuestion(
    data=CountData(n=20, m=15, p=0.1), lowest=0.1, highest=0.35, values=2, sets=(2,), rules=("rubin_1987",),
    protections=(EpsilonDeltaLimit(most_epsilon=2.0, most_delta=0.001),
    RiskRatioLimit(risk_before=0.2, most_ratio=3.0)),
    limits=(AccuracyLimit("bias", 0.3),), methods=("modips", "beta_binomial"), average=True, goal="bias", level=0.9,
    repetitions=60, seed=7,
)  # fmt: skip


def stored_in(text: str) -> StoredDesign:
    """The design that a file holds."""
    _, stored = load_design(text)
    assert stored is not None
    return stored


def test_numbers_of_a_file_are_compared_to_the_ninth_digit() -> None:
    *_, result = evaluate_designs(COUNTED)
    assert result.best is not None
    design = chosen_design(result, result.best.key)
    content = json.loads(design_to_json(design))
    (coverage,) = (number for number in content["numbers"] if number["label"] == "Coverage")
    value = coverage["value"]
    for factor, n_different in ((1.0, 0), (1 + 1e-10, 0), (1 + 1e-8, 1)):
        coverage["value"] = value * factor
        stored = stored_in(json.dumps(content))
        assert stored.answers(COUNTED)
        assert len(stored.differences(design)) == n_different
    coverage["value"] = value
    for numbers in ((), "none"):
        missing = stored_in(json.dumps(content | {"numbers": numbers})).differences(design)
        assert all(stored == "not there" for _, stored, _ in missing)
        assert len(missing) >= len({(number.label, number.symbol) for number in reported_numbers(design)})
    assert load_design(COUNTED.to_json())[1] is None
    for epsilon, text in ((99, "99"), (10**400, "a number above 10³⁰⁸")):
        changed = stored_in(json.dumps(content | {"design": content["design"] | {"epsilon": epsilon}}))
        assert changed.differences(design) == [("ε of the design", text, format_number(design.epsilon, 12))]


def test_side_by_side_has_every_number_of_a_report() -> None:
    """Under shorter names where the table of all designs has them, too."""
    asked = asking(values=2, rules=("as_if_real",), epsilon=1.0, methods=("laplace", "beta_binomial"), repetitions=60)
    desk = answered(asked)
    designs = [chosen_design(desk, (method, 1, "as_if_real")) for method in asked.methods]
    numbers = [reported_numbers(design) for design in designs]
    rows = {plain_text(name).strip(): cells for name, *cells in comparison_table(designs, numbers).rows}
    short_names = {
        "Exact privacy loss of all sets": "real privacy loss ε",
        "ε that all sets are given": "ε that it is set to",
    }
    for place, own in enumerate(numbers):
        for number in own:
            label = short_names.get(number.label, number.label)
            if number.part != "What was asked" and label.lower() != "coverage":
                cells = rows.get(label) or rows[label.lower()]
                assert cells[place].startswith(number.text(4).split(" ±")[0]), label


@pytest.mark.parametrize(("design", "sentence"), [
    ({"method": "x" * 10_000, "sets": 1, "rule": "as_if_real"}, "design.method must be one of "),
    ({"method": "laplace", "sets": 1, "rule": "r" * 10_000}, "design.rule must be one of "),
    ({"method": "laplace", "sets": 99, "rule": "as_if_real"}, "design.sets must be one of 1, 5; got 99."),
    ({"method": "laplace", "sets": True, "rule": "as_if_real"}, "design.sets must be one of 1, 5; got True."),
    ({"method": ["laplace"], "sets": 1, "rule": "as_if_real"}, "design.method must be one of "),
    ("laplace", "design must name its method, sets and rule; got 'laplace'."),
    (None, "design must name its method, sets and rule; got None."),
    ({}, "design.method must be one of "),
    ({"method": "laplace", "sets": 1.0, "rule": "as_if_real"}, "design.sets must be one of 1, 5; got 1."),
], ids=range(9))  # fmt: skip
def test_a_design_of_a_file_that_the_question_does_not_consider_is_refused(design: object, sentence: str) -> None:
    question = dataclasses.replace(COUNTED, sets=(1, 5), average=False)
    whole = {"question": json.loads(question.to_json()), "design": design}
    with pytest.raises(ValueError, match=re.escape(sentence)) as refusal:
        load_design(json.dumps(whole))
    assert len(str(refusal.value)) < 500
