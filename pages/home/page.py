"""Start: one release from the people to what is learned, and six questions."""

import streamlit as st

from dpviz.comparisons.overview import Overview
from pages import transition_matrices
from pages.components.address import write_address
from pages.components.frame import answerable, page_head
from pages.components.release import carried_on
from pages.home import SPEC
from pages.home.controls import CONTROLS, PREFIX
from pages.home.questions import show_overview, words_of

OLD = transition_matrices.SPEC  # stood at this address before there was a page to start from
if moved := {key: value for key, value in st.query_params.items() if key.startswith(OLD.prefix)}:
    st.switch_page(str(OLD.file), query_params=moved)

page_head(SPEC)
with st.container(key="controls"):
    chosen = CONTROLS.choose()
asked = answerable(PREFIX, chosen, lambda one: words_of(Overview(one.design, one.question.best)), CONTROLS.first)
show_overview(Overview(asked.design, asked.question.best))
write_address(PREFIX, carried_on(SPEC))
