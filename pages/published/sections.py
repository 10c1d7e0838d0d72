"""What the page shows: the verdict on all papers, one of them cell by cell, its errata, and everything as a file."""

from urllib.parse import urlencode

import streamlit as st

from dpviz.charts.comparison import SMALL_HEIGHT, comparison_height
from dpviz.charts.html import heading_html
from dpviz.charts.printed import OPEN_CELL, cell_word, errata_html, layouts_html, verdicts_html
from dpviz.charts.printed_figures import below_html, caption_html, panel_alt, panel_picture
from dpviz.claims.drawn_figures import DrawnFigure, word_of
from dpviz.claims.full_run import FullRun, full_run_csv, read_full_run, verdict_counts
from dpviz.claims.papers import PAPERS, Paper
from dpviz.claims.printed_layout import Layout, layouts_of
from dpviz.claims.published import Shown, printed_text
from dpviz.claims.verdicts import counts_in_words, printed_alone
from dpviz.core.plain import one_line
from pages.components import component
from pages.components.address import address_name, address_problems, write_address
from pages.components.cached import cached, once
from pages.components.downloads import show_files
from pages.components.figure import show_figure
from pages.components.frame import columns, page_head
from pages.components.navigation import EVERY_PAGE
from pages.components.refusals import refuse
from pages.components.spec import CLASS, class_mode
from pages.components.words import Html, foldable, page_answer
from pages.published import SPEC
from pages.published.controls import FIGURES, PREFIX, Chosen, choose

MEANING = (
    "Agrees: ours rounds to every printed digit, or the statement is right. ≈: less than one unit of the last digit "
    "away. ±: within three standard errors. ≠ differs and ? cannot be computed; both say why when they are opened."
)
CONTRADICTED = "What the paper prints and its own definitions contradict"
PREFIX_OF = {page.folder: page.prefix for page in EVERY_PAGE}

_opened = component("opened")


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
    paper, only = chosen.paper, chosen.only
    with results:
        refuse(*address_problems(PREFIX), *_no_such_cell(paper))
        st.html(page_answer(full_run().mark, full_run().told, full_run().short))
        verdicts = st.container()
        if chosen.figure is not None:
            _show_figure(chosen, chosen.figure)
        with st.container() if class_mode() else verdicts:  # the picture comes first there
            _show_verdicts(full_run())
        place = chosen.figure.place if chosen.figure else ""
        st.html(Html(cached(paper_html)(paper.key, place, only=only, in_class=class_mode())))
        st.html(f'<div class="dpviz-printed"><p class=said>{full_run().made}</p></div>')
        show_files(
            PREFIX,
            "Everything as a table",
            ("CSV of all papers", "dpviz_published.csv", full_run_csv),
            ("CSV of all figures", "dpviz_figures.csv", figures_csv),
        )
    _opened(key=f"{PREFIX}opened", data=f"{word_of(paper.cited)}-".encode(), height=1)
    write_address(PREFIX)


def figures_csv() -> str:
    """The values of all figures, as they are carried."""
    return printed_text("figures")


def _no_such_cell(paper: Paper) -> list[str]:
    """A sentence where the link asks for a cell that this paper does not have."""
    word = st.query_params.get(OPEN_CELL, "")
    if not word.startswith(f"{word_of(paper.cited)}-") or word in cached(cell_words)(paper.key):
        return []
    return [f"Ignored an invalid value in the link, {OPEN_CELL} = {one_line(word)}: {paper.cited} has no such cell."]


def cell_words(key: str) -> frozenset[str]:
    """What an address calls the cells of a paper."""
    return frozenset(map(cell_word, printed_alone(full_run().of(PAPERS[key].cited))))


def _show_verdicts(run: FullRun) -> None:
    found = verdict_counts(run.records)
    by_paper = {paper.cited: verdict_counts(run.of(paper.cited)) for paper in PAPERS.values()} | {"All papers": found}
    said = f'<div class="dpviz-printed"><p class=said>{MEANING}</p></div>'
    st.html(foldable("Verdicts by paper", verdicts_html(by_paper) + said))


def _show_figure(chosen: Chosen, figure: DrawnFigure) -> None:
    """A figure as we have it, what the paper says of it, and the numbers of its pictures."""
    st.html(Html(caption_html(figure, chosen.setting)))
    panels = figure.at(chosen.setting)
    (name, first), *others = panels.items()
    height = comparison_height([one.name for one in first.lines])
    key = f"{PREFIX}{name}"
    show_figure(panel_picture(figure, first), key=key, alt=panel_alt(figure, first), height=height, hero=True)
    for column, (name, panel) in zip(st.columns(max(len(others), 2)), others, strict=False):
        with column:
            picture = panel_picture(figure, panel, small=True)
            show_figure(picture, key=f"{PREFIX}{name}", alt=panel_alt(figure, panel), height=SMALL_HEIGHT)
    said = cached(figure_html)(chosen.paper.key, figure.place, only=chosen.only, in_class=class_mode())
    st.html(Html(below_html(figure, panels.values(), said)))


def _layouts(key: str, *, only: bool) -> list[Layout]:
    layouts = layouts_of(full_run().of(PAPERS[key].cited))
    return [one.notable_alone() for one in layouts] if only else list(layouts)


def figure_html(key: str, place: str, *, only: bool, in_class: bool) -> str:
    """What a paper prints in a figure and says of it; in class mode links lead on in class mode."""
    own = [one for one in _layouts(key, only=only) if one.place == place]
    return layouts_html(own, lambda shown: address_of(shown, in_class=in_class))


def paper_html(key: str, figure: str, *, only: bool, in_class: bool) -> str:
    """All that a paper prints, or only what differs, but for what stands with a `figure`; and its errata."""
    paper, run = PAPERS[key], full_run()
    shown = [one for one in _layouts(key, only=only) if one.place != figure]
    return (
        heading_html(paper.cited)
        + f"<p>{counts_in_words(run.of(paper.cited))}. Each opens, and says what is printed and what is ours.</p>"
        + layouts_html(shown, lambda place: address_of(place, in_class=in_class), _pictures(key, in_class=in_class))
        + (heading_html(CONTRADICTED) + errata_html(paper.errata) if paper.errata else "")
    )


def _pictures(key: str, *, in_class: bool) -> dict[str, str]:
    """The address of every figure of a paper that we draw, by its place."""
    places = FIGURES[key].places if key in FIGURES else {}
    return {
        place: address_of(Shown(SPEC.folder, {"paper": key, f"{key}_figure": word}), in_class=in_class)
        for word, place in places.items()
    }


def address_of(shown: Shown, *, in_class: bool) -> str:
    """The address of what a page shows, seen from this page."""
    prefix = PREFIX_OF[shown.page]
    words = {address_name(f"{prefix}{name}"): value for name, value in shown.settings.items()}
    return f"{shown.page}?{urlencode(words | ({CLASS: '1'} if in_class else {}))}"
