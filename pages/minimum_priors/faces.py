"""How the page speaks of what is asked for: a smallest prior for counts, a largest range for Gaussian data."""

import math
from collections.abc import Sequence
from typing import ClassVar

from dpviz.calibration.methods import SYNTH_POST_ONE, PriorMethod
from dpviz.core.parameters import readable, rounded_down, rounded_up
from dpviz.core.wording import few_rows, invented_text
from dpviz.inference.moments import cell_moments, share_beyond
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import Asked

HEADLINE = SYNTH_POST_ONE
ROUNDING = 1e-15  # Bias below which it is nothing but rounding

SAME = 1e-3  # Relative difference of the two answers below which δ is said to be too small to help

NONE_NEEDED = 1e-290  # A smallest prior up to which any prior is enough

PROMISE = {"ε": "epsilon", "δ": "delta"}
ANY = "any prior"  # What is needed where δ alone is enough
BEYOND = "beyond reach"  # What stands for a NaN: an answer that is not computed at this size; a sentence says why


def known(value: float) -> bool:
    """Whether a smallest prior is a number to show, rather than "impossible" or "any"."""
    return math.isfinite(value) and value > NONE_NEEDED


def least(value: float, digits: int = 5) -> str:
    """Return a smallest prior, or the smallest noise, rounded up; in words where it is no number."""
    if math.isnan(value):
        return BEYOND
    if math.isinf(value):
        return "impossible"
    return readable(rounded_up(value, digits), digits) if known(value) else "any"


def largest(value: float, digits: int = 5) -> str:
    """A largest range, rounded down."""
    return BEYOND if math.isnan(value) else readable(rounded_down(value, digits), digits)


def failure(value: float, digits: int = 4) -> str:
    """A δ that is never 0, in words where it is below the floating-point numbers."""
    return readable(value, digits) if value > 0 else "< 10⁻³⁰⁰"


class Face:
    """How the page speaks of what is asked for: `why` names its texts."""

    why: ClassVar[str]

    def caption(self, asked: Asked) -> str:
        """What stands below the table."""
        setting, p = asked.setting, asked.design.p
        return SPEC.note(
            f"The table of {self.why}",
            **{name: readable(getattr(setting, name)) for name in ("epsilon", "sigma", "sigma0")},
            which="second" if setting.delta > 0 else "first",
            plain=readable(math.sqrt(p * (1 - p) / setting.n), 3),
            composed=" Several sets: their losses are added exactly." if asked.design.sets > 1 else "",
        )

    def how_sets(self, asked: Asked, sets: int) -> str:
        """How several sets are counted."""
        advanced = SPEC.note("Advanced composition" if asked.setting.delta > 0 else "No advanced composition")
        texts = {"cells": _cells_text(asked), "promise": asked.promise, "advanced": advanced}
        return SPEC.note(f"The sets of {self.why}", sets=sets, **texts)


