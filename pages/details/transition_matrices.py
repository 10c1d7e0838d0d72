"""Tables and closer looks of the page Transition matrices; each closer look is computed only when it is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts.count_table import LOG_ODDS_TITLES, MATRIX_TITLE, STYLE, release_html
from dpviz.charts.heatmap import log_odds_heatmap, matrix_heatmap
from dpviz.charts.profile import attacker_chart, draws_chart, draws_log_odds_chart, profile_chart, trade_off_chart
from dpviz.charts.strip import odds_dots
from dpviz.core import limits
from dpviz.core.declarations import PROPORTION, SEED
from dpviz.core.digits import three_digits_in_cells
from dpviz.core.parameters import argument
from dpviz.core.wording import large_count
from dpviz.designs import CONFIDENTIAL_COUNT
from dpviz.desk.exports.script import page_script
from dpviz.desk.exports.tables import figure_html, release_files
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.draws import NUMBER_OF_DRAWS, Draws, draw_releases
from dpviz.privacy import attacker, attacker_view, languages
from dpviz.privacy.optimum import LeastError, least_error
from dpviz.privacy.optimum.words import better_sentence, better_table, largest_gap, promises
from dpviz.privacy.summary import PrivacySummary, profile, summarize, view_tables
from dpviz.privacy.trade_off import TradeOffCurve, trade_off_curve
from pages import ui
from pages.ui.navigation import MATRICES

PREFIX = MATRICES.prefix
LOOK, X, SEED_KEY, DRAWN = (f"{PREFIX}{name}" for name in ("look", "x", "seed", "drawn_releases"))
DRAWING = f"{PREFIX}drawing"
"""How many releases were drawn by themselves since the reader started that; in the session meanwhile alone."""

DRAW = "Draw a release"
STEP_S = 0.8  # between two releases that are drawn by themselves
DRAWS_HEIGHT = 240  # pixels: the pictures and the buttons above them fit one screen of a laptop
MAX_TABLE_COLUMNS, MAX_TABLE_ROWS = 12, 120  # of tables that are laid out as in the paper
VIEWS = {
    "show": ("Show as", ["tables", "pictures"]),
    "picture": ("Picture of the", ["matrix", "log-odds"]),
    "colors": ("Colors", ["log", "linear"]),
    "sign": ("Log-odds", ["absolute", "signed"]),
}
SECRET = replace(
    CONFIDENTIAL_COUNT, name="x", title="Secret table", maximum=limits.TABLE_ENTRIES, default=1, slider_maximum=5,
    scale="linear", help="The confidential count that the tables are drawn from.",
)  # fmt: skip
PLACE = argument("place", 0, limits.TABLE_ENTRIES, symbol="", title="Place", default=0, integer=True)
NUMBERS = {
    "secret": replace(PLACE, name="secret", default=1),
    "pair": replace(PLACE, name="pair"),
    "column": replace(PLACE, name="column"),
    "prior_odds": attacker.PRIOR_ODDS,
    "prior_risk": attacker.PRIOR_RISK,
    "risk_ratio": attacker.RISK_RATIO,
}
SETTINGS = {
    **ui.number_settings(NUMBERS | {"drawn_releases": NUMBER_OF_DRAWS}, PREFIX),
    X: ui.Setting(None, SECRET.parse, label="Secret table x"),  # None until it comes with a release or is drawn from
    SEED_KEY: ui.Setting(None, SEED.parse, label="Seed of the draws"),
    f"{PREFIX}p": ui.hidden_number_setting(PROPORTION),
    **{PREFIX + name: ui.choice_setting(options, options[0], label) for name, (label, options) in VIEWS.items()},
    f"{PREFIX}worst": ui.switch_setting(True, "Show the worst case of this release"),
    f"{PREFIX}with_delta": ui.switch_setting(False, "Allow the δ of the promise too"),
}

summary_of = lru_cache(maxsize=64)(summarize)
profile_of = lru_cache(maxsize=32)(profile)
trade_off_of = lru_cache(maxsize=32)(trade_off_curve)


def _note(section: str, **values: object) -> str:
    return ui.page_note("transition_matrices", section, **values)


def show_tables(summary: PrivacySummary) -> None:
    """Draw the matrix and the log-odds: as in the paper where they are small and the reader likes, or as a picture."""
    release = summary.synthesizer
    if not release.enumerable:
        rows, columns = (large_count(size) for size in release.shape)
        ui.note(_note("Too large to list", rows=rows, columns=columns))
        return
    draws = shown_draws(release)
    places: dict[str, Any] = {}  # of what is marked
    if draws is not None:
        places["row"] = draws.row
        places["column"] = int(draws.columns[-1]) if len(draws.columns) else None

    def view(name: str) -> str:
        label, options = VIEWS[name]
        return ui.choice(label, options, PREFIX + name, widget=st.segmented_control, required=True)

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        is_small = release.shape[1] <= MAX_TABLE_COLUMNS and len(release.neighbours) <= MAX_TABLE_ROWS
        has_tables = is_small and view("show") == "tables"
        has_odds = not has_tables and view("picture") == "log-odds"
        is_linear = not (has_tables or has_odds) and view("colors") == "linear"
        is_signed = (has_tables or has_odds) and view("sign") == "signed"
    if has_tables:
        html = release_html(release, summary.epsilon, signed=is_signed, **places)
        st.html(f"<style>{STYLE}</style>")
        st.html(three_digits_in_cells(html) if ui.class_mode() else html)
    else:
        shown = view_tables(release)
        figure = matrix_heatmap(shown, linear=is_linear, **places)
        alt = f"{MATRIX_TITLE}, {release.label}"
        if has_odds:
            figure = log_odds_heatmap(shown, summary.epsilon, signed=is_signed, **places)
            alt = f"{LOG_ODDS_TITLES[is_signed]}. Cells over ε = {summary.epsilon:g} are outlined."
        ui.show_figure(figure, f"{PREFIX}heatmap", f"Heatmap: {alt}", height=470)
        if shown.left_out:
            st.caption(shown.left_out)
    if draws is not None and st.session_state[LOOK] != DRAW:
        ui.note(attacker.own_release_sentence(draws))


def shown_draws(release: Synthesizer) -> Draws | None:
    """Releases of which the tables mark the last: drawn on this page, or the reader's own as far as it came along."""
    state = st.session_state
    is_two_cells = isinstance(release, TwoCellSynthesizer)
    if state[LOOK] != DRAW:
        if state[X] is None or not is_two_cells:
            return None
        row = min(state[X], release.shape[0] - 1)  # of the last valid release, where the present one is refused
        number = 0 if state[SEED_KEY] is None else 1
        return draw_releases(release, row, number=number, seed=state[SEED_KEY] or 0)
    for key, parameter in ((X, SECRET), (SEED_KEY, SEED)):
        if state[key] is None:  # it did not come with the release
            state[key] = int(parameter.default)
    row = min(state[X if is_two_cells else f"{PREFIX}secret"], release.shape[0] - 1)
    number = min(state[DRAWN] + state.get(DRAWING, 0), int(NUMBER_OF_DRAWS.maximum))
    return draw_releases(release, row, number=number, seed=state[SEED_KEY])


