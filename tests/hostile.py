"""Files and addresses that nobody means well: ``python -m tests.hostile [--count 100000] [--seed 1]``.

Each is made from a good one, or from nothing, by changes that a seed draws, and is given to what reads it: the settings
of every page, a design in an address, and every kind of file. It must be read, or be refused in a sentence, soon.
Printed are how many of each kind were read and refused, and the longest time; the first that is neither ends it.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from dpviz.comparisons import CountData
from dpviz.coverage import run_coverage
from dpviz.coverage.studies.saving import save_run
from dpviz.designs import Design
from dpviz.desk.accuracy import AccuracyLimit
from dpviz.desk.addresses import SETTINGS
from dpviz.desk.brought import Upload, brought_matrix, brought_rescaled
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.question import Question
from dpviz.mechanisms.given.pilot import read_columns
from dpviz.plans import BoundedMean, ReleasePlan, YesNoShare, answer_json, plan_differences, read_plan, solve_plan
from dpviz.teaching.rooms.codes import read_code
from pages.components.navigation import EVERY_PAGE
from pages.coverage.run import plan_of

LONGEST, SLOWEST = 2_000, 5.0
"""Characters of a refusal, and seconds of the processor that reading anything may take."""

TOKENS = [
    "", " ", "\x00", "\ufeff", "\u202e", "\ud800", "٣", "½", "−1", "-0", "1e999", "-1e999", "NaN", "Infinity", "null",
    "true", "0x10", "1_000", "1,5", "9" * 400, "1e-400", "1" + "0" * 5_000, "<script>alert(1)</script>", "=1+1", "@x",
    "' OR 1=1 --", "../../etc/passwd", "%00", "{{7*7}}", "${7*7}", '"', "'", ";", "\t", "\n", "\r\n", "\n\n\n", "#",
    "[" * 3_000, '{"a":' * 3_000, "é" * 300, "💥", "A" * 50_000, "0.5," * 2_000, "_", "__class__", "synthesizer",
    "beta_binomial", "1", "0", "0.5", "2", "100",
]  # fmt: skip
"""What has broken readers of texts before."""


UNSEEN = {"Cc", "Cf", "Cs"}
"""Kinds of characters that a sentence has none of: they turn it around, end it, or cannot be sent."""


def _files() -> dict[str, bytes]:
    design = Design(
        mechanism="beta_binomial", n=9, sets=2, epsilon=2.0, seed=3, repetitions=200, rules=("reiter_2002",)
    )
    question = Question(
        data=CountData(n=20, m=20, p=0.25), lowest=0.1, highest=0.4, protections=(PrivacyLoss(most_epsilon=1.0),),
        limits=(AccuracyLimit("coverage", 0.9),),
    )  # fmt: skip
    asked = json.loads(question.to_json())
    chosen = {"method": question.data.methods[1].key, "sets": 1, "rule": "reiter_2002", "epsilon": 1.0}
    numbers = [{"name": "coverage", "value": 0.9, "error": None}]
    return {
        "run": save_run(run_coverage(plan_of(design)), about=design.to_address()).encode(),
        "question": question.to_json().encode(),
        "design": json.dumps({"dpviz": "0", "question": asked, "design": chosen, "numbers": numbers}).encode(),
        "plan": answer_json(solve_plan(_plan())).encode(),
        "statistics": json.dumps([{"kind": one.key, **one.written()} for one in _plan().statistics]).encode(),
        "matrix": b"n1,0,1,2\n0,0.5,0.25,0.25\n1,0.25,0.5,0.25\n2,0.1,0.2,0.7\n",
        "pilot": b"age;smoker;weight\n17;no;51,5\n41;yes;80\n17;no;80\n41;yes;51,5\n",
    }


def _plan() -> ReleasePlan:
    statistics = YesNoShare(name="ill", group="N", suppress_below=5), BoundedMean(name="age", upper=99.0)
    return ReleasePlan(n=90, statistics=statistics, groups=(("N", 40), ("S", 50)), person_rows=2)


def _pilot(content: bytes) -> None:
    for column in read_columns(content).columns:
        column.proportion()


def _opened_plan(content: bytes) -> None:
    """Read the file of a plan as the page does, and compare its numbers if it is still the same plan."""
    import_module("pages.plan.files").opened(content)
    if content.startswith(b"{") and read_plan(content.decode()) == _plan():
        plan_differences(content.decode())


def _setting(text: str, chance: random.Random) -> None:
    one = SETTINGS[chance.choice(sorted(SETTINGS))]
    one.word(one.read(text))


@dataclass
class Report:
    """What came of it: of each kind how many were read and refused, and the longest time with its kind."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")


