"""What a release reveals: exact measures of the privacy of a transition matrix."""

from dpviz.privacy.attacker import AttackerView, attacker_view, gain_in_words
from dpviz.privacy.hockey_stick import delta_for_epsilon, epsilon_for_delta, exceeds, log_odds_table, pure_epsilon
from dpviz.privacy.probabilistic import change_by_row, even_counts, failure_by_row, probabilistic_delta
from dpviz.privacy.trade_off import TradeOffCurve, trade_off_curve

__all__ = [
    "AttackerView",
    "TradeOffCurve",
    "attacker_view",
    "change_by_row",
    "delta_for_epsilon",
    "epsilon_for_delta",
    "even_counts",
    "exceeds",
    "failure_by_row",
    "gain_in_words",
    "log_odds_table",
    "probabilistic_delta",
    "pure_epsilon",
    "trade_off_curve",
]
