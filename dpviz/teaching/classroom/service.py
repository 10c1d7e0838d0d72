"""The rooms of one server: what is known of each at present, and who may ask for how much."""

import time
from collections.abc import Callable
from functools import lru_cache

from dpviz.core.formatting import spell_count
from dpviz.teaching.classroom.results import Reports, guess_task
from dpviz.teaching.classroom.settings import RoomSettings
from dpviz.teaching.classroom.store import ENDED, Room, RoomProblem, RoomStore
from dpviz.teaching.classroom.tokens import RateLimit

CACHE_S = 0.3  # age up to which what is known of a room counts as present: two hundred phones ask every second
MAX_CACHED_ROOMS = 2_000
MAX_KNOWN = 20_000  # pairs of a network and a room that it has entered: all are forgotten beyond
N_SIMULATED = 2  # simulated seats that report at a time

VERSIONS: dict[str, Callable[[Room], str]] = {
    "version": lambda room: f"{room.version}",
    "all": lambda room: f"{room.version} {room.seats} {room.reports}",
}
"""What must change for a page to be drawn again: a seat's, and the projector's, which shows who has come as well."""


class RoomService:
    """The rooms of a database, as the readers of one server ask for them.

    Readers are counted by network, such as a school's. However many wrong codes come from a network, it gets into a
    room that it has entered or opened before.
    """

    def __init__(self, store: RoomStore) -> None:
        self.store = store
        self.wrong_codes = RateLimit(30, 60.0)
        self.wrong_codes_in_all = RateLimit(200, 60.0)
        self.unknown_rooms = RateLimit(100, 60.0)  # that browsers watch, since each is looked for
        self.opened_rooms = RateLimit(20, 3600.0)
        self.taken_seats = RateLimit(200, 60.0)  # of a room of 300: one network does not fill it at once
        self._known: set[tuple[str, str]] = set()  # networks and codes
        self._room_at = lru_cache(maxsize=MAX_CACHED_ROOMS)(lambda code, _moment: store.room(code))
        self._codes: dict[str, str] = {}  # by the name that browsers watch

    def present(self, code: str) -> Room | None:
        """Room as it was a moment ago; None where there is none."""
        room: Room | None = self._room_at(code, int(time.monotonic() / CACHE_S))
        return room

    def enter(self, code: str, network: str) -> Room:
        """Room with a code that a reader types or opens; a RoomProblem where there is none, or many were wrong."""
        is_free = self.wrong_codes.is_free(network) and self.wrong_codes_in_all.is_free("")
        if not (is_free or (network, code) in self._known):
            raise RoomProblem("Too many wrong codes have come from your network. Wait a minute, then try again.")
        room = self.present(code)
        if room is None:
            self.wrong_codes.count(network)
            self.wrong_codes_in_all.count("")
            raise RoomProblem(
                "There is no room with this code. Look at it once more, or ask your teacher for the link."
            )
        self._note_known(network, code)
        return room

    def open(self, settings: RoomSettings, simulated: int, network: str) -> tuple[str, str]:
        """Open a room whose first seats are simulated; its code and the token of its teacher."""
        if not self.opened_rooms.count(network):
            raise RoomProblem("Many rooms have been opened from your network. Wait an hour, or use one that is open.")
        code, token = self.store.open(settings, simulated)
        self._note_known(network, code)
        return code, token

    def _note_known(self, network: str, code: str) -> None:
        if len(self._known) >= MAX_KNOWN:
            self._known.clear()
        self._known.add((network, code))

    def take_seat(self, code: str, network: str, last: int = 0) -> tuple[int, str]:
        """Number and token of a free seat, the `last` one if it is; a RoomProblem where none is, or many were taken."""
        if not self.taken_seats.count(network):
            raise RoomProblem("Many seats have been taken from your network. Wait a minute, then open the link again.")
        return self.store.take_seat(code, last)

    def watched(self, watch: str, network: str) -> Room | None:
        """Room by the name that nobody can guess; None if there is none, or too many such were asked for."""
        code = self._codes.get(watch)
        if code is None:
            code = self.store.watched(watch) if self.unknown_rooms.is_free(network) else None
            if code is None:
                self.unknown_rooms.count(network)
                return None
            if len(self._codes) >= MAX_CACHED_ROOMS:
                self._codes.clear()
            self._codes[watch] = code
        return self.present(code)

    def free_seats(self, code: str, token: str) -> str:
        """Free the seats that have not reported in this round, for the teacher; a sentence on how many there were."""
        if not (n_freed := self.store.free_seats(code, token)):
            return "No seat was free: every phone has reported in this round."
        return f"Freed: {spell_count(n_freed, 'seat')}. A phone that is still open takes its seat again."

    def guess(self, code: str, round_number: int, seat: int, guess: int) -> None:
        """Report the guess of a seat, unless the answer was told in the meantime."""
        room = self.store.room(code)
        if room is not None and room.settings is not None and not room.settings.revealed:
            self.store.report(code, round_number, seat, guess, version=room.version)

    def simulate_reports(self, room: Room, settings: RoomSettings, reports: Reports) -> bool:
        """Have some simulated seats report; whether any had not reported yet."""
        if settings.requires_answer and settings.revealed:
            return False
        missing = sorted(set(range(1, room.simulated + 1)) - {seat for seat, _ in reports})
        for seat in missing[:N_SIMULATED]:
            guess = int(guess_task(settings, seat).best) if settings.requires_answer else None
            self.store.report(room.code, settings.round, seat, guess)
        return bool(missing)


def require_open(room: Room | None) -> tuple[Room, RoomSettings]:
    """Return a room and its settings; a RoomProblem where it has ended."""
    if room is None or room.settings is None:
        raise RoomProblem(ENDED)
    return room, room.settings
