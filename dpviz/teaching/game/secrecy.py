"""Rounds that follow from a seed and from a key of the server: who knows the seed alone knows nothing of them.

The number that a game is drawn from is an HMAC of what the players know; its SHA-256 is shown before the first round,
and the number itself after the last one, so that everybody can see that nothing was changed in between.
"""

import hashlib
import hmac
import re

SHORTEST_KEY = 16  # Characters of a key that somebody sets: a shorter one could be tried out
SEAL_DIGITS = 16  # Hexadecimal digits of the seal of locked guesses: one in 10¹⁹ guesses at a seal holds
GAME_NUMBER = re.compile(r"[0-9a-f]{64}")


def checked_key(text: str) -> bytes:
    """Return a key of the server; a ValueError in a sentence where it is too short, which does not repeat it.

    >>> checked_key("sixteen letters.")
    b'sixteen letters.'
    """
    if len(text) < SHORTEST_KEY:
        raise ValueError(f"the key of the game must have at least {SHORTEST_KEY} characters; got {len(text)}.")
    return text.encode()


def derived_number(key: bytes, asked: str) -> str:
    """Return the number of a game as 64 hexadecimal digits: HMAC-SHA-256 of what is asked, under the server's key."""
    return _mac(key, f"rounds of {asked}")


def commitment(number: str) -> str:
    """Return what can be shown of a number before the game is over: its SHA-256.

    >>> commitment("0" * 64)[:16]
    '60e05bd1b195af2f'
    """
    return hashlib.sha256(number.encode()).hexdigest()


def seal_of(key: bytes, locked: str) -> str:
    """Return what proves that these guesses were locked on this server."""
    return _mac(key, f"seal of {locked}")[:SEAL_DIGITS]


def holds_seal(key: bytes, locked: str, seal: str) -> bool:
    """Return whether a seal is that of these guesses."""
    return hmac.compare_digest(seal_of(key, locked).encode(), seal.encode("utf-8", "replace"))


def seed_of(number: str) -> int:
    """Return the seed that a number is; a ValueError in a sentence where it is none."""
    if not GAME_NUMBER.fullmatch(number):
        raise ValueError(f"number must be 64 hexadecimal digits, as a game shows them; got {len(number)} characters.")
    return int(number, 16)


def _mac(key: bytes, words: str) -> str:
    return hmac.new(key, words.encode(), hashlib.sha256).hexdigest()
