"""Nothing leaves the machine, whichever page is read; and what a reader asks or brings is in no log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from dpviz.desk.addresses import SETTINGS
from pages.components.navigation import EVERY_PAGE
from tests.benchmarks.crowd import Reader
from tests.benchmarks.rooms import finished
from tests.browser import ROOT, started_app
from tests.closed_server import LEAVES

MARK = "0.3133731"
"""What only these readers ask."""


def test_who_connects_to_another_host_is_refused_and_named() -> None:
    """So that a silent log tells something."""
    code = (
        "import sys, socket; from tests.closed_server import refuse; sys.addaudithook(refuse); socket.create_connection"
    )
    for address in ("('192.0.2.1', 80)", "('out.invalid', 80)"):
        done = subprocess.run([sys.executable, "-c", f"{code}({address})"], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode != 0
        assert f"{LEAVES} socket" in done.stderr


def test_every_page_is_read_on_a_server_without_a_way_out_and_its_log_has_nothing_of_what_was_asked(
    tmp_path: Path,
) -> None:
    """Each is opened with addresses in which every setting is wrong or a number of one's own, and moved."""
    log = tmp_path / "log"
    with log.open("wb") as said, started_app("tests.closed_server", log=said) as (address, _):
        for page in EVERY_PAGE:
            reader = Reader(page.path, 1)
            reader.query = urlencode({key: MARK for key in SETTINGS if key.startswith(page.prefix)})
            finished(reader.visit(address.removeprefix("http://"), 2))
            assert reader.firsts
    words = log.read_text("utf-8", "replace")
    assert "You can now view" in words
    assert LEAVES not in words
    assert MARK not in words
    assert "Traceback" not in words
