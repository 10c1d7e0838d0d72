"""A plotly figure that is redrawn in place: faster than ``st.plotly_chart``, and the reader's zoom stays."""

import json
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import streamlit as st
from plotly.io.json import to_json_plotly

from dpviz.charts.theme import Figure
from dpviz.core.formatting import shorten_numbers
from pages.ui.server import PLOTLY_NAME, static_url
from pages.ui.text import words
from pages.ui.url import class_mode, current_page

CLASS_MODE_HEIGHT = 1.2  # factor of the height of a picture in class mode, for its larger words


@cache
def component(name: str) -> Callable[..., Any]:
    """Component that ``static/<name>.js`` draws: a run sends the line that fetches the script, not the script."""
    url = static_url(f"{name}.js")
    # In two lines: Streamlit takes a single one for the name of a file.
    script = f'const ours = await import(new URL("{url}", document.baseURI));\nexport default ours.default;'
    return st.components.v2.component(f"dpviz_{name}", js=script, isolate_styles=False)


def show_component(name: str, key: str, data: Mapping[str, Any]) -> None:
    """Draw a component that has no picture; its data go as UTF-8 JSON.

    Streamlit searches a mapping for data frames in every run, which takes longer than all else that it does here.
    """
    component(name)(key=key, data=json.dumps(data, ensure_ascii=False).encode(), height=1)


def show_figure(figure: Figure, name: str, alt: str = "", *, height: int = 420, hero: bool = False) -> None:
    """Draw a figure in place of the one that was drawn before under a `name`, after which its files are named too.

    Colours and font come from the app's theme except where it sets its own. The reader's zoom survives until its
    ``layout.uirevision`` changes. `alt` is its accessible name, which stands in the text of the page as "alt" and its
    name if empty; `height` in pixels. A `hero` is the first picture of a page, which fills a screen in class mode.
    """
    key = current_page().prefix + name
    is_large = class_mode()
    pixels = round(CLASS_MODE_HEIGHT * height) if is_large else height
    settings = to_json_plotly({
        "time": time.time(),  # first: while a browser loads the script, Streamlit may call it in another order
        "plotly": static_url(PLOTLY_NAME), "alt": alt or words(f"alt {name}"), "name": key, "height": pixels,
        "large": is_large, "hero": hero,
    })  # fmt: skip
    drawing = figure.json_text(shorten_numbers if is_large else None)
    data = f'{settings.removesuffix("}")},"figure":{drawing}}}'.encode()
    component("figure")(key=key, data=data, height="content")  # a narrow one grows by its legend
