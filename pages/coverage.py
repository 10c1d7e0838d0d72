"""Coverage: how often an interval from released tables holds the truth, by exact sums and by simulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from dpviz.charts.coverage import coverage_chart
from dpviz.core.declarations import LEVEL, PROPORTION, REPETITIONS, ROWS, SEED, SYNTHETIC_ROWS
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.coverage import ExactCoverage, coverage_given_count, coverages_to_six_digits
from dpviz.coverage.along import EPSILONS, GrowingCurves, curves_along_epsilon, curves_along_p
from dpviz.coverage.exact import stream_coverages
from dpviz.coverage.summaries import coverage_table, negative_sentence
from dpviz.designs import CONFIDENTIAL_COUNT, Design
from dpviz.desk.covered import coverage_sentence, coverage_setting, fitting_rules, short_sentence
from dpviz.desk.promises import FURTHER_NUMBERS, PROMISE, ROWS_OF_A_SET, SHARED_SETS
from dpviz.inference.rules import RULES
from dpviz.mechanisms import two_cell_synthesizers
from pages import ui
from pages.details import coverage as details
from pages.details import coverage_simulation as simulation
from pages.ui.navigation import COVERAGE

PREFIX = COVERAGE.prefix
MECHANISMS = list(two_cell_synthesizers())
QUICK_ROWS = 2_000  # of all sets together, up to which the answer is waited for: mostly some hundredths of a second
ANSWER_TIMEOUT_S = 0.4

NUMBERS = PROMISE | FURTHER_NUMBERS | {
    "p": replace(
        PROPORTION, title="True share of yes", slider_minimum=0.01, slider_maximum=0.99,
        help="The share of yes in the population, which the interval is to hold.",
    ),
    "sets": replace(SHARED_SETS, default=5, slider_maximum=20),
    "n": replace(ROWS, title="People", default=100),
    "m": replace(SYNTHETIC_ROWS, default=100, private_end="neither", help=ROWS_OF_A_SET),
    "level": LEVEL,
    "repetitions": replace(REPETITIONS, default=100_000),
    "seed": SEED,
}  # fmt: skip


class Axis(NamedTuple):
    """What curves are drawn against: a number of the design, and what the picture says of it."""

    name: str
    symbol: str
    title: str
    is_log: bool
    span: tuple[float, float]


AXES = {
    "against p": Axis("p", "p", "true share of yes", False, (0.0, 1.0)),
    "against ε": Axis(
        "epsilon", "ε", "promised ε for all tables (left is more private)", True,
        (float(EPSILONS[0]), float(EPSILONS[-1])),
    ),
}  # fmt: skip
ALONG_P = AXES["against p"]
RULES_SHOWN = ["reiter_2002", "as_if_real"]
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

CHAREST: dict[str, Any] = {
    "n": 100, "m_is_n": True, "level": 0.95, "synthesizer": "beta_binomial", "prior": "pure", "rules": RULES_SHOWN,
    "p": 0.25, "epsilon": 2.0, "sets": 5,
}  # fmt: skip
FIGURE_1 = {"epsilon": 3.0, "sets": 2, "axis": "against ε", "rules": ["reiter_2002", "reiter_2002_normal"]}
PRESETS = {
    "Charest, p = ¼, ε = 2": CHAREST,
    "Charest, p = ½, ε = 2": CHAREST | {"p": 0.5},
    "Charest, Figure 1": CHAREST | FIGURE_1,
    "hardly any privacy, ε = 250": CHAREST | {"epsilon": 250.0},
    "a small δ instead": CHAREST | {"prior": "exact", "delta": 1e-6},
}
"""The settings of Charest's tables and of her figure, and what allowing a small δ does to them."""


Curves = tuple[GrowingCurves | None, bool]
"""Coverage along an axis so far, and whether nothing follows."""


@dataclass(frozen=True)
class Question:
    """A design with those of the chosen rules that it allows, and sentences about the others."""

    design: Design
    notes: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """The settings in words."""
        return coverage_setting(self.design)


class Results(NamedTuple):
    """What is known of a design so far."""

    design: Design
    axis: Axis
    run: simulation.Run | None
    coverages: dict[str, ExactCoverage] | None  # without the rules beyond reach; None while they are computed
    curves: Curves
    along_p: Curves  # with the smallest coverages anywhere


