"""The numbers of a page on which methods on one kind of data stand beside each other."""

import dataclasses

from dpviz.comparisons import DATA_KINDS
from dpviz.comparisons.base import COMPARED_SETS, SIMULATED_REPETITIONS, Analysis, declared_numbers
from dpviz.comparisons.terms import PROMISES
from dpviz.core.declarations import PUBLIC_GUESS, SEED
from dpviz.core.parameters import Parameter

OF_KINDS = declared_numbers(DATA_KINDS)
"""The numbers of all kinds of data by name."""


def compared_numbers(promised: str, **further: Parameter) -> dict[str, Parameter]:
    """The numbers of a page, on which ε is what is `promised`; `further` ones are its own."""
    epsilon = dataclasses.replace(
        PROMISES,
        default=1.0,
        slider_minimum=1e-3,
        slider_maximum=100.0,
        help=f"{promised} Smaller is more private; values from 0.1 to 10 are usual.",
    )
    sets, level = dataclasses.replace(COMPARED_SETS, private_end="neither"), Analysis.numbers()["level"]
    more = {**further, "level": level, "repetitions": SIMULATED_REPETITIONS, "seed": SEED}
    return {"epsilon": epsilon, "n": OF_KINDS["n"], "sets": sets, **OF_KINDS, PUBLIC_GUESS.name: PUBLIC_GUESS, **more}
