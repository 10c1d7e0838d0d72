"""Every file that a page offers stands alone: its head has all settings and an address that makes the file again."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape, unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpviz.desk.addresses import SETTINGS
from tests.page_cases import CASES, Case, State
from tests.pages import open_coverage, open_posterior, problems, run_to_the_end, whole

GROWS = ("spent", "designs", "relaxed", "ranking", "curves", "growing")
NOT_DEFAULT: dict[str, list[State]] = {
    "transition_matrices": [{"synthesizer": "geometric", "n": 7, "epsilon": 0.7}, {"synthesizer": "given_matrix"}],
    "minimum_priors": [{"n": 9, "epsilon": 1.5, "delta": 1e-4, "sets": 3}, {"family": "Gaussian", "n": 9}],
    "coverage": [{"n": 15, "sets": 3, "prior": "exact", "epsilon": 1.5, "delta": 0.01, "seed": 5, "level": 0.9}],
    "posterior": [
        {"synthesizer": "laplace", "n": 15, "sets": 2, "counts": "4, 6", "source": "typed", "gamma1": 0.5, "x": 5}
    ],
    "compare_synthesizers": [
        {"n": 20, "sets": 3, "terms": "privacy", "delta": 0.01, "seed": 5, "repetitions": 60, "steps": 2},
    ],
    "budget": [{"n": 20, "epsilon": 1.5, "level": 0.9}],
    "curator": [{"n": 20, "highest_p": 0.3, "values": 2, "sets": ["1"], "most_error": 0.3, "seed": 5, "tried": ["1"]}],
}
"""Settings that are not those of a fresh page."""
LOOKS = {"compare_synthesizers": ["Download", "What the printed methods really promise"]}
CASES_OF = [
    pytest.param(CASES[folder], state, look, id=f"{folder}-{place}-{look}")
    for folder, states in NOT_DEFAULT.items()
    for place, state in enumerate(states)
    for look in LOOKS.get(folder, ["Download"])
]


@contextmanager
def offered(files: dict[str, str]) -> Iterator[None]:
    """While it lasts, the text of every file that is offered is made and kept by its name."""
    real: Callable[..., Any] = st.download_button

    def keep(label: str, make: Callable[[], str], name: str, *rest: Any, **more: Any) -> Any:
        files[name] = make()
        return real(label, make, name, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "download_button", keep)
        yield


def files_of(opened: Callable[[], AppTest], prefix: str) -> tuple[AppTest, dict[str, str]]:
    """A page, once nothing grows on it, and its files."""
    page = whole(opened(), *(f"{prefix}{one}" for one in GROWS))
    files: dict[str, str] = {}
    with offered(files):
        page.run()
    assert not page.exception, page.exception[0].value
    assert files
    return page, files


def head_of(text: str) -> list[str]:
    """The lines before the table, without what begins a comment."""
    lines = text.removeprefix("\ufeff").splitlines()
    return [line.removeprefix("# ") for line in lines[: next(n for n, line in enumerate(lines) if line[:1] != "#")]]


def line_of(text: str, beginning: str) -> str:
    (line,) = [one for one in head_of(text) if one.startswith(beginning)]
    return line.removeprefix(beginning)


def address_of(text: str) -> dict[str, str]:
    """What the address in the head of a file says."""
    return dict(parse_qsl(urlsplit(line_of(text, "address: ")).query, keep_blank_values=True))


def check_read(name: str, text: str) -> None:
    """What pandas reads is the table, to the last digit."""
    content = text.encode()
    assert content.startswith(b"\xef\xbb\xbf# ")  # the mark by which a spreadsheet knows UTF-8
    asked = f'pandas.read_csv("{name}", comment="#")'
    assert asked in line_of(text, "to read it: ")
    top, *rows = csv.reader(line for line in text.removeprefix("\ufeff").splitlines() if not line.startswith("#"))
    for encoding in ("utf-8-sig", "utf-8"):
        found = pd.read_csv(io.BytesIO(content), comment="#", encoding=encoding)
        assert list(found.columns) == top
        assert len(found) == len(rows)
        for place, column in enumerate(found):
            for ours, theirs in zip((row[place] for row in rows), found[column], strict=True):
                if isinstance(theirs, str):
                    assert ours == theirs
                elif pd.isna(theirs):
                    assert ours == ""
                else:
                    assert str(theirs).lower() == ours or float(theirs) == float(ours)


@pytest.mark.parametrize(("case", "state", "look"), CASES_OF)
def test_every_file_says_all_settings_and_its_address_makes_it_again(case: Case, state: State, look: str) -> None:
    page, files = files_of(lambda: case.opened(**state, look=look), case.prefix)
    tables = {name: text for name, text in files.items() if name.endswith(".csv")}
    assert tables
    drawn = page.session_state[case.prefix].drawn
    for name, text in tables.items():
        check_read(name, text)
        said, words = address_of(text), line_of(text, "settings: ")
        there = {key for key, one in drawn.items() if one.value is not None}
        assert set(said) == there
        assert all(one.label in words for key, one in drawn.items() if key in there)
        for key, one in drawn.items():
            if key in there and f"{case.prefix}paste" != key:
                assert SETTINGS[key].read(said[key]) == one.value, key
        assert any(key in said and SETTINGS[key].read(said[key]) == SETTINGS[key].default for key in drawn)
    for name, text in files.items():
        if name.endswith(".py"):
            compile(text, name, "exec")
            assert all(line in text for line in (f"# settings: {words}", "# neighbouring data sets: "))
        if name.endswith(".tex"):
            assert (
                text.startswith("% dpviz ")
                and f"% address: {line_of(next(iter(tables.values())), 'address: ')}" in text
            )
        if name.endswith(".html"):
            assert f"<p>settings: {escape(words)}</p>" in text
    _, again = files_of(lambda: case.opened(address_of(next(iter(tables.values())))), case.prefix)
    assert set(again) == set(files)
    for name, text in files.items():
        assert re.sub(r'id="[0-9a-f-]{36}"|"[0-9a-f-]{36}"', "", again[name]) == re.sub(
            r'id="[0-9a-f-]{36}"|"[0-9a-f-]{36}"', "", text
        ), name


def test_the_head_of_a_simulated_table_says_what_was_simulated() -> None:
    state: State = {"n": 12, "sets": 2, "repetitions": 300, "seed": 5}
    page = open_coverage(**state, look="Download")
    run_to_the_end(page)
    _, files = files_of(lambda: page, "cv_")
    assert line_of(files["coverage.csv"], "simulated: ").startswith("300 of 300 repetitions; the page makes them again")
    again = open_coverage(address_of(files["coverage.csv"]))
    run_to_the_end(again)
    _, found = files_of(lambda: again, "cv_")
    assert {name: found[name] for name in ("coverage.csv", "intervals.csv")} == {
        name: files[name] for name in ("coverage.csv", "intervals.csv")
    }


def test_the_audit_says_at_what_it_was_made_and_a_report_where_it_is_from() -> None:
    case = CASES["compare_synthesizers"]
    look = "What the printed methods really promise"
    _, files = files_of(lambda: case.opened(n=20, sets=3, epsilon=0.5, look=look), "cs_")
    said = line_of(files["audit.csv"], "audited at: ")
    assert said == (
        "n = 20, epsilon = 0.5, delta = 1e-05, sets = 3, bins = 10, cell = 7, draws = 10, lower = -4.0, upper = 4.0"
    )
    state: State = {"n": 20, "values": 2, "tried": ["1"], "repetitions": 60, "look": "The report", "most_error": 0.5}
    _, files = files_of(lambda: CASES["curator"].opened(**state), "cu_")
    found = re.search(r"The same question on the page: (\S+?)</li>", files["report.html"])
    assert found
    there = dict(parse_qsl(urlsplit(unescape(found[1])).query, keep_blank_values=True))
    assert there["cu_n"] == "20" and there["cu_most_error"] == "0.5" and there["cu_epsilon"] == "1"
    assert unescape(found[1]) in files["report.py"]


def test_a_head_says_the_prior_that_follows_and_the_mechanism() -> None:
    """Charest's prior is m/(exp(ε/M) − 1) with ε = 2 ln 2, M = 2 and m = 10: 10/(2 − 1) = 10 invented rows."""
    _, files = files_of(lambda: open_coverage(n=10, sets=2, epsilon=1.3862943611198906, look="Download"), "cv_")
    found = re.fullmatch(
        r"Beta-binomial.*, n = 10, m = 10, α = ([\d.]+), β = ([\d.]+)", line_of(files["coverage.csv"], "each set: ")
    )
    assert found
    assert float(found[1]) == float(found[2]) == pytest.approx(10.0, rel=1e-14)
    words = line_of(files["coverage.csv"], "settings: ")
    assert "How the agency sets its prior: split ε equally over the sets, as in the papers; " in words
    assert "Released sets M: 2; " in words
    assert "Seed: 1" in words


def test_where_settings_are_refused_the_files_say_those_of_the_answer() -> None:
    page = open_posterior(n=20, synthesizer="laplace", seed=3, x=5, look="Download")
    _, before = files_of(lambda: page, "po_")
    page.number_input(key="po_n").set_value(0)
    _, after = files_of(page.run, "po_")
    assert problems(page)
    assert after == before
    assert address_of(after["posterior.csv"])["po_n"] == "20"
    _, fresh = files_of(lambda: open_posterior(n=0, look="Download"), "po_")
    assert address_of(fresh["posterior.csv"])["po_n"] == str(SETTINGS["po_n"].default)
