"""Light on rows and cells of the tables and heatmaps of a page, which are not sent or drawn again for it."""

from collections.abc import Mapping

from dpviz.charts.heatmap import Lit
from pages.components import component

_component = component("light")


def show_light(places: Mapping[str, Lit], *, key: str) -> None:
    """Light `places` of the tables and pictures with these names, until this is not called any more."""
    _component(key=key, data={name: one._asdict() for name, one in places.items()}, height=1)
