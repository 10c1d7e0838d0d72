"""Kinds of data: zeros and ones, k categories, or normal numbers; what is asked of each, and how it is answered."""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpviz.calibration.gaussian_range import ANY_SIGMA0, SIGMA, GaussianRelease
from dpviz.calibration.methods import CALIBRATED_METHODS, PARAM_MAP, TWO_CELLS_OR_MORE, PriorMethod
from dpviz.calibration.quantities import PRIOR_QUANTITY, RANGE_QUANTITY, has_number
from dpviz.calibration.several_sets import minimum_by_advanced, minimum_prior_for_sets
from dpviz.calibration.smallest_prior import minimum_priors
from dpviz.core.declarations import DELTA, EPSILON, MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.core.formatting import format_number
from dpviz.core.parameters import parameter, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.core.types import FloatArray
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy.divergence import delta_for_epsilon, epsilon_for_delta, pure_epsilon
from dpviz.privacy.summary import PROFILE_POINTS, SMALLEST_PROFILE_DELTA


@dataclass(frozen=True, kw_only=True)
class Setting(ParameterRecord):
    """What the printed bounds are held against; without δ no (ε, δ) theorem is asked."""

    n: int = parameter(MANY_ROWS)
    m: int = parameter(MANY_SYNTHETIC_ROWS)
    epsilon: float = parameter(EPSILON)
    delta: float = parameter_with_default(DELTA, default=0.0)
    cells: int = parameter_with_default(TWO_CELLS_OR_MORE, default=3)  # of the categorical family
    sigma: float = parameter_with_default(SIGMA, default=1.0)
    sigma0: float = parameter_with_default(ANY_SIGMA0, default=math.inf)  # with σ, of the Gaussian family
    alpha: float = parameter_with_default(PRIOR_ONES, default=1.0)  # of the release that Corollary 6.2 adds noise to

    def check(self) -> None:
        if self.delta == 1:
            raise ValueError("delta (allowed failure) must be below 1: at 1 nothing is promised; got 1.")
        if self.alpha < 1:
            raise ValueError(
                f"alpha (invented rows with yes) must be at least 1 for the mode; got {format_number(self.alpha)}."
            )

    def arguments(self) -> dict[str, object]:
        """All that a printed formula may ask for, by the names it uses."""
        return {**vars(self), "beta": self.alpha}


@dataclass(frozen=True)
class Given:
    """What one set of a method gives at a prior or range; `epsilons` and `deltas` are its privacy profile."""

    pure_epsilon: float  # of Gaussian data that of the release truncated to [−R, R]
    epsilon_at_delta: float
    delta_at_epsilon: float
    epsilons: FloatArray
    deltas: FloatArray


class Kind(ABC):
    """A kind of data, and the question that is asked of it: how much is needed for a promise of privacy."""

    key: str
    label: str
    mechanism = "beta_binomial"  # key of the synthesizer that a design names
    numbers: tuple[str, ...] = ()  # what a `Setting` of it has beside n, m, ε and δ
    cost: tuple[str, ...] = ()  # what its cost depends on
    symbol: str  # of what is needed
    axis: str  # what a picture of it counts
    level: str  # parameter that says how much there is
    quantity = PRIOR_QUANTITY  # what is needed
    conditioned = False  # whether the answer without δ is for a release each number of which is truncated to the range
    binary = False

    def __repr__(self) -> str:
        return self.key

    @property
    def methods(self) -> dict[str, PriorMethod]:
        """The methods that some prior, or range, makes private and that release such data, by key."""
        return {key: method for key, method in CALIBRATED_METHODS.items() if self.accepts(method)}

    def accepts(self, method: PriorMethod) -> bool:
        """Whether a method releases such data."""
        return True

    @abstractmethod
    def need(self, method: PriorMethod, setting: Setting, delta: float, sets: int = 1) -> float:
        """What M sets need together, exactly, for the setting's ε and a δ of its own."""

    def needs(self, method: PriorMethod, settings: Sequence[Setting], deltas: Sequence[float]) -> FloatArray:
        """`need` of one set at many settings; NaN where there is no answer."""
        values = np.full(len(settings), math.nan)
        for index, (setting, delta) in enumerate(zip(settings, deltas, strict=True)):
            with suppress(ValueError):
                values[index] = self.need(method, setting, delta)
        return values

    @abstractmethod
    def given(self, method: PriorMethod, setting: Setting, level: float) -> Given | None:
        """The exact privacy of a method at a level; None for SYNTH_MAP at a prior of 1 or less."""

    @abstractmethod
    def sensitivity(self, setting: Setting) -> float:
        """How far one row moves PARAM_MAP, as a proportion or in units of R."""

    def cells(self, setting: Setting) -> int:
        """How many cells a table has; none where rows are numbers."""
        return 0

    def counted(self, level: float, setting: Setting) -> float:
        """What a picture counts at a level: a range as it is, a prior as invented rows per real row."""
        cells = self.cells(setting)
        return cells * level / setting.n if cells else level

    def by_advanced(self, method: PriorMethod, setting: Setting, sets: int) -> float:
        """What M sets need for the setting's δ, above 0, by advanced composition with the best slack."""

        def strictness(value: float) -> float:
            return value if self.quantity.larger_is_safer else 1 / value

        def single(epsilon: float, delta: float) -> float:
            if self.conditioned and delta == 0:
                return math.inf
            return strictness(self.need(method, dataclasses.replace(setting, epsilon=epsilon), delta))

        return strictness(minimum_by_advanced(single, sets, setting.epsilon, setting.delta))


