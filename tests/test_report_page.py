"""Files of the report: their numbers are compared with those of today, and designs that they name are checked."""

import dataclasses
import json
import re
from typing import Any

import pytest

from dpviz.comparisons import CountData
from dpviz.core.formatting import describe_value
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, RiskRatioLimit
from dpviz.curator.question import DesignQuestion
from dpviz.desk.numbers import numbers_of
from dpviz.desk.report.files import chosen, design_json, load_question, stored_design
from dpviz.desk.search import stream_designs
from dpviz.desk.told.tables import comparison_table
from tests.pages.apptest import plain_text

COUNTED = DesignQuestion(
    data=CountData(n=20, m=15, p=0.1), lowest=0.1, highest=0.35, values=2, sets=(2,), rules=("rubin_1987",),
    protections=(EpsilonDeltaLimit(most_epsilon=2.0, most_delta=0.001),
    RiskRatioLimit(risk_before=0.2, most_ratio=3.0)),
    limits=(AccuracyLimit("bias", 0.3),), methods=("modips", "beta_binomial"), average=True, goal="bias", level=0.9,
    repetitions=60, seed=7,
)  # fmt: skip


def changed(text: str, **said: Any) -> str:
    """A design file with another value of its coverage, or other parts."""
    whole_ = json.loads(text)
    for one in whole_["numbers"]:
        if one["label"] == "Coverage" and "coverage" in said:
            one["value"] = said["coverage"]
    return json.dumps(whole_ | {name: one for name, one in said.items() if name != "coverage"})


def test_numbers_of_a_file_are_compared_to_the_ninth_digit() -> None:
    *_, desk = stream_designs(COUNTED)
    assert desk.best is not None
    design = chosen(desk, desk.best.key)
    text_ = design_json(design)
    value = next(one for one in numbers_of(design) if one.label == "Coverage").written.value
    for factor, different in ((1.0, 0), (1 + 1e-10, 0), (1 + 1e-8, 1)):
        stored = stored_design(changed(text_, coverage=value * factor))
        assert stored is not None and stored.asks(COUNTED)
        assert len(stored.differences(design)) == different
    values: tuple[object, ...] = (None, "x", [], True, "infinite")
    for wrong in values:
        stored = stored_design(changed(text_, coverage=wrong))
        assert stored is not None and len(stored.differences(design)) == 1
    stored = stored_design(changed(text_, numbers=[]))
    assert stored is not None and len(stored.differences(design)) == len(numbers_of(design))
    assert stored_design(COUNTED.to_json()) is None
    stored = stored_design(changed(text_, design=json.loads(text_)["design"] | {"epsilon": 99}))
    assert stored is not None
    assert stored.differences(design) == [("ε of the design", "99", describe_value(design.epsilon))]


def test_side_by_side_has_every_number_of_a_report() -> None:
    """Under shorter names where the table of all designs has them, too."""
    asked = DesignQuestion(
        data=CountData(n=20, m=20, p=0.1), lowest=0.1, highest=0.4, values=2, sets=(1,), rules=("as_if_real",),
        protections=(EpsilonDeltaLimit(),), methods=("laplace", "beta_binomial"), repetitions=60,
    )  # fmt: skip
    *_, desk = stream_designs(asked)
    designs = [chosen(desk, (method, 1, "as_if_real")) for method in asked.methods]
    numbers = [numbers_of(design) for design in designs]
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


@pytest.mark.parametrize(
    ("design", "sentence"),
    [
        ({"method": "x" * 10_000, "sets": 1, "rule": "as_if_real"}, "design.method must be one of "),
        ({"method": "laplace", "sets": 1, "rule": "r" * 10_000}, "design.rule must be one of "),
        ({"method": "laplace", "sets": 99, "rule": "as_if_real"}, "design.sets must be one of 1, 5; got 99."),
        ({"method": "laplace", "sets": True, "rule": "as_if_real"}, "design.sets must be one of 1, 5; got True."),
        ({"method": ["laplace"], "sets": 1, "rule": "as_if_real"}, "design.method must be one of "),
        ("laplace", "design must name its method, sets and rule; got 'laplace'."),
    ],
    ids=range(6),
)
def test_a_design_of_a_file_that_the_question_does_not_consider_is_refused(design: object, sentence: str) -> None:
    question = dataclasses.replace(COUNTED, sets=(1, 5), average=False)
    whole = {"question": json.loads(question.to_json()), "design": design}
    with pytest.raises(ValueError, match=re.escape(sentence)) as refusal:
        load_question(json.dumps(whole))
    assert len(str(refusal.value)) < 500
