"""A piece of HTML that stays in the page and takes new words and numbers, so that what changes can move."""

import json
from collections.abc import Mapping

from pages.components import component

_component = component("living")


def show_living(
    html: str, *, key: str, texts: Mapping[str, str], numbers: Mapping[str, float], dots: Mapping[str, int]
) -> None:
    """Show `html`; where it is as before, only what changed in it changes.

    `html`: The piece, our own: nothing in it is escaped.
    `key`: Key of the element.
    `texts`: Text of the elements with that ``data-text``.
    `numbers`: Style variables.
    `dots`: How many of the children of the elements with that ``data-dots`` are marked.
    """
    message = {"html": html, "texts": texts, "numbers": numbers, "dots": dots}
    _component(key=key, data=json.dumps(message, ensure_ascii=False).encode(), height="content")
