"""Pages of an app that starts with the toys: ``python -m tests.plugged`` prints what they show, as JSON.

The pages read the registries when they are imported, so that this needs a process of its own.
"""

import json
import logging
import subprocess
import sys
from functools import cache
from importlib import import_module
from typing import Any

from tests.pages.apptest import open_page, problems, texts
from tests.toys import ADDED, TWICE, ExponentialMechanism, ManySmokers, ShyMean, Smokers, register

TOY = ExponentialMechanism.key
QUERIES: dict[str, dict[str, object]] = {
    "start": {},
    "transition_matrices": {"tm_synthesizer": TOY, "tm_n": 6, "tm_m": 6},
    "minimum_priors": {"mp_n": 40, "mp_epsilon": 1.5, "mp_delta": 1e-4},
    "coverage": {"cv_synthesizer": TOY, "cv_n": 12, "cv_sets": 2, "cv_rules": TWICE.key},
    "posterior": {"po_synthesizer": TOY, "po_n": 12, "po_x": 4, "po_source": "typed", "po_counts": "3, 5"},
    "compare_synthesizers": {
        "cs_kind": Smokers.key, "cs_n": 12, "cs_sets": 2, "cs_rule": TWICE.key,
        "cs_smokers_methods": f"original.beta_binomial.{TOY}.{ShyMean.key}",
    },
    "budget": {
        "bu_n": 8, "bu_repetitions": 50, "bu_sets_kind": Smokers.key, "bu_sets_smokers_method": TOY,
    },
    "curator": {
        "cu_kind": ManySmokers.key, "cu_n": 12, "cu_values": 2, "cu_repetitions": 60, "cu_tried": 1,
        "cu_many_smokers_methods": TOY, "cu_many_smokers_rules": "as_if_real", "cu_accuracy": ADDED.key,
        "cu_most_added": 0.3,
    },
}  # fmt: skip
"""Small settings of each page that has a release, with as many toys as it can show."""

OTHER_DATA: dict[str, dict[str, object]] = {
    family: {"mp_family": family, "mp_n": 40, "mp_delta": 1e-4, "mp_look": "Several sets"}
    for family in ("Gaussian", "k categories")
}
"""Settings of "Minimum priors" with data that no toy releases."""


@cache
def plugged_pages() -> dict[str, dict[str, Any]]:
    """What every page and every closer look shows with the toys."""
    run = subprocess.run([sys.executable, "-m", "tests.plugged"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    pages: dict[str, dict[str, Any]] = json.loads(run.stdout)
    return pages


def _shown(module: str, query: dict[str, object]) -> dict[str, Any]:
    """Faults, text, and offered options of a page with everything unfolded."""
    app = open_page(module, session={"more": True}, **query)
    options = [option for box in (*app.selectbox, *app.multiselect) for option in box.options]
    return {"faults": problems(app), "text": " ".join(" ".join(texts(app)).split()), "options": options}


def main() -> None:
    """Open all pages with all of their closer looks, and print what they show."""
    pages = {}
    for module, query in QUERIES.items():
        pages[module] = _shown(module, query)
        settings = import_module(f"pages.{module}").SETTINGS
        (look,) = [key for key in settings if key.endswith("_look")] or [""]
        for section in _sections(module) if look else []:
            pages[f"{module}: {section}"] = _shown(module, query | {look: section})
    for family, query in OTHER_DATA.items():
        pages[family] = _shown("minimum_priors", query)
    print(json.dumps(pages))


def _sections(module: str) -> list[str]:
    """Names of the closer looks of a page."""
    page = import_module(f"pages.{module}")
    return list(getattr(page, "SECTIONS", None) or page.details.SECTIONS)


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # AppTest has no browser, of which Streamlit warns
    register()  # before any page is imported
    main()
