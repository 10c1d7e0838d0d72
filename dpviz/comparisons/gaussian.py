"""Study 2 of Bowen & Liu and Liu's normal data: numbers between public bounds, with the variance public or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz.checked import checked
from dpviz.comparisons.base import COMPARED_SETS, Analysis, Estimand, Method, Outcome
from dpviz.comparisons.gaussian_data import ESTIMANDS, GaussianData
from dpviz.comparisons.gaussian_histograms import HISTOGRAMS
from dpviz.comparisons.gaussian_methods import OF_KNOWN_VARIANCE, OF_UNKNOWN_VARIANCE, GaussianMethod
from dpviz.comparisons.gaussian_study import SETTINGS, GaussianPlan
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.rules import RULES
from dpviz.studies import Measure, stream_study
from dpviz.studies.plan import SEED
from dpviz.types import FloatArray

FEWEST, USUAL, MOST = 20, 500, 1000  # Repetitions in a block: of the largest data, of most, and of small ones
NEAR = 100_000  # Rows of a block that stay near the processor
SHOWN_FIRST = "perturbed_histogram_safe", "smoothed_histogram"


@dataclass(frozen=True, kw_only=True)
class SimulatedData(GaussianData):
    """Normal data whose methods are compared by simulation."""

    simulated: ClassVar[bool] = True

    def outcomes(self, method: Any, epsilon: float, setting: float, analysis: Analysis) -> Iterator[Outcome]:
        sets = method.sets(analysis.sets)
        rule = analysis.rule_for(sets).key
        if rule not in COMBINING_RULES:
            raise ValueError(
                f'The rule "{RULES[rule].label}" reads counts of a transition matrix. Choose one that combines '
                f'estimates, such as "{RULES["reiter_2003"].label}".'
            )
        plan = GaussianPlan(
            data=self, method=method, epsilon=setting, sets=sets, estimands=(self.estimand,), rules=(rule,),
            level=analysis.level, repetitions=analysis.repetitions, seed=analysis.seed,
            batch=self.batch(sets),
        )  # fmt: skip
        real = method.real_epsilon(self, setting, sets)
        accuracy = method.accuracy(self, setting, sets) if self.asked.of_mean else None
        known = {} if accuracy is None else {name: Measure(one, 0.0) for name, one in accuracy._asdict().items()}
        for tally in stream_study(plan):
            found = vars(tally.measures(self.estimand, rule)) | known
            yield Outcome(method=method, epsilon=epsilon, setting=setting, sets=sets, real_epsilon=real, **found)

    def batch(self, sets: int) -> int:
        """Return the repetitions in a block of a study of M sets."""
        rows = self.n * sets
        return max(FEWEST, min(self.block // rows, max(USUAL, min(MOST, NEAR // rows))))

    def one_release(self, settings: Mapping[Any, float], sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        held, found = self.draw(np.random.default_rng(seed), 1), dict[str, FloatArray]()
        for method, setting in settings.items():
            random = np.random.default_rng(seed)
            released = method.release(random, self.draw(random, 1), setting, method.sets(sets))
            estimates = self.asked.estimate(released.moments)
            found[method.key] = estimates[~np.isnan(estimates)]
        return float(self.asked.estimate(held.moments)[0]), found

    @checked(epsilon=SETTINGS, sets=COMPARED_SETS, seed=SEED)
    def draw_release(
        self, method: GaussianMethod, epsilon: float, sets: int, seed: int
    ) -> tuple[FloatArray, list[FloatArray]]:
        """Return one confidential data set and the sets that a method releases of it, as `each_set` has them.

        One that cannot be made is left out.

        >>> data = UnknownVariance(n=4, mean=0, sigma=1, low=-4, high=4)
        >>> rows, released = data.draw_release(data.methods[0], 1.0, 1, 1)  # the original data
        >>> [(rows == one).all() for one in released]
        [np.True_]
        """
        random = np.random.default_rng(seed)
        held = self.draw(random, 1)
        found = [held.rows, *method.rows(random, held, epsilon, method.sets(sets))]
        confidential, *released = (one for rows in found for one in self.each_set(rows))
        return confidential, released

    def each_set(self, rows: Any) -> Iterator[FloatArray]:
        """Yield the numbers of every row of each set."""
        yield from (rows.centre + rows.scale * rows.values).T


class KnownVariance(SimulatedData):
    """σ is public, and the model-based releases use it."""

    key: ClassVar[str] = "gaussian_known_variance"
    label: ClassVar[str] = "Numbers between bounds, variance public"
    methods: ClassVar[tuple[Method, ...]] = *OF_KNOWN_VARIANCE, *HISTOGRAMS
    usual: ClassVar[tuple[str, ...]] = "original", "multiple_synthesis", "modips", "modips_truncated", *SHOWN_FIRST
    estimands: ClassVar[tuple[Estimand, ...]] = ESTIMANDS["mean"], ESTIMANDS["mean_known_variance"]


class UnknownVariance(SimulatedData):
    """σ is confidential, and the model-based releases spend on mean and variance."""

    key: ClassVar[str] = "gaussian"
    label: ClassVar[str] = "Numbers between bounds"
    methods: ClassVar[tuple[Method, ...]] = *OF_UNKNOWN_VARIANCE, *HISTOGRAMS
    usual: ClassVar[tuple[str, ...]] = "original", "multiple_synthesis", "modips_split", "modips_communal", *SHOWN_FIRST
    estimands: ClassVar[tuple[Estimand, ...]] = ESTIMANDS["mean"], ESTIMANDS["variance"]
