"""What several tests need: sentences, numbers in them, scripts, and computed values that agree but for rounding."""

import base64
import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from dpviz.comparisons import ComparedMethod, NumericStudy, Outcome
from dpviz.curator.candidate import Candidate
from dpviz.curator.epsilon_search import smallest_sufficient
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import summarize
from dpviz.inference import COMBINING_RULES
from dpviz.published.layout import printed_csv
from tests.browser import ROOT

Result = TypeVar("Result")

MAX_SHORT_WORDS = 15
WRONG = re.compile(r"\bnan\b|Traceback|\bNone\b|\binf\b|[a-z]Error\b")
"""What no sentence has."""

ROUNDING = 1e-12
"""Relative distance, and distance from 0, of two sums of the same terms in another order: processors differ in it."""


def check_short(sentence: str) -> None:
    """Check that the sentence for a class is one short sentence."""
    assert len(sentence.split()) <= MAX_SHORT_WORDS, sentence
    assert sentence[0].isupper() and sentence.endswith(".") and not WRONG.search(sentence), sentence


def desk_answer(desk: SearchResult) -> tuple[str, str, str]:
    """Mark of the curator's desk, everything that it says of its answer, and the short sentence."""
    mark, sentence, short, further = summarize(desk)
    check_short(short)
    return mark, f"{sentence} {further}".strip(), short


def assess(
    question: DesignQuestion, method: ComparedMethod, sets: int, rule: str, epsilon: float, *, whole: bool = True
) -> Candidate:
    """A design at this ε, with everything known of it, or with what is quick."""
    candidate = Candidate(question=question, method=method, sets=sets, rule=rule)
    return candidate.at(epsilon).completed() if whole else candidate.at(epsilon)


def smallest_design(question: DesignQuestion, method: ComparedMethod, sets: int, rule: str) -> Candidate | None:
    """The design at the smallest ε found, whatever the question says of privacy."""
    return smallest_sufficient(Candidate(question=question, method=method, sets=sets, rule=rule))


def with_outcomes(design: Candidate, outcomes: Iterable[Outcome], **changes: Any) -> Candidate:
    """The same design with other outcomes."""
    return dataclasses.replace(design, known_outcomes=tuple(outcomes), **changes)


def value_of(cell: str) -> float:
    """Number that a page writes; the bound where it says that it is less, or more, than that."""
    bare = cell.removesuffix(" %").removeprefix("less than ").removeprefix("more than ")
    parts = re.fullmatch(r"(?:(−?[\d.,]+?)×)?(?:10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))|(−?[\d.,]+)", bare)
    assert parts, cell
    number = float((parts[1] or parts[3] or "1").replace("−", "-").replace(",", ""))
    return number * 10.0 ** int((parts[2] or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


def match_in(pattern: str, sentence: str) -> re.Match[str]:
    """What a sentence says at `pattern`, which must be there."""
    match = re.search(pattern, sentence)
    assert match, (pattern, sentence)
    return match


def decode_figure(text: str) -> dict[str, Any]:
    """A figure's JSON as a dictionary with NumPy arrays in the place of Plotly's encoded ones."""

    def array(node: dict[str, Any]) -> Any:
        if not node.keys() >= {"dtype", "bdata"}:
            return node
        flat = np.frombuffer(base64.b64decode(node["bdata"]), dtype=node["dtype"])
        return flat.reshape([int(n) for n in str(node["shape"]).split(",")]) if "shape" in node else flat

    figure: dict[str, Any] = json.loads(text, object_hook=array)
    return figure


def run_script(script: str, folder: Path = ROOT) -> str:
    """What a script prints in a fresh interpreter in a folder, that of dpviz unless given, without a warning."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if folder != ROOT:
        environment["PYTHONPATH"] = str(ROOT)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-"],
        input=script,
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env={**environment, "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"},
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout


def run_hand_over(folder: Path, script: str, rows: str, library: str = "") -> subprocess.CompletedProcess[str]:
    """A script for OpenDP run in a folder with these rows in it, beside what stands for OpenDP where that is given."""
    folder.mkdir(exist_ok=True)
    if library:
        (folder / "opendp").mkdir(exist_ok=True)
        (folder / "opendp" / "__init__.py").touch()
        (folder / "opendp" / "prelude.py").write_text(library)
    assert script.count("rows = None  #") == 1
    (folder / "release.py").write_text(script.replace("rows = None  #", f"rows = {rows}  #"), encoding="utf-8")
    return subprocess.run(
        [sys.executable, "release.py"], capture_output=True, encoding="utf-8", cwd=folder,
        env={**os.environ, "PYTHONUTF8": "1"},
    )  # fmt: skip


def check_close(actual: Any, expected: Any, tolerance: float = ROUNDING) -> None:
    """Check that two values are equal but for rounding.

    Parameters
    ----------
    actual, expected : Any
        Numbers, arrays, or dataclasses, sequences and mappings of them; anything else must be equal.
    tolerance : float, default 1e-12
        Relative distance of two numbers, and their distance where they are near 0.
    """
    if dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        assert type(actual) is type(expected)
        for field in dataclasses.fields(expected):
            if field.compare:
                check_close(getattr(actual, field.name), getattr(expected, field.name), tolerance)
    elif isinstance(expected, Mapping):
        assert actual.keys() == expected.keys()
        for key, value in expected.items():
            check_close(actual[key], value, tolerance)
    elif isinstance(expected, Sequence) and not isinstance(expected, str | bytes):
        assert len(actual) == len(expected)
        for actual_item, expected_item in zip(actual, expected, strict=True):
            check_close(actual_item, expected_item, tolerance)
    elif isinstance(expected, float) or hasattr(expected, "__array__"):
        assert actual == pytest.approx(expected, rel=tolerance, abs=tolerance, nan_ok=True)
    else:
        assert actual == expected


def printed_figure(number: int) -> str:
    """A figure of Abowd & Vilhuber (2008) as CSV."""
    return printed_csv("Abowd & Vilhuber (2008)", f"Fig. {number}")


def printed_values(number: int) -> np.ndarray:
    """The cells of that figure."""
    rows = [line.split(",")[-6:] for line in printed_figure(number).splitlines()[1:]]
    return np.array(rows, float)


def numeric_measures(data: Any, method: Any, estimand: str = "", rule: str = "reiter_2003", **changes: Any) -> Any:
    """The measures of a simulation of 4,000 repetitions of numeric data, of its own estimand or another one."""
    estimand, sets = estimand or data.estimand, method.sets(changes.pop("sets", 3))
    rule = rule if sets >= COMBINING_RULES[rule].min_sets else "as_if_real"
    study = NumericStudy(
        data=data, method=method, estimands=(estimand,), rules=(rule,), sets=sets,
        **{"epsilon": 1.0, "repetitions": 4000, "seed": 12} | changes,
    )  # fmt: skip
    return study.run().measures(estimand, rule)
