"""The pages in a test without a browser: set their controls, read what they show."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import subprocess
import sys
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import mpmath
import numpy as np
from streamlit import config
from streamlit.testing.v1 import AppTest

from dpviz.core.parameters import Parameter, readable
from dpviz.desk.search import Desk
from dpviz.desk.told.answer import answer_sentence
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.given_matrix import GivenMatrix
from dpviz.priors import Setting
from pages import (
    budget,
    compare_synthesizers,
    coverage,
    curator,
    minimum_priors,
    plan,
    posterior,
    transition_matrices,
)
from tests.browser import ROOT

PAGE, PRIORS, COVERAGE, POSTERIOR, COMPARISON, BUDGET, DESK = (
    page.SPEC.file
    for page in (transition_matrices, minimum_priors, coverage, posterior, compare_synthesizers, budget, curator)
)
LAWS = [*SYNTHESIZERS, GivenMatrix.key]
WRONG = re.compile(r"\bnan\b|Traceback|\bNone\b|\binf\b|[a-z]Error\b")


def decode_figure(data: bytes) -> dict[str, Any]:
    """The inverse of `encode_figure`; the figure comes back as a dictionary with numpy arrays in it."""

    def array(node: dict[str, Any]) -> Any:
        if not node.keys() >= {"dtype", "bdata"}:
            return node
        flat = np.frombuffer(base64.b64decode(node["bdata"]), dtype=node["dtype"])
        return flat.reshape([int(n) for n in str(node["shape"]).split(",")]) if "shape" in node else flat

    message: dict[str, Any] = json.loads(data, object_hook=array)
    return message


def open_page(
    address: dict[str, str] | None = None, *, path: Path = PAGE, prefix: str = "tm_", more: bool = True, **state: object
) -> AppTest:
    """The page after its first run, with `state` under the keys ``tm_…`` and `address` in the query.

    `more` says whether "More" is open: what stands there is drawn only then.
    """
    config.set_option("client.showErrorDetails", "full")
    page = AppTest.from_file(str(path), default_timeout=120)
    page.session_state["more"] = more
    for key, words in (address or {}).items():
        page.query_params[key] = words
    for key, value in state.items():
        page.session_state[prefix + key] = value
    return page.run()


def open_priors(address: dict[str, str] | None = None, **state: object) -> AppTest:
    """The page "Minimum priors" after its first run, with `state` under the keys ``mp_…``."""
    return open_page(address, path=PRIORS, prefix="mp_", **state)


def open_coverage(address: dict[str, str] | None = None, **state: object) -> AppTest:
    """The page "Coverage" after its first run, with `state` under the keys ``cv_…``."""
    return open_page(address, path=COVERAGE, prefix="cv_", **state)


def open_posterior(address: dict[str, str] | None = None, **state: object) -> AppTest:
    """The page "Posterior" after its first run, with `state` under the keys ``po_…``; x is known unless it says no."""
    known = {"knows": True} if state.get("source") == "typed" else {}
    return open_page(address, path=POSTERIOR, prefix="po_", **{**known, **state})


def open_comparison(address: dict[str, str] | None = None, **state: object) -> AppTest:
    """The page "Compare synthesizers" with `state` under the keys ``cs_…``, once its table is complete."""
    return whole(open_page(address, path=COMPARISON, prefix="cs_", **state), "cs_ranking")


def open_budget(address: dict[str, str] | None = None, **state: object) -> AppTest:
    """The page "Budget" after its first run, with `state` under the keys ``bu_…``."""
    return open_page(address, path=BUDGET, prefix="bu_", **state)


def open_desk(address: dict[str, str] | None = None, **state: object) -> AppTest:
    """The page "Curator's desk" with `state` under the keys ``cu_…``, once all designs are judged."""
    return whole(open_page(address, path=DESK, prefix="cu_", **state), "cu_designs", "cu_relaxed")


def open_plan(address: dict[str, str] | None = None, **state: object) -> AppTest:
    """The page "Plan" with `state` under the keys ``pl_…``, once the plan is solved."""
    return whole(open_page(address, path=plan.SPEC.file, prefix="pl_", **state), "pl_answer")


def whole(page: AppTest, *places: str) -> AppTest:
    """A page after what grows at these places of the session, one after the other, is complete."""
    for place in places:
        if place in page.session_state and page.session_state[place].stream is not None:
            page.session_state[place].advance(math.inf)
            page.run()
    return page


def grown(page: AppTest, place: str) -> AppTest:
    """A page after what grows at that place of the session, if anything does, is complete."""
    while place in page.session_state and page.session_state[place].stream is not None:
        page.run()
    return page


def open_at(label: str, setting: Setting, **state: object) -> AppTest:
    """The page "Minimum priors" at a setting of the kind of data with that label."""
    names = ("n", "m", "epsilon", "delta", "cells", "sigma", "sigma0")
    return open_priors(family=label, m_is_n=False, **{name: getattr(setting, name) for name in names}, **state)


def html(page: AppTest) -> list[str]:
    """The page's own HTML elements, the style sheet aside."""
    bodies = [element.proto.body.replace("\u00a0", " ") for element in page.get("html")]  # what no line parts
    return [re.sub(r"<style>.*?</style>", "", one, flags=re.DOTALL) for one in bodies]


