"""The real against the promised ε of every printed method of release, at a setting or at that of a comparison."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dpviz.audit.release_losses import NOISE_FACTORS, PROMISES, REAL_LOSSES, ReleaseSetting
from dpviz.audit.text import sentence
from dpviz.comparisons import ComparedMethod, DataKind, MixedData
from dpviz.comparisons.numeric_data import NormalData
from dpviz.comparisons.numeric_releases import public_bins
from dpviz.core.data_files import read_table
from dpviz.core.formatting import format_number
from dpviz.privacy.real_loss import Loss, ReleaseVerdict


@dataclass(frozen=True, kw_only=True)
class ReleaseMethod:
    """A method of Bowen & Liu, Liu or Jackson et al. that promises an ε, as its paper prints it."""

    key: str
    name: str
    source: str
    released: str  # what the promised ε is a loss of
    checked: str  # how the real ε is computed
    why: str  # the real ε is what it is
    safe: str  # what keeps the promise instead

    def loss(self, setting: ReleaseSetting) -> Loss:
        """The real loss."""
        loss = REAL_LOSSES[self.key](setting)
        return loss if isinstance(loss, Loss) else Loss.exactly(loss)

    def promised(self, setting: ReleaseSetting) -> float:
        """The promised ε."""
        return PROMISES[self.key](setting) if self.key in PROMISES else setting.epsilon


RELEASE_METHODS = {row["key"]: ReleaseMethod(**row) for row in read_table("audit/release_methods")}
"""In the order of the papers, by key."""


@dataclass(frozen=True)
class ReleaseAudit:
    """A printed method at a setting, with its real loss."""

    method: ReleaseMethod
    setting: ReleaseSetting
    loss: Loss

    @property
    def promised(self) -> float:
        """The promised ε."""
        return self.method.promised(self.setting)

    @property
    def verdict(self) -> ReleaseVerdict:
        """What follows for the promise."""
        return self.loss.verdict(self.promised)

    @property
    def factor(self) -> float:
        """Real over promised ε, a bound on it where the real one is not known exactly."""
        is_upper = self.verdict is ReleaseVerdict.SATISFIED
        return (self.loss.at_most if is_upper else self.loss.at_least) / self.promised

    @property
    def factor_text(self) -> str:
        """Real over promised ε as a table shows it; empty where there is no real ε."""
        if math.isinf(self.loss.at_least):
            return ""
        return Loss(self.loss.at_least / self.promised, self.loss.at_most / self.promised).text(1.0)

    @property
    def noise_factor(self) -> float | None:
        """How many times as much noise keeps the promise; None where more noise does not."""
        return NOISE_FACTORS[self.method.key](self.setting) if self.method.key in NOISE_FACTORS else None

    @property
    def sentence(self) -> str:
        """What happened, and how much."""
        return sentence("release", self.loss, self.promised)

    @property
    def explanation(self) -> str:
        """Why."""
        return f"{self.method.why} {self.loss.note}".strip()

    @property
    def safe(self) -> str:
        """What keeps the promise instead; empty where it is kept."""
        if self.verdict is ReleaseVerdict.SATISFIED:
            return ""
        factor = self.noise_factor
        return self.method.safe.format(factor=format_number(factor, 3) if factor else "")


def audit_releases(setting: ReleaseSetting) -> tuple[ReleaseAudit, ...]:
    """Real loss of every printed method, in the order of the papers.

    >>> results = audit_releases(ReleaseSetting(n=100, epsilon=1.0))
    >>> [result.method.key for result in results if result.verdict == "not private at any ε"]
    ['perturbed_scott', 'cell_mean_unbounded', 'standardized']
    """
    return tuple(ReleaseAudit(method, setting, method.loss(setting)) for method in RELEASE_METHODS.values())


@lru_cache(maxsize=16)
def ranked_audits(setting: ReleaseSetting) -> tuple[ReleaseAudit, ...]:
    """`audit_releases`, broken promises first."""
    verdicts = list(ReleaseVerdict)
    return tuple(sorted(audit_releases(setting), key=lambda result: verdicts.index(result.verdict)))


def headline(results: Sequence[ReleaseAudit]) -> str:
    """How many methods break their promise."""
    return sentence("releases", Counter(result.verdict for result in results))


# The statistics that the papers sanitize

SENSITIVITIES: dict[str, Callable[[int, float], float]] = {
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
"""How far a substituted row moves each statistic of n rows between bounds that are `width` apart; n is public."""


# At the setting of a comparison


def setting_of_comparison(data: DataKind, epsilon: float, sets: int) -> ReleaseSetting:
    """Setting of the audit for the data of a comparison, with bounds in standard deviations from the mean.

    Parameters
    ----------
    data : DataKind
    epsilon : float
        Of all sets together.
    sets : int

    Returns
    -------
    ReleaseSetting

    Raises
    ------
    ValueError
        For data or a promise that the audit does not take, such as too few rows.

    Examples
    --------
    >>> from dpviz.comparisons import UnknownVariance
    >>> data = UnknownVariance(n=100, mean=1.0, sigma=2.0, low=-3.0, high=4.0)
    >>> setting = setting_of_comparison(data, 1.0, 10)
    >>> setting.lower, setting.upper, setting.bins
    (-2.0, 1.5, 10)
    """
    n = int(data.settings()["n"])
    setting = ReleaseSetting(n=n, epsilon=epsilon, sets=sets, cell=min(ReleaseSetting.cell, n))
    if isinstance(data, MixedData):
        setting = replace(setting, cell=max(2, round(n * data.shares[0])))
    if isinstance(data, NormalData):
        low, high = ((end - data.mean) / data.sigma for end in (data.low, data.high))
        return replace(setting, lower=low, upper=high, bins=public_bins(n))
    return setting


@lru_cache(maxsize=1024)
def actual_loss_sentence(method: ComparedMethod, data: DataKind, epsilon: float, sets: int) -> str:
    """What sets of a compared method really give away, and why; of a reference what there is to say.

    Parameters
    ----------
    method : ComparedMethod
    data : DataKind
    epsilon : float
        Promised for all sets together.
    sets : int

    Returns
    -------
    str
    """
    if method.reference or method.absence(data):
        return method.finding
    try:
        loss, why = method.real_loss(data, epsilon, method.sets(sets)), method.finding
        if method.audited and not why:
            record, setting = RELEASE_METHODS[method.audited], setting_of_comparison(data, epsilon, sets)
            result = ReleaseAudit(record, setting, record.loss(setting))
            loss, why = replace(loss, delta=result.loss.delta), result.explanation
    except ValueError:  # too few rows, or another setting that is refused
        return method.finding
    return f"{sentence('release', loss, epsilon)} {why}".strip()
