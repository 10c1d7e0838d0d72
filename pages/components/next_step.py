"""The next step of what moves, asked for by the browser once it has the last one."""

from __future__ import annotations

import time
from pathlib import Path

import streamlit as st

_component = st.components.v2.component(
    "dpviz_next_step",
    js=Path(__file__).with_name("next_step.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def ask_for_next_step(key: str, after: float) -> None:
    """Have the fragment that calls this as its last act run again, `after` seconds from when the browser has it all.

    Streamlit's own `run_every` asks at fixed times, whatever is under way. A request that arrives in the moment in
    which another run ends makes Streamlit throw away the last messages of that run: parts of the page were missing
    then, or the browser, told to fill a place that it had never heard of, gave up. Here no request is made while a run
    is under way or while one may be on its way because of what the reader has just done, and a slow browser is not
    sent more than it can draw.
    """
    _component(
        key=key,
        data={"step": str(time.monotonic_ns()), "after": round(1000 * after)},
        on_step_change=_nothing,
        height=1,
    )


def _nothing() -> None:
    """What follows from a step is in the fragment itself."""
