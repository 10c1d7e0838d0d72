"""Theorem 2.22, chapter 5 and section 6.3 of Zheng (2015) beside what is computed: sentences, and rows with verdicts.

Sentences and cells are HTML.
"""

import numpy as np

from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.promise_in_words import HEADLINE
from dpviz.calibration.releases import BY_SIZE, SizeCurves
from dpviz.claims.claim import Claim
from dpviz.claims.theorems import CLAIMS
from dpviz.core.parameters import readable, rounded_down, rounded_up
from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.average_case import count_simulator_deltas

SHRINKING = (
    "– says nothing: 1 − e<sup>2ε</sup> is negative for every ε &gt; 0, and no δ is negative; at a fixed θ between 0 "
    "and 1 the exact δ falls exponentially in n"
)


def sampling_in_words(alone: float, after: float, printed: float, most: str = "") -> tuple[str, str]:
    """Return the mark, and what a random sample does to a loss; each is rounded up, and to as many digits as differ.

    >>> sampling_in_words(1.6647, 1.6647, 4.28)
    ('ε = 1.67', 'its loss stays at ε = 1.67. Theorem 2.22 promises ε = 4.28.')
    >>> sampling_in_words(1.6647, 1.6601, 4.28)[1]
    'its loss changes from ε = 1.665 to ε = 1.661. Theorem 2.22 promises ε = 4.28.'
    """
    promised = f"Theorem 2.22 promises ε = {readable(rounded_up(printed, 3), 3)}."
    texts = ([readable(rounded_up(one, digits), digits) for one in (alone, after)] for digits in range(3, 10))
    before, now = next((pair for pair in texts if pair[0] != pair[1]), (readable(rounded_up(alone, 3), 3), ""))
    if not now:
        return f"ε = {before}", f"its loss stays at ε = {before}. {promised}"
    return f"ε = {before} →{most} {now}", f"its loss changes from ε = {before} to{most} ε = {now}. {promised}"


def sizes_in_words(found: SizeCurves, m: int, alpha: float, epsilon: float) -> tuple[str, str]:
    """Return the mark, and what more rows do to the privacy of each method at one prior."""
    one, limit = readable(found.at(m)[HEADLINE.key], 3), readable(found.limits[HEADLINE.key], 3)
    others = others_go(mode=len(found.deltas) == len(BY_SIZE))
    return f"δ = {one} → {limit}", (
        f"With α = {readable(alpha)} and m = {readable(m)} synthetic rows, SYNTH_Post(One) keeps ε = "
        f"{readable(epsilon)} with δ = {one}. With more rows δ rises towards that of PARAM_Post, {limit}, and never "
        f"beyond (Theorem 5.1). {others}"
    )


def others_go(*, mode: bool) -> str:
    """Return what becomes of the plug-ins as m grows; the mode is one of them where the prior is above 1."""
    who = "For the other two it goes" if mode else "For SYNTH_Post(Many) it goes"
    theorems = "Theorem 5.4, Corollary 5.6" if mode else "Corollary 5.6"
    return f"{who} to 1, for enough rows show what they were drawn from ({theorems})."


def size_claims(delta: float, found: SizeCurves) -> list[list[str]]:
    """Return each claim of chapter 5, where it is seen in δ by the number of rows, and the verdict."""
    stays, largest = readable(float(found.deltas[HEADLINE.key].max()), 4), readable(float(found.sizes[-1]))
    rows = [
        [
            "<b>Theorem 5.1</b><br><small>rows drawn from a private parameter are as private, whatever m</small>",
            f"δ of SYNTH_Post(One) stays within {stays} up to m = {largest}; PARAM_Post has "
            f"{readable(found.limits[HEADLINE.key], 4)}",
            "✓ true: the rows are made from the draw alone",
        ]
    ]
    for key in ("5.4", "5.6"):
        claim = CLAIMS[key]
        label, curve = PRIOR_METHODS[claim.methods[0]].label, found.deltas.get(claim.methods[0])
        words = f"<b>{claim.name}</b><br><small>at a fixed prior {label} is not private for some m</small>"
        verdict = "– not defined at this prior" if curve is None else "✓ true: δ goes to 1 as m grows"
        rows.append([words, first_broken(label, delta, found.sizes, curve), verdict])
    return rows


def first_broken(label: str, delta: float, sizes: IntArray, curve: FloatArray | None) -> str:
    """Return from which of the drawn sizes on a release breaks δ, whose δ(m) rises to 1."""
    if curve is None:
        return f"{label} needs α &gt; 1"
    broken, shown = np.flatnonzero(curve > delta), readable(delta, 3)
    if len(broken) == 0:
        return f"within δ = {shown} up to m = {readable(float(sizes[-1]))}; beyond it for some larger m"
    return f"beyond δ = {shown} at m = {readable(float(sizes[broken[0]]))}, and from there on"


def average_in_words(n: int, theta: float, epsilon: float, delta: float) -> tuple[str, str]:
    """Return the mark, and what the n − 1 random rows do for the last one when their count is released."""
    shown, hidden = f"δ = {readable(delta, 3)}", "there is no other row, so that the count shows the only one."
    if n > 1:
        hidden = "the other rows are random, and so the count partly hides one row among them."
    where = f"θ = {readable(theta)}, n = {readable(n)} and ε = {readable(epsilon)}"
    return shown, (
        f"PARAM_MAP releases the count itself. At {where}, its average-case loss is {shown}: {hidden} In the worst "
        "case its δ is 1."
    )


def average_claims(n: int, theta: float, epsilon: float) -> list[tuple[Claim, str, str, str]]:
    """Return each claim of section 6.3, its δ, that of the best simulator at these numbers, and the verdict."""
    printed = CLAIMS["6.17"].at(n=n, theta_real=theta, epsilon=epsilon)
    order = CLAIMS["6.19"].at(n=n, epsilon=epsilon)
    lower, upper = count_simulator_deltas(n, theta, epsilon)
    fewest, most = readable(rounded_down(lower, 4), 4), readable(rounded_up(upper, 4), 4)
    never = "impossible", "impossible"
    said = {
        "6.17": (f"δ = {readable(printed, 4)}", f"{fewest} to {most}", _slack(printed, lower, upper)),
        "6.18": (*never, "✓ true, at every θ: n ones cannot come from data with a zero"),
        "6.19": (f"of the order {readable(order, 3)}", f"{fewest} or more", SHRINKING),
        "6.20": (*never, "✓ true: the ratio of densities has no bound near 0 and 1"),
    }
    return [(CLAIMS[key], *cells) for key, cells in said.items()]


def _slack(printed: float, lower: float, midpoint: float) -> str:
    """The verdict on Proposition 6.17, from its δ and two bounds of the true one."""
    if printed < lower:
        short = f"at least {readable(rounded_down(lower / printed, 3), 3)} times too small" if printed > 0 else ""
        short = short or "it asks for none"
        return f"✗ unsafe, {short}: a slack of 2δ for each single count adds up over a set of counts"
    if printed >= midpoint:
        return "✓ safe at this θ, though its proof needs the condition for sets of counts, not for single ones"
    return "? between the two ends: neither refuted nor proved at this θ"
