"""Both halves of Liu's Table 1 beside what they estimate: exact coverage, or a simulation where the sums are too long.

Source: F. Liu, Model-based differentially private data synthesis and statistical inference in multiply synthetic
differentially private data, arXiv:1606.08052, Table 1.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from dpviz.claims.published import (
    PRINTED_REPETITIONS,
    Effort,
    PrintedRow,
    PrintedTable,
    Record,
    Shown,
    printed_rows,
    read_tables,
)
from dpviz.comparisons.numeric_data import KnownVariance
from dpviz.comparisons.numeric_releases import MODIPS_MEAN, ORIGINAL_ROWS
from dpviz.comparisons.numeric_study import NumericStudy
from dpviz.comparisons.proportion import EPSILON_WITHOUT_NOISE
from dpviz.core.numerics.special import row_blocks
from dpviz.core.types import FloatArray
from dpviz.coverage.release_distribution import exact_work, release_distribution
from dpviz.inference.combining_rules import COMBINING_RULES, CombiningRule
from dpviz.inference.interval_rules import SetStatistics, contains, set_statistics
from dpviz.mechanisms import GeometricSanitizer, Modips, TwoCellSynthesizer

__all__ = ["LIU_BINARY", "LIU_NORMAL"]

CAPTION_OF_LIU = "Coverage probability of 95 % intervals by different variance combination rules, M = 10"
LIU_LEVEL, LIU_REPETITIONS = 0.95, PRINTED_REPETITIONS
ROWS_PER_PRINTED_ROW = 10  # The binary data have this many times the rows that the column n says
N_AS_PRINTED = "n_as_printed"  # In the design of a cell whose n is read otherwise
BINARY_RUNS = 100_000
USUAL_EFFORT = Effort()  # As many repetitions as the paper has, so that a page need not wait
SHOWN_RULE = "reiter_2003"

RUBIN_FEW = CombiningRule(
    key="rubin_1987_few",
    label="Rubin 1987, t with M − 1 degrees of freedom",
    abbreviation="Rubin 1987, few",
    formula="T = (1 + 1/M) b + v̄; t, ν = M − 1",
    source="Rubin (1987), as Liu's binary table has it",
    total=COMBINING_RULES["rubin_1987"].total,
    degrees=lambda b, _, sets, __: np.full(np.shape(b), sets - 1.0),
)
THEOREM_7 = COMBINING_RULES["reiter_2003"]
assert THEOREM_7.degrees is not None
DEGREES_OF_THEOREM_7 = THEOREM_7.degrees


def _divided_by_m(between: FloatArray, sets: int) -> FloatArray:
    return between * (sets - 1) / sets


THEOREM_7_AS_PRINTED = CombiningRule(
    key="reiter_2003_m",
    label="Theorem 7 with b as it is printed, its divisor m",
    abbreviation="Theorem 7, b/m",
    formula="T = ϖ + b/m, b = (1/m) Σ (β̂ − β̄)²; t, ν = (m − 1)(1 + m ϖ/b)²",
    source="Liu (2016), Theorem 7, as printed",
    total=lambda b, v, sets, ratio: THEOREM_7.total(_divided_by_m(b, sets), v, sets, ratio),
    degrees=lambda b, v, sets, ratio: DEGREES_OF_THEOREM_7(_divided_by_m(b, sets), v, sets, ratio),
)
RULES_OF_LIU = COMBINING_RULES | {one.key: one for one in (RUBIN_FEW, THEOREM_7_AS_PRINTED)}


class LiuReading(NamedTuple):
    """How a column may have been computed: from how many sets, 0 for the confidential data, and by which rule.

    The estimand says of normal data what of the variance is known; `title` is the heading of the column.
    """

    column: str
    title: str
    sets: int
    rule: str
    estimand: str
    reading: str


Covered = Callable[[Mapping[str, float], int, Sequence[LiuReading], Effort], tuple[Sequence[float], int]]


class LiuTable(NamedTuple):
    """A half of the table: as printed, the readings that every cell fits, column by column, and others one thinks of.

    `covered` says how often the intervals of some readings of as many sets hold the truth, and by how many runs: 0
    where that is exact.
    """

    source: str
    printed: PrintedTable
    covered: Covered
    fitting: tuple[LiuReading, ...]
    others: tuple[LiuReading, ...]

    @classmethod
    def read(cls, part: str, name: str, data: str, covered: Covered) -> Self:
        """Return a half from the files of printed tables and of readings."""
        readings: dict[str, list[LiuReading]] = {"yes": [], "no": []}
        for one in printed_rows("liu_readings"):
            if one.pop("table") == name:
                fits, sets = one.pop("fits"), int(one.pop("sets"))
                readings[fits].append(LiuReading(sets=sets, **one))
        printed = read_tables(f"liu_{name}_table", {1: f"{CAPTION_OF_LIU}: {data}"})[1]
        return cls(f"Liu (2016), Table 1 ({part})", printed, covered, *map(tuple, readings.values()))

    def compare(self, effort: Effort = USUAL_EFFORT) -> Iterator[Record[float]]:
        """Yield every cell beside ours, reading by reading in each row; last with as many rows as the column says."""
        for row in self.printed.rows:
            yield from self.compare_row(row, (*self.fitting, *self.others), effort)
        for row in self.printed.rows:
            if "n" not in row:
                yield from self.compare_row(row, self.fitting, effort, rows_as_printed=True)

    def compare_row(
        self,
        row: PrintedRow,
        readings: Sequence[LiuReading],
        effort: Effort = USUAL_EFFORT,
        *,
        rows_as_printed: bool = False,
    ) -> Iterator[Record[float]]:
        """Yield the cells of one row beside ours, as these readings have them."""
        times = 1 if rows_as_printed or "n" in row else ROWS_PER_PRINTED_ROW
        rows = int(times * (row["n"] if "n" in row else row["n_as_printed"]))
        design = {"epsilon": float(row["epsilon"]), "n": rows} | ({"p": float(row["p"])} if "p" in row else {})
        printed = {} if "n" in row else {"epsilon": design["epsilon"], N_AS_PRINTED: float(row["n_as_printed"])}
        also = f" n is read as {times} times the printed one." if times > 1 else ""
        found: dict[LiuReading, tuple[float, int]] = {}
        for sets in dict.fromkeys(one.sets for one in readings):
            reads = [one for one in readings if one.sets == sets]
            shares, runs = self.covered(design, sets, reads, effort)
            found |= {one: (float(share), runs) for one, share in zip(reads, shares, strict=True)}
        data = {"kind": "binary"} if "p" in row else {"kind": "gaussian_known_variance", "low": -4, "high": 4}
        for one, (ours, runs) in ((one, found[one]) for one in readings):
            yield Record.of_share(
                source=self.source,
                what=one.column,
                reading=one.reading + also,
                literal=times == 1,
                other=rows_as_printed or one not in self.fitting,
                printed=row[one.column],
                ours=ours,
                of=LIU_REPETITIONS,
                runs=runs,
                design=printed | design | {"sets": one.sets},
                shown=Shown("compare_synthesizers", {**data, **design, "sets": max(one.sets, 1), "rule": SHOWN_RULE}),
            )


def _binary_covered(
    design: Mapping[str, float], sets: int, reads: Sequence[LiuReading], effort: Effort
) -> tuple[Sequence[float], int]:
    """Exact for 100 rows or fewer; for 1,000 the sums of ten sets are too long, and 100,000 repetitions stand for them.

    With fewer repetitions all sums of ten sets are simulated. The boundary-inflated modips has the prior 1.
    """
    n, p, drawn = int(design["n"]), design["p"], max(sets, 1)
    made: TwoCellSynthesizer = GeometricSanitizer(n=n, epsilon=EPSILON_WITHOUT_NOISE)
    if sets:
        made = Modips(n=n, m=n, epsilon=design["epsilon"] / sets)
    if (effort.thorough or sets <= 1) and exact_work(made, p=p, sets=drawn) < math.inf:
        distribution, runs = release_distribution(made, p=p, sets=drawn), 0
        parts: Iterator[tuple[FloatArray, SetStatistics]] = (
            (distribution.probability[some], distribution.statistics.at(some))
            for some in row_blocks(len(distribution.probability), 1)
        )
    else:
        runs = max(BINARY_RUNS, effort.repetitions) if effort.thorough else effort.repetitions
        parts = simulated_releases(made, p, drawn, runs, effort.generator())
    shares, rules = np.zeros(len(reads)), [RULES_OF_LIU[one.rule] for one in reads]
    for probability, part in parts:
        held = (contains(*rule.ends(part, LIU_LEVEL), p) for rule in rules)
        shares += [float(probability @ one) for one in held]
    return shares.tolist(), runs


def simulated_releases(
    made: TwoCellSynthesizer, p: float, sets: int, runs: int, generator: np.random.Generator
) -> Iterator[tuple[FloatArray, SetStatistics]]:
    """Yield the releases of so many studies, each with the same probability."""
    confidential, often = np.unique(generator.binomial(made.n, p, runs), return_counts=True)
    for x, number in zip(confidential.tolist(), often.tolist(), strict=True):
        counts = made.draw(generator, x, (number, sets)).astype(np.int64)
        yield np.full(number, 1 / runs), set_statistics(made, sets, counts.sum(axis=1), (counts**2).sum(axis=1))


def _normal_covered(
    design: Mapping[str, float], sets: int, reads: Sequence[LiuReading], effort: Effort
) -> tuple[Sequence[float], int]:
    """By simulation of n rows of N(0, 1) with the bounds −4 and 4."""
    study = NumericStudy(
        data=KnownVariance(n=int(design["n"]), mean=0.0, sigma=1.0, low=-4.0, high=4.0),
        method=MODIPS_MEAN if sets else ORIGINAL_ROWS,
        epsilon=design["epsilon"],
        sets=max(sets, 1),
        repetitions=effort.repetitions,
        seed=effort.seed,
        estimands=tuple(dict.fromkeys(one.estimand for one in reads)),
        rules=tuple(dict.fromkeys(one.rule for one in reads)),
    )
    results = study.run()
    return [results.measures(one.estimand, one.rule).coverage.value for one in reads], effort.repetitions


LIU_BINARY = LiuTable.read("a", "binary", "binary data", _binary_covered)
LIU_NORMAL = LiuTable.read("b", "gaussian", "normal data", _normal_covered)
LIU_HALVES = {"binary": LIU_BINARY, "gaussian": LIU_NORMAL}
"""The halves of the table. The n of the binary one is a tenth of the rows, unlike that of the normal one."""
