"""Coverage by simulation: what is repeated, what is made of the counts that come out, and what has been counted."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, ROWS, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.parameters import parameter, parameter_with_default, validate_fields
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage._sampling import AliasTables, alias_table, sampler_of
from dpviz.coverage.exact import length_inside
from dpviz.coverage.studies import Blocks, Plan
from dpviz.coverage.studies.plan import SHOWN, StudyTally
from dpviz.coverage.studies.running_sums import FirstRepetitions, Sums, check_between, exact_units, summed
from dpviz.inference.interval_rules import IntervalRule, SetStatistics, set_statistics, widen_for_rounding
from dpviz.inference.rules import RULES, check_rule
from dpviz.mechanisms import TwoCellSynthesizer

LARGEST_WIDTH = 1e100  # From here on an interval counts as unbounded: the square would leave the floating-point range
NEAR_ZERO = 1e-12  # More than two ways to compute a deviation of 0 differ by
LARGEST_VARIANCE = 1e5  # No |T| is as large: b and v̄ are at most 1/2, and their factors hardly above m/n


@dataclass(frozen=True, kw_only=True, eq=False)
class RuleTally(Sums):
    """Counts and exact sums of one rule; T is its variance, d = q̄ − p. Sums are in units of 2⁻¹⁰⁷⁴: see `total`.

    `covered`, `covered_negative`, `vacuous`: Intervals that hold p, those of them where T_M = (1 + 1/M) b − v̄ is
    negative, and those that hold all of 0 to 1.
    `negative`: Repetitions whose variance is negative, so that there is no interval; they do not cover.
    `unbounded`: Intervals wider than 1e100 (ν below about 0.01); their widths are in no sum.
    `variance`, `variance_squared`, `variance_deviation`, `variance_deviation_squared`: Sums of T, T², T d and T d² over
    all repetitions; 0 for a rule that has no T.
    `width`, `width_squared`: Sums of the width and its square over the bounded intervals.
    `inside`, `inside_squared`: Sums of the length of the interval inside 0 to 1 and its square, over all intervals.
    """

    covered: int = 0
    negative: int = 0
    vacuous: int = 0
    covered_negative: int = 0
    unbounded: int = 0
    variance: int = summed(-LARGEST_VARIANCE, LARGEST_VARIANCE)
    variance_squared: int = summed(0, LARGEST_VARIANCE**2)
    variance_deviation: int = summed(-LARGEST_VARIANCE, LARGEST_VARIANCE)
    variance_deviation_squared: int = summed(-LARGEST_VARIANCE, LARGEST_VARIANCE)
    width: int = summed(0, LARGEST_WIDTH)
    width_squared: int = summed(0, LARGEST_WIDTH**2)
    inside: int = summed(0, 1)
    inside_squared: int = summed(0, 1)

    def check(self, key: str, tally: "Tally") -> None:
        """Refuse counts and sums of the rule named `key` that contradict each other or the rest of `tally`.

        An interval of all of 0 to 1 holds p, and one without bounds is such an interval; of the intervals that do not
        hold p, and of those that do, those with T_M < 0 are a part.
        """
        intervals, above = tally.repetitions - self.negative, tally.repetitions - tally.negative_total
        for name, low, high in (
            ("covered_negative", 0, tally.negative_total),
            ("covered", max(self.vacuous, self.covered_negative), min(intervals, self.covered_negative + above)),
            ("vacuous", self.unbounded, intervals),
        ):
            check_between(f"{name} of {key}", getattr(self, name), low, high)
        self.check_mean(key, "inside", intervals, 0, 1)
        check_between(f"inside of {key}", self.total("inside"), self.vacuous, intervals)
        self.check_mean(key, "width", intervals - self.unbounded, 0, LARGEST_WIDTH)
        has_variance = tally.repetitions if RULES[key].has_variance else 0
        self.check_mean(key, "variance", has_variance, -LARGEST_VARIANCE, LARGEST_VARIANCE)
        deviations = np.abs(np.arange(len(tally.totals)) / (len(tally.totals) - 1) - tally.plan.p) + NEAR_ZERO
        for name, power in (("variance_deviation", 2), ("variance_deviation_squared", 4)):  # Cauchy and Schwarz
            most = math.sqrt(self.total("variance_squared") * float(tally.totals @ deviations**power))
            check_between(f"{name} of {key}", self.total(name), -most, most)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownRuns(FirstRepetitions):
    """The first repetitions one by one: x, released counts of shape (shown, M), q̄, and the ends of the intervals.

    These have the shape (rules, shown), in the order of the plan, and are NaN where there is no interval.
    """

    confidential: IntArray
    counts: IntArray
    estimates: FloatArray
    low: FloatArray = field(metadata={"axis": 1})
    high: FloatArray = field(metadata={"axis": 1})


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally(StudyTally):
    """What repetitions of a coverage simulation gave, on top of what every study says of them.

    `totals` says how often Σ_j x̃_j = M m q̄ was 0, 1, …, M m, and `negative_total` how often T_M was below 0.
    """

    plan: "CoveragePlan"
    totals: IntArray
    negative_total: int = 0
    rules: tuple[RuleTally, ...]
    shown: ShownRuns

    def check(self) -> None:
        """Refuse counts that contradict each other."""
        if self.totals.sum() != self.repetitions:
            raise ValueError(f"totals must sum to {self.repetitions:,}; got {describe_value(int(self.totals.sum()))}.")
        for key, rule in zip(self.plan.rules, self.rules, strict=True):
            rule.check(key, self)

    def rule(self, key: str) -> RuleTally:
        """Return the tally of the rule named `key`."""
        if key not in self.plan.rules:
            raise ValueError(
                f"key must be a rule of the plan, {', '.join(self.plan.rules)}; got {describe_value(key)}."
            )
        return self.rules[self.plan.rules.index(key)]


@dataclass(frozen=True, kw_only=True)
class CoveragePlan(Plan[Tally]):
    """A simulation of Charest's design: x ~ Binomial(n, p) (or fixed), M sets given x, one interval for each rule.

    `synthesizer`, `p`, `sets`, `rules`, `level`: As for `exact_coverages`, each rule once.
    `confidential_count`: x where it is held fixed, 0 to n; None draws it.
    `repetitions`, `seed`, `batch`, `shown`: As in `dpviz.coverage.studies.Plan`. A block of 500 repetitions takes
    200 µs or more: larger blocks save little, and smaller ones do not come sooner.
    Source: Charest (2011), §3.
    """

    synthesizer: TwoCellSynthesizer
    p: float = parameter(PROPORTION)
    sets: int = parameter(SETS)
    rules: tuple[str, ...]
    level: float = parameter_with_default(LEVEL)
    confidential_count: int | None = None
    shown: int = parameter_with_default(SHOWN, default=100)

    def __post_init__(self) -> None:
        given = self.synthesizer
        if not isinstance(given, TwoCellSynthesizer):
            raise ValueError(
                f"synthesizer must be a two-cell synthesizer; got {getattr(given, 'key', describe_value(given))}."
            )
        super().__post_init__()
        if self.confidential_count is not None:
            count = replace(ROWS, name="confidential_count", title="confidential ones", minimum=0, maximum=given.n)
            validate_fields(self, count)
        keys: object = self.rules
        rules = tuple(keys) if isinstance(keys, (tuple, list)) and all(isinstance(key, str) for key in keys) else ()
        if not rules or len(set(rules)) < len(rules):
            raise ValueError(f"rules must be at least one key of RULES, each once; got {describe_value(keys)}.")
        for key in rules:
            if not check_rule(key, self.sets).is_feasible(given, self.sets):
                raise ValueError(f'The table of the rule "{RULES[key].label}" would be too large for these n, m and M.')
        object.__setattr__(self, "rules", rules)

    def work(self) -> "_Work":
        """Return what draws blocks of this plan and evaluates them."""
        return _Work(self)


class _Work:
    """Draws and evaluates blocks of one plan; what it makes of a block depends on the plan and the block alone."""

    def __init__(self, plan: CoveragePlan) -> None:
        self.plan = plan
        n = plan.synthesizer.n
        fixed = plan.confidential_count
        drawn = binomial_weights(np.array([plan.p]), n)[0]
        distribution = drawn if fixed is None else (np.arange(n + 1) == fixed).astype(float)
        self._confidential_distribution = AliasTables(np.zeros(1, dtype=np.intp), n + 1, *alias_table(distribution))
        self._releases = sampler_of(plan.synthesizer)
        self._rules: tuple[IntervalRule, ...] = tuple(RULES[key] for key in plan.rules)

    def _draw(self, random: np.random.Generator, size: int) -> tuple[IntArray, IntArray]:
        """x, shape (size,), and the released counts, shape (sets, size), of the first repetitions of a block."""
        plan = self.plan
        uniforms = random.random((1 + plan.sets, plan.batch))[:, :size]
        confidential = self._confidential_distribution.draw(np.zeros(size, dtype=np.intp), uniforms[0])
        return confidential, self._releases.tables(confidential).draw(confidential, uniforms[1:])

    def __call__(self, blocks: Blocks) -> Tally:
        """Return the tally of some blocks."""
        plan, keep = self.plan, blocks.shown
        total, squares = np.empty((2, blocks.count, blocks.size), dtype=np.int64)
        kept_confidential: list[IntArray] = [np.empty(0, dtype=np.intp)]
        kept_counts: list[IntArray] = [np.empty((plan.sets, 0), dtype=np.intp)]
        for index, random in enumerate(blocks.generators()):
            confidential, counts = self._draw(random, blocks.size)
            total[index] = counts.sum(axis=0)
            squares[index] = np.einsum("sr,sr->r", counts, counts)
            if index * blocks.size < keep:
                kept_confidential.append(confidential)
                kept_counts.append(counts)
        found = set_statistics(plan.synthesizer, plan.sets, total, squares)
        below = found.negative_total
        results = [self._apply(rule, found, below) for rule in self._rules]
        return Tally(
            plan=plan,
            first=blocks.first,
            repetitions=blocks.repetitions,
            totals=np.bincount(total.ravel(), minlength=plan.sets * plan.synthesizer.m + 1),
            negative_total=int(np.count_nonzero(below)),
            rules=tuple(tally for tally, *_ in results),
            shown=ShownRuns(
                confidential=np.concatenate(kept_confidential)[:keep],
                counts=np.concatenate(kept_counts, axis=1).T[:keep].copy(),
                estimates=found.estimate.ravel()[:keep].copy(),
                low=np.array([low.ravel()[:keep] for _, low, _ in results]),
                high=np.array([high.ravel()[:keep] for *_, high in results]),
            ),
        )

    def _apply(
        self, rule: IntervalRule, found: SetStatistics, below: BoolArray
    ) -> tuple[RuleTally, FloatArray, FloatArray]:
        """Return the tally of one rule over blocks, shape (blocks, size), and the ends; `below` where T_M < 0."""
        plan = self.plan
        low, high = rule.ends(found, plan.level)
        lowest, highest = widen_for_rounding(low, high)
        covered = (lowest <= plan.p) & (plan.p <= highest)
        none = np.isnan(low)
        unbounded = ~none & ~(high - low <= LARGEST_WIDTH)
        width = np.where(none | unbounded, 0.0, np.where(unbounded, 0.0, high) - np.where(unbounded, 0.0, low))
        width = np.where(none, 0.0, width)
        inside = length_inside(low, high)
        variance = rule.variance(found)
        sums = {"width": width, "width_squared": width * width, "inside": inside, "inside_squared": inside * inside}
        if variance is not None:
            deviation = found.estimate - plan.p
            product = variance * deviation
            sums |= {
                "variance": variance,
                "variance_squared": variance * variance,
                "variance_deviation": product,
                "variance_deviation_squared": product * deviation,
            }
        tally = RuleTally(
            covered=int(np.count_nonzero(covered)),
            negative=int(np.count_nonzero(none)),
            vacuous=int(np.count_nonzero((lowest <= 0.0) & (highest >= 1.0))),
            covered_negative=int(np.count_nonzero(covered & below)),
            unbounded=int(np.count_nonzero(unbounded)),
            **{name: exact_units(values.sum(axis=1).tolist()) for name, values in sums.items()},
        )
        return tally, low, high
