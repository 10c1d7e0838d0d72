"""For scripts: which prior, or which range of the data, a promise of privacy needs, and the audit of printed bounds."""

from dpviz.audit.theorem_audit import audit_theorems as audit
from dpviz.calibration.curves import release
from dpviz.calibration.data_kinds import KINDS, Kind, Setting
from dpviz.calibration.gaussian_range import GaussianRelease, maximum_range
from dpviz.calibration.methods import CALIBRATED_METHODS as CALIBRATED
from dpviz.calibration.methods import PRIOR_METHODS as METHODS
from dpviz.calibration.probabilistic import minimum_prior_probabilistic
from dpviz.calibration.smallest_prior import minimum_prior

__all__ = [
    "CALIBRATED",
    "KINDS",
    "METHODS",
    "GaussianRelease",
    "Kind",
    "Setting",
    "audit",
    "maximum_range",
    "minimum_prior",
    "minimum_prior_probabilistic",
    "release",
]
