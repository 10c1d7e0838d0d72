"""What an analyst makes of a synthetic release: estimates, and how far they are off."""

from importlib import import_module
from typing import Any

HOMES = {
    name: module
    for module, names in {
        "beta_mixtures": "BetaMixture",
        "combining_rules": "COMBINING_RULES CombiningRule",
        "frequentist": "PosteriorCoverage posterior_coverage",
        "interval_rules": "IntervalRule contains",
        "moments": "ProportionMoments SetMoments cell_moments proportion_moments set_moments share_beyond",
        "posterior": "PosteriorCells PosteriorMixture posterior_cells posterior_given posterior_if_known "
        "posterior_if_real posterior_mixture",
        "noise_aware": "NOISE_AWARE_RULES NoiseAwareRule",
        "rules": "RULES check_rule",
        "secret_n": "SecretSizePosterior SizePrior decade_size poisson_size posterior_secret_n uniform_size",
        "sum_distribution": "LengthLimit ReleaseSums length_limit release_sums",
        "summaries": "EQUAL_TAILS HIGHEST_DENSITY PosteriorInterval PosteriorSummaries posterior_summaries",
    }.items()
    for name in names.split()
}
"""The module of each name that a script may import from here; the package itself imports from the modules."""

__all__ = list(HOMES)


def __getattr__(name: str) -> Any:
    """Load what is asked for, when it is asked for: who needs the moments waits for no posterior."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)
