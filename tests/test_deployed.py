"""What is shipped for a campus says the same everywhere: the lock, the images, the services and the units."""

import configparser
import importlib.metadata
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pages.room.server import ADDRESS
from tests.browser import ROOT
from tests.campus import FOLDER, PATH

PORTS = re.findall(r"server 127\.0\.0\.1:(\d+) max_fails", (FOLDER / "nginx.conf").read_text("utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", "")
UNIT = FOLDER / "dpviz@.service"


def direct() -> list[Requirement]:
    return [Requirement(line) for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines()]


def locked() -> dict[str, tuple[Requirement, list[str]]]:
    """Each line of the lock: what is required, and its hashes."""
    lines = (FOLDER / "requirements.lock").read_text("utf-8").replace("\\\n", "").splitlines()
    found = [line.partition("--hash") for line in lines if not line.startswith("#")]
    read = [(Requirement(head), (mark + rest).split()) for head, mark, rest in found]
    return {canonicalize_name(one.name): (one, hashes) for one, hashes in read}


def test_the_lock_pins_every_direct_dependency_and_all_that_these_need_by_hashes() -> None:
    lock = locked()
    for asked in direct():
        assert str(asked.specifier) == str(lock[canonicalize_name(asked.name)][0].specifier), asked
        assert str(asked.specifier).startswith("==")
    for one, hashes in lock.values():
        assert str(one.specifier).startswith("==")
        assert hashes
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", said) for said in hashes)
    waiting, seen = direct(), set[str]()
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        assert name in lock, f"{asked} is not in the lock"
        for line in importlib.metadata.requires(asked.name) or []:
            needed = Requirement(line)
            wanted = needed.marker is None or any(needed.marker.evaluate({"extra": one}) for one in ("", *asked.extras))
            if wanted and str(needed) not in seen:
                seen.add(str(needed))
                waiting.append(needed)
    assert len(seen) > 20


def test_the_images_install_the_lock_and_run_as_nobody_with_a_health_check() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    assert [stage.split()[2] for stage in stages] == ["proxy", "app"]
    for stage in stages:
        (user,) = re.findall(r"^USER (.*)$", stage, re.MULTILINE)
        assert user in ("www-data", "dpviz")
        for line in re.findall(r"^COPY (.*)$", stage, re.MULTILINE):
            *sources, _ = line.split()
            assert all((ROOT / source).exists() for source in sources), line
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"].removeprefix(
        ">="
    )
    assert stages[1].startswith(f"python:{wanted}-slim")
    assert "--require-hashes" in stages[1]
    (check,) = re.findall(r"^HEALTHCHECK.* CMD (\[.*\])$", stages[1], re.MULTILINE)
    assert "_stcore/health" in compile(json.loads(check)[2], "health", "exec").co_consts.__repr__()
    assert json.loads(re.findall(r"^CMD (.*)$", stages[1], re.MULTILINE)[0])[1:] == ["-m", "streamlit", "run", "app.py"]


def test_the_services_are_the_processes_that_the_proxy_asks() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    processes = [one for name, one in services.items() if name.startswith("process")]
    settings = [one["environment"] for one in processes]
    assert [one["STREAMLIT_SERVER_PORT"] for one in settings] == PORTS
    assert {one["STREAMLIT_SERVER_BASE_URL_PATH"] for one in settings} == {PATH}
    assert {one["STREAMLIT_SERVER_ADDRESS"] for one in settings} == {"127.0.0.1"}
    assert all(one["network_mode"] == "service:proxy" and "ports" not in one for one in processes)
    assert all(one["build"]["target"] in DOCKERFILE for one in services.values())
    assert services["proxy"]["ports"] == ["${DPVIZ_PORT:-8080}:8080"]
    assert "listen 8080;" in (FOLDER / "nginx.conf").read_text("utf-8")
    assert f"ENV {ADDRESS}=sqlite:////rooms/rooms.sqlite" in DOCKERFILE
    assert all(one["volumes"] == ["rooms:/rooms"] for one in processes)


def test_a_cookie_names_the_processes_and_no_other_port() -> None:
    text = (FOLDER / "nginx.conf").read_text("utf-8")
    (cookie_map,) = re.findall(r"map \$cookie_dpviz_process \$dpviz_process \{(.*?)\}", text, re.DOTALL)
    assert re.findall(r"(\d+) +127\.0\.0\.1:(\d+);", cookie_map) == [(port, port) for port in PORTS]
    assert re.findall(r"default +(\w+);", cookie_map) == ["dpviz_any"]


def test_the_unit_is_sound_and_starts_the_same_process(tmp_path: Path) -> None:
    text = UNIT.read_text("utf-8")
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(text.replace("\\\n", ""))
    command = shlex.split(read["Service"]["ExecStart"])
    options = ["--server.address=127.0.0.1", "--server.port=%i", f"--server.baseUrlPath={PATH}"]
    assert command == ["/opt/dpviz/.venv/bin/python", "-m", "streamlit", "run", "app.py", *options]
    assert f"{ADDRESS}=sqlite:" in text
    assert " ".join(f"dpviz@{port}" for port in PORTS) in text
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed (apt-get install systemd)")
    unit = tmp_path / f"dpviz@{PORTS[0]}.service"
    unit.write_text(text.replace(command[0], sys.executable), "utf-8")
    for asked in (["verify", "--man=no"], ["security", "--offline=true", "--threshold=20"]):
        done = subprocess.run(["systemd-analyze", *asked, str(unit)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-500:] + done.stderr
