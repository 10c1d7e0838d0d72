"""What an analyst makes of a synthetic release: estimates, and how far they are off."""

from dpviz.inference.combining_rules import RULES, CombiningRule, check_rule, covers
from dpviz.inference.moments import ProportionMoments, cell_moments, proportion_moments, share_beyond

__all__ = [
    "RULES",
    "CombiningRule",
    "ProportionMoments",
    "cell_moments",
    "check_rule",
    "covers",
    "proportion_moments",
    "share_beyond",
]
