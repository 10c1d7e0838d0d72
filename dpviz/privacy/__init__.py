"""What a release reveals: exact measures of the privacy of a transition matrix."""

from dpviz.privacy.attacker import AttackerView, attacker_view
from dpviz.privacy.divergence import delta_for_epsilon, epsilon_for_delta, log_odds_table, pure_epsilon
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
    "failure_by_row",
    "log_odds_table",
    "probabilistic_delta",
    "pure_epsilon",
    "trade_off_curve",
]