class Attack:
    """Hostile texts and files by a seed, and what reads them."""

    def __init__(self, seed: int) -> None:
        for page in EVERY_PAGE:
            import_module(f"pages.{page.folder}.controls")  # which keep the settings of the page
        self._chance, self._files = random.Random(seed), _files()
        self._address = Design(mechanism="beta_binomial", n=9).to_address()
        readers: dict[str, Callable[[bytes], Any]] = {
            "run": import_module("pages.coverage.files").opened,
            "question": import_module("pages.curator.report").opened,
            "matrix": lambda content: (brought_matrix(Upload.of(content)), brought_rescaled(Upload.of(content))),
            "pilot": _pilot,
            "plan": _opened_plan,
            "statistics": lambda content: import_module("pages.plan.controls").read_list(content.decode("latin-1")),
        }
        self._readers = readers | {"design": readers["question"]}

    def run(self, count: int) -> Report:
        """Try so many; an AssertionError says what was neither read nor refused in a sentence, or too slowly."""
        report = Report()
        for _ in range(count):
            kind, content, act = self._next()
            start = time.process_time()
            try:
                act()
                outcome = "read"
            except ValueError as refused:
                outcome, words = "refused", str(refused)
                assert 10 < len(words) < LONGEST, (kind, words[:300], content[:LONGEST])
                assert not {unicodedata.category(one) for one in words} & UNSEEN, (kind, words[:300])
            except Exception as broken:
                raise AssertionError((kind, type(broken), str(broken), content[:LONGEST])) from broken
            used = time.process_time() - start
            assert used < SLOWEST, (kind, used, content[:LONGEST])
            report.slowest = max(report.slowest, (used, kind))
            report.outcomes[kind, outcome] += 1
        return report

    def _next(self) -> tuple[str, str | bytes, Callable[[], Any]]:
        kind = self._chance.choice(["setting", "address", "code", *self._readers])
        if kind in self._readers:
            content = self._changed(self._files[kind])
            return kind, content, lambda: self._readers[kind](content)
        text = self._text()
        if kind == "setting":
            return kind, text, lambda: _setting(text, self._chance)
        if kind == "code":
            return kind, text, lambda: read_code(text)
        said = dict(self._address)
        said[self._chance.choice([*said, text])] = text
        return kind, text, lambda: Design.from_address(said)

    def _text(self) -> str:
        return "".join(self._chance.choices(TOKENS, k=self._chance.randint(1, 3)))

    def _changed(self, content: bytes) -> bytes:
        """A good file after some changes or none, or something else altogether."""
        chance = self._chance
        if chance.random() < 0.05:
            return chance.choice(
                [chance.randbytes(chance.randint(0, 300)), self._encoded(self._text()), b"PK\x03\x04", b""]
            )
        for _ in range(chance.choice([0, 1, 1, 1, 2, 4])):  # the good one itself is read, whatever is drawn
            first, last = sorted(chance.choices(range(len(content) + 1), k=2))
            token = self._encoded(self._text() if chance.random() < 0.3 else chance.choice(TOKENS))
            content = chance.choice([
                content[:first] + token + content[first:],
                content[:first] + token + content[min(last, first + 6) :],
                content[:first] + content[min(last, first + 20) :],
                content[:first] + content[first:last] * 2 + content[last:],
                content[:first] if chance.random() < 0.2 else content[:first] + b"9" + content[first + 1 :],
                content.replace(chance.choice([b",", b":", b"0", b"\n", b'"']), token, chance.randint(1, 3)),
            ])  # fmt: skip
        if chance.random() < 0.05:
            return content.decode("latin-1").encode(chance.choice(["utf-16", "utf-32", "utf-8-sig"]))
        return content

    def _encoded(self, text: str) -> bytes:
        return text.encode(self._chance.choice(["utf-8", "utf-8", "utf-16-le"]), "surrogatepass")


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    start = time.perf_counter()
    report = Attack(asked.seed).run(asked.count)
    for (kind, outcome), count in sorted(report.outcomes.items()):
        print(f"{kind:10} {outcome:8} {count:7,}")
    used, kind = report.slowest
    print(
        f"{asked.count:,} in {time.perf_counter() - start:.0f} s; the slowest took {used:.2f} s of a processor ({kind})"
    )


if __name__ == "__main__":
    main()
