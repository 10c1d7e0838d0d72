"""Kinds of data: zeros and ones, k categories, or normal numbers; what is asked of each, and how it is answered."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpviz.methods import CALIBRATED, PARAM_MAP, Method
from dpviz.parameters import rounded_down, rounded_up
from dpviz.priors._least_root import Start
from dpviz.priors.cell_sets import minimum_prior_for_cell_sets
from dpviz.priors.exact import Promise, least_prior
from dpviz.priors.ranges import GaussianRelease, maximum_range
from dpviz.priors.releases import release
from dpviz.priors.sets import least_by_advanced, minimum_prior_for_sets
from dpviz.privacy.composition import Bracket
from dpviz.privacy.hockey_stick import delta_for_epsilon, epsilon_for_delta, privacy_profile
from dpviz.privacy.log_odds import pure_epsilon
from dpviz.types import FloatArray

if TYPE_CHECKING:
    from dpviz.priors.setting import Setting


PROFILE_POINTS = 41
SMALLEST_DELTA = 1e-12
"""Where a privacy profile ends."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """What one method gives at a prior or range."""

    pure_epsilon: float
    """The exact ε without δ, or infinity; for Gaussian data that of the release conditioned to [−R, R]."""

    epsilon_at_delta: float
    """The least ε at the setting's δ; equal to `pure_epsilon` where that is 0."""

    delta_at_epsilon: float
    """δ at the setting's ε, of the release that is not conditioned."""

    epsilons: FloatArray
    deltas: FloatArray
    """The privacy profile δ(ε)."""


class Kind(ABC):
    """A kind of data, and the question that is asked of it: how much is needed for a promise of privacy."""

    key: ClassVar[str]
    label: ClassVar[str]
    numbers: ClassVar[tuple[str, ...]] = ()
    """What a `Setting` of it has beside n, m, ε and δ."""

    quantity: ClassVar[str]
    symbol: ClassVar[str]
    axis: ClassVar[str]
    """What is asked for, its symbol, and its name along an axis."""

    level: ClassVar[str]
    """The parameter that says how much there is."""

    larger_is_safer: ClassVar[bool]
    """Whether more of it is more private: a prior; a range is the other way round."""

    cost: ClassVar[tuple[str, ...]] = ()
    """Numbers that what it costs depends on."""

    conditioned: ClassVar[bool] = False
    """Whether the answer without δ is for another release, each number of which is conditioned to the range."""

    binary: ClassVar[bool] = False
    """Whether rows are zeros and ones."""

    def __repr__(self) -> str:
        return self.key

    @property
    def methods(self) -> dict[str, Method]:
        """The methods that some prior, or range, makes private and that take such data, by key."""
        return {key: method for key, method in CALIBRATED.items() if self.takes(method)}

    @abstractmethod
    def takes(self, method: Method) -> bool:
        """Whether a method releases such data."""

    @abstractmethod
    def search(self, method: Method, setting: Setting, delta: float, start: Start | None = None) -> Start:
        """What one set needs for the setting's ε and a δ of its own, from where the search starts."""

    @abstractmethod
    def together(self, method: Method, setting: Setting, sets: int, delta: float) -> Bracket:
        """What M sets need together, exactly; `upper` keeps the promise."""

    @abstractmethod
    def given(self, method: Method, setting: Setting, level: float) -> Given | None:
        """The exact privacy of a method at a level; None for SYNTH_MAP at a prior of 1 or less: there is no mode.

        Examples
        --------
        >>> from dpviz.priors import METHODS, Setting
        >>> found = KINDS["bernoulli"].given(METHODS["synth_post_one"], Setting(n=10, m=10, epsilon=1.0), 5.0)
        >>> round(found.pure_epsilon, 6)  # ln(1 + 10 / 5)
        1.098612
        """

    @abstractmethod
    def sensitivity(self, setting: Setting) -> float:
        """How far one row moves PARAM_MAP, as a proportion or in units of R."""

    def like(self, method: Method) -> tuple[Method, float]:
        """A method that is searched in place of this one, and what is added to its answer."""
        return method, 0.0

    def cells(self, setting: Setting) -> int:  # noqa: ARG002
        """How many cells a table has; none where rows are numbers."""
        return 0

    def need(self, method: Method, setting: Setting, delta: float) -> float:
        """What one set needs for the setting's ε and a δ of its own.

        Examples
        --------
        >>> from dpviz.priors import METHODS, Setting
        >>> round(KINDS["bernoulli"].need(METHODS["synth_post_one"], Setting(n=10, m=10, epsilon=1.0), 0.0), 6)
        5.819767
        """
        return self.search(method, setting, delta).prior

    def strictness(self, value: float) -> float:
        """What rises the more a level asks for; its own inverse."""
        return value if self.larger_is_safer else 1 / value

    def by_advanced(self, method: Method, setting: Setting, sets: int) -> float:
        """What M sets need for the setting's δ, above 0, by advanced composition with the best slack."""

        def single(epsilon: float, delta: float) -> float:
            if self.conditioned and delta == 0:
                return math.inf
            return self.strictness(self.need(method, dataclasses.replace(setting, epsilon=epsilon), delta))

        return self.strictness(least_by_advanced(single, sets, setting.epsilon, setting.delta)[0])

    def keeps(self, level: float, needed: float) -> bool:
        """Whether a level is enough where so much is needed."""
        return level >= needed if self.larger_is_safer else level <= needed

    def rounded(self, value: float, digits: int) -> float:
        """A level with so many digits that still keeps the promise."""
        return (rounded_up if self.larger_is_safer else rounded_down)(value, digits)


