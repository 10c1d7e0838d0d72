"""Theorem 2.22, chapter 5 and section 6.3 of Zheng (2015) beside what is computed: sentences, and rows with verdicts.

Sentences and cells are HTML.
"""

from dpviz.claims.claim import Claim
from dpviz.claims.theorems import CLAIMS
from dpviz.core.formatting import format_number, round_down, round_up
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
    promised = f"Theorem 2.22 promises ε = {format_number(round_up(printed, 3), 3)}."
    texts = ([format_number(round_up(one, digits), digits) for one in (alone, after)] for digits in range(3, 10))
    before, now = next((pair for pair in texts if pair[0] != pair[1]), (format_number(round_up(alone, 3), 3), ""))
    if not now:
        return f"ε = {before}", f"its loss stays at ε = {before}. {promised}"
    return f"ε = {before} →{most} {now}", f"its loss changes from ε = {before} to{most} ε = {now}. {promised}"


def average_in_words(n: int, theta: float, epsilon: float, delta: float) -> tuple[str, str]:
    """Return the mark, and what the n − 1 random rows do for the last one when their count is released."""
    shown, hidden = f"δ = {format_number(delta, 3)}", "there is no other row, so that the count shows the only one."
    if n > 1:
        hidden = "the other rows are random, and so the count partly hides one row among them."
    where = f"θ = {format_number(theta)}, n = {format_number(n)} and ε = {format_number(epsilon)}"
    return shown, (
        f"PARAM_MAP releases the count itself. At {where}, its average-case loss is {shown}: {hidden} In the worst "
        "case its δ is 1."
    )


def average_claims(n: int, theta: float, epsilon: float) -> list[tuple[Claim, str, str, str]]:
    """Return each claim of section 6.3, its δ, that of the best simulator at these numbers, and the verdict."""
    printed = CLAIMS["6.17"].at(n=n, theta_real=theta, epsilon=epsilon)
    order = CLAIMS["6.19"].at(n=n, epsilon=epsilon)
    lower, upper = count_simulator_deltas(n, theta, epsilon)
    fewest, most = format_number(round_down(lower, 4), 4), format_number(round_up(upper, 4), 4)
    never = "impossible", "impossible"
    said = {
        "6.17": (f"δ = {format_number(printed, 4)}", f"{fewest} to {most}", _slack(printed, lower, upper)),
        "6.18": (*never, "✓ true, at every θ: n ones cannot come from data with a zero"),
        "6.19": (f"of the order {format_number(order, 3)}", f"{fewest} or more", SHRINKING),
        "6.20": (*never, "✓ true: the ratio of densities has no bound near 0 and 1"),
    }
    return [(CLAIMS[key], *cells) for key, cells in said.items()]


def _slack(printed: float, lower: float, midpoint: float) -> str:
    """The verdict on Proposition 6.17, from its δ and two bounds of the true one."""
    if printed < lower:
        short = f"at least {format_number(round_down(lower / printed, 3), 3)} times too small" if printed > 0 else ""
        short = short or "it asks for none"
        return f"✗ unsafe, {short}: a slack of 2δ for each single count adds up over a set of counts"
    if printed >= midpoint:
        return "✓ safe at this θ, though its proof needs the condition for sets of counts, not for single ones"
    return "? between the two ends: neither refuted nor proved at this θ"
