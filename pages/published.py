"""Published: everything that the papers print beside ours, cell by cell, from a stored run; nothing is computed."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

from dpviz.charts.comparison import panel_chart
from dpviz.charts.html import fragment
from dpviz.charts.lines import MEASURES, SMALL_HEIGHT, comparison_height
from dpviz.core.data_files import table_text
from dpviz.export.templates import capitalize_first
from dpviz.published.figures import load_figures, slugify
from dpviz.published.layout import lay_out
from dpviz.published.records import load_papers, load_records, summarize
from pages import ui
from pages.ui.navigation import PAGES, PUBLISHED

PREFIX = PUBLISHED.prefix
OPEN_CELL = "cell"  # of the URL; in the template the ids of all cells begin with it
PAPERS = load_papers()
FIGURES = {
    key: {slugify(figure.place): figure for figure in load_figures() if figure.paper == paper}
    for key, paper in PAPERS.items()
}
"""Figures that we draw, by the keys of their papers and the words of their places in the URL."""


def _checked_cell(cell: str) -> str:
    """The id of a cell; a ValueError if no paper has it."""
    paper = next((paper for paper in PAPERS.values() if cell.startswith(f"{slugify(paper)}-")), "")
    if cell not in {record.id for record in load_records(paper) if not record.is_alternative}:
        raise ValueError(f"{paper} has no such cell." if paper else "no paper has such a cell.")
    return cell


SETTINGS = {
    f"{PREFIX}paper": ui.choice_setting(PAPERS, next(iter(PAPERS)), "Paper"),
    f"{PREFIX}only": ui.switch_setting(False, "Only what differs"),
    OPEN_CELL: ui.Setting("", _checked_cell),
}
for _key, _figures in FIGURES.items():
    if _figures:
        SETTINGS[f"{PREFIX}{_key}_figure"] = ui.choice_setting(_figures, next(iter(_figures)), "Figure")
    for _word, _figure in _figures.items():
        _settings = list(map(slugify, _figure.settings))
        SETTINGS[f"{PREFIX}{_key}_{_word}_at"] = ui.choice_setting(_settings, _settings[0], "Setting of the figure")


class Question(NamedTuple):
    """What is shown of a paper."""

    paper: str  # its key
    figure: str
    setting: str  # of the figure
    cell: str  # that is open
    is_only: bool  # whether only what differs is shown
    is_large: bool  # for a class
    neighbours: str = "as each paper defines them"


def controls() -> Question:
    state = st.session_state
    paper = ui.choice("paper", PAPERS, widget=st.radio)
    is_only = ui.toggle("only", help=ui.words("only"))
    cell = state[OPEN_CELL]
    if cell and not cell.startswith(f"{slugify(PAPERS[paper])}-"):  # another paper was chosen
        if ui.visit().is_linked:
            ui.report_problem(OPEN_CELL, f"Ignored {OPEN_CELL} = {cell} in the link: {PAPERS[paper]} has no such cell.")
        state[OPEN_CELL] = ""
    figure = setting = ""
    if figures := FIGURES[paper]:
        figure = _choose(f"{paper}_figure", {word: capitalize_first(figures[word].place) for word in figures})
        settings = {slugify(setting): setting for setting in figures[figure].settings}
        setting = settings[_choose(f"{paper}_{figure}_at", settings)]
    return Question(paper, figure, setting, state[OPEN_CELL], is_only, ui.class_mode())


def _choose(name: str, options: dict[str, str]) -> str:
    """The option that is chosen, or the only one."""
    return ui.choice(name, options) if len(options) > 1 else next(iter(options))


def link_to(page: str, settings: Mapping[str, object], is_large: bool) -> str:
    """Address of what a page shows, as a link on this page has it; class mode stays."""
    prefix = next(target.prefix for target in PAGES if target.path == page)
    query = {name if name == OPEN_CELL else prefix + name: value for name, value in settings.items()}
    return f"{page}?{urlencode(query | {ui.CLASS_MODE: 1} if is_large else query)}"


@lru_cache(maxsize=64)
def _printed_html(question: Question, is_within: bool) -> str:
    """What a paper prints in its own layout: what stands with the figure that is drawn, or all else."""
    figures = FIGURES[question.paper]
    place = figures[question.figure].place if question.figure else ""
    layouts = lay_out(load_records(PAPERS[question.paper]), only_mismatches=question.is_only)
    layouts = [layout for layout in layouts if (layout.place == place) is is_within]

    def own_link(name: str, value: str) -> str:
        return link_to(PUBLISHED.path, {"paper": question.paper, name: value}, question.is_large)

    links = {
        "setting": lambda record: link_to(record.page, record.query, question.is_large),
        "cell": partial(own_link, OPEN_CELL), "opened": question.cell,
    }  # fmt: skip
    figure_links = {figure.place: own_link(f"{question.paper}_figure", word) for word, figure in figures.items()}
    return fragment("layouts", layouts, links, {} if is_within else figure_links, template="published")


def _show_figure(question: Question) -> None:
    """Draw a figure as we have it, what the paper says of it, and the numbers of its pictures."""
    figure = FIGURES[question.paper][question.figure]
    panels = figure.at(question.setting)
    st.html(fragment("caption", figure, question.setting, template="published"))
    (name, first), *remaining = panels.items()
    height = comparison_height([line.name for line in first.lines])
    picture, alt = panel_chart(figure, first)
    ui.show_figure(picture, name, alt, height=height, hero=True)
    for column, (name, panel) in zip(st.columns(max(len(remaining), 2)), remaining, strict=False):
        picture, alt = panel_chart(figure, panel, small=True)
        with column:
            ui.show_figure(picture, name, alt, height=SMALL_HEIGHT)
    printed = _printed_html(question, True)
    st.html(fragment("below", figure, panels.values(), MEASURES["published"], printed, template="published"))


def page() -> None:
    with ui.page_frame(PUBLISHED, SETTINGS, controls) as (question, parts):
        with parts.results:
            summary = summarize(load_records())
            ui.answer(*(ui.words(name, summary=summary) for name in ("mark", "answer", "in class")))
            if question.cell and not question.is_only:
                ui.note(ui.words("cell", id=f"{OPEN_CELL}-{question.cell}"))
            if question.figure and question.is_large:  # a class sees it first
                _show_figure(question)
            meaning = f"<p class=said>{ui.words('meaning', summary=summary)}</p>"
            verdicts = fragment("verdicts", template="published")
            ui.html_table(verdicts + meaning, "Verdicts by paper", "dpviz-printed dpviz-scroll")
            if question.figure and not question.is_large:
                _show_figure(question)
        with parts.details:
            printed = _printed_html(question, False)
            st.html(fragment("paper", PAPERS[question.paper], printed, template="published"))
            papers = ("CSV of all papers", "dpviz_published.csv", partial(table_text, "published/records"))
            figures = ("CSV of all figures", "dpviz_figures.csv", partial(table_text, "published/figures"))
            ui.show_files(("Everything as a table", papers, figures))
