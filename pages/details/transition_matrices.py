"""Tables and closer looks of the page Transition matrices; each closer look is computed only when it is opened."""

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts import matrix
from dpviz.charts import privacy as charts
from dpviz.charts.html import fragment
from dpviz.core import limits
from dpviz.core.declarations import PROPORTION, SEED
from dpviz.core.formatting import format_large_count, shorten_cells
from dpviz.export.tables import release_files
from dpviz.export.templates import render
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.draws import Draws, draw_releases
from dpviz.privacy import attacker_view, report
from dpviz.privacy.summary import PrivacySummary, profile, summarize, view_tables
from dpviz.privacy.trade_off import TradeOffCurve, trade_off_curve
from pages import ui
from pages.ui.navigation import MATRICES

PREFIX = MATRICES.prefix
LOOK, X, SEED_KEY, COUNT = (f"{PREFIX}{name}" for name in ("look", "x", "seed", "drawn_releases"))
DRAWING = f"{PREFIX}drawing"  # key of how many releases were drawn by themselves since that was started
DRAW = "Draw a release"
DRAWS_HEIGHT = 240  # pixels: the pictures and the buttons above them fit one screen of a laptop
VIEWS = ui.declared_table("transition_matrices", "views")
NUMBERS = ui.declared_numbers("transition_matrices")
MAX_DRAWS = int(NUMBERS["drawn_releases"].maximum)
SETTINGS = {
    **ui.number_settings(NUMBERS, PREFIX),
    X: ui.Setting(None, NUMBERS["x"].parse, label="Secret table x"),  # None until it comes along or is drawn from
    SEED_KEY: ui.Setting(None, SEED.parse, label="Seed of the draws"),
    f"{PREFIX}p": ui.hidden_number_setting(PROPORTION),
    **{PREFIX + name: ui.choice_setting(keys, keys[0], label) for name, (label, *keys) in VIEWS.items()},
    f"{PREFIX}worst": ui.switch_setting(True, "Show the worst case of this release"),
    f"{PREFIX}with_delta": ui.switch_setting(False, "Allow the δ of the promise too"),
}

summary_of = lru_cache(maxsize=64)(summarize)
profile_of = lru_cache(maxsize=32)(profile)
trade_off_of = lru_cache(maxsize=32)(trade_off_curve)


def show_tables(summary: PrivacySummary) -> None:
    """Draw the matrix and the log-odds: as in the paper where they are small and the reader likes, or as a picture."""
    release = summary.synthesizer
    if not release.enumerable:
        rows, columns = (format_large_count(size) for size in release.shape)
        ui.note(ui.words("Too large to list", rows=rows, columns=columns))
        return
    draws = shown_draws(release)
    marked: dict[str, Any] = {}
    if draws is not None:
        marked = {"row": draws.row, "column": int(draws.columns[-1]) if len(draws.columns) else None}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        is_small = release.shape[1] <= 12 and len(release.neighbours) <= 120  # enough to lay out as in the paper
        has_tables = is_small and ui.segmented("show") == "tables"
        has_odds = not has_tables and ui.segmented("picture") == "log-odds"
        is_linear = not (has_tables or has_odds) and ui.segmented("colors") == "linear"
        is_signed = (has_tables or has_odds) and ui.segmented("sign") == "signed"
    if has_tables:
        html = matrix.release_html(release, summary.epsilon, signed=is_signed, **marked)
        st.html(f"<style>{matrix.STYLE}</style>")
        st.html(shorten_cells(html) if ui.class_mode() else html)
    else:
        shown = view_tables(release)
        if has_odds:
            figure = matrix.log_odds_heatmap(shown, summary.epsilon, signed=is_signed, **marked)
            alt = f"{matrix.LOG_ODDS_TITLES[is_signed]}. Cells over ε = {summary.epsilon:g} are outlined."
        else:
            figure = matrix.matrix_heatmap(shown, linear=is_linear, **marked)
            alt = f"{matrix.MATRIX_TITLE}, {release.info.label}"
        ui.show_figure(figure, "heatmap", f"Heatmap: {alt}", height=470)
        if shown.left_out:
            st.caption(shown.left_out)
    if draws is not None and st.session_state[LOOK] != DRAW:
        ui.note(report.sentence("framed", draws))


def show_profile(summary: PrivacySummary) -> None:
    alt = f"Privacy profile of the {summary.synthesizer.info.label}: δ against ε, with δ = "
    alt += f"{summary.divergence.value:.6g} at the promised ε = {summary.epsilon:g}."
    ui.show_figure(charts.profile_chart(profile_of(summary.synthesizer), summary), "profile", alt, height=330)
    ui.heading("Numbers")
    ui.numbers(*report.verdict_numbers(summary))


