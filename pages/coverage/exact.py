"""The exact coverage of a design, its curves, which grow coarse to fine, and what sentences say of them."""

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from dpviz.core.numerics.bernstein import Extreme
from dpviz.core.pool import Begin, single
from dpviz.core.wording import percent
from dpviz.coverage import (
    CoverageLines,
    ExactCoverage,
    coverage_given_count,
    coverages_at_a_glance,
    coverages_in_reach,
)
from dpviz.coverage.along import EPSILONS, GrowingCurves, curves_along_epsilon, curves_along_p
from dpviz.coverage.decomposition import CoverageDecomposition, coverage_decomposition
from dpviz.designs import Design
from dpviz.desk.covered import is_sure
from dpviz.inference.rules import RULES
from pages.components.cached import cached, elsewhere
from pages.components.growing import Growing, growing_of
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX

EXACT, GLANCE, GROWING = (f"{PREFIX}{one}" for one in ("exact", "glance", "growing"))


def exact_of(design: Design) -> Growing[dict[str, ExactCoverage]]:
    """The exact coverage of each rule shown whose sums are short, as it comes."""
    return glance_of(design) if design.sets <= 2 else _sums_of(EXACT, coverages_in_reach, design)


def glance_of(design: Design) -> Growing[dict[str, ExactCoverage]]:
    """The same to fewer digits, which are there sooner: the answer of the page has enough of them."""
    return _sums_of(GLANCE, coverages_at_a_glance, design, answer=True)


def _sums_of(
    place: str, function: Callable[..., dict[str, ExactCoverage]], design: Design, *, answer: bool = False
) -> Growing[dict[str, ExactCoverage]]:
    begin = partial(single, function, design.release, p=design.p, **_asked(design, design.rules))
    return growing_of(place, (place, _all_but(design)), dict, begin, answer=answer)


def _all_but(design: Design, *names: str) -> tuple[object, ...]:
    """All of a design that an exact result follows from, whatever these numbers are: another design takes longer."""
    free = {"repetitions", "seed", *names}
    return tuple(getattr(design, one.name) for one in dataclasses.fields(design) if one.name not in free)


def answer_of(design: Design, seconds: float) -> dict[str, ExactCoverage] | None:
    """A glance after at most so long, or more where it leaves open what the first sentence says; None for nothing."""
    glance = glance_of(design)
    glance.advance(seconds, 0)
    first = itertools.islice((glance.latest or {}).items(), 1)
    if all(is_sure(design, rule, one) for rule, one in first):
        return glance.latest
    exact = exact_of(design)
    exact.advance(seconds)
    return exact.latest


def exact_values(design: Design) -> dict[str, ExactCoverage]:
    """The exact coverage of each rule shown whose sums are short, waited for."""
    return exact_of(design).first()


def decomposition(design: Design, rule: str) -> CoverageDecomposition:
    """`coverage_decomposition` of a rule."""
    return elsewhere(coverage_decomposition, "Repairing one thing at a time …")(
        synthesizer=design.release, p=design.p, sets=design.sets, rule=rule, level=design.level
    )


def exact_variances(design: Design) -> tuple[str, ...]:
    """The rules shown whose variance T has an exact expectation: those that have a T, where sums can be had."""
    return tuple(key for key in exact_values(design) if RULES[key].has_variance)


@dataclass(frozen=True)
class Axis:
    """What curves are drawn against: a number of the design by its name and symbol, and what the picture says of it.

    `begin` gives for a design and its rules what yields the curves, which another process can be handed.
    """

    name: str
    symbol: str
    title: str
    log: bool
    ends: tuple[float, float]
    begin: Callable[[Design, tuple[str, ...]], Begin[GrowingCurves]]


def _asked(design: Design, rules: tuple[str, ...]) -> dict[str, Any]:
    return {"sets": design.sets, "rules": rules, "level": design.level}


def _along_p(design: Design, rules: tuple[str, ...]) -> Begin[GrowingCurves]:
    return partial(curves_along_p, design.release, **_asked(design, rules))


