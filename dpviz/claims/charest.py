"""Tables 1 to 4 of Charest (2011) beside what they estimate, and the design of her Figure 1.

Source: A.-S. Charest, How can we analyze differentially-private synthetic datasets?, Journal of Privacy and
Confidentiality 2(2), 2011.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dpviz.claims.published import PrintedRow, Record, Shown, read_tables
from dpviz.claims.sentences import printed_in
from dpviz.core.declarations import EPSILON
from dpviz.core.numerics.combinatorics import multisets
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray
from dpviz.coverage.curves import coverage_by_proportion
from dpviz.coverage.release_distribution import release_distribution
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.moments import proportion_moments
from dpviz.inference.posterior import posterior_if_known
from dpviz.inference.posterior_coverage import posterior_summaries, release_probabilities
from dpviz.mechanisms import BetaBinomial

__all__ = ["FIGURE_1", "PRINTED_TABLES", "compare_charest", "figure_1_curves"]

TABLE_NUMBER = argument("number", 1, 4, title="table of the paper", integer=True)
TABLE_CAPTIONS = {
    1: "Relative bias (in %) of q̄_M as an estimator of p",
    2: "Relative bias (in %) of T_M and T*_M as estimators of the variance of q̄_M",
    3: "Mean and variance of the synthetic posterior distributions, for M sets with ε = 2 overall",
    4: "Mean and variance of the synthetic posterior distributions, for one set and several ε",
}
PRINTED_RUNS = {1: 100_000, 2: 100_000, 3: 1000, 4: 1000}  # Simulation runs behind each table, as its caption says
CHAREST_ROWS = 100  # Of the data and of a set, in every table
CHAREST_COUNT = 30  # The fixed x of Tables 3 and 4
ENUMERATED_SETS, SIMULATED_RUNS, CHAREST_SEED = 2, 20_000, 2011
TABLE_3_EPSILON = 2.0
TRUE_MEAN = float(printed_in("charest", "true_mean"))  # Of the true posterior Beta(31, 71)

ABSOLUTE = (
    f"100 × (mean of the posterior means − {TRUE_MEAN}): percentage points, not relative to {TRUE_MEAN} as the column "
    "says."
)
LITERAL = f"100 × (mean of the posterior means − {TRUE_MEAN}) / {TRUE_MEAN}: what “relative bias” says."
OVER_RUNS = "Variance, over the runs, of the posterior mean: not of the posterior, as the column says."
OF_POSTERIOR = "Mean, over the runs, of the variance of the posterior: what the column says."
AS_PRINTED = "As the column says."
AS_THE_WORDS_SAY = {AS_PRINTED, LITERAL, OF_POSTERIOR}


class Figure1(NamedTuple):
    """The design of Figure 1, coverage with q̄_M and T*_M, as far as it is given; M is read from the text and tables.

    The rules are both readings of T*_M where T_M is negative, the one that the text fits first; the repetitions those
    of the text and of the caption.
    """

    proportions: tuple[float, ...] = (0.25, 0.5)
    rows: int = CHAREST_ROWS
    level: float = 0.95
    rules: tuple[str, str] = ("reiter_2002_normal", "reiter_2002")
    sets: tuple[int, ...] = (2, 5, 10)
    repetitions: tuple[int, int] = (1000, 10_000)


FIGURE_1 = Figure1()
FIGURE_1_EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
"""The ε at which we draw it."""


class Expected(NamedTuple):
    """What a printed number estimates, the standard error of ours, and the deviation of one run of the paper's."""

    value: float
    error: float
    spread: float

    @classmethod
    def over(cls, chance: FloatArray, values: FloatArray, runs: float = math.inf) -> "Expected":
        """Return the mean of values with these probabilities, from so many runs of ours."""
        value = float(chance @ values)
        spread = math.sqrt(float(chance @ (values - value) ** 2))
        return cls(value, spread / math.sqrt(runs), spread)

    def scaled(self, factor: float, origin: float = 0.0) -> "Expected":
        """Return its distance from an origin, in other units."""
        return Expected(factor * (self.value - origin), factor * self.error, factor * self.spread)


# A column, what it estimates, what it is taken for where that is not what it says, and M where no column has it.
ColumnEstimate = tuple[str, Expected] | tuple[str, Expected, str] | tuple[str, Expected, str, float]


class PosteriorRuns(NamedTuple):
    """The synthetic posteriors of x = 30 over the releases: what Tables 3 and 4 show, under both readings."""

    mean: Expected
    variance_of_means: Expected
    mean_of_variances: Expected