def text(page: AppTest) -> str:
    """The words and numbers of the HTML elements, captions and Markdown."""
    words = [unescape(re.sub(r"<[^>]+>", " ", part)) for part in html(page)]
    words += [element.value for kind in (page.markdown, page.caption) for element in kind]
    return re.sub(r"\s+", " ", " ".join(words))


def problems(page: AppTest) -> list[str]:
    """The sentences that say what is wrong with a setting."""
    return [
        unescape(re.sub(r"<[^>]+>", "", part))
        for element in html(page)
        for part in re.findall(r'<p class="dpviz-problem"[^>]*>.*?</p>', element)
    ]


def marks(page: AppTest) -> list[str]:
    """The words in frames, one for each answer of the page."""
    return [unescape(mark) for mark in re.findall(r'<span class="dpviz-mark">([^<]*)</span>', " ".join(html(page)))]


def verdict(page: AppTest) -> str:
    """The word in the frame: kept, kept with δ, or broken."""
    found = marks(page)
    assert len(found) == 1, found
    return found[0]


def figures(page: AppTest) -> dict[str, dict[str, Any]]:
    """What was sent to the browser for each picture, by its key."""
    shown = [one for one in page.get("bidi_component") if one.proto.component_name == "dpviz_figure"]
    return {str(element.key): decode_figure(element.proto.bytes) for element in shown}


def next_steps(page: AppTest) -> list[str]:
    """The keys of what asks the browser for its next step."""
    return [str(one.key) for one in page.get("bidi_component") if one.proto.component_name == "dpviz_next_step"]


def check_sound(page: AppTest) -> None:
    """No exception, no traceback, no number that is not one, and an answer or a sentence about what is wrong."""
    assert not page.exception, page.exception[0].value
    shown = text(page)
    assert not WRONG.search(shown), WRONG.search(shown)
    assert problems(page) or marks(page)
    for message in figures(page).values():
        assert not WRONG.search(message["alt"])
        assert message["figure"]["data"]


def declared(law: str) -> dict[str, Parameter]:
    """The declarations of a law by the key of their box."""
    prefix = {"epsilon": "noise_epsilon"}
    return {prefix.get(one.name, one.name): one for one in SYNTHESIZERS[law].parameters()}


def unlinked(law: str) -> dict[str, object]:
    """State in which every box of a law is shown."""
    return {"synthesizer": law, "m_is_n": False, "beta_is_alpha": False, "noise_is_promise": False}


def method_table(page: AppTest) -> dict[str, list[str]]:
    """The cells of the table of methods on "Minimum priors", by the method's label."""
    table = next(part for part in html(page) if re.search(r'aria-label="The exact (prior|range) of every method', part))
    return table_rows(table)


