"""Light on rows and cells of the tables and heatmaps of a page, which are not sent or drawn again for it."""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from dpviz.charts.heatmap import Lit

_component = st.components.v2.component(
    "dpviz_light", js=Path(__file__).with_name("light.js").read_text(encoding="utf-8"), isolate_styles=False
)


def show_light(places: Mapping[str, Lit], *, key: str) -> None:
    """Light `places` of the tables and pictures with these names, until this is not called any more."""
    _component(key=key, data={name: one._asdict() for name, one in places.items()}, height=1)
