"""A plotly figure that is redrawn in place: faster than ``st.plotly_chart``, and the reader's zoom stays."""

from typing import Any

from plotly.io.json import to_json_plotly

from dpviz.charts.style import Figure
from dpviz.core.digits import three_digits
from pages.components import component
from pages.components.guard import PLOTLY, address_of
from pages.components.spec import class_mode

_component = component("figure")

LARGER = 1.2

PAGES = {
    "tm": "matrices", "mp": "priors", "cv": "coverage", "po": "posterior", "cs": "comparison", "bu": "budget",
    "cu": "desk", "pl": "plan", "room": "class", "lesson": "lesson", "pub": "published",
}  # fmt: skip
"""What the files of a page's pictures are named after, by the prefix of its keys."""


def encode_figure(figure: Figure, **rest: Any) -> bytes:
    """The bytes figure.js reads: JSON whose arrays are base64; figure.js makes a template of the theme."""
    said: str = to_json_plotly(rest)
    figure_json = figure.written(three_digits if class_mode() else None)
    return f'{said.removesuffix("}")}{"," if rest else ""}"figure":{figure_json}}}'.encode()


def show_figure(figure: Figure, *, key: str, alt: str, height: int = 420, hero: bool = False) -> None:
    """Show `figure`, in place of the one shown before under `key`.

    Colors and font come from the app's theme except where the figure sets its own. The reader's zoom survives until
    `figure.layout.uirevision` changes. `alt` is the picture's accessible name. The `hero` is the first picture of a
    page: in class mode it fills the rest of the screen, and beside the open controls of a telephone what they leave.
    """
    page, _, picture = key.partition("_")
    large = class_mode()
    height = round(LARGER * height) if large else height  # for its larger words
    data = encode_figure(
        figure, plotly=address_of(PLOTLY), alt=alt, name=f"{PAGES[page]}_{picture}", height=height, large=large,
        hero=hero,
    )  # fmt: skip
    _component(key=key, data=data, height="content" if hero else height)
