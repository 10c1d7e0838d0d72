"""The verdict on a method in sentences: what happened, how much, and what it means."""

import math
from collections.abc import Sequence

from dpviz.audits.releases.record import ReleaseFinding, ReleaseVerdict
from dpviz.parameters import readable, readable_apart, rounded_down, rounded_up

SIGNS = {
    ReleaseVerdict.NOT_PRIVATE: "✗✗ not private",
    ReleaseVerdict.BREAKS: "✗ broken",
    ReleaseVerdict.OPEN: "? not settled",
    ReleaseVerdict.KEEPS: "✓ kept",
}
"""The verdict in a sign and a word."""


def real_text(finding: ReleaseFinding) -> str:
    """Return the real ε as a table shows it: a number, a lower bound, a range, or that there is none.

    Bounds are rounded outwards, and what breaks the promise has digits enough to differ from it.
    """
    loss = finding.loss
    if math.isinf(loss.at_least):
        return "none"
    if loss.exact:
        return readable_apart(loss.at_least, finding.promised, 3) if finding.verdict.bad else readable(loss.at_least, 3)
    digits = next((more for more in range(3, 17) if rounded_down(loss.at_least, more) > finding.promised), 3)
    low = readable(rounded_down(loss.at_least, digits), digits)
    if finding.verdict.bad or math.isinf(loss.at_most):
        return f"at least {low}"
    return f"{low} to {readable(rounded_up(loss.at_most, 3), 3)}"


def factor_text(finding: ReleaseFinding) -> str:
    """Return the real over the promised ε, a bound on it where only that is known; empty where there is no real one."""
    if math.isinf(finding.loss.at_least):
        return ""
    if finding.loss.exact:
        return readable_apart(finding.factor, 1.0, 3) if finding.verdict.bad else readable(finding.factor, 3)
    if finding.verdict is ReleaseVerdict.KEEPS:
        return f"≤ {readable(rounded_up(finding.factor, 3), 3)}"
    digits = next((more for more in range(3, 17) if rounded_down(finding.factor, more) > 1), 3)
    return f"≥ {readable(rounded_down(finding.factor, digits), digits)}"


def verdict_sentence(finding: ReleaseFinding) -> str:
    """Return what happened and how much, of one method."""
    loss, promised = finding.loss, readable(finding.promised, 3)
    if finding.verdict is ReleaseVerdict.NOT_PRIVATE:
        said = "No ε is enough"
        if loss.delta:
            often = "always" if loss.delta == 1 else f"with probability {readable(loss.delta, 2)}"
            said += f": for some neighbours the release {often} shows which data set is the real one"
        return f"{said}."
    real = real_text(finding)
    if finding.verdict is ReleaseVerdict.BREAKS:
        return f"The promise ε = {promised} is broken: the real loss is {'' if 'at least' in real else 'ε = '}{real}."
    if finding.verdict is ReleaseVerdict.OPEN:
        return f"It is not settled whether ε = {promised} is kept: the real loss is {real}."
    if loss.exact:
        used = finding.factor
        rest = "just used up" if used > 0.9995 else f"{readable(100 * used, 3)} % of it used"
        return f"The promise ε = {promised} is kept, {rest}."
    return f"The promise ε = {promised} is kept: the real loss is {real}."


def safe_sentence(finding: ReleaseFinding) -> str:
    """Return what keeps the promise instead; empty for a method that needs no other."""
    factor = finding.noise_factor
    return finding.method.safe.format(factor=readable(factor, 3) if factor else "")


def explanation(finding: ReleaseFinding) -> str:
    """Return why, and what was found on the way."""
    return " ".join(filter(None, (finding.method.why, finding.loss.said)))


def headline(findings: Sequence[ReleaseFinding]) -> str:
    """Return in one or two sentences how many methods break their promise here."""
    every = len(findings)
    none, broken, open_ones = (
        sum(one.verdict is verdict for one in findings)
        for verdict in (ReleaseVerdict.NOT_PRIVATE, ReleaseVerdict.BREAKS, ReleaseVerdict.OPEN)
    )
    if not none + broken:
        said = f"None of the {every} printed methods was found to break its promise here."
    else:
        they = "breaks its promise" if none + broken == 1 else "break their promise"
        said = f"{none + broken} of the {every} printed methods {they}"
        said += f", and {none} of these {'is' if none == 1 else 'are'} not private at any ε." if none else "."
    if open_ones:
        said += f" For {open_ones} it is not settled."
    return said


NEIGHBOURS = (
    "Two data sets are neighbours here if one row is replaced, and the number of rows is public. Bowen & Liu think of "
    "a row that is removed, yet release as many rows as the data have: then the number of rows alone tells two such "
    "data sets apart."
)
