"""A plotly figure that is redrawn in place: faster than ``st.plotly_chart``, and the reader's zoom stays."""

import gzip
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import streamlit as st
from plotly.io.json import to_json_plotly
from streamlit import runtime

from dpviz.charts.style import Figure
from pages.components.class_mode import class_mode, for_class

_component = st.components.v2.component(
    "dpviz_figure", js=Path(__file__).with_name("figure.js").read_text(encoding="utf-8"), isolate_styles=False
)

LARGER = 1.2

PAGES = {"tm": "matrices", "mp": "priors", "cv": "coverage", "po": "posterior", "cs": "comparison"}
"""What the files of a page's pictures are named after, by the prefix of its keys."""


@cache
def _plotly_js() -> bytes:
    """plotly.js, compressed once per process; Streamlit would compress the 4.8 MB anew for every browser."""
    whole = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return gzip.compress(whole, compresslevel=6, mtime=0)


def _plotly_path() -> str:
    """Where the browser finds plotly.js; asked in every run, for Streamlit drops unused files."""
    if not runtime.exists():
        return ""
    return runtime.get_instance().media_file_mgr.add(_plotly_js(), "application/gzip", "dpviz.plotly.js")


def encode_figure(figure: Figure, **rest: Any) -> bytes:
    """The bytes figure.js reads: JSON whose arrays are base64; figure.js makes a template of the theme."""
    spec = figure.to_dict()
    for said in (*spec["data"], *spec["layout"].get("annotations", ())):
        if isinstance(text := said.get("text"), str):
            said["text"] = for_class(text)
        elif isinstance(text, list):
            said["text"] = [for_class(one) if isinstance(one, str) else one for one in text]
    encoded: str = to_json_plotly({**rest, "figure": spec})
    return encoded.encode()


def show_figure(figure: Figure, *, key: str, alt: str, height: int = 420) -> None:
    """Show `figure`, in place of the one shown before under `key`.

    Colors and font come from the app's theme except where the figure sets its own. The reader's zoom survives until
    `figure.layout.uirevision` changes. `alt` is the picture's accessible name.
    """
    page, _, picture = key.partition("_")
    name = f"{PAGES[page]}_{picture}"
    height = round(LARGER * height) if class_mode() else height  # for its larger words
    data = encode_figure(figure, plotly=_plotly_path(), alt=alt, name=name, height=height)
    _component(key=key, data=data, height=height)