def shown_draws(release: Synthesizer) -> Draws | None:
    """Releases of which the tables mark the last: drawn on this page, or the reader's own as far as it came along."""
    state = st.session_state
    is_two_cells = isinstance(release, TwoCellSynthesizer)
    is_drawing = state[LOOK] == DRAW
    if not is_drawing and (state[X] is None or not is_two_cells):
        return None
    number = 0 if state[SEED_KEY] is None else 1
    if is_drawing:
        for key, parameter in ((X, NUMBERS["x"]), (SEED_KEY, SEED)):
            if state[key] is None:  # it did not come with the release
                state[key] = int(parameter.default)
        number = min(state[COUNT] + state.get(DRAWING, 0), MAX_DRAWS)
    row = state[X if is_two_cells else f"{PREFIX}secret"]
    last = release.shape[0] - 1  # of the last valid release, where the present one is refused
    return draw_releases(release, min(row, last), number=number, seed=state[SEED_KEY] or 0)


def advance_draws() -> None:
    """Draw one release more where releases are drawn by themselves; once in every run of the page."""
    if st.session_state[LOOK] != DRAW:
        _stop()
    elif DRAWING in st.session_state:
        st.session_state[DRAWING] += 1


def _show_draws(question: Any) -> None:
    release = question.synthesizer
    draws: Any = shown_draws(release)
    is_running = DRAWING in st.session_state
    left, right = st.columns([1, 1.75], vertical_alignment="bottom", gap="small")
    with left:
        if isinstance(release, TwoCellSynthesizer):
            ui.number_control("x", NUMBERS["x"], maximum=release.n)
        else:
            _place_control("secret", release.shape[0])
    with right.container(horizontal=True, gap="small"):
        for label, count in {"Draw one": 1, "Draw 100": 100}.items():
            st.button(label, key=f"{PREFIX}draw_{count}", on_click=_draw, args=(count,), width="stretch")
        start = partial(st.session_state.update, {DRAWING: 0})
        label, action = ("Stop", _stop) if is_running else ("Draw by itself", start)
        shortcut = "Space" if ui.class_mode() else None
        st.button(label, key=f"{PREFIX}draw_go", width="stretch", on_click=action, shortcut=shortcut)
        st.button("Clear", key=f"{PREFIX}draw_clear", on_click=_clear, width="stretch")
    st.html(f'<p class="dpviz-answer">{report.sentence("draw", draws)}</p>')
    left, right = st.columns(2, gap="small")
    with left:
        ui.show_figure(charts.draws_chart(draws), "draws", height=DRAWS_HEIGHT)
    with right:
        figure = charts.draws_log_odds_chart(draws, question.summary.epsilon)
        ui.show_figure(figure, "draws_log_odds", height=DRAWS_HEIGHT)
    ui.note(ui.words("Draws", seed=st.session_state[SEED_KEY]))
    if is_running and len(draws.columns) < MAX_DRAWS:
        ui.refresh_after(0.8)


def _draw(count: int) -> None:
    st.session_state[COUNT] = min(st.session_state[COUNT] + count, MAX_DRAWS)


def _stop() -> None:
    _draw(st.session_state.pop(DRAWING, 0))


def _clear() -> None:
    st.session_state.pop(DRAWING, None)
    st.session_state[COUNT] = 0
    ui.draw_again()


def _place_control(name: str, size: int, title: str = "") -> int:
    """Control of a place in a list; one beyond its end is moved there, and a sentence says so."""
    parameter = replace(NUMBERS[name], title=title or NUMBERS[name].title)
    place = st.session_state[PREFIX + name]
    if place >= size:
        ui.problem(f"{parameter.title} must be from 0 to {size - 1:,} here; got {place:,}. Shown is {size - 1:,}.")
        st.session_state[PREFIX + name] = size - 1
    return int(ui.number_control(name, parameter, maximum=size - 1))


