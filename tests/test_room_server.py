"""Two servers on one database serve one room: joining, reporting, the teacher's changes, a kill and the return."""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from dpviz.teaching.rooms.codes import new_token
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import Store
from pages.experiment.rooms import ADDRESS
from tests.benchmarks.rooms import measure
from tests.browser import started_app
from tests.postgres import MISSING, postgres_programs, running_postgres

SEATS = 4
WAITS = {
    "join, all at once", "see the start", "have reported", "stand on the projector", "see ε = 2", "see ε = 0.5",
    "see the truth", "are back on their seats",
}  # fmt: skip


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/rooms.sqlite"
    elif postgres_programs() is None:
        pytest.skip(MISSING)
    else:
        with running_postgres() as address:
            yield address


def test_two_servers_serve_one_room_and_a_kill_loses_nothing(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seats sit at both servers in turn, then at one that has been started anew.

    How long each waits is printed by ``tests.benchmarks.rooms``.
    """
    monkeypatch.setenv(ADDRESS, database)
    found = measure(SEATS, 2, database, rest=0.0)
    assert found.waits.keys() == WAITS
    assert all(len(found.waits[name]) == SEATS for name in WAITS if "reported" not in name and "stand" not in name)
    assert (found.lost, found.moved) == (0, 0)


def told(address: str, path: str) -> tuple[int, str, http.client.HTTPMessage]:
    try:
        answer = urllib.request.urlopen(f"{address}/{path}")
    except urllib.error.HTTPError as refused:
        answer = refused
    return answer.status, answer.read().decode(), answer.headers


def test_news_of_a_room_are_told_to_who_knows_its_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anybody has opened the page, too: the browsers of a class ask a server that has just been started."""
    database = f"sqlite:///{tmp_path}/rooms.sqlite"
    monkeypatch.setenv(ADDRESS, database)
    engine = create_engine(database)
    store = Store(engine)
    code, _ = store.open(RoomSettings.fresh(seed=1))
    store.take_seat(code)
    room = store.room(code)
    assert room is not None
    with started_app() as (address, _):
        status, said, headers = told(address, f"dpviz/room/{room.watch}/version")
        assert (status, said, headers["cache-control"]) == (200, "1", "no-store")
        assert "default-src 'self'" in headers["content-security-policy"]
        assert told(address, f"experiment/dpviz/room/{room.watch}/all")[:2] == (200, "1 1 0")
        asked = [told(address, f"dpviz/room/{new_token()}/version")[0] for _ in range(120)]
        assert asked == [404] * 120
        assert told(address, f"dpviz/room/{room.watch}/version")[0] == 200  # whoever knows it is not kept out
        for path in (code, f"{code}/version", f"{room.watch}/token", f"{room.watch}/version/..", "%3Cb%3E/version"):
            status, said, _ = told(address, f"dpviz/room/{path}")
            assert status in (200, 400, 404)
            assert not re.fullmatch(r"\d+", said)  # at most Streamlit's own page
    engine.dispose()
