"""The closer looks of the page, each run only when it is opened."""

import re
from collections.abc import Callable

import numpy as np
import streamlit as st

from dpviz.charts.posterior import count_distribution_chart
from dpviz.claims.charest import ERRATA, LITERAL, TABLE_CAPTIONS, compare_charest
from dpviz.claims.published import Record
from dpviz.core.parameters import readable
from dpviz.designs import Design
from dpviz.desk.exports.script import posterior_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.cached import elsewhere
from pages.components.downloads import SAVED, show_columns
from pages.components.figure import show_figure
from pages.components.frame import Section
from pages.components.words import heading, listing, note, show_errata
from pages.posterior import SPEC
from pages.posterior.answer import posterior_of, posteriors, show_call
from pages.posterior.categories import show_categories
from pages.posterior.controls import PREFIX, Asked
from pages.posterior.reach import show_reach
from pages.posterior.secret import show_secret

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
        heading(f"Charest (2011), Table {number}: {TABLE_CAPTIONS[number]}")
        _table(elsewhere(compare_charest, "Charest's numbers, exactly …")(number))
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


def _of_beta_binomial(show: Callable[[Asked], None]) -> Callable[[Asked], None]:
    """A section whose sums are those of the Beta-binomial; for another synthesizer a sentence says so."""
    only = "This section computes with the Beta-binomial synthesizer alone. Choose that synthesizer to see it."
    return lambda asked: show(asked) if issubclass(asked.design.synthesizer_type, BetaBinomial) else note(only)


def _show_count(asked: Asked) -> None:
    """Show the distribution of x given the release: the weights of the mixture."""
    found, x = posterior_of(asked), asked.design.confidential_count
    likeliest = int(np.argmax(found.weights))
    note(SPEC.note("count"))
    mark, words = None if x is None else float(x), f"x = {readable(x or 0)}"
    every, title = np.arange(float(len(found.weights))), "confidential ones x"
    chart = count_distribution_chart(
        every, found.weights, title=title, key="count distribution", mark=mark, words=words
    )
    alt = "Probability of each confidential count given the synthetic counts."
    show_figure(chart, key=f"{PREFIX}count_distribution", alt=alt, height=340)
    true = "" if x is None else f" The true x = {readable(x)} has probability {readable(float(found.weights[x]), 3)}."
    often, expected = readable(float(found.weights[likeliest]), 3), readable(found.expected_count, 5)
    st.caption(
        f"On average x = {expected}. Most probable is x = {readable(likeliest)}, with probability {often}.{true}"
    )


def _show_downloads(asked: Asked) -> None:
    """Offer the densities and the distribution of x as CSV, and the script."""
    p, x = np.linspace(0.0, 1.0, 1001), np.arange(asked.design.n + 1.0)
    densities = {key: distribution.pdf(p) for key, distribution in posteriors(asked).items()}
    weights = {"probability": posterior_of(asked).weights}
    tables = [
        ("Densities, CSV", "posterior.csv", lambda: columns_csv("p", p, densities)),
        ("Distribution of x, CSV", "confidential_count.csv", lambda: columns_csv("x", x, weights)),
    ]
    text = posterior_script(asked.design, asked.counts, given_text=asked.given_text)
    show_columns(PREFIX, tables, [SAVED], ("posterior_page.py", text, "the numbers of the table above"))


def why(design: Design) -> str:
    """The explanations of a design, in Markdown."""
    synthesizer_type = design.synthesizer_type
    words = {
        "label": synthesizer_type.label,
        "share": ", with ε/M in the place of ε"
        if any(one.name == "epsilon" for one in synthesizer_type.parameters())
        else "",
        "formula": synthesizer_type.formula,
        "repairs": SPEC.note("prior")
        if synthesizer_type.has_prior
        else SPEC.note("matrix" if synthesizer_type is GivenMatrix else "moved", moved_by=synthesizer_type.moved_by),
        "sets": SPEC.note(
            "added"
            if "epsilon" not in design.promised
            else "averaged"
            if synthesizer_type.draws_after_noise
            else "shared"
        ),
        "source": synthesizer_type.source,
    }
    return re.sub(r"\{(" + "|".join(words) + r")\}", lambda found: words[found[1]], SPEC.text("words"))


def _why(asked: Asked) -> None:
    st.markdown(why(asked.design))


SECTIONS: dict[str, Section[Asked]] = {
    "What was x?": _show_count,
    "What to compute": show_call,
    "Its own coverage": show_reach,
    "If n is secret": _of_beta_binomial(show_secret),
    "k categories": _of_beta_binomial(show_categories),
    "As published": show_published,
    "Download": _show_downloads,
    "Why, and sources": _why,
}
