"""Several processes of the app behind the proxy that is shipped for a campus, for tests and benchmarks."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.browser import ROOT, free_port, started_app

FOLDER = ROOT / ".streamlit" / "campus"
PATH = "dpviz"
"""What every address begins with."""

PORTS = range(8510, 8599)
"""Those that the cookie of the shipped configuration can name, without those that somebody may have started.

The last one that it can name, 8599, is that of no process."""

MISSING = "nginx is not installed (apt-get install nginx)"
MAIN = """\
{user}daemon off;
pid {folder}/nginx.pid;
error_log {folder}/main.log;
worker_processes 2;
worker_rlimit_nofile 16000;
events {{ worker_connections 4000; }}
http {{
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/dpviz.conf;
}}
"""
"""What Debian's package brings around the shipped file, with all that is written in one folder."""


TRIES = 4


@dataclass
class Campus:
    """The address of the proxy, where all is written, and of each process behind it its port and its number."""

    address: str
    folder: Path
    running: contextlib.ExitStack
    processes: dict[int, int] = field(default_factory=dict)
    proxy: int = 0

    @property
    def host(self) -> str:
        """Name and port of the proxy."""
        return self.address.removeprefix("http://").partition("/")[0]

    def start(self, port: int = 0) -> None:
        """Start a process of the app at a port where it was killed, or at another one."""
        for again in reversed(range(TRIES)):
            here = port or free_port(PORTS)
            log = self.running.enter_context((self.folder / f"{here}.log").open("ab"))
            try:
                _, number = self.running.enter_context(started_app(port=here, path=PATH, log=log))
            except RuntimeError:  # another campus of these tests has taken the port meanwhile
                if not again:
                    raise
            else:
                self.processes[here] = number
                return

    def kill(self, port: int) -> None:
        """Kill the process at a port: it cannot do anything about it."""
        os.kill(self.processes[port], signal.SIGKILL)

    @property
    def logged(self) -> str:
        """All that the proxy and the processes have said."""
        return "\n".join(path.read_text("utf-8", "replace") for path in sorted(self.folder.glob("*log")))


def nginx() -> str | None:
    """The proxy's program, or None."""
    return shutil.which("nginx", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")


def configuration(port: int, ports: list[int], folder: Path, refilled: str | None = None) -> str:
    """The shipped file with this port, these processes and this folder for all that is written.

    `refilled` is how often what an address may ask for at once is refilled by one session or file, such as 6r/m.
    """
    text = (FOLDER / "nginx.conf").read_text("utf-8")
    first, second = (f"    server 127.0.0.1:{one} max_fails=1 fail_timeout=2s;\n" for one in (8501, 8502))
    for old, new in (
        (first + second, "".join(first.replace("8501", str(one)) for one in ports)),
        ("listen 8080;", f"listen 127.0.0.1:{port};"),
        ("/var/log/nginx/", f"{folder}/"),
        ("/var/lib/nginx/dpviz", f"{folder}/cache"),
        ("rate=20r/s", f"rate={refilled or '20r/s'}"),
        ("rate=10r/s", f"rate={refilled or '10r/s'}"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def running_campus(processes: int = 2, refilled: str | None = None) -> Iterator[Campus]:
    """The proxy on a free port before so many processes, as `configuration` has it."""
    program = nginx()
    assert program is not None, MISSING
    folder = Path(tempfile.mkdtemp(prefix="dpviz-campus-"))
    with contextlib.ExitStack() as running:
        running.callback(shutil.rmtree, folder, ignore_errors=True)
        campus = Campus(f"http://127.0.0.1:{free_port()}/{PATH}", folder, running)
        for _ in range(processes):
            campus.start()
        (folder / "dpviz.conf").write_text(
            configuration(int(campus.host.partition(":")[2]), [*campus.processes], folder, refilled), "utf-8"
        )
        user = "user root;\n" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(MAIN.format(folder=folder, user=user), "utf-8")
        with subprocess.Popen([program, "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL) as proxy:
            try:
                _wait_for(campus, proxy)
                campus.proxy = proxy.pid
                yield campus
            finally:
                proxy.terminate()


def _wait_for(campus: Campus, proxy: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 10
    while not (campus.folder / "nginx.pid").exists():
        if proxy.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"The proxy did not start: {campus.logged}")
        time.sleep(0.02)
