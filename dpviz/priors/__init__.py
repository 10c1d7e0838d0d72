"""Which prior, or which range of the data, a promise of privacy needs."""

from typing import TYPE_CHECKING, Any

from dpviz.methods import CALIBRATED, METHODS
from dpviz.priors.exact import minimum_prior, minimum_prior_probabilistic
from dpviz.priors.kinds import KINDS, Kind, Setting
from dpviz.priors.ranges import GaussianRelease, maximum_range
from dpviz.priors.releases import release

if TYPE_CHECKING:
    from dpviz.audits import audit

__all__ = [
    "CALIBRATED", "KINDS", "METHODS", "GaussianRelease", "Kind", "Setting", "audit", "maximum_range", "minimum_prior",
    "minimum_prior_probabilistic", "release",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return the audit, loaded where it is asked for: a smallest prior needs no theorem."""
    if name != "audit":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dpviz.audits import audit

    return audit
