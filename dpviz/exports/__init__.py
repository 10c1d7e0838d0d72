"""Results as files: CSV at full precision, LaTeX, and the script that computes them again."""

from dpviz.exports.coverage import coverage_csv, coverage_curves_csv, coverage_script, intervals_csv
from dpviz.exports.posterior import posterior_csv, posterior_script
from dpviz.exports.priors import curves_csv, findings_csv, priors_script
from dpviz.exports.script import page_script
from dpviz.exports.tables import figure_html, log_odds_csv, log_odds_latex, matrix_csv, matrix_latex

__all__ = [
    "coverage_csv",
    "coverage_curves_csv",
    "coverage_script",
    "curves_csv",
    "figure_html",
    "findings_csv",
    "intervals_csv",
    "log_odds_csv",
    "log_odds_latex",
    "matrix_csv",
    "matrix_latex",
    "page_script",
    "posterior_csv",
    "posterior_script",
    "priors_script",
]