class LeastPriors(Face):
    """Counts: how many invented rows a promise needs, and what they cost."""

    why = "counts"
    released = "proportion"
    unsafe = "below"
    title = "The exact prior of every method, and what it costs"
    sets_title = "The prior that the sets need, by way of counting"

    def answer(self, asked: Asked, pure: float, exact: float) -> tuple[str, str]:
        """The mark and the sentence about what is needed, without and with δ."""
        setting, where = asked.setting, _sizes(asked, _cells_text(asked))
        name = f"the {asked.design.synthesizer_type.label.partition(' (')[0]} synthesizer ({HEADLINE.label})"
        alike = "half of them yes" if asked.kind.binary else "as many in each cell"
        if math.isnan(exact):
            return BEYOND, (
                f"How many invented rows {name} needs to keep {asked.promise} with {where} is not computed. The table "
                "has the other methods."
            )
        needed = (
            f"To keep ε = {readable(setting.epsilon)} with {where} by {name}, the agency must mix in "
            f"{_weight(asked, pure)}<b>{_invented(asked, pure)}</b> {_rows(asked, pure)} for {_real_rows(asked)}"
            f"{' in each set' if asked.design.sets > 1 else ''}"
        )
        if setting.delta == 0:
            return f"{_invented(asked, pure)} {_rows(asked, pure)}", (
                f"{needed}, {alike}. If it accepts a small δ, fewer may be enough."
            )
        if not known(exact):
            return ANY, (f"{needed}. If it accepts δ = {readable(setting.delta, 3)}, any number above 0 is enough.")
        if pure <= exact * (1 + SAME):
            return f"{_invented(asked, exact)} {_rows(asked, exact)}", (
                f"{needed}, {alike}. A δ of {readable(setting.delta, 3)} is too small to save a noticeable share of "
                "them."
            )
        enough = _weight(asked, exact)
        return f"{_invented(asked, pure)} → {_invented(asked, exact)} {_rows(asked, exact)}", (
            f"{needed}, {alike}. If it accepts δ = {readable(setting.delta, 3)}, "
            f"{enough}<b>{_invented(asked, exact)}</b> {'is' if enough else 'are'} enough."
        )

    def short(self, asked: Asked, mark: str) -> str:
        """What the mark says, in one sentence of at most 15 words."""
        epsilon, delta = (f"{name} = {readable(getattr(asked.setting, key), 3)}" for name, key in PROMISE.items())
        many = f"That many{' per set' if asked.design.sets > 1 else ''} keep {epsilon}"
        if mark == BEYOND:
            return "This method is not computed at this size."
        if mark == ANY:
            return f"Any number of invented rows keeps {epsilon}, {delta}."
        if "→" in mark:
            return f"{many}, without δ and with {delta}."
        return f"{many}; {delta} saves hardly any." if asked.setting.delta > 0 else f"{many}, without any δ."

    def columns(self, asked: Asked) -> list[str]:
        """The heads of the table: without δ, with it, and what it costs."""
        delta, p = (readable(value, 3) for value in (asked.setting.delta, asked.design.p))
        head = [f"{asked.kind.axis}, δ = {shown}" for shown in ("0", delta)]
        return [*head, f"bias at p = {p}", "standard error"]

    def needed(self, asked: Asked, alpha: float, digits: int = 5) -> str:
        """A cell of a table: invented rows per real row, and below them α."""
        if not known(alpha):
            return least(alpha)
        return f"{_per_row(asked, alpha, min(digits, 3))}<br><small>α = {least(alpha, digits)}</small>"

    def costs(self, asked: Asked, method: PriorMethod, alpha: float) -> list[str]:
        """What a level costs, a cell for each further column."""
        setting = asked.setting
        if not math.isfinite(alpha):
            return ["", ""]
        found = cell_moments(
            method.key, n=setting.n, m=setting.m, alpha=alpha, cells=asked.kind.cells(setting),
            proportion=asked.design.p, sets=asked.design.sets,
        )  # fmt: skip
        bias = found.bias if abs(found.bias) > ROUNDING else 0.0
        return [f"{'+' if bias > 0 else ''}{readable(bias, 3)}", readable(found.standard_error, 3)]

    def held(self, level: float) -> str:
        """A level that is given, in words."""
        return f"α = {readable(level)} invented rows in each cell"

    def of_sets(self, asked: Asked, sets: int, exact: float, digits: int, ways: Sequence[float]) -> tuple[str, str]:
        """The mark and the sentence about several sets, of which `digits` of the exact answer are sure."""
        digits = min(digits, 3)
        needed, printed = _invented(asked, exact, digits), _invented(asked, ways[0])
        asks = "the same" if printed == needed else f"<b>{printed}</b>"
        rows = _rows(asked, exact, digits)
        return f"M = {sets}: {needed} {rows}", (
            f"for {_real_rows(asked)} in each set of {HEADLINE.label} {'is' if rows == ONE else 'are'} enough to keep "
            f"{asked.promise} for {together(sets)}, counted exactly. The papers' rule, an equal share ε/M for each set "
            f"without δ, asks for {asks}."
        )


