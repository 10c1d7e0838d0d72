"""The scripts and the style sheet, which a browser fetches once and keeps: no run sends them again."""

import gzip
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from starlette.responses import Response

from dpviz.charts.count_table import STYLE as TABLE_STYLE

FOLDER = "dpviz"
"""What the address of each file begins with, relative to the page: below a base path it is still found."""

HERE = Path(__file__).parent
PLOTLY = "plotly.js"


NAMES = frozenset({PLOTLY, *(path.name for path in HERE.iterdir() if path.suffix in {".js", ".css"})})


def _text(name: str) -> bytes:
    if name == PLOTLY:
        return files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return (TABLE_STYLE.encode() if name.endswith(".css") else b"") + (HERE / name).read_bytes()


@cache
def address_of(name: str) -> str:
    """Where the browser finds a file: with a hash of what it holds, so that it may be kept for good."""
    return f"./{FOLDER}/{sha256(_text(name)).hexdigest()[:16]}.{name}"


@cache
def _packed(name: str) -> bytes:
    """Compressed once per process."""
    return gzip.compress(_text(name), compresslevel=6, mtime=0)


def served(path: str, accepted: str) -> Response | None:
    """The answer to who asks for a file and takes what is `accepted`, None where `path` is the address of none."""
    name = path.rpartition("/")[2].partition(".")[2]
    if name not in NAMES or not path.endswith(address_of(name)[1:]):
        return None
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    headers = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
    if "gzip" not in accepted:
        return Response(_text(name), media_type=kind, headers=headers)
    return Response(_packed(name), media_type=kind, headers=headers | {"content-encoding": "gzip"})
