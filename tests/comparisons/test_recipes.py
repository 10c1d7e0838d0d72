"""The recipes of dpviz/README.md: a method is one class, and so is a kind of data."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from dpviz.comparisons import Analysis, DataKind, Estimand, Outcome, UnknownVariance
from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_releases import ORIGINAL_ROWS, UNKNOWN_VARIANCE_METHODS
from dpviz.core.declarations import PROPORTION, ROWS
from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.mechanisms.base import parameter


class NoisyMean(NumericMethod):
    """n equal rows at the mean with Laplace noise."""

    def release(
        self, rng: np.random.Generator, rows: FloatArray, epsilon: float, data: Any, sets: int
    ) -> Iterator[FloatArray]:
        for _ in range(sets):
            noise = rng.laplace(0.0, data.width / (data.n * epsilon), len(rows))
            yield np.repeat((rows.mean(axis=1) + noise)[:, None], data.n, axis=1)

    def loss(self, data: Any, epsilon: float) -> float:
        return epsilon


NOISY_MEAN = NoisyMean(
    key="noisy_mean", label="Noisy mean", source="a test", releases="The mean with Laplace noise.",
    loss_by="a closed form", exact_epsilon=True,
)  # fmt: skip


def test_a_method_is_one_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UnknownVariance, "methods", (*UNKNOWN_VARIANCE_METHODS, NOISY_MEAN))
    data = UnknownVariance(n=20, mean=0.0, sigma=1.0, low=-6.0, high=6.0)
    *_, outcome = data.compare([data.method("noisy_mean")], [2.0], Analysis(sets=4, repetitions=4000))
    variance = 1 / 20 + 2 * (12 * 4 / (20 * 2.0)) ** 2 / 4  # of the mean, and of four Laplace variables
    error = outcome.root_mean_squared_error
    assert abs(error.value - math.sqrt(variance)) < 4.5 * error.error
    assert outcome.real_epsilon == 2.0
    assert outcome.usable_share.value == 1  # the four sets differ


@dataclass(frozen=True, kw_only=True)
class Coin(DataKind):
    """One answer of each of n people, released as it is."""

    key: ClassVar[str] = "coin"
    label: ClassVar[str] = "Coin"
    methods: ClassVar[tuple[Any, ...]] = (ORIGINAL_ROWS,)
    estimands: ClassVar[tuple[Estimand, ...]] = (Estimand("share", "the share", "p"),)
    true_value: ClassVar[str] = "p"

    n: int = parameter(ROWS)
    p: float = parameter(PROPORTION)

    @property
    def truth(self) -> float:
        return self.p

    def one_release(self, settings: Any, sets: int, seed: int) -> tuple[float, dict[str, FloatArray]]:
        share = np.random.default_rng(seed).binomial(self.n, self.p) / self.n
        return share, {method.key: np.array([share]) for method in settings}

    def outcomes(
        self, method: Any, epsilon: float, setting: float, analysis: Analysis, secondary: tuple[str, ...] = ()
    ) -> Iterator[Outcome]:
        error = Measure(math.sqrt(self.p * (1 - self.p) / self.n), 0.0)
        yield Outcome(
            data=self, method=method, epsilon=epsilon, setting=setting, sets=1, bias=Measure(0.0, 0.0),
            root_mean_squared_error=error,
        )  # fmt: skip


def test_a_kind_of_data_is_one_class() -> None:
    data = Coin(n=16, p=0.5)
    outcomes = list(data.compare(data.methods, [1.0, 2.0]))
    assert [outcome.root_mean_squared_error.value for outcome in outcomes] == [0.125, 0.125]
    assert data.outcome(ORIGINAL_ROWS, 1.0, Analysis()).coverage.value != 0
    assert data.one_release({ORIGINAL_ROWS: 1.0}, 1, 1)[1].keys() == {"original"}