PRINTED_TABLES = read_tables("charest_table", TABLE_CAPTIONS)  # Tables 1 to 4 as printed


def compare_charest(number: int, runs: int = SIMULATED_RUNS, seed: int = CHAREST_SEED) -> list[Record[float]]:
    """Return every number of a table beside what it estimates, column by column in each row.

    All is exact but five and ten sets of Table 3, simulated `runs` times. Where a column is not what its heading says,
    the reading that fits comes first and the literal one after it. A design has ε over all sets, M (0 for the
    confidential data), and p unless x is fixed at 30.

    >>> first = compare_charest(1)[0]  # one release at ε = 2, p = 1/4; before it the confidential data
    >>> first.what, first.printed, first.ours
    ('true_dataset', 0.12, 0.0)
    """
    number = TABLE_NUMBER.validate(number)
    simulated = np.random.default_rng(seed), runs
    comparers: dict[int, Callable[[PrintedRow, np.random.Generator, int], Iterable[ColumnEstimate]]]
    comparers = {1: _biases, 2: _variances, 3: _posteriors, 4: _posteriors}
    found = []
    for row in PRINTED_TABLES[number].rows:
        columns: set[str] = set()
        for column, *line in comparers[number](row, *simulated):
            found.append(_record(number, row, column, *line, other=column in columns))
            columns.add(column)
    return found


def charest_synthesizer(epsilon: float, sets: int) -> BetaBinomial:
    """Return the Beta-binomial of one of `sets` sets: 100 rows from 100, with the smallest prior that keeps ε/M."""
    alpha = BetaBinomial.smallest_alpha(m=CHAREST_ROWS, epsilon=epsilon / sets)
    return BetaBinomial(n=CHAREST_ROWS, m=CHAREST_ROWS, alpha=alpha, beta=alpha)


def figure_1_curves(epsilons: Sequence[float]) -> dict[int, FloatArray]:
    """Return the exact coverage of Figure 1 at every ε by M, shape (readings, proportions, ε)."""
    epsilons = EPSILON.validate_array(epsilons, name="epsilons")
    if not len(epsilons):
        raise ValueError("epsilons must hold at least one number; got none.")

    def coverage(sets: int, epsilon: float) -> FloatArray:
        return coverage_by_proportion(
            charest_synthesizer(epsilon, sets),
            proportions=FIGURE_1.proportions,
            sets=sets,
            rules=FIGURE_1.rules,
            level=FIGURE_1.level,
        ).coverage

    return {sets: np.stack([coverage(sets, one) for one in epsilons], axis=-1) for sets in FIGURE_1.sets}


def rule_moments(epsilon: float, proportion: float, sets: int) -> dict[str, Expected]:
    """Return the columns of Table 2: Var(q̄), 100 (E[T]/Var(q̄) − 1) for T_M and T*_M, and 100 Pr(T_M < 0).

    The paper divides by a variance estimated from the same runs; the spread of the ratio takes that into account to
    first order.
    """
    distribution = release_distribution(charest_synthesizer(epsilon, sets), p=proportion, sets=sets)
    estimate, between, within = (
        distribution.statistics.estimate,
        distribution.statistics.between,
        distribution.statistics.within,
    )
    chance = distribution.probability / distribution.probability.sum()
    squares = (estimate - chance @ estimate) ** 2
    variance = Expected.over(chance, squares)
    t, _ = COMBINING_RULES["raghunathan_2003"].variance_and_degrees(between, within, sets=sets)
    t_star, _ = COMBINING_RULES["reiter_2002"].variance_and_degrees(between, within, sets=sets)
    negative = float(chance[t < 0].sum())

    def bias(estimator: FloatArray) -> Expected:
        ratio = float(chance @ estimator) / variance.value
        influence = (estimator - ratio * squares) / variance.value  # of one repetition, on the ratio of the two means
        return Expected(100 * (ratio - 1), 0.0, 100 * math.sqrt(float(chance @ influence**2)))

    return {
        "var_qbar_1e-4": variance.scaled(1e4),
        "rel_bias_TM_pct": bias(t),
        "rel_bias_TMstar_pct": bias(t_star),
        "negative_TM_pct": Expected(100 * negative, 0.0, 100 * math.sqrt(negative * (1 - negative))),
    }


