"""Simulations of any kind: repetitions in seeded blocks, added up in order, saved, resumed, on any executor.

Block i draws from ``SeedSequence(seed, spawn_key=(i,))`` and is always drawn whole, and blocks are added in their
order: the first R repetitions are the same to the last digit whatever the number of workers, the stops on the way, and
the repetitions that follow.
"""

import dataclasses
import json
import math
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np

from dpviz.core.declarations import REPETITIONS, SEED
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.parameters import argument, parameter, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.core.types import FloatArray

BATCH = argument("batch", 1, 10_000, title="repetitions in a block", integer=True)
SHOWN = argument("shown", 0, 1000, title="repetitions kept one by one", integer=True)
WORKERS = argument("workers", 1, 64, title="blocks under way", integer=True)

RUN_VERSION = 2  # raised when what a file says changes its meaning
MAX_RUN_CHARACTERS = 1_000_000

TallyType = TypeVar("TallyType", bound="Tally")


class Block(NamedTuple):
    """What the repetitions of one block gave.

    Attributes
    ----------
    sums : dict of str to ndarray
        Counts and sums over the repetitions.
    series : dict of str to ndarray, optional
        Single repetitions, or sums over groups of them, along the first axis.
    """

    sums: dict[str, FloatArray]
    series: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Plan(ParameterRecord, ABC, Generic[TallyType]):
    """What a simulation repeats; each kind adds its fields, which its repr must state, and is hashable.

    Attributes
    ----------
    repetitions : int
    seed : int
    batch : int
        Repetitions in a block, on which the digits depend.
    shown : int
        Leading entries of every series that are kept, repetitions or groups of them; 0 keeps none.
    """

    repetitions: int = parameter(REPETITIONS)
    seed: int = parameter(SEED)
    batch: int = parameter_with_default(BATCH, default=2000)
    shown: int = parameter_with_default(SHOWN, default=0)

    tally_type: ClassVar[type[Any]]
    counts: ClassVar[tuple[str, ...]] = ()  # names of the sums that count repetitions

    @abstractmethod
    def simulate(self, rng: np.random.Generator, size: int) -> Block:
        """Draw a whole block, and tally its first `size` repetitions."""

    def check_sums(self, sums: Mapping[str, FloatArray], repetitions: int) -> None:
        """Raise a ValueError where sums contradict each other, as they may in a file."""

    @property
    def fingerprint(self) -> str:
        """Everything that fixes the digits, all but `repetitions`: plans that share it can continue each other."""
        return repr(dataclasses.replace(self, repetitions=1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """What the first repetitions of a plan gave.

    Attributes
    ----------
    plan : Plan
    repetitions : int
    sums, series : dict of str to ndarray
        As in `Block`, over all blocks.
    whole_blocks : Tally or None
        The tally before the last block, where that one was left unfinished.
    """

    plan: Plan[Any]
    repetitions: int = 0
    sums: Mapping[str, FloatArray] = field(default_factory=dict)
    series: Mapping[str, Any] = field(default_factory=dict)
    whole_blocks: "Tally | None" = None

    def add(self, plan: Plan[Any], block: Block, size: int) -> Self:
        """Tally of a plan with the next block, of which so many repetitions count.

        Parameters
        ----------
        plan : Plan
            That of the tally, which may have had fewer repetitions.
        block : Block
        size : int
        """
        sums = {name: self.sums[name] + value if self.sums else value for name, value in block.sums.items()}
        series = dict(self.series)
        for name, value in block.series.items():
            if name not in series:
                series[name] = value
            elif len(value):
                series[name] = np.concatenate([series[name], value])
        return dataclasses.replace(
            self, plan=plan, repetitions=self.repetitions + size, sums=sums, series=series,
            whole_blocks=self if size < plan.batch else None,
        )  # fmt: skip

    @property
    def _content(self) -> tuple[object, ...]:
        """All that fixes the digits of the plan, and every number."""
        arrays = sorted({**self.sums, **self.series}.items())
        numbers = tuple((name, np.asarray(value, dtype=float).tobytes()) for name, value in arrays)
        return self.plan.fingerprint, self.repetitions, numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tally) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)


