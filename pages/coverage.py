"""Coverage: how often an interval from released tables holds the truth, by exact sums and by simulation."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from dpviz.charts.inference import coverage_chart
from dpviz.core.formatting import format_count, format_number, format_percent
from dpviz.coverage import report
from dpviz.coverage.answer import coverage_answer, feasible_rules
from dpviz.coverage.curves import EPSILONS, CoverageCurves, stream_by_synthesizer
from dpviz.coverage.exact import ExactCoverage, coverage_given_count, exact_coverages
from dpviz.coverage.worst_case import Extreme, coverage_curves
from dpviz.designs import CONFIDENTIAL_COUNT, Design, describe_promise
from dpviz.inference.rules import RULES
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.study.plan import simulation_of
from pages import ui
from pages.details import coverage as details
from pages.details import coverage_simulation as simulation
from pages.ui.navigation import COVERAGE

PREFIX = COVERAGE.prefix
MECHANISMS = list(two_cell_synthesizers())
AXES = {"against p": "p", "against ε": "epsilon"}
RULES_SHOWN = ["reiter_2002", "as_if_real"]
ANSWER_TIMEOUT_S = 1.0

NUMBERS = ui.RELEASE_NUMBERS | ui.declared_numbers("coverage")
PRESETS = ui.declared_presets("coverage")
SETTINGS = {
    **ui.mechanism_settings(PREFIX, MECHANISMS, "beta_binomial"),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, "m"),
    f"{PREFIX}rules": ui.choices_setting(RULES, RULES_SHOWN, "Rules for the interval"),
    f"{PREFIX}x": ui.hidden_number_setting(CONFIDENTIAL_COUNT),
    f"{PREFIX}speed": ui.choice_setting(simulation.SPEEDS, "slow", "Speed"),
    f"{PREFIX}axis": ui.choice_setting(AXES, "against p", "Curves"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
}


class Question(NamedTuple):
    """A design with those of the chosen rules that it allows."""

    design: Design
    named: str  # its settings in words
    notes: tuple[str, ...]  # sentences about the rules that are left out


class Results(NamedTuple):
    """What is known of a design so far."""

    design: Design
    run: simulation.Run
    coverages: dict[str, ExactCoverage] | None  # without the rules beyond reach; None while they are computed
    axis: str
    curves: CoverageCurves | None  # along the axis, so far
    smallest: dict[str, Extreme]  # of all p
    is_complete: bool  # whether nothing more comes of them


def controls() -> Question:
    places = ui.control_places(PRESETS)
    mechanism = ui.mechanism_controls(places)
    values = mechanism.values
    values |= ui.number_controls("n", "sets", place=places.main) | ui.number_controls("p", place=places.first)
    values["m"] = ui.linked_number("m", values["n"], place=places.folded)
    names = {key: rule.short_label for key, rule in RULES.items()}
    rules = ui.choices("rules", names, place=places.main, help=ui.words("rules"))
    values |= ui.number_controls("level", "repetitions", "seed", place=places.folded)
    if ui.visit().is_linked:  # the link says whose secret table it is
        ui.register_shown(f"{PREFIX}x")
    design = Design.of(values)
    ui.note_broken_promise(design, mechanism)
    feasible, notes = feasible_rules(design.release, design.sets, rules)
    return Question(replace(design, rules=feasible), describe_setting(design), notes)


def describe_setting(design: Design) -> str:
    """People, true share, released tables and promise."""
    return ui.page_note(
        "coverage", "setting", people=format_count(design.n, "person", "people"), p=format_percent(design.p, 4),
        tables=format_count(design.sets, "released table"), rows=format_count(design.m, "row"),
        promise=describe_promise(design),
    )  # fmt: skip


def _picture_controls(design: Design, run: simulation.Run) -> str:
    """Draw what moves the pictures, and return the axis; that of ε is none of a release with its own prior."""
    axes = [label for label, name in AXES.items() if name in ("p", *design.promised)]
    if st.session_state[f"{PREFIX}axis"] not in axes:
        st.session_state[f"{PREFIX}axis"] = axes[0]
    rest: dict[str, Any] = {"label_visibility": "collapsed", "width": "content"}
    with st.container(horizontal=True, vertical_alignment="center"):
        simulation.show_buttons(design, run)
        ui.segmented("speed", {name: speed["label"] for name, speed in simulation.SPEEDS.items()}, **rest)
        return AXES[ui.segmented("axis", axes, **rest)]


def _results_of(design: Design, axis: str, run: simulation.Run) -> Results:
    """Exact coverages, then curves along the axis, and the smallest coverage at any p."""
    arguments: dict[str, Any] = {"sets": design.sets, "rules": design.rules, "level": design.level}
    coverages: dict[str, ExactCoverage] | None = ui.latest(
        exact_coverages,  # type: ignore[arg-type]
        synthesizer=design.release, p=design.p, skip_unreachable=True, pool=ui.ANSWERS, timeout=ANSWER_TIMEOUT_S,
        **arguments,
    )  # fmt: skip
    if not coverages:
        return Results(design, run, coverages, axis, None, {}, coverages is not None)
    arguments["rules"] = tuple(coverages)
    curves: CoverageCurves | None = None
    smallest: dict[str, Extreme] = {}
    is_complete = True
    try:
        along_p, is_complete = ui.progress(coverage_curves, design.release, **arguments)
        if along_p is not None:
            curves, smallest = along_p
    except ValueError:  # too much noise somewhere between p = 0 and 1
        pass
    if axis == "epsilon":
        base = replace(design, epsilon=1.0, rules=(), repetitions=1, seed=0)
        arguments |= {"points": tuple(EPSILONS.tolist()), "p": design.p}
        curves, has_all = ui.progress(stream_by_synthesizer, base.along_epsilon(arguments["points"]), **arguments)
        is_complete = is_complete and has_all
    return Results(design, run, coverages, axis, curves, smallest, is_complete)


def _show_answer(question: Question, coverages: dict[str, ExactCoverage] | None) -> None:
    """Draw the sentence about the first rule that has exact sums, or why there is none."""
    design = question.design
    if coverages is None:
        ui.answer("computing", ui.words("summing", named=question.named), "The exact sums take a moment.")
    elif not coverages:
        words = f"With {question.named} the exact sums would take too long. Press Start to simulate instead."
        ui.answer("beyond exact sums", words, "Exact sums would take too long here: press Start to simulate.")
    else:
        rule, coverage = next(iter(coverages.items()))
        sizes = f"{format_count(design.n, 'person', 'people')}, {format_count(design.sets, 'table')}"
        ui.answer(*coverage_answer(question.named, rule, coverage, design.level, sizes))
    for note in question.notes:
        st.caption(note)


def _show_curves(results: Results) -> None:
    """Draw the exact curves with the design's own point on them, and the simulated dots."""
    design, run = results.design, results.run
    chosen = getattr(design, results.axis)
    marks = {key: coverage.coverage for key, coverage in (results.coverages or {}).items()}
    points = np.array([])
    values = {}
    if results.curves is not None:
        place = np.searchsorted(results.curves.points, chosen)
        points = np.insert(results.curves.points, place, chosen)
        lines = zip(results.curves.rules, results.curves.coverage, strict=True)
        values = {key: np.insert(line, place, marks[key]) for key, line in lines}
    chart = coverage_chart(
        points, values, along=results.axis, level=design.level, chosen=chosen, marks=marks,
        simulated={key: share for key, share in run.shares.items() if key in design.rules}, repetitions=run.n_shown,
    )  # fmt: skip
    ui.show_figure(chart, "picture", height=simulation.FIGURE_HEIGHT, hero=True)
    st.caption(curves_sentence(results))


