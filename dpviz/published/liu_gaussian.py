"""The normal half of Liu's Table 1 beside a simulation of what it estimates.

Source: F. Liu, Model-based differentially private data synthesis and statistical inference in multiply synthetic
differentially private data, arXiv:1606.08052, Table 1 (b).
"""

from functools import lru_cache
from typing import NamedTuple

from dpviz.comparisons.gaussian import KnownVariance
from dpviz.comparisons.gaussian_methods import GaussianMethod, ModipsMean, Original
from dpviz.comparisons.gaussian_study import GaussianPlan, GaussianTally
from dpviz.published.record import Record, read_tables
from dpviz.studies import run_study

__all__ = ["FITTING", "PRINTED_TABLE", "READINGS", "compare_liu_gaussian"]

CAPTION = "Coverage probability of 95 % intervals by different variance combination rules, M = 10: normal data"
PRINTED_TABLE = read_tables("liu_gaussian_table", {1: CAPTION})[1]  # The normal half of Table 1 as printed
PRINTED_REPETITIONS, SEED = 5_000, 2016
REPETITIONS = 5_000  # As many as the paper has, so that a page need not wait
SETS = 10


class Reading(NamedTuple):
    """How a column may have been computed: the release, how many sets, what of the variance is known, and the rule."""

    column: str
    title: str
    method: GaussianMethod
    sets: int
    estimand: str
    rule: str
    verdict: str

    @property
    def study(self) -> tuple[GaussianMethod, int]:
        """The release that it reads."""
        return self.method, self.sets


KNOWN, OWN = "mean_known_variance", "mean"
OWN_VARIANCES = "Every set's own s²/n, its rows being set to the bounds (BIT)"
# fmt: off
FITTING = (
    Reading("original", "original", Original(), 1, KNOWN, "as_if_real",
            "The known variance σ²/n and the normal quantile."),
    Reading("liu_thm7", "Theorem 7", ModipsMean(), SETS, OWN, "reiter_2003", f"{OWN_VARIANCES}; t, as in Theorem 7."),
    Reading("raab", "Raab et al.", ModipsMean(), SETS, OWN, "raab_2017", f"{OWN_VARIANCES}; normal quantile."),
    Reading("raghunathan", "Raghunathan et al.", ModipsMean(), SETS, OWN, "raghunathan_2003_normal",
            f"{OWN_VARIANCES}; normal quantile, and a negative variance does not cover."),
    Reading("rubin", "Rubin", ModipsMean(), SETS, OWN, "rubin_1987",
            f"{OWN_VARIANCES}; t with Rubin's degrees of freedom."),
    Reading("single", "single synthesis", ModipsMean(), 1, KNOWN, "as_if_real",
            "One set with all of ε, the known variance σ²/n and the normal quantile."),
)
"""The readings that every cell fits, column by column."""

READINGS = (
    *FITTING,
    Reading("raab", "Raab et al.", ModipsMean(), SETS, KNOWN, "raab_2017", "The known variance σ²/n; normal quantile."),
    Reading("rubin", "Rubin", ModipsMean(), SETS, OWN, "rubin_1987_normal", f"{OWN_VARIANCES}; normal quantile."),
    Reading("single", "single synthesis", ModipsMean(), 1, OWN, "as_if_real",
            "One set with all of ε, its own s²/n and the normal quantile."),
)
"""All readings: those that fit, and others that come to mind."""
# fmt: on


@lru_cache(maxsize=1)
def compare_liu_gaussian() -> tuple[Record[float], ...]:
    """Return every cell beside its simulation, 5,000 repetitions, reading by reading in each row.

    Data are n rows of N(0, 1), bounds −4 and 4. The n of the table is that of this half, unlike that of the binary one.
    """
    return tuple(record for row in PRINTED_TABLE.rows for record in _row(row))


def _row(row: dict[str, float]) -> list[Record[float]]:
    data = KnownVariance(n=int(row["n"]), mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    tallies: dict[tuple[GaussianMethod, int], GaussianTally] = {}
    for study in dict.fromkeys(one.study for one in READINGS):
        reads = [one for one in READINGS if one.study == study]
        method, sets = study
        plan = GaussianPlan(
            data=data, method=method, epsilon=row["epsilon"], sets=sets, repetitions=REPETITIONS, seed=SEED,
            estimands=tuple(dict.fromkeys(one.estimand for one in reads)),
            rules=tuple(dict.fromkeys(one.rule for one in reads)),
        )  # fmt: skip
        tallies[study] = run_study(plan)
    return [_record(row, one, tallies[one.study].measures(one.estimand, one.rule).coverage.value) for one in READINGS]


def _record(row: dict[str, float], reading: Reading, ours: float) -> Record[float]:
    return Record.of_share(
        source="Liu (2016), Table 1 (b)", what=reading.column, verdict=reading.verdict,
        printed=row[reading.column], ours=ours, of=PRINTED_REPETITIONS, runs=REPETITIONS,
        design={"epsilon": row["epsilon"], "n": row["n"], "sets": reading.sets},
    )  # fmt: skip