def posterior_runs(
    epsilon: float, sets: int, generator: np.random.Generator, drawn: int = SIMULATED_RUNS
) -> PosteriorRuns:
    """Return mean and variance of the posterior mean, and mean of the posterior variance, over releases of x = 30.

    Every release of one or two sets is enumerated; so many of more sets are `drawn` from `generator`.
    """
    synthesizer, runs = charest_synthesizer(epsilon, sets), math.inf
    if sets <= ENUMERATED_SETS:
        counts, log_orders = multisets(CHAREST_ROWS + 1, sets)
        distribution = np.eye(CHAREST_ROWS + 1)[:, [CHAREST_COUNT]]
        chance = release_probabilities(synthesizer, counts, np.exp(log_orders), distribution)[:, 0]
        counts, chance = counts[chance > 0], chance[chance > 0] / chance.sum()
    else:
        counts, runs = synthesizer.draw(generator, CHAREST_COUNT, (drawn, sets)), drawn
        chance = np.full(drawn, 1 / drawn)
    found = posterior_summaries(counts, synthesizer=synthesizer, interval=None)
    mean = Expected.over(chance, found.mean, runs)
    of_means = Expected.over(chance, (found.mean - mean.value) ** 2, runs)
    return PosteriorRuns(mean, of_means, Expected.over(chance, found.variance, runs))


def _record(
    table: int,
    row: PrintedRow,
    column: str,
    expected: Expected,
    reading: str = AS_PRINTED,
    sets: float = 1,
    *,
    other: bool,
) -> Record[float]:
    simulation = expected.spread / math.sqrt(PRINTED_RUNS[table])
    design = {"epsilon": float(row.get("epsilon", TABLE_3_EPSILON)), "sets": float(row.get("M", sets))}
    design |= {"p": float(row["p"])} if "p" in row else {}
    page, seen = ("coverage", {}) if table <= 2 else ("posterior", {"x": CHAREST_COUNT})
    return Record(
        source=f"Charest (2011), Table {table}",
        what=column,
        reading=reading,
        literal=reading in AS_THE_WORDS_SAY,
        other=other,
        printed=row[column],
        ours=expected.value,
        our_error=expected.error,
        error=math.hypot(simulation, row[column].unit / math.sqrt(12), expected.error),
        design=design,
        shown=Shown(page, {"n": CHAREST_ROWS, **seen, **design, "sets": max(int(design["sets"]), 1)}),
    )


def _biases(row: PrintedRow, *_: object) -> Iterator[ColumnEstimate]:
    p = row["p"]
    yield "true_dataset", Expected(0.0, 0.0, 100 * math.sqrt(p * (1 - p) / CHAREST_ROWS) / p), AS_PRINTED, 0
    for column in [name for name in row if name.startswith("M=")]:
        sets = int(column[2:])
        alpha = charest_synthesizer(row["epsilon"], sets).alpha
        moments = proportion_moments(
            "synth_post_one", n=CHAREST_ROWS, m=CHAREST_ROWS, alpha=alpha, beta=alpha, proportion=p, sets=sets
        )
        yield column, Expected(100 * moments.bias / p, 0.0, 100 * moments.standard_error / p), AS_PRINTED, sets


def _variances(row: PrintedRow, *_: object) -> Iterable[ColumnEstimate]:
    return rule_moments(row["epsilon"], row["p"], int(row["M"])).items()


def _posteriors(row: PrintedRow, generator: np.random.Generator, drawn: int) -> Iterator[ColumnEstimate]:
    runs = posterior_runs(row.get("epsilon", TABLE_3_EPSILON), int(row.get("M", 1)), generator, drawn)
    yield "posterior_mean", runs.mean
    yield "rel_bias_pct", runs.mean.scaled(100, TRUE_MEAN), ABSOLUTE
    yield "rel_bias_pct", runs.mean.scaled(100 / TRUE_MEAN, TRUE_MEAN), LITERAL
    variances = [(runs.variance_of_means, OVER_RUNS), (runs.mean_of_variances, OF_POSTERIOR)]
    for variance, reading in variances if "M" in row else variances[::-1]:  # the reading that fits comes first
        yield "posterior_variance_1e-3", variance.scaled(1e3), reading
    if "ratio_to_true_variance" in row:
        true = posterior_if_known(confidential_count=CHAREST_COUNT, n=CHAREST_ROWS).variance
        yield "ratio_to_true_variance", runs.mean_of_variances.scaled(1 / true), OF_POSTERIOR
