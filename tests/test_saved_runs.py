"""A simulation is saved as a file, and goes on from it to the same digits; any other content is refused."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
import re
from functools import cache
from typing import Any

import pytest

from dpviz.core.escape import decode_utf8
from dpviz.coverage import CoveragePlan, Tally, performance_of, run_coverage
from dpviz.coverage.studies import read_run, save_run, stream_study
from dpviz.coverage.studies.saving import LONGEST_RUN
from dpviz.designs import Design
from dpviz.inference import RULES
from tests.test_studies import HUGE, leaves

DESIGNS = {
    "another": Design(
        mechanism="beta_binomial", n=30, sets=3, epsilon=1.5, p=0.3, level=0.9, seed=4, repetitions=9000,
        rules=("raab_2017", "score"),
    ),
    "own prior, m ≠ n": Design(
        mechanism="posterior_mode", n=20, m=15, sets=2, prior="own", alpha=3.0, p=0.6, rules=("reiter_2002",),
        repetitions=4000, seed=2,
    ),
    "δ": Design(
        mechanism="beta_binomial", n=25, sets=2, prior="exact", epsilon=1.0, delta=1e-3, p=0.2,
        rules=("reiter_2002",), repetitions=4000,
    ),
    "noise": Design(mechanism="laplace", n=12, sets=1, epsilon=0.7, p=0.1, rules=("as_if_real",), repetitions=4000),
}  # fmt: skip


def plan_of(design: Design) -> CoveragePlan:
    """Simulation of a design for every rule that it allows, as the page has it."""
    rules = tuple(key for key, rule in RULES.items() if rule.is_feasible(design.release, design.sets))
    return CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=rules, level=design.level,
        repetitions=design.repetitions, seed=design.seed,
    )  # fmt: skip


@cache
def file_of(name: str, done: int = 3345) -> str:
    """The file of a run that was stopped."""
    plan = plan_of(DESIGNS[name])
    part = run_coverage(dataclasses.replace(plan, repetitions=done))
    return save_run(dataclasses.replace(part, plan=plan), about=DESIGNS[name].to_address())


def tally_in(content: bytes) -> Tally:
    """What a reader goes on from who opens a file."""
    saved = read_run(decode_utf8(content, 4 * LONGEST_RUN))
    return saved.tally_of(plan_of(Design.from_address(saved.about)))


@pytest.mark.parametrize("name", DESIGNS)
def test_an_opened_run_goes_on_to_the_digits_of_one_that_never_stopped(name: str) -> None:
    design = DESIGNS[name]
    content = file_of(name)
    assert Design.from_address(read_run(content).about) == design
    tally = tally_in(content.encode())
    assert (tally.repetitions, tally.plan) == (3345, plan_of(design))
    *_, complete = stream_study(plan_of(design), start=tally)
    expected = run_coverage(plan_of(design))
    assert complete == expected
    assert performance_of(complete) == performance_of(expected)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: b"", "text must be a run in JSON"),
        (lambda text: b"\xff\xfe\x00", "the file must be text in UTF-8"),
        (lambda text: text[:5000], "text must be a run in JSON, complete and unchanged"),
        (lambda text: b"[" * 2_000_000, "text must be a run in JSON"),
        (lambda text: b" " * 5_000_000, "text must have at most 4,000,000 characters; got 5,000,000"),
        (lambda text: text.replace(b'"p":"0.3"', b'"p":"0.4"'), "must say 'p=0.4'; got 'p=0.3'"),
        (lambda text: text.replace(b'"beta_binomial"', b'"<b>"'), "mechanism must be one of"),
        (lambda text: text.replace(b'"3345"', b'"1e999"').replace(b":3345,", b":1e999,"), "got ∞"),
        (lambda text: text.replace(b":3345,", b":9001,"), "must be a whole number from 1 to 9,000; got 9,001"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_refused_in_a_sentence(change: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        tally_in(change(file_of("another").encode()))


def test_whatever_a_file_says_is_opened_or_refused_in_a_sentence() -> None:
    whole, chance = json.loads(file_of("another")), random.Random(5)
    places = [path for path in leaves(whole) if path[0] != "counts"]
    for path in places:
        for value in (*chance.sample(HUGE, 4), "x" * 10_000, "1e999", "9" * 5000, "<script>", "-1", "0.5"):
            said = copy.deepcopy(whole)
            branch = said
            for step in path[:-1]:
                branch = branch[step]
            branch[path[-1]] = value
            try:
                tally = tally_in(json.dumps(said).encode())
            except ValueError as refusal:
                assert str(refusal).endswith(".") and len(str(refusal)) < 500, refusal
            else:
                assert tally.repetitions <= tally.plan.repetitions


FINDING = Design(
    mechanism="beta_binomial", n=20, sets=2, epsilon=2.0, seed=3, repetitions=1500, rules=("reiter_2002",)
)  # fmt: skip


def changed(said: Any, path: tuple[Any, ...], value: int) -> Any:
    """A copy of a file in which one number is another."""
    copied = branch = copy.deepcopy(said)
    for step in path[:-1]:
        branch = branch[step]
    branch[path[-1]] = value
    return copied


def test_a_count_that_another_rules_out_is_refused_with_what_is_allowed() -> None:
    said = json.loads(save_run(run_coverage(plan_of(FINDING)), about=FINDING.to_address()))
    counts = said["counts"]
    place = plan_of(FINDING).rules.index("reiter_2002")
    rule = counts["rules"][place]
    low = rule["covered"] - (1500 - counts["negative_total"])  # all that are covered with T_M ≥ 0, at most
    assert 0 < low <= rule["covered_negative"]
    tally_in(json.dumps(changed(said, ("counts", "rules", place, "covered_negative"), low)).encode())
    with pytest.raises(ValueError, match=r"^covered of reiter_2002 must be from .* to .*, as the other counts and sum"):
        tally_in(json.dumps(changed(said, ("counts", "rules", place, "covered_negative"), low - 1)).encode())


@pytest.mark.parametrize("name", ["another", "noise", "finding"])
def test_whichever_number_of_a_run_is_changed_it_is_refused_or_can_be_measured(name: str) -> None:
    """Each number of a run, up or down by little and by much, in turn; of the totals, one in eleven."""
    design = FINDING if name == "finding" else DESIGNS[name]
    plan = plan_of(design)
    done = run_coverage(dataclasses.replace(plan, repetitions=1345))
    said = json.loads(save_run(dataclasses.replace(done, plan=plan), about=design.to_address()))
    opened_as = refused = 0
    for turn, path in enumerate(leaves(said["counts"])):
        number = said["counts"]
        for step in path:
            number = number[step]
        if not isinstance(number, int) or (path[0] == "totals" and path[1] % 11):
            continue
        ups_and_downs = number - 10, number + 10, number + 1, number - 1, 0, number * 3 // 2, -number, number // 2
        for value in ups_and_downs[turn % 4 :: 4]:
            try:
                tally = read_run(json.dumps(changed(said, ("counts", *path), value))).tally_of(plan)
            except ValueError as refusal:
                refused += 1
                assert str(refusal).endswith(".") and "math domain" not in str(refusal)
            else:
                opened_as += 1
                performance_of(tally)
    assert refused > 50 and opened_as > 50
