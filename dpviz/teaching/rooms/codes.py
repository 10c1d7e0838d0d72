"""Codes of rooms, which people type, and tokens of seats and of teachers, which nobody can guess."""

import hashlib
import ipaddress
import re
import secrets
from collections import deque

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""What a code is made of: none of 0 and O, 1 and I, which are mistaken for each other."""

CODE_LENGTH = 6
"""With 32⁶ ≈ 10⁹ codes, 500 rooms and at most 200 wrong codes a minute, a room is found by chance in a week."""

TOKEN = re.compile(r"[A-Za-z0-9_-]{22,64}")


def new_code() -> str:
    """Return a code drawn from all."""
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def read_code(text: str) -> str | None:
    """Return the code that somebody has typed, with blanks, hyphens or small letters; None where it is none.

    >>> read_code(" abc-d23 "), read_code("abc"), read_code("<b>abc"), read_code("ABCDE0")
    ('ABCD23', None, None, None)
    """
    code = re.sub(r"[\s-]", "", text[:40]).upper()
    return code if len(code) == CODE_LENGTH and set(code) <= set(LETTERS) else None


def spaced(code: str) -> str:
    """Return a code as it is shown.

    >>> spaced("ABCD23")
    'ABC D23'
    """
    return f"{code[:3]} {code[3:]}"


def new_token() -> str:
    """Return a token of 128 random bits."""
    return secrets.token_urlsafe(16)


def fingerprint(token: str) -> str:
    """Return what is stored of a token: whoever reads the database cannot make the token of it.

    >>> len(fingerprint("x")), fingerprint("x") == fingerprint("y")
    (64, False)
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def network_of(address: str) -> str:
    """Return by what somebody with this address is counted: of IPv6 a house has 2⁶⁴ addresses or more, which are one.

    >>> network_of("192.0.2.7"), network_of("2001:db8:1:2:3:4:5:6"), network_of("::ffff:192.0.2.7"), network_of("here")
    ('192.0.2.7', '2001:db8:1:2::/64', '192.0.2.7', 'here')
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found), 64), strict=False))


class Limit:
    """At most `most` times in `seconds` for each of those who are counted, of whom the latest `remembered` are known.

    >>> limit = Limit(2, 60.0)
    >>> [limit.take("a", now) for now in (0.0, 1.0, 2.0, 61.0)]
    [True, True, False, True]
    """

    def __init__(self, most: int, seconds: float, remembered: int = 10_000) -> None:
        self._most, self._seconds, self._remembered = most, seconds, remembered
        self._times: dict[str, deque[float]] = {}

    def free(self, who: str, now: float) -> bool:
        """Return whether once more is allowed."""
        times = self._times.get(who)
        while times and times[0] <= now - self._seconds:
            times.popleft()
        return not times or len(times) < self._most

    def counted(self, who: str, now: float) -> int:
        """Return how many times there have been."""
        self.free(who, now)
        return len(self._times.get(who, ()))

    def take(self, who: str, now: float) -> bool:
        """Count once more where that is allowed; returns whether it is."""
        if not self.free(who, now):
            return False
        times = self._times.pop(who, None) or deque(maxlen=self._most)
        times.append(now)
        self._times[who] = times  # the youngest comes last
        while len(self._times) > self._remembered:
            self._times.pop(next(iter(self._times)))
        return True
