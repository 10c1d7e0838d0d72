"""The frozen records come out again, and a wrong one is noticed whatever the seed."""

import math
import re
from dataclasses import replace
from inspect import signature
from io import StringIO
from statistics import NormalDist

import pandas as pd
import pytest

from dpviz.core.data_files import table_text
from dpviz.published.records import Agreement, Record, load_papers, load_records, simulation_limit
from tests.reproduction import __main__ as command
from tests.reproduction import evidence
from tests.reproduction.evidence import (
    Evidence,
    SimulationBudget,
    changed_records,
    find_check,
    findings,
    judge,
    recompute,
)
from tests.reproduction.liu import share_evidence

SMALL_BUDGET = SimulationBudget(repetitions=60)
NUMBERS = re.compile(r"−?\d[\d.,]*(×10[⁻⁰¹²³⁴-⁹]+)?(?<![.,])")
RECORDS = load_records()
SIMULATED = [record for record in RECORDS if record.error and not record.is_alternative]
EXACT = [record for record in RECORDS if record.is_number and record.is_computed and not record.error]


def test_every_result_is_computed_and_every_statement_has_a_sentence() -> None:
    result = {
        (paper, key): item
        for paper, functions in evidence.SECTIONS.items()
        for function in functions
        for key, item in findings(function, SMALL_BUDGET).items()
    }
    computed = {(evidence.PAPER_KEYS[record.paper], record.key) for record in RECORDS if record.is_computed}
    assert computed == {*evidence.CELL_CHECKS, *result}
    assert {key for key, item in result.items() if not isinstance(item.value, float)} == set(evidence.SENTENCES)


@pytest.mark.parametrize("paper", list(dict.fromkeys(record.paper for record in RECORDS)))
def test_every_record_comes_out_again(paper: str) -> None:
    """Verdicts with few repetitions, exact numbers to nine digits, exact sentences, and the form of simulated ones."""
    frozen = [record for record in RECORDS if record.paper == paper and record.is_computed]
    recomputed = [recompute(record, SMALL_BUDGET) for record in frozen]
    assert not changed_records(frozen, recomputed)
    sections = evidence.SECTIONS[evidence.PAPER_KEYS[paper]]
    simulated = {
        key for section in sections if signature(section).parameters for key in findings(section, SMALL_BUDGET)
    }
    for before, after in zip(frozen, recomputed, strict=True):
        if before.is_number and not (before.our_error or after.our_error):
            assert float(after.ours) == pytest.approx(float(before.ours), rel=1e-7, abs=1e-6), before.id
            assert after.error == pytest.approx(before.error, rel=1e-7), before.id
        elif not before.is_number and before.key in simulated:
            assert NUMBERS.sub("#", after.ours) == NUMBERS.sub("#", before.ours), before.id
        elif not before.is_number:
            assert after.ours == before.ours, before.id


@pytest.mark.parametrize(("printed", "value", "error", "verdict"), [
    ("0.647228", 0.6472284, 0.0, Agreement.AGREES),
    ("0.647228", 0.6472275, 0.0, Agreement.AGREES),  # halfway
    ("0.647228", 0.6472289, 0.0, Agreement.ROUNDING),
    ("0.647228", 0.6472291, 0.0, Agreement.DIFFERS),
    ("90", 90.49, 0.0, Agreement.AGREES),
    ("0.948", 0.9484, 0.003, Agreement.AGREES),
    ("0.948", 0.955, 0.003, Agreement.CHANCE),
    ("0.948", 0.9574, 0.003, Agreement.DIFFERS),
    ("-0.00", 0.0, 0.1, Agreement.AGREES),
    ("0.5", math.nan, 0.0, Agreement.UNKNOWN),
])  # fmt: skip
def test_a_verdict_knows_rounding_and_chance(printed: str, value: float, error: float, verdict: Agreement) -> None:
    record = replace(RECORDS[0], printed=printed)
    assert judge(record, Evidence(value, standard_error=error)) is verdict


def test_a_share_of_none_or_all_has_an_error() -> None:
    record = replace(RECORDS[0], printed="1.000")
    for runs in (60, 5_000):
        assert share_evidence(record, 1.0, runs).own_error == 1 / runs
    exact = share_evidence(record, 0.999, 0)
    assert exact.own_error == 0
    assert exact.standard_error == pytest.approx(math.hypot(math.sqrt(0.999 * 0.001 / 5_000), 0.001 / math.sqrt(12)))


