"""A run as text, so that it can be reopened and go on: its sums, its plan's fingerprint, and what a client adds."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from dpviz.core.declarations import REPETITIONS
from dpviz.core.formatting import describe_value, format_number
from dpviz.coverage.studies.engine import run_study
from dpviz.coverage.studies.plan import Found, Plan, StudyTally
from dpviz.coverage.studies.running_sums import Each, Sums

RUN_VERSION = 1  # Raised when what a file says changes its meaning
# Characters of the longest text that is read: the largest study of sets, 500,001 counts and sums, has half of it
LONGEST_RUN = 4_000_000
NAMED_VALUES = dict, "named values in braces"
RUN_PARTS = {"about": NAMED_VALUES, "fingerprint": (str, "text"), "counts": NAMED_VALUES}
COUNT = Each()


@dataclass(frozen=True, kw_only=True)
class SavedRun:
    """What a file says of a run, before it is held against a plan; `about` is what the client has added."""

    about: Mapping[str, Any]
    fingerprint: str
    counts: Mapping[str, Any]

    def tally_of(self, plan: Plan[Found]) -> Found:
        """Return the tally, which continues `plan`; a ValueError says which part cannot be, and what is allowed.

        The first repetitions, which the file does not hold one by one, are drawn again and must agree with it.
        """
        if self.fingerprint != plan.fingerprint:
            words = zip_longest(plan.fingerprint.split(", "), self.fingerprint.split(", "), fillvalue="nothing")
            ours, theirs = (describe_value(word) for word in next(pair for pair in words if pair[0] != pair[1]))
            raise ValueError(f"fingerprint (what the counts were drawn for) must say {ours}; got {theirs}.")
        done = int(dataclasses.replace(REPETITIONS, maximum=plan.repetitions).validate(self.counts.get("repetitions")))
        again = min(done, max(plan.shown, plan.batch))
        first = run_study(dataclasses.replace(plan, repetitions=again))
        rest = dataclasses.replace(_read(self.counts, first, "counts", done - again), plan=plan, first=again)
        rest.check()
        return first + rest


def save_run(tally: StudyTally, *, about: Mapping[str, Any] | None = None) -> str:
    """Return a run as JSON text, which `read_run` reads, of what `stream_study` yields; `about` is what else to say."""
    if tally.first != 0:
        raise ValueError(f"tally must begin with the first repetition; got one that starts at {tally.first:,}.")
    said = {"dpviz_run": RUN_VERSION, "about": dict(about or {})}
    said |= {"fingerprint": tally.plan.fingerprint, "counts": _plain(tally)}
    try:
        return json.dumps(said, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"about must hold values that JSON knows; got {describe_value(about)}.") from None


def read_run(text: str) -> SavedRun:
    """Return what a text says of a run; a ValueError says what is wrong with it, whatever it is.

    >>> read_run('{"dpviz_run": 2}')
    Traceback (most recent call last):
    ValueError: dpviz_run (version of the file) must be 1; got 2.
    """
    if len(text) > LONGEST_RUN:
        raise ValueError(f"text must have at most {LONGEST_RUN:,} characters; got {len(text):,}.")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"text must be a run in JSON, complete and unchanged; got {describe_value(text)}.") from None
    if not isinstance(said, dict) or "dpviz_run" not in said:
        raise ValueError(f'text must be a run in JSON, with "dpviz_run"; got {describe_value(said)}.')
    if type(said["dpviz_run"]) is not int or said["dpviz_run"] != RUN_VERSION:
        raise ValueError(
            f"dpviz_run (version of the file) must be {RUN_VERSION}; got {describe_value(said['dpviz_run'])}."
        )
    for name, (kind, words) in RUN_PARTS.items():
        if not isinstance(said.get(name), kind):
            raise ValueError(f"{name} must be {words}; got {describe_value(said.get(name))}.")
    return SavedRun(**{name: said[name] for name in RUN_PARTS})


def _plain(value: Any) -> Any:
    """Return what JSON knows of a part of a tally; what is kept of single repetitions is left out."""
    if isinstance(value, Sums):
        return {one.name: _plain(getattr(value, one.name)) for one in value.written()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def _read(given: Any, like: Any, name: str, more: int, each: Each = COUNT) -> Any:
    """Return a part of a file less that of the first repetitions, which is `like`; `more` others have added to it."""
    if isinstance(like, Sums):
        parts = {one.name: one for one in like.written()}
        if not isinstance(given, dict) or set(given) != set(parts):
            raise ValueError(f"{name} must have {', '.join(parts)} and nothing else; got {describe_value(given)}.")
        read = {
            part: _read(given[part], getattr(like, part), f"{name}.{part}", more, one.metadata.get("each", COUNT))
            for part, one in parts.items()
        }
        kept = {one.name: getattr(like, one.name).first(0) for one in like.adding() if one.name not in parts}
        return dataclasses.replace(like, **read, **kept)
    if isinstance(like, (tuple, np.ndarray)):
        if not isinstance(given, list) or len(given) != len(like):
            raise ValueError(f"{name} must be a list of {len(like):,} items; got {describe_value(given)}.")
        items = (
            _read(one, other, f"{name}[{place}]", more, each)
            for place, (one, other) in enumerate(zip(given, like, strict=True))
        )
        return tuple(items) if isinstance(like, tuple) else np.fromiter(items, like.dtype, len(like))
    low, high = int(like) + each.low * more, int(like) + each.high * more
    if type(given) is not int or not low <= given <= high:
        words = "a whole number" if each.unit == 1 else "a sum, in units of 2⁻¹⁰⁷⁴,"
        ends = " to ".join(format_number(end / each.unit) for end in (low, high))
        small = type(given) is int and abs(given) < each.unit << 1000
        got = describe_value(given / each.unit if small else given)
        raise ValueError(f"{name} must be {words} from {ends}; got {got}.")
    return given - int(like)
