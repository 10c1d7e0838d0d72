"""Kinds of data: zeros and ones, k categories, or normal numbers; what is asked of each, and how it is answered."""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.calibration._in_step import smallest_priors
from dpviz.calibration.base import TWO_CELLS_OR_MORE
from dpviz.calibration.exact import Promise, smallest_prior
from dpviz.calibration.methods import CALIBRATED_METHODS, PARAM_MAP, PriorMethod
from dpviz.calibration.ranges import ANY_SIGMA0, SIGMA, GaussianRelease
from dpviz.calibration.sets import minimum_prior_in_steps, smallest_by_advanced
from dpviz.calibration.smallest_root import Start
from dpviz.core.checked import declared, parameter
from dpviz.core.declarations import MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.numerics.steps import Steps, finished, paused
from dpviz.core.parameters import DELTA, EPSILON, PRIOR_QUANTITY, RANGE_QUANTITY, readable
from dpviz.core.record import DeclaredFields
from dpviz.core.types import FloatArray
from dpviz.mechanisms.prior import PRIOR_ONES
from dpviz.privacy.composition import DeltaBracket
from dpviz.privacy.hockey_stick import delta_for_epsilon, epsilon_for_delta, pure_epsilon
from dpviz.privacy.summary import PROFILE_POINTS, SMALLEST_PROFILE_DELTA


@dataclass(frozen=True, kw_only=True)
class Setting(DeclaredFields):
    """What the printed bounds are held against; without δ no (ε, δ) theorem is asked."""

    n: int = parameter(MANY_ROWS)
    m: int = parameter(MANY_SYNTHETIC_ROWS)
    epsilon: float = parameter(EPSILON)
    delta: float = declared(DELTA, default=0.0)
    cells: int = declared(TWO_CELLS_OR_MORE, default=3)  # of the categorical family
    sigma: float = declared(SIGMA, default=1.0)
    sigma0: float = declared(ANY_SIGMA0, default=math.inf)  # with σ, of the Gaussian family
    alpha: float = declared(PRIOR_ONES, default=1.0)  # at least 1: of the release that Corollary 6.2 adds noise to

    def check(self) -> None:
        if self.delta == 1:
            raise ValueError("delta (allowed failure) must be below 1: at 1 nothing is promised; got 1.")
        if self.alpha < 1:
            raise ValueError(
                f"alpha (invented rows with yes) must be at least 1 for the mode; got {readable(self.alpha)}."
            )

    def arguments(self) -> dict[str, object]:
        """Return all that a printed formula may ask for, by the names it uses."""
        return {**vars(self), "beta": self.alpha}


@dataclass(frozen=True)
class Given:
    """What one set of a method gives at a prior or range; `epsilons` and `deltas` are its privacy profile."""

    pure_epsilon: float  # of Gaussian data that of the release truncated to [−R, R]
    epsilon_at_delta: float
    delta_at_epsilon: float
    epsilons: FloatArray
    deltas: FloatArray


def _given(
    setting: Setting, pure: float, end: float, epsilon_at: Callable[[float], float], delta_at: Callable[[float], float]
) -> Given:
    epsilons = np.linspace(0.0, end, PROFILE_POINTS)
    deltas = np.array([delta_at(epsilon) for epsilon in epsilons.tolist()])
    at_delta = pure if setting.delta == 0 else epsilon_at(setting.delta)
    return Given(pure, at_delta, delta_at(setting.epsilon), epsilons, deltas)


class Kind(ABC):
    """A kind of data, and the question that is asked of it: how much is needed for a promise of privacy."""

    key: str
    label: str
    mechanism = "beta_binomial"  # key of the synthesizer that a design names
    numbers: tuple[str, ...] = ()  # what a `Setting` of it has beside n, m, ε and δ
    symbol: str
    axis: str  # what a picture of it counts
    level: str  # the parameter that says how much there is
    quantity = PRIOR_QUANTITY  # what is needed
    cost: tuple[str, ...] = ()  # numbers that what it costs depends on
    conditioned = False  # the answer without δ is for another release, each number of which is truncated to the range
    binary = False
    in_step = False  # the answers along an axis are sought in step, so that all are there at once

    def __repr__(self) -> str:
        return self.key

    @property
    def methods(self) -> dict[str, PriorMethod]:
        """The methods that some prior, or range, makes private and that take such data, by key."""
        return {key: method for key, method in CALIBRATED_METHODS.items() if self.takes(method)}

    @abstractmethod
    def takes(self, method: PriorMethod) -> bool:
        """Return whether a method releases such data."""

    @abstractmethod
    def search(self, method: PriorMethod, setting: Setting, delta: float, start: Start | None = None) -> Start:
        """Return what one set needs for the setting's ε and a δ of its own, from where the search starts."""

    def search_in_step(self, method: PriorMethod, settings: Sequence[Setting]) -> list[Start | None]:
        """`search` at many settings and the δ of each, as far as they can be sought in step; None elsewhere."""
        return [None] * len(settings)

    @abstractmethod
    def together_in_steps(self, method: PriorMethod, setting: Setting, sets: int, delta: float) -> Steps[DeltaBracket]:
        """Return what M sets need together, exactly, and stop before what takes long; `upper` keeps the promise."""

    @abstractmethod
    def given(self, method: PriorMethod, setting: Setting, level: float) -> Given | None:
        """Return the exact privacy of a method at a level; None for SYNTH_MAP at a prior of 1 or less."""

    @abstractmethod
    def sensitivity(self, setting: Setting) -> float:
        """Return how far one row moves PARAM_MAP, as a proportion or in units of R."""

    def like(self, method: PriorMethod) -> tuple[PriorMethod, float]:
        """Return a method that is searched in place of this one, and what is added to its answer."""
        return method, 0.0

    def cells(self, setting: Setting) -> int:
        """Return how many cells a table has; none where rows are numbers."""
        return 0

    def counted(self, level: float, setting: Setting) -> float:
        """Return what a picture counts at a level: a range as it is, a prior as invented rows per real row."""
        return level

    def need(self, method: PriorMethod, setting: Setting, delta: float) -> float:
        """Return what one set needs for the setting's ε and a δ of its own."""
        return self.search(method, setting, delta).prior

    def together(self, method: PriorMethod, setting: Setting, sets: int, delta: float) -> DeltaBracket:
        """Return the same at once."""
        return finished(self.together_in_steps(method, setting, sets, delta))

    def by_advanced(self, method: PriorMethod, setting: Setting, sets: int) -> float:
        """Return what M sets need for the setting's δ, above 0, by advanced composition with the best slack."""

        def strictness(value: float) -> float:
            return value if self.quantity.larger_is_safer else 1 / value

        def single(epsilon: float, delta: float) -> float:
            if self.conditioned and delta == 0:
                return math.inf
            return strictness(self.need(method, dataclasses.replace(setting, epsilon=epsilon), delta))

        return strictness(smallest_by_advanced(single, sets, setting.epsilon, setting.delta)[0])