def controls() -> Question:
    """Draw the controls and return the design that they ask for."""
    places = ui.control_places()

    def number(name: str, **rest: Any) -> Any:
        return ui.number_control(NUMBERS, PREFIX, name, **rest)

    ui.presets(PRESETS, PREFIX, place=places.first)
    mechanism = ui.mechanism_controls(NUMBERS, PREFIX, places, MECHANISMS)
    values = mechanism.values
    values["n"] = number("n", place=places.main)
    values["m"] = ui.linked_number(NUMBERS, PREFIX, "m", values["n"], place=places.more)
    values["sets"] = number("sets", place=places.main)
    values["p"] = number("p", place=places.first)
    names = {key: rule.short_label for key, rule in RULES.items()}
    words = ui.page_note("coverage", "rules")
    rules = ui.choices("Rules for the interval", names, f"{PREFIX}rules", place=places.main, help=words)
    for name in ("level", "repetitions", "seed"):
        values[name] = number(name, place=places.more)
    if st.session_state["is_linked"]:  # the link says whose secret table it is
        ui.register_shown(f"{PREFIX}x")
    design = Design.of(values)
    ui.note_broken_promise(design, mechanism, PREFIX)
    fitting, notes = fitting_rules(design, rules)
    return Question(replace(design, rules=fitting), notes)


def picture_controls(design: Design, run: simulation.Run | None) -> Axis:
    """Draw what moves the pictures, and return the axis; that of ε is none of a release with its own prior."""
    axis_key = f"{PREFIX}axis"
    axes = [label for label, axis in AXES.items() if axis.name in ("p", *design.promised)]
    if st.session_state[axis_key] not in axes:
        st.session_state[axis_key] = axes[0]
    rest: dict[str, Any] = {
        "widget": st.segmented_control, "required": True, "label_visibility": "collapsed", "width": "content",
    }  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        simulation.show_buttons(design, run)
        speeds = {key: speed.label for key, speed in simulation.SPEEDS.items()}
        ui.choice("Speed", speeds, f"{PREFIX}speed", **rest)
        return AXES[ui.choice("Curves", axes, axis_key, **rest)]


def results_of(design: Design, axis: Axis, run: simulation.Run | None) -> Results:
    """Exact coverages, then curves through them along the axis, and along p."""
    arguments: dict[str, Any] = {"p": design.p, "sets": design.sets, "rules": design.rules, "level": design.level}
    coverages: dict[str, ExactCoverage] | None
    if design.sets * design.m <= QUICK_ROWS:
        coverages = ui.result(coverages_to_six_digits, design.release, **arguments)
    else:
        arguments |= {"pool": ui.ANSWERS, "timeout": ANSWER_TIMEOUT_S}
        coverages = ui.latest(stream_coverages, design.release, **arguments)
    if not coverages:
        none = (None, coverages is not None)
        return Results(design, axis, run, coverages, none, none)
    rules = tuple(coverages)
    curves = curves_of(design, axis, rules)
    along_p = curves if axis is ALONG_P else curves_of(design, ALONG_P, rules)
    return Results(design, axis, run, coverages, curves, along_p)


def curves_of(design: Design, axis: Axis, rules: tuple[str, ...]) -> Curves:
    """Curves of some rules, the same wherever the design is on the axis; none where their sums would take too long."""
    arguments: dict[str, Any] = {"sets": design.sets, "rules": rules, "level": design.level}
    try:
        if axis is ALONG_P:
            return ui.progress(curves_along_p, design.release, **arguments)
        base = replace(design, epsilon=1.0, rules=(), repetitions=1, seed=0)
        releases = base.along_epsilon(tuple(EPSILONS.tolist()))
        return ui.progress(curves_along_epsilon, releases, p=design.p, **arguments)
    except ValueError:
        return None, True


def show_answer(results: Results) -> None:
    """Draw the sentence about the first rule that has exact sums, or why there is none."""
    design = results.design
    setting = coverage_setting(design)
    if results.coverages is None:
        ui.answer("computing", ui.page_note("coverage", "summing", named=setting), "The exact sums take a moment.")
    elif not results.coverages:
        words = f"With {setting} the exact sums would take too long. Press Start to simulate instead."
        ui.answer("beyond exact sums", words, "Exact sums would take too long here: press Start to simulate.")
    else:
        rule, coverage = next(iter(results.coverages.items()))
        words = coverage_sentence(design, rule, coverage)
        ui.answer(percent(coverage.coverage, 3), words, short_sentence(design, rule, coverage))


