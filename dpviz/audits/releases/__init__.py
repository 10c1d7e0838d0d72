"""Methods of synthesis as Bowen & Liu (2016) and Liu (2016) print them: what each promises and what it really gives."""

from dpviz.audits.releases.empirical import EmpiricalLoss, empirical_epsilon
from dpviz.audits.releases.methods import RELEASE_METHODS, audit_releases
from dpviz.audits.releases.record import Loss, ReleaseFinding, ReleaseMethod, ReleaseSetting
from dpviz.audits.releases.sensitivities import SENSITIVITIES

__all__ = [
    "RELEASE_METHODS",
    "SENSITIVITIES",
    "EmpiricalLoss",
    "Loss",
    "ReleaseFinding",
    "ReleaseMethod",
    "ReleaseSetting",
    "audit_releases",
    "empirical_epsilon",
]
