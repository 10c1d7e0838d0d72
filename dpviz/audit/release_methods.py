"""Every printed method of Bowen & Liu, Liu and Jackson et al. that promises an ε, and the statistics they sanitize."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpviz.audit.release_losses import NOISE_FACTORS, PROMISES, REAL_LOSSES, ReleaseSetting
from dpviz.core.data_files import read_table
from dpviz.privacy.real_loss import Loss


@dataclass(frozen=True, kw_only=True)
class ReleaseMethod:
    """A method as its paper prints it."""

    key: str
    name: str
    source: str
    released: str  # what the promised ε is a loss of
    checked: str  # how the real ε is computed
    why: str  # it is what it is
    safe: str  # what keeps the promise instead
    real: Callable[[ReleaseSetting], Loss | float]
    noise_factor: Callable[[ReleaseSetting], float] | None  # how many times as much noise keeps the promise
    promised: Callable[[ReleaseSetting], float]

    def loss(self, setting: ReleaseSetting) -> Loss:
        """The real loss at a setting."""
        loss = self.real(setting)
        return loss if isinstance(loss, Loss) else Loss.exactly(loss)


def _read_method(row: dict[str, str]) -> ReleaseMethod:
    key = row["key"]
    promised = PROMISES.get(key, lambda at: at.epsilon)
    return ReleaseMethod(**row, real=REAL_LOSSES[key], noise_factor=NOISE_FACTORS.get(key), promised=promised)


RELEASE_METHODS = {row["key"]: _read_method(row) for row in read_table("audit/release_methods")}
"""In the order of the papers, by key."""


@dataclass(frozen=True)
class Sensitivity:
    """How far a substituted row moves a statistic of n rows between bounds that are `width` apart; n is public."""

    statistic: str
    formula: str
    note: str
    exact: Callable[[int, float], float]


EXACT_SENSITIVITIES: dict[str, Callable[[int, float], float]] = {
    "mean": lambda n, width: width / n,
    # All rows at one bound, and one moves to the other
    **dict.fromkeys(("variance, divisor n − 1", "covariance, divisor n − 1"), lambda n, width: width**2 / n),
    "variance, divisor n": lambda n, width: width**2 * (n - 1) / n**2,
    "mean and variance together (sum of both)": lambda n, width: width / n + width**2 / n,
    "variance pooled over two cells, divisor n − 2": lambda n, width: width**2 / (n - 1),
    **dict.fromkeys(("correlation", "counts of k cells together"), lambda *_: 2.0),
    # Of −2 ln L at its maximum for Bernoulli rows: from no ones to a single one
    "Bernoulli deviance, for choosing a model": lambda n, _: 2 * math.log(n) - 2 * (n - 1) * math.log1p(-1 / n),
}
SENSITIVITIES = [
    Sensitivity(**row, exact=EXACT_SENSITIVITIES[row["statistic"]]) for row in read_table("audit/sensitivities")
]
"""Statistics that the papers sanitize."""
