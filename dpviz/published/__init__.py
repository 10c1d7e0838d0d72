"""The papers' printed tables, digit for digit, and what they really show."""

from dpviz.published.abowd_vilhuber import (
    PRINTED_EPSILON,
    accounts_of_printed_delta,
    compare_figures,
    equation_one,
    fig_1_synthesizer,
    fig_3_synthesizer,
    printed_figure,
)
from dpviz.published.charest import ERRATA, FIGURE_1, charest_table, compare_charest
from dpviz.published.record import PrintedTable, Record

__all__ = [
    "ERRATA",
    "FIGURE_1",
    "PRINTED_EPSILON",
    "PrintedTable",
    "Record",
    "accounts_of_printed_delta",
    "charest_table",
    "compare_charest",
    "compare_figures",
    "equation_one",
    "fig_1_synthesizer",
    "fig_3_synthesizer",
    "printed_figure",
]