class Bernoulli(Kind):
    """Zeros and ones, under a symmetric prior."""

    key, label = "bernoulli", "Bernoulli"
    symbol, axis = "α", "invented rows per real row"
    level, cost = "alpha", ("p",)
    binary = True

    def cells(self, setting: Setting) -> int:
        return 2

    def need(self, method: PriorMethod, setting: Setting, delta: float, sets: int = 1) -> float:
        n, m, epsilon, cells = setting.n, setting.m, setting.epsilon, self.cells(setting)
        return minimum_prior_for_sets(method.key, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta, cells=cells)

    def needs(self, method: PriorMethod, settings: Sequence[Setting], deltas: Sequence[float]) -> FloatArray:
        promises = [(at.n, at.m, at.epsilon, delta) for at, delta in zip(settings, deltas, strict=True)]
        if self.binary:
            with suppress(ValueError):  # a setting without an answer
                return minimum_priors(method.key, promises)
        return super().needs(method, settings, deltas)

    def given(self, method: PriorMethod, setting: Setting, level: float) -> Given | None:
        if level <= method.lost:
            return None
        release = method.release(setting.n, setting.m, level, level, self.cells(setting))
        pure = pure_epsilon(release)
        end = min(pure, epsilon_for_delta(release, SMALLEST_PROFILE_DELTA))
        return _given(setting, pure, end, partial(epsilon_for_delta, release), partial(delta_for_epsilon, release))

    def sensitivity(self, setting: Setting) -> float:
        return 1 / (setting.n + 2 * (setting.alpha - 1))


class Categories(Bernoulli):
    """Rows in one of k categories, under the same prior in each."""

    key, label = "categorical", "k categories"
    mechanism = "dirichlet_multinomial"
    numbers = ("cells",)
    binary = False

    def accepts(self, method: PriorMethod) -> bool:
        return method.takes_cells

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

    def accepts(self, method: PriorMethod) -> bool:
        return method.knows(PriorMethod.variance)

    def release(self, method: PriorMethod, setting: Setting, sets: int = 1) -> GaussianRelease:
        """What a method releases."""
        sizes = {name: getattr(setting, name) for name in ("n", "m", *self.numbers)}
        return GaussianRelease(method=method.key, sets=sets, **sizes)

    def sensitivity(self, setting: Setting) -> float:
        return 2 * self.release(PARAM_MAP, setting).shrinkage / setting.n

    def need(self, method: PriorMethod, setting: Setting, delta: float, sets: int = 1) -> float:
        return self.release(method, setting, sets).largest(setting.epsilon, delta)

    def given(self, method: PriorMethod, setting: Setting, level: float) -> Given:
        release = self.release(method, setting)
        end = release.epsilon(level, SMALLEST_PROFILE_DELTA)
        end = end if math.isfinite(end) else 1.0
        epsilon_at, delta_at = partial(release.epsilon, level), partial(release.delta, level)
        return _given(setting, release.pure_epsilon(level), end, epsilon_at, delta_at)


def _given(
    setting: Setting, pure: float, end: float, epsilon_at: Callable[[float], float], delta_at: Callable[[float], float]
) -> Given:
    """What a release gives, with its profile from 0 to `end`."""
    epsilons = np.linspace(0.0, end, PROFILE_POINTS)
    deltas = np.array([delta_at(epsilon) for epsilon in epsilons.tolist()])
    at_delta = epsilon_at(setting.delta) if setting.delta > 0 else pure
    return Given(pure, at_delta, delta_at(setting.epsilon), epsilons, deltas)


GAUSSIAN = Gaussian()
KINDS: dict[str, Kind] = {kind.key: kind for kind in (Bernoulli(), Categories(), GAUSSIAN)}


@dataclass(frozen=True, kw_only=True)
class PromiseQuestion:
    """What `sets` sets together need for the ε and δ of a setting, and what that costs at a share `p` of ones.

    `m_is_n`: on an axis of n, m moves with it.
    """

    kind: Kind
    setting: Setting
    sets: int = 1
    p: float = 0.5
    m_is_n: bool = True

    @property
    def promise(self) -> str:
        """The promise in symbols."""
        return ", ".join(self.setting.in_symbols(4, ("epsilon", "delta")))

    @property
    def cells(self) -> int:
        """How many cells a table has; none where rows are numbers."""
        return self.kind.cells(self.setting)

    @property
    def of_one_set(self) -> dict[str, Any]:
        """What a search for the prior of two cells asks of one set, by name."""
        return {name: getattr(self.setting, name) for name in ("n", "m", "epsilon", "delta")}

    @property
    def synthesizer(self) -> str:
        """The plain name of what releases rows of such data."""
        return SYNTHESIZERS[self.kind.mechanism].info.label.partition(" (")[0]

    def describe_level(self, level: float) -> str:
        """A prior or range that is given, in words."""
        return f"{self.kind.symbol} = {format_number(level)}{' invented rows in each cell' if self.cells else ''}"

    def level_cell(self, level: float, digits: int = 5) -> str:
        """A prior or range that is needed as a cell of a table: above α stand the invented rows per real row."""
        text = self.kind.quantity.text(level, digits)
        if not (self.cells and has_number(level)):
            return text
        per_row = self.kind.quantity.text(self.kind.counted(level, self.setting), min(digits, 3))
        return f"{per_row}<br><small>{self.kind.symbol} = {text}</small>"
