"""Charest's (2011) tables in their own layout: in every cell the printed number, ours, and how far they are apart."""

from collections.abc import Iterable

from dpviz.claims.charest import LITERAL
from dpviz.claims.published import Record
from dpviz.core.parameters import readable
from dpviz.core.wording import TextTable

PRINTED_QUANTITIES = {
    "true_dataset": "confidential data",
    "var_qbar_1e-4": "Var(q̄), 10⁻⁴",
    "rel_bias_TM_pct": "relative bias of T, %",
    "rel_bias_TMstar_pct": "relative bias of T*, %",
    "negative_TM_pct": "negative T, %",
    "posterior_mean": "posterior mean",
    "rel_bias_pct": "relative bias, %",
    "posterior_variance_1e-3": "posterior variance, 10⁻³",
    "ratio_to_true_variance": "ratio to the true variance",
}
"""Names of the printed columns; further ones of Table 1 are numbers of sets."""


def layout_table(number: int, lines: Iterable[Record[float]]) -> TextTable:
    """Return Table 1 or 2 in its own layout: in every cell the printed number, ours, and how far they are apart."""
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        sets = f"M = {readable(line.design['sets'])}"
        design = f"ε = {readable(line.design['epsilon'])}, p = {readable(line.design['p'])}"
        rows.setdefault(f"{design}, {sets}" if number == 2 else design, {})[PRINTED_QUANTITIES.get(line.what, sets)] = (
            f"<b>{readable(line.printed, 5)}</b><br>{readable(round(line.ours, 4), 5)}<br>"
            f"<small>z = {readable(round(line.z, 2), 3)}, ± {readable(line.error, 2)}</small>"
        )
    names = list(next(iter(rows.values())))
    cells = [[design, *(one[name] for name in names)] for design, one in rows.items()]
    return TextTable(["<b>printed</b>, exact, and z", *names], cells, f"Table {number}, printed and exact")


def readings_table(lines: Iterable[Record[float]]) -> TextTable:
    """Return Table 3 or 4 with a row for each reading of a number; one that does not fit stands back."""
    rows = []
    for line in lines:
        design = f"ε = {readable(line.design['epsilon'])}, M = {readable(line.design['sets'])}"
        ours = readable(line.ours, 5) + (f" ± {readable(line.our_error, 2)}" if line.our_error else "")
        numbers = [readable(line.printed, 5), ours, readable(round(line.z, 2), 3)]
        if line.far or line.reading == LITERAL:
            numbers = [f"<small>{number}</small>" for number in numbers]
        rows.append([f"<b>{design}</b> {PRINTED_QUANTITIES[line.what]}<br><small>{line.reading}</small>", *numbers])
    return TextTable(["design and reading", "printed", "ours", "z"], rows, "Printed and ours")
