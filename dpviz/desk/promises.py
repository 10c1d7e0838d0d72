"""What a release follows from, in words: the promise or an own prior, and where more is spent than is promised."""

import dataclasses
from functools import lru_cache
from typing import Any

from dpviz.core.declarations import DELTA, EPSILON, SETS
from dpviz.core.formatting import format_distinct, format_number, round_up
from dpviz.designs import Design
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer, two_cell_synthesizers
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy import pure_epsilon

TIE = 1e-12  # Relative difference up to which two ε are one, rounding aside

SHARED_SETS = dataclasses.replace(
    SETS,
    private_end="neither",
    help="How many synthetic tables are released, drawn independently from the same secret one. They share the "
    "promise; where you choose α, each of them costs privacy.",
)
"""M where the prior follows from a promise for all sets together: neither end is more private."""

PROMISE = {
    "epsilon": dataclasses.replace(EPSILON, default=2.0, slider_minimum=0.01, slider_maximum=250.0),
    "delta": dataclasses.replace(DELTA, default=1e-6, maximum=0.5, slider_maximum=0.5),
    "alpha": dataclasses.replace(
        PRIOR_ONES,
        minimum=1e-12,
        default=10.0,
        slider_minimum=0.01,
        slider_maximum=1e4,
        help="Invented rows with a one and as many with a zero, in each set. More of them are more private.",
    ),
}
"""What a release follows from, by the rule of the prior."""

KNOWN_NUMBERS = ("n", "m", "epsilon", "alpha", "beta")
FURTHER_NUMBERS = {
    one.name: one
    for made in two_cell_synthesizers().values()
    for one in made.parameters()
    if one.name not in KNOWN_NUMBERS
}
"""What a synthesizer of two counts asks for beside its sizes, and its promise or prior."""

ROWS_OF_A_SET = (
    "The number of rows in each set. With a prior, more rows take a larger one to keep the promise; where you choose "
    "α, fewer rows are more private."
)

_epsilon_of = lru_cache(maxsize=1024)(pure_epsilon)


def prior_text(alpha: float) -> str:
    """A prior to four digits, or to the last invented row where it has more."""
    return format_number(alpha, 4 if alpha < 1e4 else 6)


def real_epsilon(design: Design) -> float | None:
    """The exact ε of all sets where the synthesizer spends more than it promises; None where it does not."""
    if not design.synthesizer_type.info.kept_by:
        return None
    release: Any = design.synthesizer
    real, promised = _epsilon_of(release), release.epsilon
    return design.sets * real if real > promised * (1 + TIE) else None


def broken_sentence(synthesizer_type: type[Synthesizer], promised: float, real: float) -> str:
    """What is promised and what is really spent, why, and what keeps the promise; as inline HTML."""
    return (
        f"<b>Promised ε = {format_number(promised)}, really {format_distinct(real, promised, 3)}.</b> "
        f"{synthesizer_type.info.broken_because} "
        f"{SYNTHESIZERS[synthesizer_type.info.kept_by].info.label} keeps the promise."
    )


def promise_text(design: Design) -> str:
    """What the release follows from: the promise or an own prior or matrix, and what no control here says."""
    further, given = (
        [one for one in design.synthesizer_type.parameters() if one.name not in KNOWN_NUMBERS],
        design.details,
    )
    fixed = "".join(
        f", {one.symbol or one.title} = {format_number(dict(given).get(one.name, one.default))}"
        f"{' by default' * (one.name not in dict(given))}"
        for one in further
    )
    if "epsilon" not in design.promised:
        found, sets = format_number(round_up(design.epsilon_of_sets, 4), 4), design.sets
        gives = f"ε = {found}{'' if sets == 1 else f' for all {sets} sets'}, no δ"
        own = "your own matrix" if design.synthesizer_type is GivenMatrix else design.synthesizer_type.info.label
        said = f"α = {prior_text(design.alpha)} ({gives})" if "alpha" in design.promised else f"{gives} ({own})"
        return said + fixed
    share = "noise for ε/M in each set" if design.synthesizer_type.adds_noise else "ε/M for each set"
    noise = "" if design.synthesizer_type.has_prior or design.sets == 1 else f", {share}"
    delta = f", δ = {format_number(design.delta, 3)}" if "delta" in design.promised and design.delta > 0 else ""
    real = real_epsilon(design)
    really = "" if real is None else f" (really {format_distinct(real, design.epsilon, 3)})"
    return f"ε = {format_number(design.epsilon, 4)}{really}{delta}{noise}{fixed}"