def _simulate_block(plan: Plan[Any], index: int) -> tuple[Block, int]:
    """Draw a whole block; with it the number of its first repetitions that count."""
    start = index * plan.batch
    size = min(plan.batch, plan.repetitions - start)
    rng = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=(index,)))
    block = plan.simulate(rng, size)
    shown = max(plan.shown - start, 0)
    return block._replace(series={name: value[:shown] for name, value in block.series.items()}), size


def stream_simulation(
    plan: Plan[TallyType], *, start: TallyType | None = None, executor: Executor | None = None, workers: int = 1
) -> Generator[TallyType, None, None]:
    """Run a plan, and yield the tally after every block; a complete `start` is yielded once.

    Parameters
    ----------
    plan : Plan
    start : Tally, optional
        An earlier tally of the same plan, which may have had fewer repetitions, to go on from.
    executor : concurrent.futures.Executor, optional
        Takes the blocks; it stays open. Without one they are drawn in the thread of the caller.
    workers : int, default 1
        Blocks that an executor is given at a time, all awaited before the next; several for each of its processes
        make their pauses rare.

    Examples
    --------
    >>> from dpviz.coverage import CoveragePlan
    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> plan = CoveragePlan(synthesizer=GeometricSanitizer(n=5, epsilon=1000), p=0, sets=2, rules=("reiter_2003",),
    ...                     repetitions=1200, seed=1, batch=500)
    >>> [(tally.repetitions, int(tally.sums["covered"][0])) for tally in stream_simulation(plan)]
    [(500, 500), (1000, 1000), (1200, 1200)]
    """
    workers = WORKERS.validate(workers)
    if start is not None:
        if not isinstance(start, Tally) or start.plan.fingerprint != plan.fingerprint:
            raise ValueError("start must be a tally of the same plan; only its number of repetitions may differ.")
        if start.repetitions > plan.repetitions:
            raise ValueError(
                f"start must have at most the {plan.repetitions:,} repetitions of the plan; got {start.repetitions:,}."
            )
    return _stream(plan, start, executor, workers)


def run_simulation(plan: Plan[TallyType], *, executor: Executor | None = None, workers: int = 1) -> TallyType:
    """Tally of all repetitions of a plan: the last one that `stream_simulation` yields.

    Parameters
    ----------
    plan, executor, workers
        As in `stream_simulation`.
    """
    return deque(stream_simulation(plan, executor=executor, workers=workers), maxlen=1)[0]


