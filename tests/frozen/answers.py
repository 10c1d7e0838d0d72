"""Every answer by its key: of the compute package, of the pages, and of their files."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from tests.frozen import visits
from tests.frozen.adapter import ANSWERS, plain
from tests.frozen.cases import Case, cases

Answers = dict[str, Any]


def _key(case: Case) -> str:
    name, given = case
    if "place" in given:  # a question that is too long for a key
        return f"compute/{name} {given['place']:02d}"
    words = (f"{one}={value if isinstance(value, str) else json.dumps(value)}" for one, value in given.items())
    return f"compute/{name} {' '.join(words)}".strip()


def _answer(case: Case) -> Any:
    """The answer to a case, or the sentence that refuses it."""
    name, given = case
    try:
        return plain(ANSWERS[name](**{key: value for key, value in given.items() if key != "place"}))
    except ValueError as refused:
        return {"refused": str(refused)}


def keys() -> Iterator[str]:
    """Every key, but for those of files, which a page names when it is visited."""
    yield from map(_key, cases())
    yield from (f"page/{one.address}" for one in visits.listed())


def every(only: Sequence[str] = (), *, told: bool = True) -> Iterator[tuple[str, Any]]:
    """Yield the answers whose keys begin with one of these; where they are `told`, each is named when it is begun."""

    def wanted(*found: str) -> bool:
        return not only or any(key.startswith(tuple(only)) or one.startswith(key) for key in found for one in only)

    start = time.process_time()

    def tell(key: str) -> None:
        if told:
            print(f"{time.process_time() - start:6.1f} s  {key[:110]}", file=sys.stderr, flush=True)

    for case in cases():
        if not only or _key(case).startswith(tuple(only)):
            tell(_key(case))
            yield _key(case), _answer(case)
    for visit in visits.listed():
        asked = f"page/{visit.address}", *([f"files/{visit.address}"] if visit.files else [])
        if wanted(*asked):
            tell(asked[0])
            found: Answers = {asked[0]: (seen := visits.visited(visit)).page}
            found |= {f"files/{visit.address} {name}": text for name, text in seen.files.items()}
            yield from ((key, value) for key, value in found.items() if not only or key.startswith(tuple(only)))