def _along_epsilon(design: Design, rules: tuple[str, ...]) -> Begin[GrowingCurves]:
    releases = design.along_epsilon(EPSILONS.tolist())
    return partial(curves_along_epsilon, releases, p=design.p, **_asked(design, rules))


EVERYWHERE = Axis("p", "p", "true share of yes", False, (0.0, 1.0), _along_p)
AXES = {
    "against p": EVERYWHERE,
    "against ε": Axis(
        "epsilon", "ε", "promised ε for all tables (left is more private)", True,
        (float(EPSILONS[0]), float(EPSILONS[-1])), _along_epsilon,
    ),
}  # fmt: skip


def curves_of(design: Design, axis: Axis) -> Growing[GrowingCurves] | None:
    """The reader's curves along an axis, the same wherever the design is on it; None where no exact sums are known."""
    rules = tuple(glance_of(design).latest or ())
    if not rules:
        return None
    key = ("coverage curves", axis.name, rules, _all_but(design, "rules", axis.name))
    return growing_of(f"{GROWING}_{axis.name}", key, GrowingCurves, axis.begin(design, rules))


def is_whole(curves: Growing[GrowingCurves]) -> bool:
    """Whether the lines of curves do not grow any more, though the smallest coverages may."""
    return curves.stream is None or (curves.latest is not None and curves.latest.whole)


class Known(NamedTuple):
    """What is there of a design: coverages, None before there are any, the curves, and the smallest coverages.

    The coverages are `exact` to the last digit or to those of a glance; it is `over` when nothing more is to come.
    """

    coverages: dict[str, ExactCoverage] | None
    exact: bool = False
    curves: Growing[GrowingCurves] | None = None
    smallest: Mapping[str, Extreme] = MappingProxyType({})
    over: bool = False


def known_of(design: Design, axis: Axis, go_on: Callable[[Growing[Any]], object]) -> Known:
    """What is there after `go_on` with it: all but the answer begins when that has ended, or it would come late.

    The smallest coverages come with the curves against p, from the same distributions of the releases.
    """
    go_on(glance := glance_of(design))
    if glance.stream is not None:
        return Known(None)
    curves, exact = curves_of(design, axis), exact_of(design)
    if curves is not None:
        go_on(curves)
    go_on(exact)
    coverages = glance.latest if exact.stream is not None else exact.latest
    if curves is not None and not is_whole(curves):
        return Known(coverages, exact.stream is None, curves)
    everywhere = curves_of(design, EVERYWHERE)
    if everywhere is not None and everywhere is not curves:
        go_on(everywhere)
    ended = exact.stream is None and (everywhere is None or everywhere.stream is None)
    smallest = everywhere.latest.smallest if everywhere is not None and everywhere.latest else {}
    return Known(coverages, exact.stream is None, curves, smallest, ended)


def given_sentence(design: Design) -> str:
    """How often the first rule holds the share of the reader's own secret table; nothing where there is none.

    The releases alone are drawn again, as on Start: a single set, of which the sum is short.
    """
    x = design.confidential_count
    if x is None or design.sets > 1:
        return ""
    share = cached(coverage_given_count)(
        synthesizer=design.release, confidential_count=x, rule=design.rules[0], level=design.level
    )
    return SPEC.note("given", x=f"{x:,}", n=f"{design.n:,}", share=percent(share, 3), own=percent(x / design.n, 3))


def line_sentence(axis: Axis, line: CoverageLines, *, growing: bool) -> str:
    """How near the lines are to the exact curves between their corners."""
    name, count = axis.symbol, len(line.points)
    if growing:
        return f"Exact at {count:,} values of {name} so far, straight lines between them; more to come." * (count > 0)
    if line.drawn_from:
        return SPEC.note("every_jump" if line.jumps else "some_jumps", points=f"{line.drawn_from:,}")
    return f"The lines are sampled: exact at {count:,} values of {name}, straight between them." * (count > 0)
