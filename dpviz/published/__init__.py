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

__all__ = [
    "PRINTED_EPSILON",
    "Account",
    "PrintedTable",
    "accounts_of_printed_delta",
    "equation_one",
    "fig_1_synthesizer",
    "fig_3_synthesizer",
    "printed_figure",
]
