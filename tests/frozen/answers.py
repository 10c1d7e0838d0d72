"""Every answer of the record by its key: of the compute package, of the pages, and of their files."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from tests.frozen.calls import ANSWERS, build_mechanism, plain
from tests.frozen.cases import Case, cases
from tests.frozen.visits import Visit, listed_visits, read_page

Answers = dict[str, Any]

NUMBER_KEY = "place"
"""Argument that stands for a question in its key where that is too long; no argument of the computation."""


def answer_keys() -> Iterator[str]:
    """Yield every key but those of files, which are known once their page has been read."""
    for case in cases():
        yield _case_key(case)
    for visit in listed_visits():
        yield f"page/{visit.url}"


def all_answers(prefixes: Sequence[str] = (), *, verbose: bool = True) -> Iterator[tuple[str, Any]]:
    """Yield keys and answers.

    Parameters
    ----------
    prefixes : sequence of str, optional
        Only answers whose keys begin with one of them.
    verbose : bool, optional
        Whether each key is printed to stderr before its answer is computed, with the processor time so far.

    Yields
    ------
    key : str
    answer : Any
    """
    start = time.process_time()

    def log(key: str) -> None:
        if verbose:
            print(f"{time.process_time() - start:6.1f} s  {key[:110]}", file=sys.stderr, flush=True)

    for case in cases():
        key = _case_key(case)
        if _is_selected(key, prefixes):
            log(key)
            yield key, _case_answer(case)
    for visit in listed_visits():
        if _is_visited(visit, prefixes):
            log(f"page/{visit.url}")
            for key, answer in _page_answers(visit).items():
                if _is_selected(key, prefixes):
                    yield key, answer


def _case_key(case: Case) -> str:
    name, arguments = case
    if NUMBER_KEY in arguments:
        return f"compute/{name} {arguments[NUMBER_KEY]:02d}"
    key, design = arguments.get("synthesizer", ("", {}))
    words = {**({"synthesizer": key} if key else {}), **design, **_without(arguments, "synthesizer")}
    texts = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in words.items()]
    return " ".join([f"compute/{name}", *texts])


def _case_answer(case: Case) -> Any:
    """Answer to a case, or the sentence that refuses it."""
    name, arguments = case
    try:
        mechanism = arguments.get("synthesizer")
        built = {"synthesizer": build_mechanism(*mechanism)} if mechanism else {}
        return plain(ANSWERS[name](**{**_without(arguments, NUMBER_KEY), **built}))
    except ValueError as error:
        return {"refused": str(error)}


def _without(arguments: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key != name}


def _page_answers(visit: Visit) -> Answers:
    reading = read_page(visit)
    files = {f"files/{visit.url} {name}": text for name, text in reading.files.items()}
    return {f"page/{visit.url}": reading.page, **files}


def _is_selected(key: str, prefixes: Sequence[str]) -> bool:
    return not prefixes or key.startswith(tuple(prefixes))


def _is_visited(visit: Visit, prefixes: Sequence[str]) -> bool:
    """Whether a page is read: its own key is selected, or that of one of its files may be."""
    files_key = f"files/{visit.url}"
    has_file = visit.with_files and any(prefix.startswith(f"{files_key} ") for prefix in prefixes)
    is_selected = _is_selected(f"page/{visit.url}", prefixes)
    return is_selected or (visit.with_files and (has_file or _is_selected(files_key, prefixes)))