def advance_draws() -> None:
    """Draw one release more where releases are drawn by themselves; once in every run of the page."""
    if st.session_state[LOOK] != DRAW:
        _stop()
    elif DRAWING in st.session_state:
        st.session_state[DRAWING] += 1


def show_draws(question: Any) -> None:
    """Secret table and buttons; the last release in words, and pictures on which the tally grows."""
    release = question.synthesizer
    draws: Any = shown_draws(release)
    is_running = DRAWING in st.session_state
    last = release.shape[0] - 1
    left, right = st.columns([1, 1.75], vertical_alignment="bottom", gap="small")
    with left:
        if isinstance(release, TwoCellSynthesizer):
            ui.number_control({"x": SECRET}, PREFIX, "x", maximum=last)
        else:
            help = "The place of the confidential table that the tables are drawn from."
            _place_control("secret", "Secret table, by its place", help, last)
    with right.container(horizontal=True, gap="small"):
        for label, more in {"Draw one": 1, "Draw 100": 100}.items():
            st.button(label, key=f"{PREFIX}draw_{more}", on_click=_draw, args=(more,), width="stretch")
        st.button(
            "Stop" if is_running else "Draw by itself", key=f"{PREFIX}draw_go", width="stretch",
            on_click=_stop if is_running else _start, shortcut="Space" if ui.class_mode() else None,
        )  # fmt: skip
        st.button("Clear", key=f"{PREFIX}draw_clear", on_click=_clear, width="stretch")
    st.html(f'<p class="dpviz-answer">{attacker.draw_sentence(draws)}</p>')
    left, right = st.columns(2, gap="small")
    with left:
        alt = "The row of the matrix, and the shares drawn so far."
        ui.show_figure(draws_chart(draws), f"{PREFIX}draws", alt, height=DRAWS_HEIGHT)
    with right:
        alt = "The log-odds of each released table against the neighbours of the secret one."
        figure = draws_log_odds_chart(draws, question.summary.epsilon)
        ui.show_figure(figure, f"{PREFIX}draws_log_odds", alt, height=DRAWS_HEIGHT)
    ui.note(_note("Draws", seed=st.session_state[SEED_KEY]))
    if is_running and len(draws.columns) < NUMBER_OF_DRAWS.maximum:
        ui.refresh_after(STEP_S)


