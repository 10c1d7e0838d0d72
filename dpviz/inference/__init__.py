"""What an analyst makes of a synthetic release: estimates, and how far they are off."""

from dpviz.inference.moments import ProportionMoments, proportion_moments

__all__ = ["ProportionMoments", "proportion_moments"]
