"""What an analyst makes of a synthetic release: estimates, intervals and posteriors."""

from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.interval_rules import contains
from dpviz.inference.moments import cell_moments, normal_tail_share, proportion_moments, set_moments
from dpviz.inference.noise_aware import NOISE_AWARE_RULES
from dpviz.inference.posterior import (
    posterior_cells,
    posterior_given,
    posterior_if_known,
    posterior_if_real,
    posterior_mixture,
)
from dpviz.inference.posterior_coverage import EQUAL_TAILS, HIGHEST_DENSITY, posterior_coverage, posterior_summaries
from dpviz.inference.rules import RULES, check_rule
from dpviz.inference.secret_size import SecretSizePosterior, posterior_secret_n, size_prior
from dpviz.inference.sum_distribution import length_limit, release_sums

__all__ = [
    "COMBINING_RULES", "EQUAL_TAILS", "HIGHEST_DENSITY", "NOISE_AWARE_RULES", "RULES", "BetaMixture",
    "SecretSizePosterior", "cell_moments", "check_rule", "contains", "length_limit", "normal_tail_share",
    "posterior_cells", "posterior_coverage", "posterior_given", "posterior_if_known", "posterior_if_real",
    "posterior_mixture", "posterior_secret_n", "posterior_summaries", "proportion_moments", "release_sums",
    "set_moments", "size_prior",
]  # fmt: skip