def curves_sentence(results: Results) -> str:
    """Where the lines are exact, and which lines there are not."""
    design = results.design
    sentence = ui.words("too_long") if results.is_complete else ""
    if results.curves is not None:
        count = f"{len(results.curves.points):,} values of {NUMBERS[results.axis].symbol}"
        sentence = ui.words("jumps" if results.axis == "p" else "sampled", count=count)
    if results.coverages is None or len(results.coverages) == len(design.rules):
        return sentence
    missing = [RULES[key].short_label for key in design.rules if key not in results.coverages]
    whose = f" for {', '.join(missing)}" if results.coverages else ""
    sizes = {"n": format_number(design.n), "m": format_number(design.m), "sets": design.sets}
    return f"{sentence if results.coverages else ''} {ui.words('no_line', whose=whose, **sizes)}"


def _show_numbers(results: Results) -> None:
    """Draw the numbers of each rule, what they are, and what holds for the reader's own secret table."""
    design, coverages, run = results.design, results.coverages, results.run
    ui.table(*report.coverage_table(
        design.rules, design.sets, coverages, results.smallest, run.performance, shown=run.shares,
        n_shown=run.n_shown, is_complete=results.is_complete,
    ))  # fmt: skip
    kind = "simulated"
    if coverages:
        kind = "exact" if len(coverages) == len(design.rules) else "exact where the coverage is"
    st.caption(f"{ui.words('table', kind=kind)} {ui.words('total') if design.sets > 1 else ''}")

    # Where the page shows a single set of the release that the reader carries from page to page
    x_key = f"{PREFIX}x"
    carried = ui.current_release()
    if st.session_state.get(x_key) is None or "x" not in carried or carried.get("n") != design.n:
        return
    x = st.session_state[x_key] = carried["x"]  # which follows the number of people
    if design.sets == 1:
        share = coverage_given_count(
            synthesizer=design.release, confidential_count=x, rule=design.rules[0], level=design.level
        )
        shares = {"share": format_percent(share, 3), "own": format_percent(x / design.n, 3)}
        ui.note(ui.words("given", x=x, n=design.n, **shares))


def page() -> None:
    with ui.page_frame(COVERAGE, SETTINGS, controls, lambda shown: simulation_of(shown.design)) as (question, parts):
        design = question.design
        run = simulation.current_run(design)
        run.advance(simulation.SPEEDS[st.session_state[f"{PREFIX}speed"]])
        with parts.results:
            place = st.container()
            results = _results_of(design, _picture_controls(design, run), run)
            with place:
                _show_answer(question, results.coverages)
            left, right = st.columns([1.15, 1], gap="small")
            with left:
                simulation.show_first_intervals(design, run)
            with right:
                _show_curves(results)
        with parts.details:
            has_lines = results.coverages is None or len(results.coverages) == len(design.rules)
            simulation.show_status(run, has_lines=has_lines)
            _show_numbers(results)
            ui.release_links()
            ui.look_closer(details.SECTIONS, results)