def show_curves(results: Results) -> None:
    """Draw the exact curves with the design's own point on them, and the simulated dots."""
    design = results.design
    axis = results.axis
    chosen = getattr(design, axis.name)
    marks = {key: coverage.coverage for key, coverage in (results.coverages or {}).items()}
    points = np.array([])
    values = {}
    curves, _ = results.curves
    if curves is not None:
        lines = curves.lines.through(chosen, marks)
        points = lines.points
        values = dict(zip(lines.rules, lines.coverage, strict=True))
    chart = coverage_chart(
        points, values, names={key: RULES[key].label for key in design.rules},
        ends={key: RULES[key].abbreviation for key in design.rules}, title=axis.title, log=axis.is_log,
        level=design.level, chosen=chosen, marks=marks, dots=simulation.dots_of(results.run, design.rules),
        span=(min(axis.span[0], chosen), max(axis.span[1], chosen)),
    )  # fmt: skip
    alt = "Coverage of each rule: exact lines, simulated dots with error bars, the promised level."
    ui.show_figure(chart, f"{PREFIX}picture", alt, height=simulation.FIGURE_HEIGHT, hero=True)
    st.caption(curves_sentence(results))


def curves_sentence(results: Results) -> str:
    """How near the lines are to the exact curves between their corners, and which lines there are not."""
    design = results.design
    curves, is_complete = results.curves
    sentence = "The exact sums would take too long somewhere on this axis: there is no line." if is_complete else ""
    if curves is not None:
        lines = curves.lines
        count = f"{len(lines.points):,} values of {results.axis.symbol}"
        sentence = f"The lines are sampled: exact at {count}, straight between them."
        if not (curves.whole or is_complete):
            sentence = f"Exact at {count} so far, straight lines between them; more to come."
        if lines.drawn_from:
            name = "every_jump" if lines.jumps else "some_jumps"
            sentence = ui.page_note("coverage", name, points=f"{lines.drawn_from:,}")
    if results.coverages is None or len(results.coverages) == len(design.rules):
        return sentence
    missing = [RULES[key].short_label for key in design.rules if key not in results.coverages]
    whose = f" for {', '.join(missing)}" if results.coverages else ""
    sizes = {"n": readable(design.n), "m": readable(design.m), "sets": design.sets}
    return f"{sentence if results.coverages else ''} {ui.page_note('coverage', 'no_line', whose=whose, **sizes)}"


def show_table(results: Results) -> None:
    """Draw the numbers of each rule, and what they are."""
    design = results.design
    coverages = results.coverages
    performance = None if results.run is None else results.run.performance
    along_p, is_complete = results.along_p
    smallest = {} if along_p is None else along_p.smallest
    ui.table(*coverage_table(design.rules, design.sets, coverages, smallest, performance, is_complete=is_complete))
    kind = "simulated"
    if coverages:
        kind = "exact" if len(coverages) == len(design.rules) else "exact where the coverage is"
    st.caption(f"{ui.page_note('coverage', 'table', kind=kind)} {negative_sentence(coverages or {}, performance)}")


def show_own_table(design: Design) -> None:
    """Say how often the share of the reader's own secret table is held, where the page shows a single set of it."""
    x_key = f"{PREFIX}x"
    carried = ui.release()
    if st.session_state.get(x_key) is None or "x" not in carried or carried.get("n") != design.n:
        return
    x = st.session_state[x_key] = carried["x"]  # which follows the number of people
    if design.sets > 1:
        return
    share = coverage_given_count(
        synthesizer=design.release, confidential_count=x, rule=design.rules[0], level=design.level
    )
    shares = {"share": percent(share, 3), "own": percent(x / design.n, 3)}
    ui.note(ui.page_note("coverage", "given", x=f"{x:,}", n=f"{design.n:,}", **shares))


def page() -> None:
    """Draw the page."""
    ui.open_page(COVERAGE, SETTINGS)
    parts = ui.columns()
    with parts.controls:
        question = ui.last_valid(COVERAGE, SETTINGS, controls, lambda question: simulation.plan_of(question.design))
    design = question.design
    run = simulation.current_run(design)
    if run is not None:
        run.advance(simulation.SPEEDS[st.session_state[f"{PREFIX}speed"]])
    with parts.results:
        ui.show_problems()
        place = st.container()
        axis = picture_controls(design, run)
        results = results_of(design, axis, run)
        with place:
            show_answer(results)
            for sentence in question.notes:
                st.caption(sentence)
        left, right = st.columns([1.15, 1], gap="small")
        with left:
            simulation.show_first_intervals(design, run)
        with right:
            show_curves(results)
    with parts.details:
        simulation.show_status(run, has_lines=results.coverages is None or len(results.coverages) == len(design.rules))
        show_table(results)
        show_own_table(design)
        ui.release_links(COVERAGE)
        ui.look_closer(COVERAGE, details.SECTIONS, results)
    ui.close_page(COVERAGE, SETTINGS)
