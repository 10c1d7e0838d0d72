"""Controls and pieces that the pages share; nothing here computes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st


def component(name: str) -> Callable[..., Any]:
    """The element that ``<name>.js`` beside this file draws."""
    script = Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8")
    return st.components.v2.component(f"dpviz_{name}", js=script, isolate_styles=False)
