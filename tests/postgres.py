"""A PostgreSQL of one's own, for tests: started from Debian's package in a folder that is deleted."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.browser import free_port

USER = "postgres"
MISSING = "PostgreSQL is not installed (apt-get install postgresql)"


def postgres_programs() -> Path | None:
    """The folder of initdb and pg_ctl of the newest version that is installed, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: float(one.parts[4]))
    return found[-1].parent if found else None


@contextlib.contextmanager
def running_postgres() -> Iterator[str]:
    """A fresh cluster on a free port of this machine; yields the address of its database, as SQLAlchemy writes it."""
    programs = postgres_programs()
    assert programs is not None, MISSING
    port = free_port()
    folder = Path(tempfile.mkdtemp(prefix="dpviz-postgres-"))
    # It refuses to run as root: then it is the user that the package has made.
    other: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    if other:
        shutil.chown(folder, USER, USER)
    data, options = folder / "data", f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"

    def run(*command: str) -> None:
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **other)

    try:
        run(str(programs / "initdb"), "-D", str(data), "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8")
        start = ["-D", str(data), "-w", "-t", "60", "-l", str(folder / "log"), "-o", options]
        run(str(programs / "pg_ctl"), *start, "start")
        try:
            yield f"postgresql+psycopg://{USER}@127.0.0.1:{port}/postgres"
        finally:
            run(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
