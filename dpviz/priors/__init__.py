"""Which prior, or which range of the data, a promise of privacy needs: as printed, and exactly."""

from dpviz.priors.audit import AuditFamily, Finding, Setting, audit
from dpviz.priors.exact import minimum_prior
from dpviz.priors.probabilistic import minimum_prior_probabilistic, parameter_failure
from dpviz.priors.ranges import GaussianRelease, maximum_range
from dpviz.priors.releases import CALIBRATED, METHODS, release
from dpviz.priors.statements import Statement, audit_statements

__all__ = [
    "CALIBRATED",
    "METHODS",
    "AuditFamily",
    "Finding",
    "GaussianRelease",
    "Setting",
    "Statement",
    "audit",
    "audit_statements",
    "maximum_range",
    "minimum_prior",
    "minimum_prior_probabilistic",
    "parameter_failure",
    "release",
]