class Bernoulli(Kind):
    """Zeros and ones, under a symmetric prior."""

    key, label = "bernoulli", "Bernoulli"
    quantity, symbol, axis = "least prior", "α", "least prior α, pseudo-rows in each cell"
    level, cost = "alpha", ("proportion",)
    larger_is_safer = True
    binary = True

    def takes(self, method: Method) -> bool:  # noqa: ARG002
        return True

    def cells(self, setting: Setting) -> int:  # noqa: ARG002
        return 2

    def search(self, method: Method, setting: Setting, delta: float, start: Start | None = None) -> Start:
        asked = Promise(method, setting.n, setting.m, setting.epsilon, delta, cells=self.cells(setting))
        return least_prior(asked, start)

    def together(self, method: Method, setting: Setting, sets: int, delta: float) -> Bracket:
        return minimum_prior_for_sets(
            method.key, n=setting.n, m=setting.m, sets=sets, epsilon=setting.epsilon, delta=delta
        ).exact

    def given(self, method: Method, setting: Setting, level: float) -> Given | None:
        if level <= method.lost:
            return None
        made = release(method.key, n=setting.n, m=setting.m, alpha=level, cells=self.cells(setting))
        pure = pure_epsilon(made)
        epsilons = np.linspace(0.0, min(pure, epsilon_for_delta(made, SMALLEST_DELTA)), PROFILE_POINTS)
        return Given(
            pure_epsilon=pure,
            epsilon_at_delta=pure if setting.delta == 0 else epsilon_for_delta(made, setting.delta),
            delta_at_epsilon=delta_for_epsilon(made, setting.epsilon),
            epsilons=epsilons,
            deltas=privacy_profile(made, epsilons),
        )

    def sensitivity(self, setting: Setting) -> float:
        return 1 / (setting.n + 2 * (setting.alpha - 1))

    def like(self, method: Method) -> tuple[Method, float]:
        return method.effective, method.lost


class Categories(Bernoulli):
    """Rows in one of k categories, under the same prior in each."""

    key, label = "categorical", "k categories"
    numbers = ("cells",)
    binary = False

    def takes(self, method: Method) -> bool:
        return method.knows(Method.more_cells)

    def cells(self, setting: Setting) -> int:
        return setting.cells

    def together(self, method: Method, setting: Setting, sets: int, delta: float) -> Bracket:
        return minimum_prior_for_cell_sets(
            method.key, n=setting.n, m=setting.m, cells=setting.cells, sets=sets, epsilon=setting.epsilon, delta=delta
        )


class Gaussian(Kind):
    """Numbers from a normal law with known variance, within a range."""

    key, label = "gaussian", "Gaussian"
    numbers = ("sigma", "sigma0")
    quantity, symbol, axis = "largest R/σ", "R/σ", "largest R/σ"
    level = "reach"
    larger_is_safer = False
    conditioned = True

    def takes(self, method: Method) -> bool:
        return method.knows(Method.variance)

    def release(self, method: Method, setting: Setting) -> GaussianRelease:
        """What a method releases, one set."""
        return GaussianRelease(method=method.key, n=setting.n, m=setting.m, sigma=setting.sigma, sigma0=setting.sigma0)

    def sensitivity(self, setting: Setting) -> float:
        return 2 * self.release(PARAM_MAP, setting).shrinkage / setting.n

    def search(self, method: Method, setting: Setting, delta: float, start: Start | None = None) -> Start:  # noqa: ARG002
        return Start(self.together(method, setting, 1, delta).upper)

    def together(self, method: Method, setting: Setting, sets: int, delta: float) -> Bracket:
        found = maximum_range(
            method.key, n=setting.n, m=setting.m, sigma=setting.sigma, sigma0=setting.sigma0, epsilon=setting.epsilon,
            delta=delta, sets=sets,
        )  # fmt: skip
        return Bracket(found, found)

    def given(self, method: Method, setting: Setting, level: float) -> Given:
        made = self.release(method, setting)
        pure, end = made.pure_epsilon(level), made.epsilon(level, SMALLEST_DELTA)
        epsilons = np.linspace(0.0, end if math.isfinite(end) else 1.0, PROFILE_POINTS)
        return Given(
            pure_epsilon=pure,
            epsilon_at_delta=pure if setting.delta == 0 else made.epsilon(level, setting.delta),
            delta_at_epsilon=made.delta(level, setting.epsilon),
            epsilons=epsilons,
            deltas=np.array([made.delta(level, float(epsilon)) for epsilon in epsilons]),
        )


GAUSSIAN = Gaussian()
KINDS: dict[str, Kind] = {kind.key: kind for kind in (Bernoulli(), Categories(), GAUSSIAN)}
"""The three kinds of data of Zheng (2015), by key."""
