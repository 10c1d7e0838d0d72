"""What every picture is: it can be sent, its axes have two ends, and no text or number of it is none."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.helpers import decode_figure

NO_NUMBER = re.compile(r"\bnan\b|\binf\b|\bNone\b|Infinity", re.IGNORECASE)


def leaves(node: Any) -> Iterator[Any]:
    """Every text and number anywhere in a figure."""
    if isinstance(node, dict):
        node = list(node.values())
    elif isinstance(node, np.ndarray):
        node = node.ravel().tolist()
    if isinstance(node, list | tuple):
        for part in node:
            yield from leaves(part)
    else:
        yield node


def check_drawable(figure: Any, *, gaps: bool = True) -> None:
    text = figure.json_text()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in a figure"))
    picture = decode_figure(text)
    for leaf in leaves(picture):
        if isinstance(leaf, str):
            assert not NO_NUMBER.search(leaf)
        elif isinstance(leaf, float):
            assert math.isfinite(leaf) or (gaps and math.isnan(leaf))
    for axis in (picture["layout"]["xaxis"], picture["layout"]["yaxis"]):
        ends = axis.get("range", [0, 1])
        assert all(map(math.isfinite, ends))
        assert ends[0] != ends[1]