def test_a_wrong_number_is_noticed_whatever_the_seed() -> None:
    """An exact number in the last digit, a simulated one beyond the limit; chance is not."""
    limit = simulation_limit(len(SIMULATED))
    assert len(SIMULATED) == 298
    assert 2 * len(SIMULATED) * NormalDist().cdf(-limit) == pytest.approx(1e-3)
    assert len(EXACT) > 150
    for record in EXACT:
        if record.verdict is Agreement.AGREES:
            for shift in (record.unit, -record.unit):
                digits = len(record.printed.partition(".")[2])
                wrong = replace(record, printed=f"{float(record.printed) + shift:.{digits}f}")
                assert judge(wrong, Evidence(float(record.ours))) is not Agreement.AGREES, record.id
    for errors, is_noticed in ((2.9, False), (limit - 0.2, False), (limit + 0.2, True), (10.0, True)):
        moved = [replace(record, standard_errors=errors) for record in SIMULATED]
        assert len(changed_records(SIMULATED, moved)) == is_noticed * sum(r.verdict.comes_out for r in SIMULATED)


def test_a_statement_is_tried_again_where_a_simulation_may_have_missed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times as many repetitions and another stream each time, and no more where it fails with all of them."""
    statement = next(r for r in RECORDS if r.is_computed and not r.is_number and r.verdict is Agreement.AGREES)
    for enough, repetitions in ((60, [60]), (600, [60, 600]), (10**9, [60, 600, 6_000])):
        budgets: list[SimulationBudget] = []

        def check(budget: SimulationBudget, enough: int = enough) -> Evidence:
            budgets.append(budget)  # noqa: B023
            return Evidence("What was found.", budget.repetitions >= enough)

        monkeypatch.setattr("tests.reproduction.evidence.find_check", lambda *_: check)
        recomputed = recompute(statement, SMALL_BUDGET)
        assert [budget.repetitions for budget in budgets] == repetitions
        assert len({budget.seed for budget in budgets}) == len(budgets)
        assert bool(changed_records([statement], [recomputed])) == (enough > 6_000)


@pytest.mark.parametrize(
    ("key", "count"), [("abowd_vilhuber", "140 of 142"), ("zheng", "114 of 139"), ("jackson", "3 of 3")]
)
def test_the_command_counts_verdicts_and_writes_what_the_page_shows(key, count, tmp_path, capsys) -> None:
    """Row by row and to the digit, but for the day; no row of these papers is simulated."""
    path = tmp_path / "records.csv"
    assert command.main(["--paper", key, "--csv", str(path)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{count} results come out.")
    assert printed.err == ""
    written, frozen = (
        pd.read_csv(file, dtype=str, keep_default_na=False)
        for file in (path, StringIO(table_text("published/records")))
    )
    frozen = frozen[frozen["paper"] == load_papers()[key]].reset_index(drop=True)
    pd.testing.assert_frame_equal(written.drop(columns="computed"), frozen.drop(columns="computed"))


def test_the_command_fails_where_a_record_no_longer_comes_out(monkeypatch, capsys) -> None:

    def find_wrong(record: Record, budget: SimulationBudget) -> object:
        return (lambda _: Evidence(7.0)) if record.key == "eight" else find_check(record, budget)

    monkeypatch.setattr("tests.reproduction.evidence.find_check", find_wrong)
    assert command.main(["--paper", "abowd_vilhuber"]) == 1
    assert "printed 8, ours 7, 1.0 units of the last digit. Differs." in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "sentence"), [
    ("--paper nobody", "invalid choice: 'nobody'"),
    ("--repetitions 0", "repetitions (number of repetitions) must be a whole number from 1 to 100,000; got 0."),
    ("--repetitions many", "invalid int value: 'many'"),
    ("--seed -1", "seed must be a whole number from 0 to 10⁹; got −1."),
    ("--csv no_folder/file.csv", "must name a file in a folder that exists; got no_folder/file.csv"),
    ("--csv .", "must name a file in a folder that exists; got ."),
])  # fmt: skip
def test_the_command_refuses_what_it_cannot_do(arguments, sentence, capsys) -> None:
    with pytest.raises(SystemExit) as refusal:
        command.main(arguments.split())
    assert refusal.value.code == 2
    assert sentence in capsys.readouterr().err
