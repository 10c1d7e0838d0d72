"""The binary half of Liu's Table 1 beside exact coverage, and beside a simulation where the sums are too long.

Source: F. Liu, Model-based differentially private data synthesis and statistical inference in multiply synthetic
differentially private data, arXiv:1606.08052, Table 1 (a).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dpviz.coverage import within_reach
from dpviz.coverage.law import IN_A_MINUTE, release_law
from dpviz.inference.combining_rules import COMBINING_RULES, CombiningRule
from dpviz.inference.interval_rules import Releases, holds, releases
from dpviz.numerics.blocks import blocks
from dpviz.numerics.quantiles import quantile_table
from dpviz.published.record import Record, read_tables
from dpviz.synthesizers import GeometricSanitizer, Modips, TwoCellSynthesizer
from dpviz.types import FloatArray

__all__ = ["FITTING", "PRINTED_TABLE", "READINGS", "compare_liu_binary"]

CAPTION = "Coverage probability of 95 % intervals by different variance combination rules, M = 10: binary data"
PRINTED_TABLE = read_tables("liu_binary_table", {1: CAPTION})[1]  # The binary half of Table 1 as printed
TIMES = 10  # The rows of the data are this many times those of the column n
PRINTED_REPETITIONS, REPETITIONS, SEED = 5_000, 100_000, 2016
SETS, LEVEL = 10, 0.95
NO_NOISE = 1000.0  # ε from which on the noise of the geometric sanitizer rounds to none

RUBIN_FEW = CombiningRule(
    key="rubin_1987_few", label="Rubin 1987, t with M − 1 degrees of freedom", abbreviation="Rubin 1987, few",
    formula="T = (1 + 1/M) b + v̄; t, ν = M − 1", source="Rubin (1987), as Liu's binary table has it",
    total=COMBINING_RULES["rubin_1987"].total, degrees=lambda b, _, sets, __: np.full(np.shape(b), sets - 1.0),
)  # fmt: skip


class Reading(NamedTuple):
    """How a column may have been computed: from which sets, and by which rule."""

    column: str
    sets: int
    rule: CombiningRule
    verdict: str

    def synthesizer(self, n: int, epsilon: float) -> TwoCellSynthesizer:
        """Return what releases each set."""
        if not self.sets:
            return GeometricSanitizer(n=n, epsilon=NO_NOISE)
        return Modips(n=n, m=n, epsilon=epsilon / self.sets)


# fmt: off
FITTING = (
    Reading("original", 0, COMBINING_RULES["as_if_real"], "The confidential data; normal quantile."),
    Reading("liu_thm7", SETS, COMBINING_RULES["reiter_2003"], "t, as in Theorem 7."),
    Reading("raab", SETS, COMBINING_RULES["raab_2017"], "Normal quantile."),
    Reading("raghunathan", SETS, COMBINING_RULES["raghunathan_2003_normal"],
            "Normal quantile, and a negative variance does not cover."),
    Reading("rubin", SETS, RUBIN_FEW, "t with M − 1 = 9 degrees of freedom."),
    Reading("single", 1, COMBINING_RULES["as_if_real"],
            "One set with all of ε, analyzed as if it were real; normal quantile."),
)
"""The readings that every cell fits, column by column."""

READINGS = (
    *FITTING,
    Reading("rubin", SETS, COMBINING_RULES["rubin_1987"], "t with Rubin's degrees of freedom."),
    Reading("rubin", SETS, COMBINING_RULES["rubin_1987_normal"], "Normal quantile."),
)
"""All readings: those that fit, and others that come to mind."""
# fmt: on


def compare_liu_binary() -> Iterator[Record[float]]:
    """Yield every cell beside ours, reading by reading in each row.

    Exact at n = 100. At n = 1,000 the sums for ten sets are too long: 100,000 repetitions stand for them. The boundary-
    inflated modips has the prior 1, and n is ten times that of the column.
    """
    for row in PRINTED_TABLE.rows:
        yield from compare_row(row)


def compare_row(row: dict[str, float], readings: Sequence[Reading] = READINGS) -> Iterator[Record[float]]:
    """Yield the cells of one row beside ours, as these readings have them."""
    n = TIMES * int(row["n_as_printed"])
    p, epsilon = row["p"], row["epsilon"]
    found: dict[tuple[str, str], tuple[float, int]] = {}
    for sets in dict.fromkeys(one.sets for one in readings):
        reads = [one for one in readings if one.sets == sets]
        made, drawn = reads[0].synthesizer(n, epsilon), max(sets, 1)
        if within_reach(n, n, drawn):
            law, runs = release_law(made, p=p, sets=drawn, reach=IN_A_MINUTE), 0
            parts: Iterator[tuple[FloatArray, Releases]] = (
                (law.probability[some], law.releases.at(some)) for some in blocks(len(law.total), 1)
            )
        else:
            parts, runs = _simulated(made, p, drawn), REPETITIONS
        shares = np.zeros(len(reads))
        for probability, part in parts:
            shares += [float(probability @ _covers(one.rule, part, p)) for one in reads]
        found |= {(one.column, one.verdict): (float(share), runs) for one, share in zip(reads, shares, strict=True)}
    for one in readings:
        ours, runs = found[one.column, one.verdict]
        yield Record.of_share(
            source="Liu (2016), Table 1 (a)", what=one.column, verdict=one.verdict,
            printed=row[one.column], ours=ours, of=PRINTED_REPETITIONS, runs=runs,
            design={"epsilon": epsilon, "n": n, "p": p, "sets": one.sets},
        )  # fmt: skip


def _simulated(made: TwoCellSynthesizer, p: float, sets: int) -> Iterator[tuple[FloatArray, Releases]]:
    """Yield the releases of 100,000 studies, each with the same probability."""
    generator = np.random.default_rng(SEED)
    confidential, often = np.unique(generator.binomial(made.n, p, REPETITIONS), return_counts=True)
    for x, number in zip(confidential.tolist(), often.tolist(), strict=True):
        counts = made.draw(generator, x, (number, sets)).astype(np.int64)
        yield np.full(number, 1 / REPETITIONS), releases(made, sets, counts.sum(axis=1), (counts**2).sum(axis=1))


def _covers(rule: CombiningRule, found: Releases, p: float) -> FloatArray:
    return holds(*rule.ends(found, LEVEL, quantile_table(LEVEL)), p).astype(float)
