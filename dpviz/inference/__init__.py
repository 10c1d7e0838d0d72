"""What an analyst makes of a synthetic release: estimates, and how far they are off."""

from dpviz.inference.combining_rules import COMBINING_RULES, CombiningRule, covers
from dpviz.inference.interval_ends import holds
from dpviz.inference.interval_rules import IntervalRule
from dpviz.inference.length_limit import LengthLimit, length_limit
from dpviz.inference.moments import ProportionMoments, cell_moments, proportion_moments, share_beyond
from dpviz.inference.noise_aware_rules import NOISE_AWARE_RULES, NoiseAwareRule
from dpviz.inference.posterior import (
    BetaMixture,
    PosteriorMixture,
    PosteriorSummaries,
    posterior_given,
    posterior_if_known,
    posterior_if_real,
    posterior_mixture,
    posterior_summaries,
)
from dpviz.inference.posterior_cells import PosteriorCells, posterior_cells
from dpviz.inference.posterior_coverage import PosteriorCoverage, posterior_coverage
from dpviz.inference.posterior_secret_n import (
    SecretSizePosterior,
    SizePrior,
    decade_size,
    poisson_size,
    posterior_secret_n,
    uniform_size,
)
from dpviz.inference.release_sums import ReleaseSums, release_sums
from dpviz.inference.rules import RULES, check_rule
from dpviz.inference.set_moments import SetMoments, set_moments

__all__ = [
    "COMBINING_RULES",
    "NOISE_AWARE_RULES",
    "RULES",
    "BetaMixture",
    "CombiningRule",
    "IntervalRule",
    "LengthLimit",
    "NoiseAwareRule",
    "PosteriorCells",
    "PosteriorCoverage",
    "PosteriorMixture",
    "PosteriorSummaries",
    "ProportionMoments",
    "ReleaseSums",
    "SecretSizePosterior",
    "SetMoments",
    "SizePrior",
    "cell_moments",
    "check_rule",
    "covers",
    "decade_size",
    "holds",
    "length_limit",
    "poisson_size",
    "posterior_cells",
    "posterior_coverage",
    "posterior_given",
    "posterior_if_known",
    "posterior_if_real",
    "posterior_mixture",
    "posterior_secret_n",
    "posterior_summaries",
    "proportion_moments",
    "release_sums",
    "set_moments",
    "share_beyond",
    "uniform_size",
]
