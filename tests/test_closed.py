"""Nothing leaves the machine, whichever page is read, and no log tells what a reader asked."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import urlencode

from pages.ui.navigation import PAGES
from tests.benchmarks.reader import Reader, run_in_thread
from tests.browser import ROOT, started_app
from tests.closed_server import LEAVES

MARK = "0.3133731"
"""A number that nobody else asks for."""


def test_a_connection_to_another_host_is_refused_and_named() -> None:
    """So a silent log means something."""
    code = "import sys, socket; from tests.closed_server import refuse; sys.addaudithook(refuse); "
    for address in ("('192.0.2.1', 80)", "('out.invalid', 80)"):
        command = [sys.executable, "-c", f"{code}socket.create_connection({address})"]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert run.returncode != 0
        assert f"{LEAVES} socket" in run.stderr


def test_every_page_is_read_on_a_closed_server_and_the_log_has_nothing_of_it(tmp_path: Path) -> None:
    """Every setting in the URL is wrong or a number of one's own, and sliders are moved."""
    path = tmp_path / "log"
    with path.open("wb") as log, started_app("tests.closed_server", log=log) as (url, _):
        for page in PAGES:
            settings = import_module(f"pages.{page.module}").SETTINGS
            reader = Reader(f"{page.path}?{urlencode(dict.fromkeys(settings, MARK))}", seed=1)
            run_in_thread(reader.visit(url.removeprefix("http://"), 2))
            assert reader.openings
    text = path.read_text("utf-8", "replace")
    assert "You can now view" in text
    for unwanted in (LEAVES, MARK, "Traceback"):
        assert unwanted not in text, text
