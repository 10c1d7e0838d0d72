"""Whether what was computed agrees with what is printed: rounding, simulation error, and many numbers at once."""

import math
from collections.abc import Sequence
from dataclasses import replace

from dpviz.published.records import FAR, Agreement, Record, simulation_limit, summarize
from tests.reproduction import abowd_vilhuber, bowen_liu, charest, later_work, liu, zheng
from tests.reproduction.evidence import PRINTED_REPETITIONS, Evidence, SimulationBudget, find_check, sentence

FILE_DIGITS = 9  # Significant ones of a computed number: fewer than rounding on another machine can reach
HALFWAY = 1e-6  # Units of the last digit: a number halfway between two roundings agrees with both
PAPERS = abowd_vilhuber, bowen_liu, charest, later_work, liu, zheng  # the modules register sections and cells


def judge(record: Record, evidence: Evidence) -> Agreement:
    """Return the verdict: ours rounds to every printed digit, or is as close as rounding and chance allow.

    >>> from dpviz.published.records import load_records
    >>> record = replace(load_records()[0], printed="0.12")
    >>> [str(judge(record, Evidence(value))) for value in (0.1249, 0.1251, 0.1301)]
    ['agrees', 'differs within rounding', 'differs']
    """
    if not isinstance(evidence.value, float):
        return Agreement.AGREES if evidence.supported else Agreement.DIFFERS
    difference = abs(float(record.printed) - evidence.value)
    units = difference / record.unit
    if math.isnan(units):
        return Agreement.UNKNOWN
    if units <= 0.5 + HALFWAY:
        return Agreement.AGREES
    if evidence.standard_error:
        return Agreement.DIFFERS if difference > FAR * evidence.standard_error else Agreement.CHANCE
    return Agreement.ROUNDING if units < 1 else Agreement.DIFFERS


def recompute(record: Record, budget: SimulationBudget) -> Record:
    """Return a record as its check finds it now.

    A statement whose verdict is not the frozen one is tried again with ten times the repetitions on another stream,
    until there are more of them than the papers have: chance may have misled it.
    """
    check = find_check(record, budget)
    evidence = check(budget)
    if isinstance(evidence.value, float):
        difference, error = float(record.printed) - evidence.value, evidence.standard_error
        return replace(
            record,
            ours=f"{evidence.value:.{FILE_DIGITS}g}",
            error=error,
            our_error=evidence.own_error,
            units_of_last_digit=difference / record.unit,
            standard_errors=difference / error if error else 0.0,
            verdict=judge(record, evidence),
        )
    while evidence.supported != record.verdict.comes_out and budget.repetitions <= PRINTED_REPETITIONS:
        budget = SimulationBudget(10 * budget.repetitions, budget.seed + 1)
        evidence = check(budget)
    return replace(record, ours=sentence(record, evidence), verdict=judge(record, evidence))


def is_changed(before: Record, after: Record, limit: float) -> bool:
    """Whether the verdict is no longer the frozen one, by more standard errors than chance explains."""
    if not after.error:
        return before.verdict is not after.verdict
    return before.verdict.comes_out and abs(after.standard_errors) > limit and not before.is_alternative


def changed_records(frozen: Sequence[Record], recomputed: Sequence[Record]) -> list[Record]:
    """Return the recomputed records whose verdict is no longer the frozen one."""
    limit = simulation_limit(summarize(frozen).n_simulated)
    return [after for before, after in zip(frozen, recomputed, strict=True) if is_changed(before, after, limit)]
