"""The papers' printed tables, digit for digit, and what they really show."""

from dpviz.published.abowd_vilhuber import (
    PRINTED_EPSILON,
    Account,
    PrintedTable,
    accounts_of_printed_delta,
    equation_one,
    fig_1_synthesizer,
    fig_3_synthesizer,
    printed_figure,
)
from dpviz.published.charest import (
    ERRATA,
    FIGURE_1,
    CharestTable,
    Comparison,
    Figure1,
    charest_table,
    compare_charest,
)

__all__ = [
    "ERRATA",
    "FIGURE_1",
    "PRINTED_EPSILON",
    "Account",
    "CharestTable",
    "Comparison",
    "Figure1",
    "PrintedTable",
    "accounts_of_printed_delta",
    "charest_table",
    "compare_charest",
    "equation_one",
    "fig_1_synthesizer",
    "fig_3_synthesizer",
    "printed_figure",
]
