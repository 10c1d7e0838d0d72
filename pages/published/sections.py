"""What the page shows: the verdict on all papers, one of them cell by cell, its errata, and everything as a file."""

from urllib.parse import urlencode

import streamlit as st

from dpviz.charts.html import heading_html
from dpviz.charts.printed import errata_html, layouts_html, verdicts_html
from dpviz.claims.full_run import FullRun, full_run_csv, read_full_run, verdict_counts
from dpviz.claims.papers import PAPERS
from dpviz.claims.printed_layout import layouts_of
from dpviz.claims.published import Shown
from dpviz.claims.verdicts import counts_in_words
from pages.components.address import address_name, address_problems, write_address
from pages.components.cached import cached, once
from pages.components.downloads import show_files
from pages.components.frame import columns, page_head
from pages.components.navigation import EVERY_PAGE
from pages.components.spec import CLASS, class_mode
from pages.components.words import Html, foldable, page_answer, problem
from pages.published import SPEC
from pages.published.controls import PREFIX, choose

MEANING = (
    "Agrees: ours rounds to every printed digit, or the statement is right. ≈: less than one unit of the last digit "
    "away. ±: within three standard errors. ≠ differs and ? cannot be computed; both say why when they are opened."
)

PREFIX_OF = {page.folder: page.prefix for page in EVERY_PAGE}


@once
def full_run() -> FullRun:
    """The full run, read once in the process."""
    return read_full_run()


def show() -> None:
    """The page from its head to its address."""
    page_head(SPEC)
    controls, results = columns()
    with controls:
        chosen = choose()
    with results:
        for sentence in address_problems(PREFIX):
            problem(sentence)
        _show_verdict(full_run())
        st.html(Html(cached(paper_html)(chosen.paper.key, only=chosen.only, in_class=class_mode())))
        show_files(PREFIX, "Everything as a table", ("CSV of all papers", "dpviz_published.csv", full_run_csv))
    write_address(PREFIX)


def _show_verdict(run: FullRun) -> None:
    found = verdict_counts(run.records)
    st.html(page_answer(run.mark, run.told, run.short))
    by_paper = {paper.cited: verdict_counts(run.of(paper.cited)) for paper in PAPERS.values()} | {"All papers": found}
    said = f'<div class="dpviz-printed"><p class=said>{MEANING}</p><p class=said>{run.made}</p></div>'
    st.html(foldable("Verdicts by paper", verdicts_html(by_paper) + said))


def paper_html(key: str, *, only: bool, in_class: bool) -> str:
    """All that a paper prints, or only what differs, and its errata; in class mode links lead on in class mode."""
    paper = PAPERS[key]
    records = full_run().of(paper.cited)
    layouts = layouts_of(records)
    shown = (one.notable_alone() for one in layouts) if only else layouts
    contradicted = heading_html("What the paper prints and its own definitions contradict") + errata_html(paper.errata)
    return (
        heading_html(paper.cited)
        + f"<p>{counts_in_words(records)}. Each opens, and says what is printed and what is ours.</p>"
        + layouts_html(shown, lambda place: address_of(place, in_class=in_class))
        + (contradicted if paper.errata else "")
    )


def address_of(shown: Shown, *, in_class: bool) -> str:
    """The address of what a page shows, seen from this page."""
    prefix = PREFIX_OF[shown.page]
    words = {address_name(f"{prefix}{name}"): value for name, value in shown.settings.items()}
    return f"{shown.page}?{urlencode(words | ({CLASS: '1'} if in_class else {}))}"
