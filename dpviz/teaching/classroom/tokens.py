"""Codes of rooms, which people type; tokens of seats and teachers, which nobody can guess; and rate limits."""

import hashlib
import ipaddress
import re
import secrets
import time
from collections import Counter

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Letters of a code: none of 0 and O, 1 and I, which are mistaken for each other."""

CODE_LENGTH = 6
"""With 32⁶ ≈ 10⁹ codes, 500 rooms and at most 200 wrong codes a minute, a room is found by chance in a week."""

TOKEN = re.compile(r"[A-Za-z0-9_-]{22,64}")


def new_code() -> str:
    """Draw a code."""
    return "".join(secrets.choice(LETTERS) for _ in range(CODE_LENGTH))


def read_code(text: str) -> str | None:
    """Return the code that somebody has typed, with blanks, hyphens or small letters; None where it is none.

    >>> read_code(" abc-d23 "), read_code("abc"), read_code("<b>abc"), read_code("ABCDE0")
    ('ABCD23', None, None, None)
    """
    code = re.sub(r"[\s-]", "", text[:40]).upper()
    return code if len(code) == CODE_LENGTH and set(code) <= set(LETTERS) else None


def format_code(code: str) -> str:
    """Return a code as it is shown: ``ABC D23``."""
    return f"{code[:3]} {code[3:]}"


def new_token() -> str:
    """Draw a token of 128 random bits."""
    return secrets.token_urlsafe(16)


def hash_token(token: str) -> str:
    """Return what is stored of a token: whoever reads the database cannot make the token of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def network_of(address: str) -> str:
    """Return by what a reader is counted: of IPv6 a house has 2⁶⁴ addresses or more, which are one.

    >>> network_of("192.0.2.7"), network_of("2001:db8:1:2:3:4:5:6"), network_of("::ffff:192.0.2.7"), network_of("here")
    ('192.0.2.7', '2001:db8:1:2::/64', '192.0.2.7', 'here')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed), 64), strict=False))


class RateLimit:
    """At most `maximum` events of a key in each period of `period_s` seconds; all are forgotten at its end.

    >>> limit = RateLimit(2, 60.0)
    >>> [limit.count("a", now) for now in (0.0, 1.0, 2.0, 61.0)]
    [True, True, False, True]
    """

    def __init__(self, maximum: int, period_s: float) -> None:
        self._maximum, self._period_s, self._period = maximum, period_s, 0.0
        self._counts: Counter[str] = Counter()

    def is_free(self, key: str, now: float | None = None) -> bool:
        """Whether another event is allowed."""
        period = (time.monotonic() if now is None else now) // self._period_s
        if period != self._period:
            self._period, self._counts = period, Counter()
        return self._counts[key] < self._maximum

    def count(self, key: str, now: float | None = None) -> bool:
        """Count an event where it is allowed; returns whether it is."""
        is_free = self.is_free(key, now)
        self._counts[key] += is_free
        return is_free
