"""Our scripts, our style and plotly.js are fetched once, by an address that changes with what they hold."""

from __future__ import annotations

import gzip
import re

import pytest

from pages.components.guard import HERE, NAMES, PLOTLY, address_of, served


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_file_is_served_at_its_address_alone_below_any_path_and_kept_for_good(name: str) -> None:
    address = address_of(name)
    assert re.fullmatch(rf"\./dpviz/[0-9a-f]{{16}}\.{re.escape(name)}", address)
    plain, packed = served(f"/some/base{address[1:]}", ""), served(address[1:], "gzip, br")
    assert plain is not None and packed is not None
    assert gzip.decompress(packed.body) == plain.body
    assert name == PLOTLY or bytes(plain.body).endswith((HERE / name).read_bytes())
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    for answer in (plain, packed):
        assert answer.headers["content-type"].startswith(("text/css", "text/javascript"))
        assert "immutable" in answer.headers["cache-control"]
    assert served(re.sub("[0-9a-f]{16}", "0" * 16, address[1:]), "") is None


@pytest.mark.parametrize("path", ["/dpviz/", "/dpviz/frame.py", "/dpviz/../app.py", "/dpviz/0.frame.py", "/figure.js"])
def test_nothing_else_is_served(path: str) -> None:
    assert served(path, "gzip") is None
