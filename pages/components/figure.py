"""A plotly figure that is redrawn in place: faster than ``st.plotly_chart``, and the reader's zoom stays."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any

from plotly.io.json import to_json_plotly
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager

from dpviz.charts.style import Figure
from pages.components import component
from pages.components.cached import once
from pages.components.class_mode import class_mode, for_class

_component = component("figure")

LARGER = 1.2

PAGES = {
    "tm": "matrices", "mp": "priors", "cv": "coverage", "po": "posterior", "cs": "comparison", "bu": "budget",
    "cu": "desk",
}  # fmt: skip
"""What the files of a page's pictures are named after, by the prefix of its keys."""


@once
def _plotly_js() -> bytes:
    """plotly.js, compressed once per process; Streamlit would compress the 4.8 MB anew for every browser."""
    whole = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return gzip.compress(whole, compresslevel=6, mtime=0)


@once
def _kept_by(files: MediaFileManager) -> str:
    """Where plotly.js is among `files`, for good.

    Streamlit drops what no session uses, and takes as long to find out that it has a file as a run takes for three of
    its controls. What is added outside of a run belongs to none, and stays.
    """
    with ThreadPoolExecutor(1) as outside:
        return outside.submit(files.add, _plotly_js(), "application/gzip", "dpviz.plotly.js").result()


def _plotly_path() -> str:
    """Where the browser finds plotly.js."""
    return _kept_by(runtime.get_instance().media_file_mgr) if runtime.exists() else ""


def encode_figure(figure: Figure, **rest: Any) -> bytes:
    """The bytes figure.js reads: JSON whose arrays are base64; figure.js makes a template of the theme."""
    said: str = to_json_plotly(rest)
    return f'{said.removesuffix("}")}{"," if rest else ""}"figure":{_json(figure)}}}'.encode()


def _json(figure: Figure) -> str:
    """A figure as it is, or with three digits in class mode; one that is shown again is not written anew."""
    if class_mode() not in figure.written:
        figure.written[class_mode()] = _write(figure)
    return figure.written[class_mode()]


def _write(figure: Figure) -> str:
    spec = figure.to_dict()
    for said in (*spec["data"], *spec["layout"].get("annotations", ())):
        if isinstance(text := said.get("text"), str):
            said["text"] = for_class(text)
        elif isinstance(text, list):
            said["text"] = [for_class(one) if isinstance(one, str) else one for one in text]
    written: str = to_json_plotly(spec)
    return written


def show_figure(figure: Figure, *, key: str, alt: str, height: int = 420, hero: bool = False) -> None:
    """Show `figure`, in place of the one shown before under `key`.

    Colors and font come from the app's theme except where the figure sets its own. The reader's zoom survives until
    `figure.layout.uirevision` changes. `alt` is the picture's accessible name. The `hero` is the first picture of a
    page: in class mode it fills the rest of the screen.
    """
    page, _, picture = key.partition("_")
    name = f"{PAGES[page]}_{picture}"
    height = round(LARGER * height) if class_mode() else height  # for its larger words
    data = encode_figure(figure, plotly=_plotly_path(), alt=alt, name=name, height=height, hero=hero and class_mode())
    _component(key=key, data=data, height=height)
