"""Charest's Tables 3 and 4 beside ours, with the reading that reproduces them."""

import streamlit as st

from dpviz.parameters import readable
from dpviz.published.charest import CAPTIONS, ERRATA, LITERAL, compare_charest
from dpviz.published.record import Record
from pages.components.cached import cached
from pages.components.words import heading, listing, note, show_errata
from pages.posterior import SPEC
from pages.posterior.controls import Asked

QUANTITIES = {
    "posterior_mean": "posterior mean",
    "rel_bias_pct": "relative bias, %",
    "posterior_variance_1e-3": "posterior variance, 10⁻³",
    "ratio_to_true_variance": "ratio to the true variance",
}


def show_published(_asked: Asked) -> None:
    """Both tables, and the misprints."""
    note(SPEC.note("published"))
    for number in (3, 4):
        heading(f"Charest (2011), Table {number}: {CAPTIONS[number]}")
        _table(cached(compare_charest, "Charest's numbers, exactly …")(number))
    show_errata(one for one in ERRATA if one.what == "posterior")
    st.caption(SPEC.note("source"))


def _table(lines: list[Record[float]]) -> None:
    rows = []
    for line in lines:
        design = f"ε = {readable(line.design['epsilon'])}, M = {readable(line.design['sets'])}"
        ours = readable(line.ours, 5) + (f" ± {readable(line.our_error, 2)}" if line.our_error else "")
        numbers = [readable(line.printed, 5), ours, readable(round(line.z, 2), 3)]
        if abs(line.z) > 3 or line.verdict == LITERAL:  # a reading that does not fit stands back
            numbers = [f"<small>{number}</small>" for number in numbers]
        rows.append([f"<b>{design}</b> {QUANTITIES[line.what]}<br><small>{line.verdict}</small>", *numbers])
    listing(["design and reading", "printed", "ours", "z"], rows, "Printed and ours")
    simulated = any(line.our_error for line in lines)
    st.caption(SPEC.note("z_simulated" if simulated else "z"))