def alpha_in(cell: str) -> str:
    """What a cell of a table on "Minimum priors" says of α, below its invented rows, or of a range."""
    return cell.rpartition("α = ")[2]


def table_called(page: AppTest, name: str) -> str:
    """The HTML of the table with that accessible name."""
    return next(part for part in html(page) if f'aria-label="{escape(name)}"' in part)


def table_rows(table: str) -> dict[str, list[str]]:
    """The cells of a small table, tags left out, by the bold words in the first of each row."""
    rows = re.findall(r"<tr><td><b>([^<]*)</b>(?:(?!</td>).)*</td>(.*?)</tr>", table)
    return {
        label: [unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", rest)]
        for label, rest in rows
    }


def found_in(pattern: str, sentence: str) -> re.Match[str]:
    """What a sentence says at `pattern`, which must be there."""
    found = re.search(pattern, sentence)
    assert found, (pattern, sentence)
    return found


def value_of(cell: str) -> float:
    """A number as the page writes it; the bound where it says that it is less, or more, than one."""
    bare = cell.removesuffix(" %").removeprefix("less than ").removeprefix("more than ")
    found = re.fullmatch(r"(?:(−?[\d.,]+?)×)?(?:10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))|(−?[\d.,]+)", bare)
    assert found, cell
    number = float((found[1] or found[3] or "1").replace("−", "-").replace(",", ""))
    return number * 10.0 ** int((found[2] or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


def shown_prior(value: float, digits: int = 5) -> str:
    """A least prior in as few digits, never below it."""
    if math.isinf(value) or value < 1e-290:
        return "impossible" if math.isinf(value) else "any"
    unit = mpmath.mpf(10) ** (int(mpmath.floor(mpmath.log10(value))) - digits + 1)
    return readable(float(mpmath.ceil(mpmath.mpf(value) / unit) * unit), digits)


def shown_range(value: float, digits: int = 5) -> str:
    """A largest range in as few digits, never above it."""
    unit = mpmath.mpf(10) ** (int(mpmath.floor(mpmath.log10(value))) - digits + 1)
    return readable(float(mpmath.floor(mpmath.mpf(value) / unit) * unit), digits)


def address(page: AppTest) -> dict[str, str]:
    """What the page's address says, as the browser is told to set it."""
    (written,) = [one for one in page.get("bidi_component") if one.proto.component_name == "dpviz_address"]
    return dict(parse_qsl(json.loads(written.proto.bytes)["query"], keep_blank_values=True))


def run_to_the_end(page: AppTest) -> None:
    """Press Start on "Coverage", and let the page draw itself again, as a browser would, until nothing moves."""
    page.button(key="cv_go").click().run()
    for _ in range(200):
        run = page.session_state["cv_run"]
        if not run.running:
            assert run.complete
            return
        page.run()
        assert not page.exception, page.exception[0].value
    raise AssertionError("the simulation did not come to an end")


def run_script(script: str) -> str:
    """What the script prints in a fresh interpreter, in the folder that holds dpviz, without a warning on the way."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-"],
        input=script,
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        env={**environment, "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout


def pieces(page: AppTest) -> int:
    """How many elements and containers the page sends in a run."""

    def below(node: Any) -> int:
        return sum(1 + below(one) for one in getattr(node, "children", {}).values())

    return below(page.main)


MOST_WORDS = 15
"""Of the sentence that a class sees."""


def check_short(sentence: str) -> None:
    """What a class sees is one short sentence."""
    assert len(sentence.split()) <= MOST_WORDS, sentence
    assert sentence[0].isupper() and sentence.endswith(".") and not WRONG.search(sentence), sentence


def desk_answer(desk: Desk) -> tuple[str, str, str]:
    """The mark of the desk, all that it says of its answer, and the short sentence."""
    mark, sentence, short, further = answer_sentence(desk)
    check_short(short)
    return mark, f"{sentence} {further}".strip(), short
