"""What "smallest error" means: on average over the counts, or at the worst of them."""

from abc import ABC, abstractmethod

import numpy as np

from dpviz.optimum import _estimates, _geometric
from dpviz.optimum._mechanisms import Mechanism
from dpviz.types import FloatArray

FITTED = 200  # n up to which the worst case is fitted at every x, and the number of steps of its prior beyond
STEP = 0.3  # Largest step of that prior, in units of 1/ε: nearly as good as steps of 1


class Criterion(ABC):
    """A number out of the squared errors at x = 0 … n, with the estimates and the prior that belong to it."""

    @abstractmethod
    def of(self, errors: FloatArray) -> float:
        """Return the error that the mechanism is judged by."""

    @abstractmethod
    def fit(self, channel: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the prior whose Bayes risk no estimates from this channel are below, and the best estimates."""

    @abstractmethod
    def pure(self, n: int, epsilon: float) -> tuple[Mechanism, FloatArray, float]:
        """Return the ε-private mechanism with the smallest error, a prior, and its Bayes risk: no other has less."""

    @abstractmethod
    def share(self, covered: float) -> float:
        """Return how much of the error of some counts is an error of all, if they are this part of all counts."""


class Average(Criterion):
    """The mean over x = 0 … n: the Bayes risk of the uniform prior."""

    def of(self, errors: FloatArray) -> float:
        return float(errors.mean())

    def fit(self, channel: FloatArray) -> tuple[FloatArray, FloatArray]:
        prior = np.full(len(channel), 1 / len(channel))
        return prior, _estimates.bayes(channel, prior)[0]

    def pure(self, n: int, epsilon: float) -> tuple[Mechanism, FloatArray, float]:
        prior = np.full(n + 1, 1 / (n + 1))
        estimates, errors = _geometric.bayes(prior, epsilon)
        return Mechanism(lambda: _geometric.channel(n, epsilon), estimates, errors), prior, self.of(errors)

    def share(self, covered: float) -> float:
        return covered


class Worst(Criterion):
    """The largest at any x: the Bayes risk of the least favorable prior."""

    def of(self, errors: FloatArray) -> float:
        return float(errors.max())

    def fit(self, channel: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _estimates.minimax(channel)

    def pure(self, n: int, epsilon: float) -> tuple[Mechanism, FloatArray, float]:
        """As `Criterion.pure`; beyond `FITTED` from priors on some counts and on all, which leave a gap."""
        step = 1.0 if n <= FITTED else min(max(STEP / epsilon, 1.0), n / FITTED) if epsilon > 0 else n / FITTED
        steps, own = min(n, FITTED), np.arange(n + 1.0)
        weights, estimates = _estimates.minimax(_geometric.channel(steps, epsilon * step))
        fitted = np.zeros(n + 1)
        np.add.at(fitted, np.rint((n - steps * step) / 2 + step * np.arange(steps + 1)).astype(int), weights)
        smooth = np.sin(np.pi * (own + 1) / (n + 2)) ** 2
        priors = [fitted] if n <= FITTED else [fitted, smooth / smooth.sum()]
        means, risks = zip(*(_geometric.bayes(prior, epsilon) for prior in priors), strict=True)
        bounds = [float(prior @ risk) for prior, risk in zip(priors, risks, strict=True)]
        candidates = [own, *means, *([estimates] if n <= FITTED else [])]
        errors = [_geometric.squared_errors(one - own, epsilon) for one in candidates]
        best = int(np.argmin([self.of(one) for one in errors]))
        mechanism = Mechanism(lambda: _geometric.channel(n, epsilon), candidates[best], errors[best])
        return mechanism, priors[int(np.argmax(bounds))], max(bounds)

    def share(self, covered: float) -> float:  # noqa: ARG002 (the worst of some is an error of all)
        return 1.0


CRITERIA: dict[str, Criterion] = {"average": Average(), "worst": Worst()}
