"""The closer looks of the page, each run only when it is opened."""

import dataclasses

import streamlit as st

from dpviz.calibration.kinds import KINDS
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.charts.prior_curves import curves_chart
from dpviz.claims.audit import audit
from dpviz.claims.published import read_errata
from dpviz.desk.exports.priors import curves_csv, findings_csv, priors_script
from dpviz.desk.exports.tables import figure_html
from pages.components.address import about_page
from pages.components.cached import cached
from pages.components.downloads import SAVED, show_columns
from pages.components.frame import Section
from pages.components.words import show_errata
from pages.minimum_priors import SPEC
from pages.minimum_priors.answer import chosen_axis, curves_of, texts_of
from pages.minimum_priors.audited import show_audit
from pages.minimum_priors.controls import PREFIX
from pages.minimum_priors.given import show_average, show_inverse, show_sizes
from pages.minimum_priors.sets import show_sets
from pages.minimum_priors.variants import show_probabilistic, show_sampling, show_uneven

OF_RANGES = "range"  # What an erratum about chapter 7 is about


def show_downloads(question: PromiseQuestion) -> None:
    """The audit and the curves as CSV, the picture as HTML, the page as a script."""
    setting, axis = question.setting, chosen_axis()
    audited = cached(audit)(question.kind.key, **dataclasses.asdict(setting))
    tables = [
        ("Audit, CSV", "printed_bounds.csv", lambda: findings_csv(audited)),
        ("Curves, CSV", f"curves_{axis}.csv", lambda: curves_csv(curves_of(question, axis).last())),
    ]
    about = about_page(PREFIX)

    def drawn_curves() -> str:
        return figure_html(curves_chart(curves_of(question, axis).last()), about)

    picture = "Curves, HTML", f"curves_{axis}.html", drawn_curves
    text = priors_script(question.kind.key, setting, question.sets, question.p)
    script = "minimum_priors.py", text, "the exact answers, the audit and the costs"
    show_columns(PREFIX, tables, [picture, SAVED], script)


def _why(question: PromiseQuestion) -> None:
    st.markdown(SPEC.text(texts_of(question)))
    show_errata(one for one in read_errata("zheng") if (one.what == OF_RANGES) is question.kind.conditioned)


SECTIONS: dict[str, Section[PromiseQuestion]] = {
    "As published": show_audit,
    "The inverse": show_inverse,
    "Several sets": show_sets,
    "Parameter or rows?": show_sizes,
    "Average case": show_average,
    "Subsampling": show_sampling,
    "Probabilistic δ": show_probabilistic,
    "Uneven priors": show_uneven,
    "Download": show_downloads,
    "Why, and sources": _why,
}
BERNOULLI_ONLY = {"Parameter or rows?", "Average case", "Subsampling", "Probabilistic δ", "Uneven priors"}
SECTIONS_OF = {
    kind: {name: show for name, show in SECTIONS.items() if kind.binary or name not in BERNOULLI_ONLY}
    for kind in KINDS.values()
}
"""The sections that make sense for a kind of data, by name."""
