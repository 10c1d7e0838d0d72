"""Results turned into pictures: plotly figures and HTML tables, with no mathematics of their own."""

from dpviz.charts.attacker import attacker_chart
from dpviz.charts.count_table import log_odds_html, matrix_html
from dpviz.charts.heatmap import log_odds_heatmap, matrix_heatmap
from dpviz.charts.lines import Dots, Line, Mark, Rule, Scale, lines_chart
from dpviz.charts.prior_curves import curves_chart
from dpviz.charts.profile import compare_profiles, profile_chart

__all__ = [
    "Dots",
    "Line",
    "Mark",
    "Rule",
    "Scale",
    "attacker_chart",
    "compare_profiles",
    "curves_chart",
    "lines_chart",
    "log_odds_heatmap",
    "log_odds_html",
    "matrix_heatmap",
    "matrix_html",
    "profile_chart",
]