def _draw(more: int) -> None:
    st.session_state[DRAWN] = min(st.session_state[DRAWN] + more, int(NUMBER_OF_DRAWS.maximum))


def _start() -> None:
    st.session_state[DRAWING] = 0


def _stop() -> None:
    _draw(st.session_state.pop(DRAWING, 0))


def _clear() -> None:
    st.session_state.pop(DRAWING, None)
    st.session_state[DRAWN] = 0
    st.session_state[SEED_KEY] = (st.session_state[SEED_KEY] + 1) % int(SEED.maximum)
    ui.mark_moved()


def _place_control(name: str, title: str, help: str, last: int) -> int:
    """Control of a place in a list; one beyond its end is moved there, and a sentence says so."""
    place = st.session_state[PREFIX + name]
    if place > last:
        ui.problem(f"{title} must be from 0 to {last:,} here; got {place:,}. Shown is {last:,}.")
        st.session_state[PREFIX + name] = last
    parameter = replace(NUMBERS[name], title=title, help=help)
    return int(ui.number_control({name: parameter}, PREFIX, name, maximum=last))


def show_attacker(question: Any) -> None:
    """Odds after a release, then errors, guesses and risk; the measures on one curve, and each release in a line."""
    summary = question.summary
    _show_odds(summary)
    curve = trade_off_of(summary.synthesizer)
    promised = TradeOffCurve.promised(summary.epsilon, summary.delta)
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        ui.heading("In errors: all releases together")
        alt = "Smallest type II error at each type I error: of this release, and allowed by the promise."
        ui.show_figure(trade_off_chart(curve, promised, summary), f"{PREFIX}trade_off", alt, height=430)
    with right:
        ui.heading("In guesses")
        guess = languages.guess_sentence(curve, promised)
        st.html(f"<p>{guess}</p><p>{languages.gaussian_sentence(curve)}</p>")
        ui.heading("In risk: one sensitive value")
        risk = ui.number_control(NUMBERS, PREFIX, "prior_risk")
        prior_risk = attacker.PRIOR_RISK
        risk = ui.last_valid_value(f"{PREFIX}prior_risk", risk, prior_risk.check, prior_risk.default)
        ratio = ui.number_control(NUMBERS, PREFIX, "risk_ratio")
        st.html("".join(f"<p>{sentence}</p>" for sentence in languages.risk_sentences(summary, risk, ratio)))
    ui.heading("One curve, five measures")
    ui.table(*languages.measures_table(summary, curve))
    ui.note(_note("Tests"))

    # Each release as a piece of the curve
    release = summary.synthesizer
    first, second = (release.row_table(index) for index in (summary.worst.likelier, summary.worst.other))
    ui.heading(f"Release by release: {first} against {second}")
    head, rows, caption = languages.releases_table(summary, risk)
    ui.table(head, rows, caption)
    size = release.shape[1]
    spaced = "" if len(rows) == size else f" Shown are {len(rows)} of {size:,} releases, evenly spaced."
    ui.note(_note("Pieces of the curve", first=first, second=second) + spaced)


def _show_odds(summary: PrivacySummary) -> None:
    """Odds after the most telling release, or after another one that the reader chooses."""
    release = summary.synthesizer
    ui.heading("In odds: the most telling release")
    st.html(languages.odds_sentence(summary) + odds_dots(summary.worst.value))
    left, right = st.columns([1, 1.5], gap="medium")
    with left:
        if ui.toggle("Show the worst case of this release", f"{PREFIX}worst"):
            tables = sorted((summary.worst.likelier, summary.worst.other))
            pair = int(np.flatnonzero((release.neighbours == tables).all(axis=1))[0])
            column = int(summary.worst.column or 0)
        else:
            first, second = (release.row_table(index) for index in release.neighbours[0].tolist())
            is_two_cells = len(first) == 2
            help = f"The second table has one row substituted. 0 is {first} and {second}, in the order of the log-odds "
            title = "n1 of the first table" if is_two_cells else "Pair, by its place"
            pair = _place_control("pair", title, f"{help}table.", len(release.neighbours) - 1)
            help = f"0 is {release.column_table(0)}, and so on in the order of the columns."
            title = "Released m1" if is_two_cells else "Release, by its place"
            column = _place_control("column", title, help, release.shape[1] - 1)
        view = attacker_view(release, pair, column, ui.number_control(NUMBERS, PREFIX, "prior_odds"))
        ui.numbers(*attacker.attacker_numbers(view))
    with right:
        log_odds = release.log_odds(np.array([pair]), np.arange(release.shape[1]))[0]
        alt = f"Posterior odds of {view.first} against {view.second} for every released table."
        ui.show_figure(attacker_chart(release, log_odds, view, summary.epsilon), f"{PREFIX}attacker", alt, height=340)
    ui.note(attacker.attacker_sentence(view, summary.epsilon))


