"""PARAM_Post and PARAM_MAP: the proportion itself is released, drawn or the most likely one, and no rows."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpviz.methods.average_draw import parameter_draw_delta
from dpviz.methods.base import Failure, Method
from dpviz.methods.pairs import BetaLosses
from dpviz.methods.posterior_parameter import (
    PosteriorParameter,
    log_loss_density,
    log_parameter_delta,
    parameter_failure,
)
from dpviz.privacy.average_case import count_release_delta
from dpviz.synthesizers import Release


class ParamPost(Method):
    """PARAM_Post of Zheng (2015), §3.2."""

    key = "param_post"
    label = "PARAM_Post"
    words = "one draw of the proportion itself"
    color = "param_post"
    never_pure = True
    knows_cells = False

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> PosteriorParameter:
        return PosteriorParameter(n=n, alpha=alpha, beta=beta)

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> PosteriorParameter:
        """The two cells' total has one law under both tables and tells nothing: left is one row in two cells."""
        return PosteriorParameter(n=1, alpha=alpha, beta=alpha)

    def least_pure(self, m: int, epsilon: float) -> float:
        return math.inf

    def pair_delta(self, ones: float, zeros: float, m: int, epsilon: float) -> float:
        return math.exp(float(log_parameter_delta(np.array([ones]), np.array([zeros]), epsilon)[0]))

    def failure(self, n: int, m: int, epsilon: float) -> Failure:
        """ln(y / x), x = α + i and y = α + n − 1 − i, changes by α/y − α/x, at most (n − 1)/(α + n − 1)."""
        return Failure(
            lambda alpha, epsilon: parameter_failure(n=n, alpha=alpha, beta=alpha, epsilon=epsilon),
            lambda alpha: (n - 1) / (alpha + (n - 1)),
            0.0,
        )

    def losses(self, ones: float, zeros: float, m: int) -> BetaLosses:
        return BetaLosses(ones, zeros)

    @property
    def log_density(self) -> Callable[[float, float], float]:
        return lambda ones, zeros: float(log_loss_density(np.array(ones), np.array(zeros)))

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        return parameter_draw_delta(n, alpha, alpha, theta, epsilon)

    def spread(self, total: float, m: int) -> float:
        return 1 / (total + 1)

    def variance(self, posterior: float, m: int) -> float:
        return posterior


class ParamMap(Method):
    """PARAM_MAP of Zheng (2015), §3.2: the data fix it, so that nothing makes it private."""

    key = "param_map"
    label = "PARAM_MAP"
    words = "the most likely proportion itself"
    color = "param_map"
    calibrated = False
    never_pure = True

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> Release:
        self.refuse("that is random")

    def least_pure(self, m: int, epsilon: float) -> float:
        return math.inf

    def pair_delta(self, ones: float, zeros: float, m: int, epsilon: float) -> float:
        return 1.0

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        """That of the count of ones."""
        return count_release_delta(n, theta, epsilon)

    def variance(self, posterior: float, m: int) -> float:
        return 0.0