def _stream(
    plan: Plan[TallyType], start: TallyType | None, executor: Executor | None, workers: int
) -> Generator[TallyType, None, None]:
    if start is not None and start.repetitions == plan.repetitions:
        yield dataclasses.replace(start, plan=plan)
        return
    total: Any = plan.tally_type(plan=plan)
    if start is not None:
        total = start.whole_blocks or start  # a block that was left unfinished is drawn again
    simulate = map if executor is None else executor.map
    indices = range(total.repetitions // plan.batch, math.ceil(plan.repetitions / plan.batch))
    for first in range(0, len(indices), workers):
        for block, size in simulate(partial(_simulate_block, plan), indices[first : first + workers]):
            total = total.add(plan, block, size)
            yield total


@dataclass(frozen=True, kw_only=True)
class SavedRun:
    """What a file says of a run, before it is compared with a plan; `about` is what the client has added."""

    about: Mapping[str, Any]
    fingerprint: str
    repetitions: int
    sums: Mapping[str, Any]

    def tally_of(self, plan: Plan[TallyType]) -> TallyType:
        """Tally that continues `plan`; a ValueError says which part cannot be, and what is allowed.

        The blocks of the repetitions that are shown, at least one, are drawn again, and so is an unfinished one.
        """
        if self.fingerprint != plan.fingerprint:
            fields = (re.split(r", (?=\w+=)", text) for text in (plan.fingerprint, self.fingerprint))
            words = zip_longest(*fields, fillvalue="nothing")
            expected, actual = (describe_value(word) for word in next(pair for pair in words if pair[0] != pair[1]))
            raise ValueError(f"fingerprint (what the counts were drawn for) must say {expected}; got {actual}.")
        repetitions = int(dataclasses.replace(REPETITIONS, maximum=plan.repetitions).validate(self.repetitions))
        redrawn = min(repetitions, math.ceil(max(plan.shown, 1) / plan.batch) * plan.batch)
        tally = run_simulation(dataclasses.replace(plan, repetitions=redrawn))
        if redrawn < repetitions:
            finished = repetitions - repetitions % plan.batch
            sums = self._checked_sums(plan, tally, finished) if finished > redrawn else tally.sums
            start = dataclasses.replace(tally, repetitions=finished, sums=sums)
            *_, tally = stream_simulation(dataclasses.replace(plan, repetitions=repetitions), start=start)
        return dataclasses.replace(tally, plan=plan)

    def _checked_sums(self, plan: Plan[Any], first: Tally, repetitions: int) -> dict[str, FloatArray]:
        """Sums over so many repetitions that begin with those of `first`, with counts that this allows."""
        if set(self.sums) != set(first.sums):
            raise ValueError(f"sums must have {', '.join(first.sums)}; got {describe_value(dict(self.sums))}.")
        added = repetitions - first.repetitions
        checked = {}
        for name, value in self.sums.items():
            try:
                sums = np.asarray(value, dtype=float)
            except (TypeError, ValueError, OverflowError):
                sums = np.array(math.nan)
            before = first.sums[name]
            if sums.shape != np.shape(before) or not np.isfinite(sums).all():
                shape = "x".join(map(str, np.shape(before))) or "one"
                raise ValueError(f"sums.{name} must be {shape} finite numbers; got {describe_value(value)}.")
            growth = sums - before
            if name in plan.counts and not ((growth >= 0) & (growth <= added) & (growth == np.floor(growth))).all():
                ends = (format_number(float(end)) for end in (np.min(before), np.max(before) + added))
                allowed = f"whole numbers from {' to '.join(ends)}"
                raise ValueError(f"sums.{name} must be {allowed}; got {describe_value(value)}.")
            checked[name] = sums
        plan.check_sums(checked, repetitions)
        return checked


def save_run(tally: Tally, *, about: Mapping[str, Any] | None = None) -> str:
    """A run as JSON text, which `read_run` reads: the sums of its whole blocks.

    Parameters
    ----------
    tally : Tally
    about : dict, optional
        What else to say.
    """
    content = {
        "dpviz_run": RUN_VERSION, "about": dict(about or {}), "fingerprint": tally.plan.fingerprint,
        "repetitions": tally.repetitions,
        "sums": {name: np.asarray(value).tolist() for name, value in (tally.whole_blocks or tally).sums.items()},
    }  # fmt: skip
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"about must hold values that JSON knows; got {describe_value(about)}.") from None


def read_run(text: str) -> SavedRun:
    """What a text says of a run; a ValueError says what is wrong with it, whatever it is.

    >>> read_run('{"dpviz_run": 1}')
    Traceback (most recent call last):
    ValueError: dpviz_run (version of the file) must be 2; got 1.
    """
    if len(text) > MAX_RUN_CHARACTERS:
        raise ValueError(f"text must have at most {MAX_RUN_CHARACTERS:,} characters; got {len(text):,}.")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"text must be a run in JSON, complete and unchanged; got {describe_value(text)}.") from None
    if not isinstance(content, dict) or "dpviz_run" not in content:
        raise ValueError(f'text must be a run in JSON, with "dpviz_run"; got {describe_value(content)}.')
    version = content["dpviz_run"]
    if type(version) is not int or version != RUN_VERSION:
        raise ValueError(f"dpviz_run (version of the file) must be {RUN_VERSION}; got {describe_value(version)}.")
    kinds = {"about": (dict, "named values in braces"), "fingerprint": (str, "text"),
             "repetitions": (int, "a whole number"), "sums": (dict, "named values in braces")}  # fmt: skip
    for name, (kind, words) in kinds.items():
        if type(content.get(name)) is not kind:
            raise ValueError(f"{name} must be {words}; got {describe_value(content.get(name))}.")
    return SavedRun(**{name: content[name] for name in kinds})
