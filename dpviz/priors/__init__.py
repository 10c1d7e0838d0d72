"""Which prior, or which range of the data, a promise of privacy needs: as printed, and exactly."""

from dpviz.methods import CALIBRATED, METHODS
from dpviz.methods.posterior_parameter import parameter_failure
from dpviz.priors.audit import Finding, Setting, audit
from dpviz.priors.exact import minimum_prior
from dpviz.priors.kinds import KINDS, Kind
from dpviz.priors.probabilistic import minimum_prior_probabilistic
from dpviz.priors.ranges import GaussianRelease, maximum_range
from dpviz.priors.releases import release
from dpviz.priors.statements import Statement, audit_statements

__all__ = [
    "CALIBRATED",
    "KINDS",
    "METHODS",
    "Finding",
    "GaussianRelease",
    "Kind",
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
