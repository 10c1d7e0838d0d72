"""Tables 1 to 4 of Charest (2011) beside what they estimate, and the design of her Figure 1.

Source: A.-S. Charest, How can we analyze differentially-private synthetic datasets?, Journal of Privacy and
Confidentiality 2(2), 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpviz.checked import checked
from dpviz.inference.moments import proportion_moments
from dpviz.inference.posterior import posterior_if_known
from dpviz.published._charest_runs import (
    CONFIDENTIAL_COUNT,
    ROWS,
    Expected,
    charest_synthesizer,
    posterior_runs,
    rule_moments,
)
from dpviz.published.record import PrintedTable, Record, read_table

__all__ = ["ERRATA", "FIGURE_1", "charest_table", "compare_charest"]

CAPTIONS = {
    1: "Relative bias (in %) of q̄_M as an estimator of p",
    2: "Relative bias (in %) of T_M and T*_M as estimators of the variance of q̄_M",
    3: "Mean and variance of the synthetic posterior distributions, for M sets with ε = 2 overall",
    4: "Mean and variance of the synthetic posterior distributions, for one set and several ε",
}
SOURCE = "Charest (2011)"
REPETITIONS = {1: 100_000, 2: 100_000, 3: 1000, 4: 1000}
"""Simulation runs behind each table, as its caption says."""

TABLE_3_EPSILON = 2.0
TRUE_MEAN = 0.3039
"""Mean of the true posterior Beta(31, 71), as printed."""

ABSOLUTE = "100 × (mean of the posterior means − 0.3039): percentage points, not relative to 0.3039 as the column says."
LITERAL = "100 × (mean of the posterior means − 0.3039) / 0.3039: what “relative bias” says."
OVER_RUNS = "Variance, over the runs, of the posterior mean: not of the posterior, as the column says."
OF_POSTERIOR = "Mean, over the runs, of the variance of the posterior: what the column says."
AS_PRINTED = "As the column says."


def _erratum(where: str, what: str, printed: str, ours: str, verdict: str) -> Record[str]:
    return Record(source=f"{SOURCE}, {where}", what=what, printed=printed, ours=ours, verdict=verdict)


ERRATA = (
    _erratum(
        "Tables 3 and 4",
        "posterior",
        "The bias is called “relative bias (%)”.",
        "It is an absolute one, 100 times the difference from 0.3039. Relative to 0.3039 the last row of Table 4 would "
        "read 2.7, not 0.83.",
        "wrong heading",
    ),
    _erratum(
        "Table 3",
        "posterior",
        "The variance is called that of the posterior.",
        "It is that of the posterior mean over the runs. For ε = 2 and one set the mean posterior variance is "
        "8.19×10⁻³, as Table 4 prints (8.18); Table 3 prints 6.30. So Table 3 understates what the synthetic data "
        "leave unknown: with one set the mean posterior variance is 35 % larger than the variance of the posterior "
        "mean, 8.19 against 6.08 (×10⁻³).",
        "wrong heading",
    ),
    _erratum(
        "Sections 3.1 and 3.4",
        "coverage",
        "The degrees of freedom were derived for T_M; the paper does not say which quantile T*_M takes where T_M is "
        "negative.",
        "With the normal one, coverage at ε = 3 and p = 0.25 is 0.775, 0.635 and 0.472 for 2, 5 and 10 sets, as the "
        "text describes it. With t and the same degrees of freedom it is 0.870, 0.842 and 0.692.",
        "not said",
    ),
    _erratum(
        "Figure 1, caption",
        "coverage",
        "For p = 0.25 coverage is said to get worse as M increases.",
        "Where ε is small, five sets cover more often than two under either reading, and ten less often than five: at "
        "ε = 1 it is 0.487, 0.559 and 0.412 with the normal quantile. The text does not say for which ε the figure "
        "was drawn.",
        "true only for some ε",
    ),
    _erratum(
        "Section 3.3",
        "coverage",
        "The bias of T*_M is said to grow with M.",
        "It does at ε = 2, but at ε = 250 it falls with M, as Table 2 itself shows.",
        "true only for some ε",
    ),
    _erratum(
        "Section 3.4",
        "coverage",
        "Figure 1 is based on 1,000 repetitions by the text.",
        "Its caption says 10,000.",
        "contradicts itself",
    ),
    _erratum(
        "Section 4",
        "posterior",
        "The proposal of the Metropolis step has ñ twice at the upper end, and the update of p̃_m has m̃.",
        "At the upper end x = n must be left for n − 1, and the number of synthetic rows is ñ.",
        "misprint",
    ),
    _erratum(
        "Section 4",
        "posterior",
        "The summary of the posteriors for M = 1, 2, 5, 10 is said to be in Table 1.",
        "It is Table 3.",
        "misprint",
    ),
    _erratum(
        "Section 3.1",
        "coverage",
        "T*_M is called always positive; its degrees of freedom are printed with m − 1.",
        "It is 0 where T_M is exactly 0, as where every set is all ones; the degrees of freedom have M − 1.",
        "misprint",
    ),
)
"""What the paper prints and its own definitions contradict, in our words; every number is computed here."""


@dataclass(frozen=True, kw_only=True)
class Figure1:
    """The design of Figure 1, the coverage of 95 % intervals from q̄_M and T*_M, as far as the text gives it.

    Parameters
    ----------
    proportions, rows, level
        p, n = ñ and level: given.
    rules
        Keys of the combining rule in both readings, the one that the text fits first: what T*_M takes for a quantile
        where T_M is negative is not said.
    sets
        M of the curves: a reading, from “two synthetic datasets” and the tables, which have 2, 5 and 10.
    repetitions
        Those of the text and of the caption, which differ.
    """

    proportions: tuple[float, ...] = (0.25, 0.5)
    rows: int = ROWS
    level: float = 0.95
    rules: tuple[str, str] = ("reiter_2002_normal", "reiter_2002")
    sets: tuple[int, ...] = (2, 5, 10)
    repetitions: tuple[int, int] = (1000, 10_000)


FIGURE_1 = Figure1()


@checked()
@cache
def charest_table(number: int) -> PrintedTable:
    """Table 1, 2, 3 or 4 as printed.

    Examples
    --------
    >>> charest_table(3).rows[0]
    {'M': 1.0, 'posterior_mean': 0.311, 'rel_bias_pct': 0.76, 'posterior_variance_1e-3': 6.3}
    """
    if number not in CAPTIONS:
        raise ValueError(f"number must be 1, 2, 3 or 4, a table of Charest (2011); got {number!r}.")
    return read_table("charest_table", number, CAPTIONS)


@checked()
def compare_charest(number: int, *, generator: np.random.Generator | None = None) -> list[Record[float]]:
    """Every number of a table beside what it estimates, column by column in each row.

    Tables 1, 2 and 4 are exact, and so are one and two sets of Table 3; five and ten are simulated 20,000 times. Where
    a column is not what its heading says, the reading that fits comes first and the literal one after it. A design has
    ε over all sets, M (0 for the confidential data), and p unless x is fixed at 30. The error of a printed number is
    that of its simulation and its rounding.

    Parameters
    ----------
    number
        1, 2, 3 or 4.
    generator
        Source of random numbers for Table 3; one seeded with 2011 where None.

    Examples
    --------
    >>> first = compare_charest(1)[0]  # one release at ε = 2, p = 1/4; before it the confidential data
    >>> first.what, first.printed, first.ours
    ('true_dataset', 0.12, 0.0)
    """
    table = charest_table(number)
    generator = np.random.default_rng(2011) if generator is None else generator
    compare: dict[int, Callable[[dict[str, float], np.random.Generator], list[Record[float]]]] = {
        1: _table_1, 2: _table_2, 3: _posterior_row(3), 4: _posterior_row(4),
    }  # fmt: skip
    return [line for row in table.rows for line in compare[number](row, generator)]


def _line(
    table: int, row: dict[str, float], quantity: str, expected: Expected, decimals: int, reading: str = AS_PRINTED,
    *, sets: int | None = None,
) -> Record[float]:  # fmt: skip
    simulation = expected.spread / math.sqrt(REPETITIONS[table])
    design = {"epsilon": row.get("epsilon", TABLE_3_EPSILON), "sets": row.get("M", 1) if sets is None else sets}
    return Record(
        source=f"{SOURCE}, Table {table}",
        what=quantity,
        printed=row[quantity],
        ours=expected.value,
        error=math.hypot(simulation, 10.0**-decimals / math.sqrt(12), expected.error),
        our_error=expected.error,
        verdict=reading,
        design=design | ({"p": row["p"]} if "p" in row else {}),
    )


def _table_1(row: dict[str, float], _: np.random.Generator) -> list[Record[float]]:
    p = row["p"]
    sampling = Expected(value=0.0, error=0.0, spread=100 * math.sqrt(p * (1 - p) / ROWS) / p)
    lines = [_line(1, row, "true_dataset", sampling, 2, sets=0)]
    for quantity in [name for name in row if name.startswith("M=")]:
        sets = int(quantity[2:])
        alpha = charest_synthesizer(row["epsilon"], sets).alpha
        moments = proportion_moments(
            "synth_post_one", n=ROWS, m=ROWS, alpha=alpha, beta=alpha, proportion=p, sets=sets
        )  # fmt: skip
        bias = Expected(value=100 * moments.bias / p, error=0.0, spread=100 * moments.standard_error / p)
        lines.append(_line(1, row, quantity, bias, 2, sets=sets))
    return lines


def _table_2(row: dict[str, float], _: np.random.Generator) -> list[Record[float]]:
    moments = rule_moments(row["epsilon"], row["p"], int(row["M"]))
    return [
        _line(2, row, "var_qbar_1e-4", _scaled(moments.variance, 1e4), 2),
        _line(2, row, "rel_bias_TM_pct", moments.bias_t, 2),
        _line(2, row, "rel_bias_TMstar_pct", moments.bias_t_star, 2),
        _line(2, row, "negative_TM_pct", moments.negative, 0),
    ]


def _posterior_row(table: int) -> Callable[[dict[str, float], np.random.Generator], list[Record[float]]]:
    def compare(row: dict[str, float], generator: np.random.Generator) -> list[Record[float]]:
        runs = posterior_runs(row.get("epsilon", TABLE_3_EPSILON), int(row.get("M", 1)), generator)
        over_runs, of_posterior = _scaled(runs.variance_of_means, 1e3), _scaled(runs.mean_of_variances, 1e3)
        readings = [(over_runs, OVER_RUNS), (of_posterior, OF_POSTERIOR)]
        lines = [
            _line(table, row, "posterior_mean", runs.mean, 3),
            _line(table, row, "rel_bias_pct", _scaled(runs.mean, 100, TRUE_MEAN), 2, ABSOLUTE),
            _line(table, row, "rel_bias_pct", _scaled(runs.mean, 100 / TRUE_MEAN, TRUE_MEAN), 2, LITERAL),
        ]
        for value, reading in readings if table == 3 else readings[::-1]:
            lines.append(_line(table, row, "posterior_variance_1e-3", value, 2, reading))
        if table == 4:
            true = posterior_if_known(confidential_count=CONFIDENTIAL_COUNT, n=ROWS).variance
            ratio = _scaled(runs.mean_of_variances, 1 / true)
            lines.append(_line(table, row, "ratio_to_true_variance", ratio, 2, OF_POSTERIOR))
        return lines

    return compare


def _scaled(expected: Expected, factor: float, origin: float = 0.0) -> Expected:
    return Expected(
        value=factor * (expected.value - origin), error=factor * expected.error, spread=factor * expected.spread
    )  # fmt: skip
