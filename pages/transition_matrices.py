"""Transition matrices: what a release does to a table of counts, and what it gives away."""

from __future__ import annotations

import streamlit as st

from dpviz.privacy.summary import summarize
from pages.components.address import keep_choice, write_address
from pages.components.cached import cached
from pages.components.choices import choice
from pages.components.controls import controls_style
from pages.components.last_valid import answerable
from pages.components.words import page_head, problem
from pages.transition.attacker import PRIOR_ODDS_KEY, show_attacker
from pages.transition.controls import IN_ADDRESS, PREFIX, choose, first_choice, show_mends
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
LOOK = keep_choice(f"{PREFIX}look", SECTIONS, None)

controls, results = st.columns([1, 3.1], gap="medium")
with controls, st.container(key="controls"):
    chosen = choose()
with results:
    mends = st.container()
    answered = answerable(
        PREFIX, chosen, lambda one: cached(summarize)(one.release, one.epsilon, one.delta), first_choice
    )
    with mends:
        show_mends(chosen)
    top = st.container()
    release = as_judged(answered.release)
    summary = cached(summarize)(release, answered.epsilon, answered.delta)
    with top:
        show_verdict(summary)
    show_tables(summary)
    looks = (
        lambda: show_attacker(summary),
        lambda: show_plug_in_or_draw(release, answered.epsilon),
        show_published,
        lambda: show_downloads(summary, answered.given_text),
        lambda: show_why(release),
    )
    section = choice(st.pills, "Look closer", SECTIONS, LOOK, wrap=True)
    if section:
        try:
            looks[SECTIONS.index(section)]()
        except ValueError as broken:
            problem(str(broken))
write_address(PREFIX)
