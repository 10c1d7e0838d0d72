"""What a release reveals: exact measures of the privacy of a transition matrix."""

from dpviz.privacy.attacker import AttackerView, attacker_view, gain_in_words
from dpviz.privacy.hockey_stick import delta_for_epsilon, epsilon_for_delta, privacy_profile, worst_neighbours
from dpviz.privacy.log_odds import exceeds, log_odds_table, pure_epsilon
from dpviz.privacy.probabilistic import (
    LAWS,
    change_by_row,
    failure_by_row,
    law_of_counts,
    probabilistic_delta,
)

__all__ = [
    "LAWS",
    "AttackerView",
    "attacker_view",
    "change_by_row",
    "delta_for_epsilon",
    "epsilon_for_delta",
    "exceeds",
    "failure_by_row",
    "gain_in_words",
    "law_of_counts",
    "log_odds_table",
    "privacy_profile",
    "probabilistic_delta",
    "pure_epsilon",
    "worst_neighbours",
]
