"""Results as files: CSV at full precision, LaTeX, and the script that computes them again."""

from dpviz.exports.script import page_script
from dpviz.exports.tables import log_odds_csv, log_odds_latex, matrix_csv, matrix_latex

__all__ = ["log_odds_csv", "log_odds_latex", "matrix_csv", "matrix_latex", "page_script"]