class Bernoulli(Kind):
    """Zeros and ones, under a symmetric prior."""

    key, label = "bernoulli", "Bernoulli"
    symbol, axis = "α", "invented rows per real row"
    level, cost = "alpha", ("p",)
    binary = in_step = True

    def takes(self, method: PriorMethod) -> bool:
        return True

    def cells(self, setting: Setting) -> int:
        return 2

    def counted(self, level: float, setting: Setting) -> float:
        return self.cells(setting) * level / setting.n

    def search(self, method: PriorMethod, setting: Setting, delta: float, start: Start | None = None) -> Start:
        return smallest_prior(self._promise(method, setting, delta), start)

    def search_in_step(self, method: PriorMethod, settings: Sequence[Setting]) -> list[Start | None]:
        return smallest_priors([self._promise(method, one, one.delta) for one in settings])

    def _promise(self, method: PriorMethod, setting: Setting, delta: float) -> Promise:
        return Promise(method, setting.n, setting.m, setting.epsilon, delta, cells=self.cells(setting))

    def together_in_steps(self, method: PriorMethod, setting: Setting, sets: int, delta: float) -> Steps[DeltaBracket]:
        n, m, epsilon, cells = setting.n, setting.m, setting.epsilon, self.cells(setting)
        return minimum_prior_in_steps(method.key, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta, cells=cells)

    def given(self, method: PriorMethod, setting: Setting, level: float) -> Given | None:
        if level <= method.lost:
            return None
        made = method.release(setting.n, setting.m, level, level, self.cells(setting))
        pure = pure_epsilon(made)
        end = min(pure, epsilon_for_delta(made, SMALLEST_PROFILE_DELTA))
        return _given(setting, pure, end, partial(epsilon_for_delta, made), partial(delta_for_epsilon, made))

    def sensitivity(self, setting: Setting) -> float:
        return 1 / (setting.n + 2 * (setting.alpha - 1))

    def like(self, method: PriorMethod) -> tuple[PriorMethod, float]:
        return method.effective, method.lost


class Categories(Bernoulli):
    """Rows in one of k categories, under the same prior in each."""

    key, label = "categorical", "k categories"
    mechanism = "dirichlet_multinomial"
    numbers = ("cells",)
    binary = in_step = False

    def takes(self, method: PriorMethod) -> bool:
        return method.knows(PriorMethod.more_cells)

    def cells(self, setting: Setting) -> int:
        return setting.cells


class Gaussian(Kind):
    """Numbers from a normal distribution with known variance, within a range."""

    key, label = "gaussian", "Gaussian"
    numbers = ("sigma", "sigma0")
    symbol, axis = "R/σ", "largest R/σ"
    level = "reach"
    quantity = RANGE_QUANTITY
    conditioned = True

    def takes(self, method: PriorMethod) -> bool:
        return method.knows(PriorMethod.variance)

    def release(self, method: PriorMethod, setting: Setting, sets: int = 1) -> GaussianRelease:
        """Return what a method releases."""
        sizes = {name: getattr(setting, name) for name in ("n", "m", *self.numbers)}
        return GaussianRelease(method=method.key, sets=sets, **sizes)

    def sensitivity(self, setting: Setting) -> float:
        return 2 * self.release(PARAM_MAP, setting).shrinkage / setting.n

    def search(self, method: PriorMethod, setting: Setting, delta: float, start: Start | None = None) -> Start:
        return Start(self.together(method, setting, 1, delta).upper)

    def together_in_steps(self, method: PriorMethod, setting: Setting, sets: int, delta: float) -> Steps[DeltaBracket]:
        found = yield from paused(self.release(method, setting, sets).largest, setting.epsilon, delta)
        return DeltaBracket(found, found)

    def given(self, method: PriorMethod, setting: Setting, level: float) -> Given:
        made = self.release(method, setting)
        pure, end = made.pure_epsilon(level), made.epsilon(level, SMALLEST_PROFILE_DELTA)
        end = end if math.isfinite(end) else 1.0
        return _given(setting, pure, end, partial(made.epsilon, level), partial(made.delta, level))


GAUSSIAN = Gaussian()
KINDS: dict[str, Kind] = {kind.key: kind for kind in (Bernoulli(), Categories(), GAUSSIAN)}