class LargestRanges(Face):
    """Gaussian data: within which range a promise is kept, and what that cuts off."""

    why = "ranges"
    released = "mean"
    unsafe = "above"
    title = "The exact range of every method, and what it cuts off"
    sets_title = "The range that the sets allow, by way of counting"

    def answer(self, asked: Asked, pure: float, exact: float) -> tuple[str, str]:
        setting, name, where = asked.setting, HEADLINE.label, _sizes(asked)
        narrow = f"±<b>{largest(pure, 3)}</b> σ"
        if setting.delta == 0:
            return f"R/σ ≤ {largest(pure, 3)}", (
                f"With {where}, {name} keeps ε = {readable(setting.epsilon)} if the data lie within {narrow} and every "
                "released number is truncated to the same range."
            )
        return f"R/σ ≤ {largest(exact, 3)}", (
            f"With {where}, {name} keeps {asked.promise} if the data lie within ±<b>{largest(exact, 3)}</b> σ. If "
            f"every released number is truncated to the range of the data, it keeps ε = {readable(setting.epsilon)} "
            f"without any δ for data within {narrow}."
        )

    def short(self, asked: Asked, mark: str) -> str:  # noqa: ARG002
        epsilon = f"ε = {readable(asked.setting.epsilon, 3)}"
        if asked.setting.delta == 0:
            return f"Data within that range keep {epsilon} if releases are truncated to it."
        return f"Data within that range keep {epsilon}, δ = {readable(asked.setting.delta, 3)}."

    def columns(self, asked: Asked) -> list[str]:
        delta = readable(asked.setting.delta, 3)
        head = ["largest R/σ, δ = 0, truncated", f"largest R/σ, δ = {delta}, not truncated"]
        return [*head, "share of N(0, σ²) beyond ±R"]

    def needed(self, asked: Asked, reach: float, digits: int = 5) -> str:  # noqa: ARG002
        return largest(reach, digits)

    def costs(self, asked: Asked, method: PriorMethod, reach: float) -> list[str]:  # noqa: ARG002
        return [readable(share_beyond(reach), 3)]

    def held(self, level: float) -> str:
        return f"R/σ = {readable(level)}"

    def of_sets(self, asked: Asked, sets: int, exact: float, digits: int, ways: Sequence[float]) -> tuple[str, str]:
        reach, shared = largest(exact, min(digits, 3)), largest(ways[1], 3)
        allows = "allows the same" if shared == reach else f"allows only <b>{shared}</b>"
        return f"M = {sets}: R/σ ≤ {reach}", (
            f"is the largest range for which {together(sets)} of {HEADLINE.label} keep {asked.promise}, counted "
            f"exactly. An equal share (ε/M, δ/M) for each set {allows}."
        )


FACES: dict[str, LeastPriors | LargestRanges] = {"alpha": LeastPriors(), "reach": LargestRanges()}


def face_of(asked: Asked) -> LeastPriors | LargestRanges:
    """How the page speaks of what is asked for."""
    return FACES[asked.kind.level]


def together(sets: int) -> str:
    """All sets of a release, in words that also fit two."""
    return "both sets together" if sets == 2 else f"all {sets} sets together"


def _real_rows(asked: Asked) -> str:
    """The confidential rows beside which the invented ones stand."""
    n = asked.setting.n
    return "one real row" if n == 1 else f"{readable(n)} real rows"


def _sizes(asked: Asked, cells: str = "") -> str:
    n, m = readable(asked.setting.n), readable(asked.setting.m)
    sets = f" and M = {asked.design.sets} sets together" if asked.design.sets > 1 else ""
    return f"{f'n = m = {n}' if n == m else f'n = {n}, m = {m}'}{cells}{sets}"


def _cells_text(asked: Asked) -> str:
    return "" if asked.kind.binary else f", k = {asked.setting.cells}"


def _invented(asked: Asked, alpha: float, digits: int = 3) -> str:
    """Invented rows in each set, of all cells, rounded up; in words where they are no number."""
    rows = asked.kind.cells(asked.setting) * alpha
    return invented_text(rows, digits) if known(rows) else least(rows)


def _weight(asked: Asked, alpha: float) -> str:
    """What stands before a few invented rows, which nobody counts."""
    rows = asked.kind.cells(asked.setting) * alpha
    return "the weight of " if known(rows) and few_rows(rows) else ""


ONE = "invented row"


def _rows(asked: Asked, alpha: float, digits: int = 3) -> str:
    """What is counted: a row, or rows."""
    return ONE if _invented(asked, alpha, digits) == "1" else f"{ONE}s"


def _per_row(asked: Asked, alpha: float, digits: int = 3) -> str:
    """Invented rows for every real row."""
    if math.isnan(alpha):
        return ""
    return least(asked.kind.counted(alpha, asked.setting), digits) if known(alpha) else least(alpha)