def _show_attacker(question: Any) -> None:
    summary = question.summary
    release = summary.synthesizer

    # After the most telling release, or another one that the reader chooses
    ui.heading("In odds: the most telling release")
    st.html(report.sentence("odds", summary) + fragment("odds", summary.worst.value))
    left, right = st.columns([1, 1.5], gap="medium")
    with left:
        pair, column = summary.worst_pair, int(summary.worst.column or 0)
        if not ui.toggle("worst"):
            titles = ("n1 of the first table", "Released m1") if isinstance(release, TwoCellSynthesizer) else ("", "")
            pair = _place_control("pair", len(release.neighbours), titles[0])
            column = _place_control("column", release.shape[1], titles[1])
        view = attacker_view(release, pair, column, ui.number_control("prior_odds"))
        ui.numbers(*report.attacker_numbers(view))
    with right:
        log_odds = release.log_odds(np.array([pair]), np.arange(release.shape[1]))[0]
        figure = charts.attacker_chart(release, log_odds, view, summary.epsilon)
        alt = f"Posterior odds of {view.first} against {view.second} for every released table."
        ui.show_figure(figure, "attacker", alt, height=340)
    ui.note(report.sentence("attacker", view, summary.epsilon))

    # All releases together
    curve = trade_off_of(release)
    promised = TradeOffCurve.promised(summary.epsilon, summary.delta)
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        ui.heading("In errors: all releases together")
        ui.show_figure(charts.trade_off_chart(curve, promised, summary), "trade_off", height=430)
    with right:
        ui.heading("In guesses")
        texts = report.sentence("guess", curve, promised), report.sentence("gaussian", curve)
        st.html("".join(f"<p>{text}</p>" for text in texts))
        ui.heading("In risk: one sensitive value")
        prior_risk = NUMBERS["prior_risk"]
        value = ui.number_control("prior_risk")
        risk = ui.last_valid_value("prior_risk", value, prior_risk.validate, prior_risk.default)
        sentences = report.sentences("risk", summary, risk, ui.number_control("risk_ratio"))
        st.html("".join(f"<p>{sentence}</p>" for sentence in sentences))
    ui.heading("One curve, five measures")
    ui.table(*report.measures_table(summary, curve), numeric={1})
    ui.note(ui.words("Tests"))

    # Each release as a piece of the curve
    first, second = (release.row_table(index) for index in (summary.worst.likelier, summary.worst.unlikelier))
    ui.heading(f"Release by release: {first} against {second}")
    head, rows, caption = report.releases_table(summary, risk)
    ui.table(head, rows, caption)
    size = release.shape[1]
    spaced = "" if len(rows) == size else f" Shown are {len(rows)} of {size:,} releases, evenly spaced."
    ui.note(ui.words("Pieces of the curve", first=first, second=second) + spaced)


def _show_better(question: Any) -> None:
    summary = question.summary
    release = summary.synthesizer
    if not isinstance(release, TwoCellSynthesizer):
        ui.note("The best mechanism is known for two cells: choose two to see it.")
        return
    if release.shape[0] * release.shape[1] > limits.MAX_TABLE_ENTRIES:
        ui.note(ui.words("The error is too large"))
        return
    label = "Allow the δ of the promise too (may take some seconds)"
    has_delta = summary.delta > 0 and ui.toggle("with_delta", label)
    promises: list[Any] = [(name, (epsilon,)) for name, epsilon in report.compared_promises(summary)]
    promises += [("the promise", (summary.epsilon, summary.delta))] * has_delta
    with st.spinner("The best mechanism …"):
        best = [(name, ui.result(report.best_mechanisms, release.n, *promise)) for name, promise in promises]

    # Imported here as it brings all that analyses need, which no other section of the page does
    from dpviz.comparisons.proportion_measures import share_moments

    errors = share_moments(release).release_error()
    st.html(f'<p class="dpviz-answer">{report.sentence("better", errors, *best[0])}</p>')
    ui.table(*report.better_table(errors, best))
    ui.note(ui.words("The best mechanism"))
    if has_delta:
        ui.note(ui.words("The best with delta", gap=report.largest_gap(best[-1][1])))


def _show_downloads(question: Any) -> None:
    summary = question.summary
    release = summary.synthesizer
    pictures: list[ui.File | str] = []
    if release.enumerable:
        shown = view_tables(release)
        table = partial(matrix.matrix_heatmap, shown)
        odds = partial(matrix.log_odds_heatmap, shown, summary.epsilon, signed=True)
        pictures = [("Matrix, HTML", "transition_matrix.html", table), ("Log-odds, HTML", "log_odds.html", odds)]
    curve = partial(charts.profile_chart, profile_of(release), summary)
    pictures += [("Profile, HTML", "privacy_profile.html", curve), ui.words("Pictures")]
    promise = {"epsilon": summary.epsilon, "delta": summary.delta}
    text = render("export/transition_matrices_script.txt", synthesizer=release, text=question.given_text, **promise)
    script = ("transition_matrix.py", text, "this page's numbers")
    ui.show_page_files(release_files(release), script, middle=pictures)


def _show_explanation(question: Any) -> None:
    release = question.synthesizer
    st.markdown(ui.page_text("transition_matrices", "why"))
    st.markdown(f"**The synthesizer on this page.** {release.info.label}: ${release.info.formula}$")
    st.caption(f"Source of the synthesizer: {release.info.source}. Neighbours: one row substituted, n fixed.")


_if_listed = partial(ui.section_if, lambda question: question.synthesizer.enumerable)
SECTIONS: dict[str, ui.Section] = {
    DRAW: _if_listed(_show_draws, "Draws are too large"),
    "The attacker in four languages": _if_listed(_show_attacker, "The errors are too large"),
    "Is there a better mechanism?": _show_better,
    "Download": _show_downloads,
    "Why, and sources": _show_explanation,
}
