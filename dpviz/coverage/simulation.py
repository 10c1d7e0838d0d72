"""Coverage by simulation: confidential and released counts are drawn, and every rule makes its interval of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpviz.core.declarations import LEVEL, PROPORTION, ROWS, SETS
from dpviz.core.formatting import describe_value
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.parameters import parameter, parameter_with_default, validate_fields
from dpviz.core.records import validate_unique_choices
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.inference.interval_rules import Intervals, SetStatistics, contains, set_statistics
from dpviz.inference.rules import RULES, check_rule
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.simulation import SHOWN, Block, Plan, Tally, run_simulation

MAX_WIDTH = 1e100  # of a bounded interval: its square stays within the floating-point range
MAX_TERMS = {"width": MAX_WIDTH, "width_squared": MAX_WIDTH**2} | dict.fromkeys(
    ("variance", "variance_squared", "variance_deviation", "variance_deviation_squared"), 1e10
)
"""Largest terms of sums over repetitions; 1 of all others."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownRuns:
    """The first repetitions one by one.

    Attributes
    ----------
    p : float
        True proportion.
    confidential, counts, estimates : ndarray
        x, the released counts, of shape (shown, M), and q̄.
    low, high : ndarray
        Ends of the intervals, NaN where there is none: of one rule, or of shape (rules, shown).
    """

    p: float
    confidential: IntArray
    counts: IntArray
    estimates: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def covered(self) -> BoolArray:
        """Whether each interval holds p."""
        return contains(self.low, self.high, self.p)

    @property
    def vacuous(self) -> BoolArray:
        """Whether each interval holds all of 0 to 1."""
        return Intervals(self.low, self.high).is_vacuous

    def __len__(self) -> int:
        return len(self.confidential)

    def first(self, number: int) -> "ShownRuns":
        """The first `number` of them."""
        return ShownRuns(
            p=self.p, confidential=self.confidential[:number], counts=self.counts[:number],
            estimates=self.estimates[:number], low=self.low[..., :number], high=self.high[..., :number],
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class CoverageTally(Tally):
    """What repetitions of a coverage simulation gave; d = q̄ − p, and T is the variance of a rule, 0 if it has none.

    Attributes
    ----------
    sums : dict of str to ndarray
        Numbers: `negative_total`, how often T_M = (1 + 1/M) b − v̄ < 0, and `deviation_1` … `deviation_4`, of the
        powers of d. Arrays, one entry a rule: `covered`, `covered_negative` (those with T_M < 0), `vacuous` (all of
        0 to 1), `negative` (no interval), `unbounded` (wider than 1e100, in no sum of widths), and the sums of the
        width, of its part `inside` 0 to 1 and of T with their squares, and of T d and T d².
    """

    plan: "CoveragePlan"

    @property
    def shown(self) -> ShownRuns:
        """The first repetitions, with the intervals of every rule in the order of the plan."""
        series = dict(self.series)
        return ShownRuns(p=self.plan.p, low=series.pop("low").T, high=series.pop("high").T, **series)


@dataclass(frozen=True, kw_only=True)
class CoveragePlan(Plan[CoverageTally]):
    """A simulation of Charest's design: x ~ Binomial(n, p) (or fixed), M sets given x, one interval for each rule.

    Attributes
    ----------
    synthesizer, p, sets, rules, level
        As for `exact_coverages`, each rule once.
    confidential_count : int, optional
        x where it is held fixed; None draws it.
    repetitions, seed, batch, shown
        As in `dpviz.simulation.Plan`.

    References
    ----------
    Charest (2011), section 3.
    """

    synthesizer: TwoCellSynthesizer
    p: float = parameter(PROPORTION)
    sets: int = parameter(SETS)
    rules: tuple[str, ...]
    level: float = parameter_with_default(LEVEL)
    confidential_count: int | None = None
    shown: int = parameter_with_default(SHOWN, default=100)

    tally_type: ClassVar[type[CoverageTally]] = CoverageTally
    counts: ClassVar[tuple[str, ...]] = (
        "negative_total", "covered", "covered_negative", "vacuous", "negative", "unbounded"
    )  # fmt: skip

    def __post_init__(self) -> None:
        mechanism = self.synthesizer
        if not isinstance(mechanism, TwoCellSynthesizer):
            raise ValueError(
                "synthesizer must be a two-cell synthesizer; got "
                f"{getattr(mechanism, 'key', describe_value(mechanism))}."
            )
        super().__post_init__()
        if self.confidential_count is not None:
            count = replace(ROWS, name="confidential_count", title="confidential ones", minimum=0, maximum=mechanism.n)
            validate_fields(self, count)
        rules = validate_unique_choices("rules", self.rules, RULES, min_items=1)
        for key in rules:
            if not check_rule(key, self.sets).is_feasible(mechanism, self.sets):
                raise ValueError(f'The table of the rule "{RULES[key].label}" would be too large for these n, m and M.')
        object.__setattr__(self, "rules", rules)

    def check_sums(self, sums: Mapping[str, FloatArray], repetitions: int) -> None:
        """Refuse sums that no repetitions have, and counts of which a part is larger than the whole."""
        below = sums["negative_total"]
        covered = sums["covered"]
        above = repetitions - below + sums["covered_negative"]
        bounds = {name: np.array(repetitions * MAX_TERMS.get(name, 1.0)) for name in sums if name not in self.counts}
        bounds |= {
            "covered": np.minimum(above, repetitions - sums["negative"]), "vacuous": covered,
            "covered_negative": np.minimum(below, covered), "unbounded": sums["vacuous"],
        }  # fmt: skip
        for name, bound in bounds.items():
            if (np.abs(sums[name]) > bound).any():
                given = describe_value(sums[name].tolist())
                raise ValueError(f"sums.{name} must be smaller, as the other counts say; got {given}.")

    def simulate(self, rng: np.random.Generator, size: int) -> Block:
        """Draw a block, and tally the intervals of its first `size` repetitions."""
        # Numbers for the whole block even if fewer repetitions count, so that digits do not depend on `size`
        uniforms = rng.random((1 + self.sets, self.batch))[:, :size]
        if self.confidential_count is None:
            weights = binomial_weights(np.array([self.p]), self.synthesizer.n)[0]
            confidential = _inverse(np.cumsum(weights), uniforms[0])
        else:
            confidential = np.full(size, self.confidential_count)

        # One table for all repetitions with the same x
        order = np.argsort(confidential, kind="stable")
        known, starts = np.unique(confidential[order], return_index=True)
        groups = zip(known.tolist(), np.split(uniforms[1:].T[order], starts[1:]), strict=True)
        counts = np.empty((size, self.sets), dtype=np.int64)
        counts[order] = np.concatenate([_inverse(_released_cdf(self.synthesizer, x), group) for x, group in groups])

        statistics = set_statistics(self.synthesizer, self.sets, counts.sum(axis=1), (counts**2).sum(axis=1))
        away = statistics.estimate - self.p
        sums = {"negative_total": np.array(float(np.count_nonzero(statistics.negative_total)))}
        sums |= {f"deviation_{power}": np.array((away**power).sum()) for power in (1, 2, 3, 4)}
        intervals = [RULES[key].ends(statistics, self.level) for key in self.rules]
        tallies = [self._tally_rule(*pair, statistics, away) for pair in zip(self.rules, intervals, strict=True)]
        sums |= {name: np.array([tally[name] for tally in tallies]) for name in tallies[0]}
        low, high = np.array(intervals).transpose(1, 2, 0)
        series = {
            "confidential": confidential, "counts": counts, "estimates": statistics.estimate, "low": low, "high": high
        }  # fmt: skip
        return Block(sums, series)

    def _tally_rule(
        self, key: str, intervals: Intervals, statistics: SetStatistics, away: FloatArray
    ) -> dict[str, float]:
        """Counts and sums of one rule."""
        covered = contains(*intervals, self.p)
        exists = ~np.isnan(intervals.low)
        with np.errstate(invalid="ignore"):
            width = intervals.high - intervals.low
        is_bounded = exists & (width <= MAX_WIDTH)
        width = np.where(is_bounded, width, 0.0)
        inside = np.nan_to_num(intervals.length_inside)
        variance = RULES[key].variance(statistics)
        if variance is None:
            variance = np.zeros(len(away))
        values = {
            "covered": covered, "covered_negative": covered & statistics.negative_total,
            "vacuous": intervals.is_vacuous, "negative": ~exists, "unbounded": exists & ~is_bounded,
            "width": width, "width_squared": width**2, "inside": inside, "inside_squared": inside**2,
            "variance": variance, "variance_squared": variance**2,
            "variance_deviation": variance * away, "variance_deviation_squared": variance * away**2,
        }  # fmt: skip
        return {name: float(value.sum()) for name, value in values.items()}


def _inverse(cdf: FloatArray, uniforms: FloatArray) -> IntArray:
    """Smallest counts whose cumulative probability exceeds the uniform numbers."""
    return np.minimum(np.searchsorted(cdf, uniforms, side="right"), len(cdf) - 1)


@lru_cache(maxsize=512)
def _released_cdf(synthesizer: TwoCellSynthesizer, x: int) -> FloatArray:
    """Cumulative probabilities of the released counts given x; each row is computed by itself, when it first occurs."""
    with np.errstate(under="ignore"):
        row = np.exp(synthesizer.log_transition(np.array([x]), np.arange(synthesizer.m + 1))[0])
    cdf = np.cumsum(row)
    return cdf / cdf[-1]  # the rows of a matrix as printed miss 1 a little


def first_intervals(plan: CoveragePlan) -> ShownRuns:
    """Intervals of the first rule in the repetitions that a plan shows, to the digit those of its whole simulation."""
    alone = replace(plan, rules=plan.rules[:1], repetitions=max(1, min(plan.shown, plan.repetitions)))
    runs = run_simulation(alone).shown
    return replace(runs, low=runs.low[0], high=runs.high[0])
