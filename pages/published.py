"""Published: everything that the papers print beside ours, cell by cell, from a stored run; nothing is computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from urllib.parse import urlencode

import streamlit as st

from dpviz.charts.comparison import SMALL_HEIGHT, comparison_height
from dpviz.charts.html import heading_html
from dpviz.charts.printed import OPEN_CELL, CellLinks, cell_word, errata_html, layouts_html, verdicts_html
from dpviz.charts.printed_figures import below_html, caption_html, panel_alt, panel_picture
from dpviz.claims.drawn_figures import FIGURES_FILE, DrawnFigure, read_figures, word_of
from dpviz.claims.full_run import full_run_csv, read_full_run, verdict_counts
from dpviz.claims.papers import PAPERS
from dpviz.claims.printed_layout import layouts_of
from dpviz.claims.published import Shown, printed_text
from dpviz.claims.verdicts import counts_in_words, printed_alone
from dpviz.desk.texts import capitalized
from pages import ui
from pages.ui.navigation import PAGES, PUBLISHED

PREFIX = PUBLISHED.prefix
PREFIXES = {page.path: page.prefix for page in PAGES}
CITED = {key: paper.cited for key, paper in PAPERS.items()}
FIGURES: dict[str, dict[str, DrawnFigure]] = {
    key: {word_of(figure.place): figure for figure in read_figures() if figure.paper == cited}
    for key, cited in CITED.items()
}
"""Figures that we draw, by the keys of their papers and the words of their places in the URL."""


def parse_cell(word: str) -> str:
    """Word of a cell in the URL; a ValueError if no paper has it."""
    for cited in CITED.values():
        if word.startswith(f"{word_of(cited)}-"):
            if word in map(cell_word, printed_alone(read_full_run().of(cited))):
                return word
            raise ValueError(f"{cited} has no such cell.")
    raise ValueError("no paper has such a cell.")


SETTINGS = {
    f"{PREFIX}paper": ui.choice_setting(PAPERS, next(iter(PAPERS)), "Paper"),
    f"{PREFIX}only": ui.switch_setting(False, "Only what differs"),
    OPEN_CELL: ui.Setting("", parse_cell),
}
for _key, _figures in FIGURES.items():
    if _figures:
        SETTINGS[f"{PREFIX}{_key}_figure"] = ui.choice_setting(_figures, next(iter(_figures)), "Figure")
    for _word, _figure in _figures.items():
        _settings = [word_of(setting) for setting in _figure.settings]
        SETTINGS[f"{PREFIX}{_key}_{_word}_at"] = ui.choice_setting(_settings, _settings[0], "Setting of the figure")


@dataclass(frozen=True)
class Question:
    """A paper, a figure of it, the setting of the figure, the open cell, and whether only what differs is shown."""

    paper: str
    figure: str
    setting: str
    cell: str
    is_only: bool
    is_large: bool

    @property
    def named(self) -> str:
        """The paper."""
        return CITED[self.paper]

    @property
    def neighbours(self) -> str:
        """What is between two neighbouring data sets."""
        return "as each paper defines them"


def controls() -> Question:
    """Draw the controls and return what they ask for."""
    state = st.session_state
    paper = ui.choice("Paper", CITED, f"{PREFIX}paper", widget=st.radio)
    is_only = ui.toggle("Only what differs", f"{PREFIX}only", help=ui.page_note("published", "only"))
    if not state[OPEN_CELL].startswith(f"{word_of(CITED[paper])}-"):
        state[OPEN_CELL] = ""  # another paper was chosen

    # A figure and its setting, where there are several
    figures = {word: capitalized(figure.place) for word, figure in FIGURES[paper].items()}
    figure = next(iter(figures), "")
    if len(figures) > 1:
        figure = ui.choice("Figure", figures, f"{PREFIX}{paper}_figure")
    setting = ""
    if figure:
        settings = {word_of(setting): setting for setting in FIGURES[paper][figure].settings}
        setting = next(iter(settings))
        if len(settings) > 1:
            setting = ui.choice("Setting of the figure", settings, f"{PREFIX}{paper}_{figure}_at")
        setting = settings[setting]
    return Question(paper, figure, setting, state[OPEN_CELL], is_only, ui.class_mode())


def link_to(shown: Shown, is_large: bool) -> str:
    """Address of what a page shows, as a link on this page has it; class mode stays."""
    prefix = PREFIXES[shown.page]
    query = {name if name == OPEN_CELL else prefix + name: value for name, value in shown.settings.items()}
    return f"{shown.page}?{urlencode(query | {ui.CLASS_MODE: 1} if is_large else query)}"


@lru_cache(maxsize=64)
def printed_html(question: Question, is_within: bool) -> str:
    """What a paper prints in its own layout: what stands with the figure that is drawn, or all else."""
    paper = question.paper
    place = FIGURES[paper][question.figure].place if question.figure else ""
    layouts = [
        layout for layout in layouts_of(read_full_run().of(CITED[paper])) if (layout.place == place) is is_within
    ]
    if question.is_only:
        layouts = [layout.notable_alone() for layout in layouts]

    def own_link(name: str, value: str) -> str:
        return link_to(Shown(PUBLISHED.path, {"paper": paper, name: value}), question.is_large)

    links = CellLinks(partial(link_to, is_large=question.is_large), partial(own_link, OPEN_CELL), question.cell)
    figure_links = {figure.place: own_link(f"{paper}_figure", word) for word, figure in FIGURES[paper].items()}
    return layouts_html(layouts, links, {} if is_within else figure_links)


def show_verdicts() -> None:
    """Draw the verdicts by paper."""
    run = read_full_run()
    counts = {cited: verdict_counts(run.of(cited)) for cited in CITED.values()}
    html = verdicts_html(counts | {"All papers": verdict_counts(run.records)})
    meaning = f"<p class=said>{ui.page_note('published', 'meaning')}</p>"
    ui.html_table(html + meaning, "Verdicts by paper", "dpviz-printed dpviz-scroll")


def show_paper_figure(question: Question) -> None:
    """Draw a figure as we have it, what the paper says of it, and the numbers of its pictures."""
    figure = FIGURES[question.paper][question.figure]
    panels = figure.at(question.setting)
    st.html(caption_html(figure, question.setting))
    (name, first), *others = panels.items()
    height = comparison_height([line.name for line in first.lines])
    ui.show_figure(panel_picture(figure, first), f"{PREFIX}{name}", panel_alt(figure, first), height=height, hero=True)
    for column, (name, panel) in zip(st.columns(max(len(others), 2)), others, strict=False):
        with column:
            picture = panel_picture(figure, panel, small=True)
            ui.show_figure(picture, f"{PREFIX}{name}", panel_alt(figure, panel), height=SMALL_HEIGHT)
    st.html(below_html(figure, panels.values(), printed_html(question, True)))


def show_paper(question: Question) -> None:
    """Draw all that a paper prints but what stands with the figure, and its errata."""
    paper = PAPERS[question.paper]
    counts = counts_in_words(read_full_run().of(paper.cited))
    introduction = f"<p>{counts}. Each opens, and says what is printed and what is ours.</p>"
    errata = heading_html("What the paper prints and its own definitions contradict") + errata_html(paper.errata)
    html = heading_html(paper.cited) + introduction + printed_html(question, False) + errata * bool(paper.errata)
    st.html(f'{html}<div class="dpviz-printed"><p class=said>{read_full_run().made}</p></div>')


def page() -> None:
    """Draw the page."""
    ui.open_page(PUBLISHED, SETTINGS)
    parts = ui.columns()
    with parts.controls:
        question = ui.last_valid(PUBLISHED, SETTINGS, controls, lambda _question: None)
    with parts.results:
        ui.show_problems()
        ui.answer(read_full_run().mark, read_full_run().told, read_full_run().short)
        if question.cell and not question.is_only:
            ui.note(ui.page_note("published", "cell", id=f"{OPEN_CELL}-{question.cell}"))
        before, after = st.container(), st.container()
        with after if ui.class_mode() else before:  # the picture comes first there
            show_verdicts()
        if question.figure:
            with before if ui.class_mode() else after:
                show_paper_figure(question)
    with parts.details:
        show_paper(question)
        ui.show_files(
            PUBLISHED, "Everything as a table", ("CSV of all papers", "dpviz_published.csv", full_run_csv),
            ("CSV of all figures", "dpviz_figures.csv", partial(printed_text, FIGURES_FILE)),
        )  # fmt: skip
    ui.close_page(PUBLISHED, SETTINGS)
