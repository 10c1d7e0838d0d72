"""Known vulnerabilities of what the container installs: ``python -m tests.vulnerabilities [--lock FILE]``.

pip-audit says that nothing was found where it could ask nobody. Here an audit counts only where every line of the lock
was looked up, and the same database knows a release that is known to be vulnerable. It ends with 0 where nothing was
found, 1 where something was, which is printed, and 2 where it could not be told. `--database` is the address of one
that answers as OSV does; without it pip-audit's own are tried.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.campus import FOLDER

LOCK = FOLDER / "requirements.lock"
CANARY = "flask==0.12"
"""A release of which every database has known for years that it is vulnerable."""

SAFE, FOUND, UNTOLD = 0, 1, 2
PATIENCE = 120


def looked_up(requirements: Path, *database: str) -> dict[str, list[str]] | None:
    """The names of what is known about each requirement that was looked up; None where nobody could be asked."""
    options = ["--disable-pip", "--no-deps", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pip_audit", "-r", str(requirements), *options, *database],
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        said: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, subprocess.TimeoutExpired):
        return None
    return {one["name"]: [known["id"] for known in one["vulns"]] for one in said if "vulns" in one}


def audit(lock: Path, *database: str) -> tuple[int, str]:
    """How the audit with a database ends, and what is to be said."""
    asked = len(re.findall(r"^[A-Za-z0-9]", lock.read_text("utf-8"), re.MULTILINE))
    with tempfile.TemporaryDirectory() as folder:
        canary = Path(folder) / "canary.txt"
        canary.write_text(f"{CANARY}\n", "utf-8")
        found = looked_up(canary, *database)
    if not found or not any(found.values()):
        return UNTOLD, f"the database does not know that {CANARY} is vulnerable, or could not be asked"
    known = looked_up(lock, *database) or {}
    if len(known) != asked:
        return UNTOLD, f"of {asked} packages {len(known)} were looked up"
    bad = [f"{name}: {', '.join(ids)}" for name, ids in known.items() if ids]
    if bad:
        return FOUND, "; ".join(bad)
    return SAFE, f"nothing is known about any of {asked} packages"


def main() -> None:
    """Print how the audit ended; the exit code says it too."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lock", type=Path, default=LOCK)
    parser.add_argument("--database", default="")
    asked = parser.parse_args()
    ways = [["-s", "osv", "--osv-url", asked.database]] if asked.database else [["-s", "pypi"], ["-s", "osv"]]
    code, words = UNTOLD, ""
    for way in ways:
        code, words = audit(asked.lock, *way)
        if code != UNTOLD:
            break
    print({SAFE: "AUDITED", FOUND: "VULNERABLE", UNTOLD: "NOT AUDITED"}[code], words, sep=": ")
    sys.exit(code)


if __name__ == "__main__":
    main()
