"""The controls of the page: which paper, and whether only what differs is shown."""

from typing import NamedTuple

import streamlit as st

from dpviz.claims.papers import PAPERS, Paper
from pages.components.address import read_address
from pages.components.controls import Choice, Switch
from pages.published import SPEC

PREFIX = SPEC.prefix

PAPER = Choice(
    "paper", "Paper", {key: one.cited for key, one in PAPERS.items()}, next(iter(PAPERS)), st.radio,
).kept(SPEC)  # fmt: skip
ONLY = Switch(
    "only", "Only what differs",
    help="Hides what agrees and what simulation error explains. What cannot be computed stays.",
).kept(SPEC)  # fmt: skip


class Chosen(NamedTuple):
    """Which paper is shown, and whether only what differs."""

    paper: Paper
    only: bool


def choose() -> Chosen:
    """Draw the controls and return what they ask for."""
    read_address(PREFIX)
    return Chosen(PAPERS[PAPER.draw()], ONLY.draw())
