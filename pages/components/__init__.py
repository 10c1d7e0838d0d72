"""Controls and pieces that the pages share; nothing here computes."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.components.guard import address_of


def component(name: str) -> Callable[..., Any]:
    """The element that ``<name>.js`` beside this file draws: a run sends the line that fetches it."""
    address = address_of(f"{name}.js")
    # In two lines: Streamlit takes a single one for the name of a file.
    script = f'const ours = await import(new URL("{address}", document.baseURI));\nexport default ours.default;'
    return st.components.v2.component(f"dpviz_{name}", js=script, isolate_styles=False)
