"""Transition matrices: what a release does to a table of counts, and what it gives away."""

from __future__ import annotations

import streamlit as st

from pages.components.cache import cached_summary
from pages.components.controls import controls_style
from pages.components.words import page_head, problem
from pages.transition.attacker import PRIOR_ODDS_KEY, show_attacker
from pages.transition.controls import IN_ADDRESS, choose, show_problems
from pages.transition.downloads import show_downloads
from pages.transition.given import as_judged
from pages.transition.plug_in_or_draw import show_plug_in_or_draw
from pages.transition.published import show_published
from pages.transition.tables import show_tables
from pages.transition.verdict import show_verdict
from pages.transition.why import show_why

page_head(
    "Transition matrices",
    "What does a synthetic table of counts give away about the confidential one? Every number here is exact.",
    controls_style([*IN_ADDRESS, PRIOR_ODDS_KEY]),
)

SECTIONS = ["The attacker", "Plug-in or posterior draw?", "As published", "Download", "Why, and sources"]

controls, results = st.columns([1, 3.1], gap="medium")
with controls, st.container(key="controls"):
    choice = choose({"tm_look": SECTIONS})
with results:
    show_problems(choice)
    if choice.synthesizer is not None:
        top = st.container()
        release = as_judged(choice.synthesizer)
        summary = cached_summary(release, choice.epsilon, choice.delta)
        with top:
            show_verdict(summary)
        show_tables(summary)
        looks = (
            lambda: show_attacker(summary),
            lambda: show_plug_in_or_draw(release, choice.epsilon),
            show_published,
            lambda: show_downloads(summary, choice.given_text),
            lambda: show_why(release),
        )
        section = st.pills("Look closer", SECTIONS, key="tm_look", bind="query-params", wrap=True)
        if section is not None:
            try:
                looks[SECTIONS.index(section)]()
            except ValueError as broken:
                problem(str(broken))
