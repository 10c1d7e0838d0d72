"""Several processes of the app behind the proxy that is shipped for a campus, for tests and benchmarks."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.browser import ROOT, free_port, started_app

FOLDER = ROOT / ".streamlit" / "campus"
PATH = "dpviz"
"""Base path of the app."""

SHIPPED_PORTS = (8501, 8502)
MISSING = "nginx is not installed (apt-get install nginx)"
START_TIMEOUT_S = 10.0
MAX_STARTS = 4  # of a process whose port another test may have taken meanwhile

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
"""What Debian's package has around the shipped file, with all that nginx writes in one folder."""


@dataclass
class Campus:
    """URL of the proxy, the folder of its files, and the processes behind it: numbers by port."""

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
        """Start a process of the app at the port of one that was killed, or at another one."""
        for attempt in range(MAX_STARTS):
            chosen = port or free_port()
            log = self.running.enter_context((self.folder / f"{chosen}.log").open("ab"))
            try:
                _, process = self.running.enter_context(started_app(port=chosen, path=PATH, log=log))
            except RuntimeError:
                if attempt == MAX_STARTS - 1:
                    raise
            else:
                self.processes[chosen] = process
                return

    def kill(self, port: int) -> None:
        """Kill the process at a port without a warning."""
        os.kill(self.processes[port], signal.SIGKILL)

    @property
    def logged(self) -> str:
        """What the proxy and the processes have logged."""
        return "\n".join(path.read_text("utf-8", "replace") for path in sorted(self.folder.glob("*log")))


def nginx() -> str | None:
    """Path of the proxy's program, or None."""
    return shutil.which("nginx", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")


def configuration(port: int, ports: Sequence[int], folder: Path, rate: str | None = None) -> str:
    """Configuration of the proxy.

    Parameters
    ----------
    port : int
        Of the proxy.
    ports : sequence of int
        Of the processes, in place of those in the shipped file.
    folder : Path
        For all that nginx writes.
    rate : str, optional
        How fast new sessions and files are allowed again once an address has used up its burst, such as 6r/m.

    Returns
    -------
    str
    """
    text = (FOLDER / "nginx.conf").read_text("utf-8")
    server = "    server 127.0.0.1:{port} max_fails=1 fail_timeout=2s;\n"
    cookie = "    {port}     127.0.0.1:{port};\n"
    changes = {"listen 8080;": f"listen 127.0.0.1:{port};", "/var/log/nginx/": f"{folder}/"}
    changes["/var/lib/nginx/dpviz"] = f"{folder}/cache"
    for line in (server, cookie):
        shipped, used = ("".join(line.format(port=each) for each in several) for several in (SHIPPED_PORTS, ports))
        changes[shipped] = used
    for limit in ("rate=20r/s", "rate=10r/s"):
        changes[limit] = f"rate={rate}" if rate else limit
    for shipped, used in changes.items():
        assert shipped in text, shipped
        text = text.replace(shipped, used)
    return text


@contextlib.contextmanager
def running_campus(processes: int = 2, rate: str | None = None) -> Iterator[Campus]:
    """Run the proxy on a free port before some processes; `rate` as in `configuration`."""
    program = nginx()
    assert program is not None, MISSING
    folder = Path(tempfile.mkdtemp(prefix="dpviz-campus-"))
    with contextlib.ExitStack() as running:
        running.callback(shutil.rmtree, folder, ignore_errors=True)
        port = free_port()
        campus = Campus(f"http://127.0.0.1:{port}/{PATH}", folder, running)
        for _ in range(processes):
            campus.start()
        (folder / "dpviz.conf").write_text(configuration(port, [*campus.processes], folder, rate), "utf-8")
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
    deadline = time.monotonic() + START_TIMEOUT_S
    while not (campus.folder / "nginx.pid").exists():
        if proxy.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"The proxy did not start: {campus.logged}")
        time.sleep(0.02)
