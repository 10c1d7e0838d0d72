"""What every page shows on a server that starts with the toys: `python -m tests.plugged` prints it as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.toys import ADDED, TWICE, ExponentialMechanism, ManySmokers, Smokers, register


def visits() -> dict[str, Callable[[], AppTest]]:
    """Return how each of the eight pages is opened, with as many toys as it can show."""
    from pages.home import SPEC as HOME
    from tests import pages

    toy = ExponentialMechanism.key
    desk = {"kind": ManySmokers.key, "n": 12, "values": 2, "repetitions": 60, "tried": ["1"]}
    return {
        "start": lambda: pages.open_page(path=HOME.file, prefix=HOME.prefix),
        "transition_matrices": lambda: pages.open_page(synthesizer=toy, n=6),
        "minimum_priors": lambda: pages.open_priors(n=40),
        "coverage": lambda: pages.open_coverage(synthesizer=toy, n=12, sets=2, rules=[TWICE.key]),
        "posterior": lambda: pages.open_posterior(synthesizer=toy, n=12, x=4),
        "compare_synthesizers": lambda: pages.open_comparison(
            kind=Smokers.key, n=12, sets=2, rule=TWICE.key, smokers_methods=["beta_binomial", toy]
        ),
        "budget": lambda: pages.open_budget(n=8, repetitions=50, sets_kind=Smokers.key, sets_smokers_method=toy),
        "curator": lambda: pages.open_desk(
            **desk, many_smokers_methods=[toy], many_smokers_rules=["as_if_real"], accuracy=[ADDED.key], most_added=0.3
        ),
    }


def main() -> None:
    """Visit all pages, and print what each of them shows once it is complete."""
    from pages.components import growing
    from tests import pages

    growing.AT_ONCE = 60.0
    shown = {}
    for name, opened in visits().items():
        page = opened()
        faults = [str(one.value) for one in page.exception] + pages.problems(page)
        options = [one for box in (*page.selectbox, *page.multiselect) for one in box.options]
        shown[name] = {"faults": faults, "text": pages.text(page), "options": options}
    print(json.dumps(shown))


if __name__ == "__main__":
    register()  # before any page is imported, as whoever adds one line has it; and in this process alone
    main()