def show_better(question: Any) -> None:
    """Error of the released proportion, and that of the best mechanisms that are as private."""
    summary = question.summary
    release = summary.synthesizer
    if not isinstance(release, TwoCellSynthesizer):
        ui.note("The best mechanism is known for two cells: choose two to see it.")
        return
    if release.shape[0] * release.shape[1] > limits.TABLE_ENTRIES:
        ui.note(_note("The error is too large"))
        return
    label = "Allow the δ of the promise too (may take some seconds)"
    has_delta = summary.delta > 0 and ui.toggle(label, f"{PREFIX}with_delta")
    best = [(name, _best(release.n, epsilon)) for name, epsilon in promises(summary)]
    if has_delta:
        best.append(("the promise", _best(release.n, summary.epsilon, summary.delta)))

    # Imported here as it brings all that analyses need, which no other section of the page does
    from dpviz.comparisons.binary_measures import row_moments

    errors = row_moments(release).added()
    st.html(f'<p class="dpviz-answer">{better_sentence(errors, *best[0])}</p>')
    ui.table(*better_table(errors, best))
    ui.note(_note("The best mechanism"))
    if has_delta:
        ui.note(_note("The best with delta", gap=largest_gap(best[-1][1])))


def _best(n: int, epsilon: float, delta: float = 0.0) -> dict[str, LeastError]:
    """Best mechanisms with a promise by both criteria."""
    promise = {"n": n, "epsilon": epsilon, "delta": delta}
    with st.spinner("The best mechanism …"):
        return {name: ui.result(least_error, criterion=name, **promise) for name in ("average", "worst")}


def show_downloads(question: Any) -> None:
    """Tables as CSV and LaTeX, pictures as HTML, the page as a script."""
    summary = question.summary
    release = summary.synthesizer
    about = ui.about_page(MATRICES)

    def picture(name: str) -> str:
        figure = profile_chart(profile_of(release), summary)
        if name == "matrix":
            figure = matrix_heatmap(view_tables(release))
        elif name == "log-odds":
            figure = log_odds_heatmap(view_tables(release), summary.epsilon, signed=True)
        return figure_html(figure, about)

    pictures: list[ui.File | str] = [
        ("Matrix, HTML", "transition_matrix.html", lambda: picture("matrix")),
        ("Log-odds, HTML", "log_odds.html", lambda: picture("log-odds")),
        ("Profile, HTML", "privacy_profile.html", lambda: picture("profile")),
        _note("Pictures"),
    ]
    text = page_script(release, summary.epsilon, summary.delta, given_text=question.given_text)
    script = ("transition_matrix.py", text, "this page's numbers")
    middle = pictures if release.enumerable else pictures[2:]
    ui.download_columns(MATRICES, release_files(release), script, middle=middle)


def show_explanation(question: Any) -> None:
    """Page, notation, synthesizer and source in Markdown."""
    release = question.synthesizer
    st.markdown(ui.page_text("transition_matrices", "why"))
    st.markdown(f"**The synthesizer on this page.** {release.label}: ${release.formula}$")
    st.caption(f"Source of the synthesizer: {release.source}. Neighbours: one row substituted, n fixed.")


def _listed(show: Callable[[Any], None], too_large: str) -> ui.Section:
    """Section that lists the whole matrix; a sentence where that is too large."""
    return lambda question: show(question) if question.synthesizer.enumerable else ui.note(_note(too_large))


SECTIONS: dict[str, ui.Section] = {
    DRAW: _listed(show_draws, "Draws are too large"),
    "The attacker in four languages": _listed(show_attacker, "The errors are too large"),
    "Is there a better mechanism?": show_better,
    "Download": show_downloads,
    "Why, and sources": show_explanation,
}
