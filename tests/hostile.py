"""Hostile files and URLs: ``python -m tests.hostile [--count 100000] [--seed 1]``.

Each is made from a valid one, or from nothing, by changes that a seed draws, and given to its reader: the settings of
every page, a design in a URL, and every kind of file. It must be read, or refused in a sentence, within seconds.
Printed are how many of each kind were read and refused, and the longest time; the first that is neither ends it.
"""

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
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.designs import Design
from dpviz.plans import BoundedMean, ReleasePlan, YesNoShare, solution_json, solve_plan
from dpviz.plans.forms import read_groups_line, read_statistics_line, statistics_line
from dpviz.simulation import save_run
from dpviz.study.plan import simulation_of
from dpviz.teaching.classroom.tokens import read_code
from dpviz.uploads.columns import read_columns
from dpviz.uploads.matrix import read_matrix, rescale_rows, text_of
from pages import plan
from pages.details import coverage, curator
from pages.ui.navigation import PAGES

MAX_REFUSAL = 2_000  # characters
MAX_PROCESSOR_S = 5.0  # to read anything

TOKENS = [
    "", " ", "\x00", "\ufeff", "\u202e", "\ud800", "٣", "½", "−1", "-0", "1e999", "-1e999", "NaN", "Infinity", "null",
    "true", "0x10", "1_000", "1,5", "9" * 400, "1e-400", "1" + "0" * 5_000, "<script>alert(1)</script>", "=1+1", "@x",
    "' OR 1=1 --", "../../etc/passwd", "%00", "{{7*7}}", "${7*7}", '"', "'", ";", "\t", "\n", "\r\n", "\n\n\n", "#",
    "[" * 3_000, '{"a":' * 3_000, "é" * 300, "💥", "A" * 50_000, "0.5," * 2_000, "_", "__class__", "synthesizer",
    "beta_binomial", "1", "0", "0.5", "2", "100",
]  # fmt: skip
"""Texts that have broken readers before."""

INVISIBLE = {"Cc", "Cf", "Cs"}
"""Categories of characters that no sentence contains: they reverse it, end it, or cannot be sent."""

SETTINGS = {key: setting for page in PAGES for key, setting in import_module(f"pages.{page.module}").SETTINGS.items()}
"""Settings of all pages."""

DESIGN = Design(mechanism="beta_binomial", n=9, sets=2, epsilon=2.0, seed=3, repetitions=200, rules=("reiter_2002",))
STATISTICS = (YesNoShare(name="ill", group="N", suppress_below=5), BoundedMean(name="age", upper=99.0))
PLAN = ReleasePlan(n=90, statistics=STATISTICS, groups=(("N", 40), ("S", 50)), person_rows=2)
QUESTION = DesignQuestion(
    data=CountData(n=20, m=20, p=0.25), lowest=0.1, highest=0.4, protections=(EpsilonDeltaLimit(most_epsilon=1.0),),
    limits=(AccuracyLimit("coverage", 0.9),),
)  # fmt: skip


def valid_files() -> dict[str, bytes]:
    """A valid file of every kind."""
    chosen = {"method": QUESTION.data.methods[1].key, "sets": 1, "rule": "reiter_2002", "epsilon": 1.0}
    numbers = [{"name": "coverage", "value": 0.9, "error": None}]
    design = {"dpviz": "0", "question": json.loads(QUESTION.to_json()), "design": chosen, "numbers": numbers}
    return {
        "run": save_run(run_coverage(simulation_of(DESIGN)), about=DESIGN.to_address()).encode(),
        "question": QUESTION.to_json().encode(),
        "design": json.dumps(design).encode(),
        "plan": solution_json(solve_plan(PLAN)).encode(),
        "statistics": statistics_line(STATISTICS).encode(),
        "groups": b"North = 7,000; South = 5,000",
        "matrix": b"n1,0,1,2\n0,0.5,0.25,0.25\n1,0.25,0.5,0.25\n2,0.1,0.2,0.7\n",
        "pilot": b"age;smoker;weight\n17;no;51,5\n41;yes;80\n17;no;80\n41;yes;51,5\n",
    }


def _read_pilot(content: bytes) -> None:
    file = read_columns(content)
    for name in file.names:
        file.column(name).proportion()


def _read_matrix(content: bytes) -> None:
    rescale_rows(content)
    read_matrix(content)
    text_of(content)


READERS: dict[str, Callable[[bytes], Any]] = {
    "run": coverage.read_file, "question": curator.read_file, "design": curator.read_file,
    "plan": plan.read_file, "matrix": _read_matrix, "pilot": _read_pilot,
    "statistics": lambda content: read_statistics_line(content.decode("latin-1")),
    "groups": lambda content: read_groups_line(content.decode("latin-1")),
}  # fmt: skip


@dataclass
class Report:
    """How many of each kind were read and refused, and the longest time with its kind."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    slowest: tuple[float, str] = (0.0, "")


class Attack:
    """Hostile texts and files by a seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._files = valid_files()

    def run(self, count: int) -> Report:
        """Try so many; an AssertionError says what was neither read nor refused in a sentence, or too slowly."""
        report = Report()
        for _ in range(count):
            kind, content, read = self._next()
            start = time.process_time()
            try:
                read()
                outcome = "read"
            except ValueError as refused:
                outcome = "refused"
                sentence = str(refused)
                assert 10 < len(sentence) < MAX_REFUSAL, (kind, sentence[:300], content[:MAX_REFUSAL])
                assert not {unicodedata.category(letter) for letter in sentence} & INVISIBLE, (kind, sentence[:300])
            except Exception as error:
                raise AssertionError((kind, type(error), str(error), content[:MAX_REFUSAL])) from error
            used = time.process_time() - start
            assert used < MAX_PROCESSOR_S, (kind, used, content[:MAX_REFUSAL])
            report.slowest = max(report.slowest, (used, kind))
            report.outcomes[kind, outcome] += 1
        return report

    def _next(self) -> tuple[str, str | bytes, Callable[[], Any]]:
        kind = self._chance.choice(["setting", "address", "code", *READERS])
        if kind in READERS:
            content = self._changed(self._files[kind])
            return kind, content, lambda: READERS[kind](content)
        text = self._text()
        if kind == "setting":
            setting = SETTINGS[self._chance.choice(sorted(SETTINGS))]
            return kind, text, lambda: setting.format(setting.parse(text))
        if kind == "code":
            return kind, text, lambda: read_code(text)
        query = dict(Design(mechanism="beta_binomial", n=9).to_address())
        query[self._chance.choice([*query, text])] = text
        return kind, text, lambda: Design.from_address(query)

    def _text(self) -> str:
        return "".join(self._chance.choices(TOKENS, k=self._chance.randint(1, 3)))

    def _changed(self, content: bytes) -> bytes:
        """A valid file after some changes or none, or something else altogether."""
        chance = self._chance
        if chance.random() < 0.05:
            noise = chance.randbytes(chance.randint(0, 300))
            return chance.choice([noise, self._encoded(self._text()), b"PK\x03\x04", b""])
        for _ in range(chance.choice([0, 1, 1, 1, 2, 4])):
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
    """Print what was read and refused."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    start = time.perf_counter()
    report = Attack(arguments.seed).run(arguments.count)
    for (kind, outcome), count in sorted(report.outcomes.items()):
        print(f"{kind:10} {outcome:8} {count:7,}")
    used, kind = report.slowest
    elapsed = time.perf_counter() - start
    print(f"{arguments.count:,} in {elapsed:.0f} s; the slowest took {used:.2f} s of a processor ({kind})")


if __name__ == "__main__":
    main()
