"""The rooms of one server: what is known of each at present, and who may ask for how much."""

import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from dpviz.teaching.rooms.class_intervals import Reports
from dpviz.teaching.rooms.codes import Limit
from dpviz.teaching.rooms.modes import MODES
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import LASTS, Room, RoomProblem, Store

PRESENT_S = 0.3  # age up to which what is known of a room counts as present: two hundred phones ask every second
MAX_CACHED_ROOMS = 2_000
SIMULATED_REPORTS = 2  # simulated seats that report at a time
EVERYBODY = ""
ENDED = "This room has ended. What was reported in it has been deleted."

VERSIONS: dict[str, Callable[[Room], str]] = {
    "version": lambda room: f"{room.version}",
    "all": lambda room: f"{room.version} {room.seats} {room.reports}",
}
"""What must change for a page to be drawn again: a seat's, and the projector's, which shows who has come as well."""


class RoomService:
    """The rooms of a database, as the readers of one server ask for them.

    Parameters
    ----------
    store : Store

    Notes
    -----
    Readers are counted by network, such as a school's. `known_networks` have opened or entered a room: however many
    wrong codes come from there, the class gets in.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.wrong_codes = Limit(30, 60.0)
        self.wrong_codes_in_all = Limit(200, 60.0)
        self.unknown_rooms = Limit(100, 60.0)  # that browsers ask for, since each is looked for
        self.opened_rooms = Limit(20, 3600.0)
        self.known_networks = Limit(1, LASTS)
        self._changes: Counter[str] = Counter()  # how often this process has changed a room
        self._room_at = lru_cache(maxsize=MAX_CACHED_ROOMS)(lambda code, _moment, _changes: store.room(code))
        self._code_of = lru_cache(maxsize=MAX_CACHED_ROOMS)(self._find_code)

    def present(self, code: str) -> Room | None:
        """Room as it is now, or was a moment ago; None where there is none."""
        room: Room | None = self._room_at(code, int(time.monotonic() / PRESENT_S), self._changes[code])
        return room

    def forget(self, code: str) -> None:
        """Have a room read anew: it was changed here."""
        self._changes[code] += 1

    def enter(self, code: str, network: str) -> Room:
        """Room with a code that a reader types or opens.

        Raises
        ------
        RoomProblem
            If there is none, or too many codes from this network have been wrong lately.
        """
        now = time.monotonic()
        is_known = self.known_networks.counted(f"{network} {code}", now) > 0
        is_free = self.wrong_codes.free(network, now) and self.wrong_codes_in_all.free(EVERYBODY, now)
        if not (is_known or is_free):
            raise RoomProblem("Too many wrong codes have come from your network. Wait a minute, then try again.")
        room = self.present(code)
        if room is None:
            self.wrong_codes.take(network, now)
            self.wrong_codes_in_all.take(EVERYBODY, now)
            raise RoomProblem(
                "There is no room with this code. Look at it once more, or ask your teacher for the link."
            )
        self.known_networks.take(f"{network} {code}", now)
        return room

    def open(self, settings: RoomSettings, simulated: int, network: str) -> tuple[str, str]:
        """Open a room whose first seats are `simulated`; its code and the token of its teacher."""
        if not self.opened_rooms.take(network, time.monotonic()):
            raise RoomProblem("Many rooms have been opened from your network. Wait an hour, or use one that is open.")
        code, token = self.store.open(settings, simulated)
        self.known_networks.take(f"{network} {code}", time.monotonic())
        return code, token

    def watched(self, watch: str, network: str) -> Room | None:
        """Room by the name that nobody can guess; None if there is none, or too many such were asked for."""
        try:
            return self.present(self._code_of(watch, network))
        except KeyError:
            return None

    def _find_code(self, watch: str, network: str) -> str:
        """Code of a room; a KeyError, which is not cached, where there is none."""
        now = time.monotonic()
        code = self.store.watched(watch) if self.unknown_rooms.free(network, now) else None
        if code is None:
            self.unknown_rooms.take(network, now)
            raise KeyError(watch)
        return code

    def change(self, code: str, token: str, change: Callable[[RoomSettings], RoomSettings]) -> None:
        """Change a room, for its teacher, from its settings at this moment."""
        _, before = require_open(self.store.room(code))
        after = change(before)
        if after != before:
            self.store.change(code, token, after)
            self.forget(code)

    def end(self, code: str, token: str) -> None:
        """End a room, for its teacher."""
        self.store.end(code, token)
        self.forget(code)

    def guess(self, code: str, number: int, seat: int, guess: int) -> None:
        """Report the guess of a seat in the round with this number, unless the answer was told in the meantime."""
        self.forget(code)
        room = self.present(code)
        if room is not None and room.settings is not None and not room.settings.revealed:
            self.store.report(code, number, seat, guess)

    def simulate_reports(self, room: Room, settings: RoomSettings, reports: Reports) -> bool:
        """Have some simulated seats report; whether there are more."""
        mode = MODES[settings.mode]
        if mode.waits and settings.revealed:
            return False
        missing = sorted(set(range(1, room.simulated + 1)) - {seat for seat, _ in reports})
        for seat in missing[:SIMULATED_REPORTS]:
            self.store.report(room.code, settings.round, seat, mode.simulated(settings, seat))
        self.forget(room.code)
        return bool(missing)


def require_open(room: Room | None) -> tuple[Room, RoomSettings]:
    """Return a room and its settings; a RoomProblem where it has ended."""
    if room is None or room.settings is None:
        raise RoomProblem(ENDED)
    return room, room.settings
