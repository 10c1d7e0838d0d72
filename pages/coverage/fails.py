"""Where coverage fails, and why: three causes, what each costs, and coverage with every combination repaired."""

import itertools
import math
from textwrap import wrap

import streamlit as st

from dpviz.charts.coverage import causes_chart, signed
from dpviz.core.parameters import readable, readable_apart
from dpviz.core.wording import percent
from dpviz.coverage import REPAIRS, CoverageDecomposition
from dpviz.coverage.decomposition import NOT_NORMAL
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from dpviz.mechanisms import Synthesizer
from pages.components.figure import show_figure
from pages.components.words import answer, listing, note
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX, short
from pages.coverage.exact import NOTICED, decomposition, exact_values, exact_variances

CAUSES = {
    "prior_bias": ("prior's pull", "the prior's pull"),
    "ignored_variance": ("variance wrong on average", "the rule's variance, which is {size} on average,"),
    "rule_noise": ("noise of the variance", "the noise of the rule's variance"),
    NOT_NORMAL: ("q̄ is not normal", "the shape of q̄'s distribution, which is not normal,"),
}
"""Each cause of `CoverageDecomposition.lost`: its short name, and what sentences call it."""


def _causes(place: int, synthesizer_type: type[Synthesizer]) -> dict[str, str]:
    bias = (
        {}
        if synthesizer_type.has_prior
        else {"prior_bias": ("bias of the release", f"the bias of {synthesizer_type.moved_by}")}
    )
    return {key: names[place] for key, names in (CAUSES | bias).items()}


def show_failure(design: Design) -> None:
    """What each cause costs, in a sentence, a picture and a table, and the eight combinations of repairs."""
    rules = exact_variances(design)
    if not rules:
        st.caption(SPEC.note("no_causes" if exact_values(design) else "no_repairs"))
        return
    found = {key: decomposition(design, key) for key in rules}
    first, synthesizer_type = found[rules[0]], design.synthesizer_type
    causes = _causes(0, synthesizer_type)
    change = f"{percent(first.published, 3)} → {percent(first.repaired, 3)}"
    st.html(answer(change, failure_sentence(first, short(first.rule), synthesizer_type)))
    effects = {
        key: {"<br>".join(wrap(causes[cause], 15)): -value for cause, value in one.lost.items()}
        | {"together": one.published - one.level}
        for key, one in found.items()
    }
    chart = causes_chart(effects, names={key: RULES[key].label for key in found})
    alt = "For each rule, what each cause takes from the promised coverage (left) or adds to it (right)."
    show_figure(chart, key=f"{PREFIX}causes", alt=alt, height=460)
    rows = []
    for key, one in found.items():
        costs = (signed(-100 * value, 4) for value in one.lost.values())
        rows.append([f"<b>{short(key)}</b>", percent(one.level, 8), *costs, percent(one.published)])
    listing(["rule", "promised", *causes.values(), "as published"], rows, "What each cause costs, in points")
    note(repairs_explained(first, synthesizer_type))
    rows = [
        [f"<b>{_repaired(place, causes)}</b>", *(percent(float(one.coverage[place])) for one in found.values())]
        for place in sorted(itertools.product((0, 1), repeat=3), key=sum)
    ]
    listing(["repaired", *map(short, found)], rows, "Coverage with each combination of repairs")
    variances = ", ".join(f"{readable(one.mean_variance, 3)} ({short(key)})" for key, one in found.items())
    error, bias, spread = readable(first.error_bound, 1), readable(first.bias, 4), readable(first.variance, 4)
    st.caption(SPEC.note("costs", error=error, bias=bias, spread=spread, variances=variances))


def _repaired(place: tuple[int, ...], causes: dict[str, str]) -> str:
    if all(place):
        return "all three"
    return " and ".join(causes[key] for key in itertools.compress(REPAIRS, place)) or "nothing, as published"


def failure_sentence(one: CoverageDecomposition, rule: str, synthesizer_type: type[Synthesizer]) -> str:
    """What coverage is off by, the cause that outweighs all others if there is one, and what each costs or adds."""
    told = {key: value for key, value in one.lost.items() if abs(value) >= NOTICED}
    told = dict(sorted(told.items(), key=lambda item: -abs(item[1])))
    off, main = one.level - one.published, one.main_cause
    if abs(off) < NOTICED:
        if not told:
            return f"{rule} covers as promised here; there is nothing to repair."
        return f"{rule} covers as promised here because errors cancel: {_costs(one, told, synthesizer_type)}."
    lead = f"{rule} {'misses' if off > 0 else 'covers'} too often"
    if main is None or main not in told:
        return f"{lead}, and no cause outweighs all others: {_costs(one, told, synthesizer_type)}."
    because = _costs(one, {main: told.pop(main)}, synthesizer_type)
    more = f" Besides, {_costs(one, told, synthesizer_type)}." if told else ""
    return f"{lead}, mainly because {because}.{more}"


def _costs(one: CoverageDecomposition, told: dict[str, float], synthesizer_type: type[Synthesizer]) -> str:
    size, words = "too small" if one.mean_variance < one.variance else "too large", _causes(1, synthesizer_type)
    *parts, last = (
        f"{words[key].format(size=size)} {'costs' if value > 0 else 'adds'} {readable(100 * abs(value), 3)} points"
        for key, value in told.items()
    )
    return f"{', '.join(parts)} and {last}" if parts else last


def repairs_explained(one: CoverageDecomposition, synthesizer_type: type[Synthesizer]) -> str:
    """What the three repairs do, and whose interval all three of them make."""
    prior = synthesizer_type.has_prior
    longer = f"{readable_apart(1 / abs(one.slope), 1.0, 3)} times as" if one.slope else "infinitely"
    line = "a straight line with a prior" if prior else "close to a straight line away from 0 and 1"
    cause, estimate = (
        _causes(0, synthesizer_type)["prior_bias"],
        "an unbiased estimate" if prior else "what the curve gives",
    )
    return SPEC.note(
        "repairs", cause=cause, line=line, longer=longer, estimate=estimate, order="" if prior else " (to first order)",
        error=readable(one.unbiased_standard_error, 3), plain=readable(math.sqrt(one.variance), 3),
    )  # fmt: skip
