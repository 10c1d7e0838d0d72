"""The live simulation: one run for each reader, which goes on a little at every step."""

import streamlit as st

from dpviz.coverage import CoveragePlan
from dpviz.coverage.live import Run
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from pages.coverage.controls import PREFIX

KEY = f"{PREFIX}run"
WIDE = 110  # pixels of a button: as wide with its other words


def plan_of(design: Design, *rules: str) -> CoveragePlan:
    """The simulation of a design for some rules, or for every rule that it allows: to show another costs no new run."""
    every = rules or tuple(key for key, rule in RULES.items() if rule.fits(design.release, design.sets))
    return CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=every, level=design.level,
        repetitions=design.repetitions, seed=design.seed,
    )  # fmt: skip


def current_run(design: Design) -> Run | None:
    """The reader's run of this design: the one there is, or a new one where a moving run met a new design."""
    run: Run | None = st.session_state.get(KEY)
    if run is None:
        return None
    plans = plans_of(design, run)
    if run.plan in plans:
        return run
    kept = next(filter(None, map(run.under, plans)), None)
    st.session_state[KEY] = kept = kept or (Run(plans[0]) if run.running else None)
    run.stop()
    return kept


def plans_of(design: Design, run: Run) -> list[CoveragePlan]:
    """The simulations that answer a design: for every rule, or for those of a run, as one of a study has fewer."""
    rules = run.plan.rules
    fit = set(design.rules) <= set(rules) and all(RULES[key].fits(design.release, design.sets) for key in rules)
    return [plan_of(design), *([plan_of(design, *rules)] if fit else [])]


def show_buttons(design: Design, run: Run | None) -> None:
    """Start, Stop or Resume, and Reset."""

    def start() -> None:
        st.session_state[KEY] = Run(plan_of(design))

    def reset() -> None:
        st.session_state.pop(KEY, None)
        if run is not None:
            run.stop()

    if run is None:
        words, action = "Start", start
    elif run.complete:
        words, action = "Run again", start
    else:
        words, action = ("Stop", run.stop) if run.running else ("Resume", run.resume)
    st.button(words, on_click=action, key=f"{PREFIX}go", width=WIDE)
    st.button("Reset", on_click=reset, key=f"{PREFIX}reset", width=WIDE, disabled=run is None)
