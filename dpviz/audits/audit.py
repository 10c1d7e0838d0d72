"""Each printed bound at the user's parameters: what it says, what it really gives, and the exact answer."""

from __future__ import annotations

import dataclasses
import math
import sys
from dataclasses import dataclass
from typing import Literal

from dpviz.audits.reasons import Reason, reasons
from dpviz.audits.verdict_words import in_words
from dpviz.checked import checked
from dpviz.methods import METHODS
from dpviz.numerics.ends import quotient
from dpviz.parameters import readable
from dpviz.priors.exact import LARGEST_SOUGHT, minimum_prior
from dpviz.priors.kinds import GAUSSIAN, KINDS
from dpviz.priors.releases import release
from dpviz.priors.setting import Setting
from dpviz.privacy.hockey_stick import delta_for_epsilon, epsilon_for_delta
from dpviz.privacy.log_odds import pure_epsilon
from dpviz.synthesizers.prior import PRIOR_ONES
from dpviz.theorems import CLAIMS, Claim
from dpviz.theorems.counts import DIMITRAKAKIS

Verdict = Literal["exact", "safe", "unsafe", "holds", "false", "constant not named", "not asked here"]

SAME = 1e-9
"""Relative distance within which a printed and an exact value count as one; a prior of the mode, less 1."""

ROUNDING = 4 * sys.float_info.epsilon
"""Relative distance within which two values are one whatever is taken from them."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One printed bound, for one method, held against the exact answer.

    Parameters
    ----------
    bound, method
        The claim, and the method that it is audited for.
    setting
        Where: the user's own, except that a theorem on one synthetic row has m = 1.
    verdict
        ``exact``: printed and exact are one. ``safe`` or ``unsafe``: what the printed value gives is within the
        promise or not. ``holds`` or ``false`` for a claim that the promise is impossible, or needs what is printed.
    printed, exact
        Printed and exact value of what the bound speaks of: a prior, R/σ or a scale of noise; None where there is none.
    gives_epsilon, gives_delta
        The least ε, at the promised δ, and the δ, at the promised ε, that the printed value really gives.
    constant
        The constant that would make the printed bound exact here, where print names none.
    because
        What explains it, each confirmed by a computation at this setting.
    sentence
        The finding in a sentence, followed by those of `because`.
    """

    bound: Claim
    method: str
    setting: Setting
    verdict: Verdict
    printed: float | None = None
    exact: float | None = None
    gives_epsilon: float | None = None
    gives_delta: float | None = None
    constant: float | None = None
    because: tuple[Reason, ...] = ()
    sentence: str = ""

    @property
    def promised_delta(self) -> float:
        """The δ of the promise: 0 for a theorem on pure ε."""
        return 0.0 if self.bound.promise == "pure" else self.setting.delta

    @property
    def factor(self) -> float | None:
        """Printed over exact value, None where either is missing, zero or infinite."""
        if not self.printed or not self.exact or math.isinf(self.printed) or math.isinf(self.exact):
            return None
        return self.printed / self.exact


@checked(family=KINDS)
def audit(family: str, **setting: float) -> tuple[Finding, ...]:
    """Every printed bound of a family at the user's parameters: printed, really given, exact, safe or unsafe.

    Parameters
    ----------
    family
        ``"bernoulli"``, ``"categorical"`` or ``"gaussian"``.
    **setting
        The fields of `Setting`: n, m, epsilon, delta, and what the family needs.

    Returns
    -------
    tuple of Finding
        In the order of print, one for each method that a theorem speaks of.

    Source: Zheng (2015), chapters 4, 6 and 7, against the exact answers of this package.

    Examples
    --------
    >>> unsafe = [finding.bound.number for finding in audit("gaussian", n=100, m=1, epsilon=1.0, delta=1e-5, sigma0=1.0)
    ...           if finding.verdict == "unsafe"]
    >>> unsafe
    ['7.3', '7.8', '7.12', '7.12', '7.13', '7.14']
    """
    asked = Setting(**setting)  # type: ignore[arg-type]
    known: Known = {}
    return tuple(
        _finding(bound, method, asked, known)
        for bound in CLAIMS.values()
        if bound.family == family
        for method in bound.methods
    )


Known = dict[tuple[str, int, float, float], float]
"""Exact priors of one audit by method, m, ε and δ: several theorems speak of the same one."""


def _finding(bound: Claim, method: str, asked: Setting, known: Known) -> Finding:
    setting = dataclasses.replace(asked, m=1) if bound.one_row else asked
    blank = Finding(bound=bound, method=method, setting=setting, verdict="not asked here")
    if bound.kind == "impossible" and bound.formula is None:
        return _said(dataclasses.replace(blank, verdict="holds"))
    if setting.delta == 0 and not bound.pure:
        of = "0" if bound.promise == "zero_epsilon" else "ε"
        return dataclasses.replace(blank, sentence=f"It speaks of ({of}, δ), and δ is 0 here.")
    if bound.quantity == "scale":
        return _said(_scale(blank))
    return _said(_range(blank) if bound.quantity == "range" else _prior(blank, known))


def _prior(blank: Finding, known: Known) -> Finding:
    bound, setting = blank.bound, blank.setting
    method = METHODS[blank.method]
    epsilon = 0.0 if bound.promise == "zero_epsilon" else setting.epsilon
    shape = {"n": setting.n, "m": setting.m, "cells": KINDS[bound.family].cells(setting)}
    key = (blank.method, setting.m, epsilon, blank.promised_delta)
    if key not in known:
        known[key] = minimum_prior(blank.method, epsilon=epsilon, delta=blank.promised_delta, **shape)
    exact = known[key]
    if bound.constant:
        return _unnamed(blank, exact)
    printed = bound.at(**setting.arguments())
    same = math.isfinite(exact) and abs(printed - exact) <= max(SAME * (exact - method.lost), ROUNDING * exact)
    if bound.kind == "necessary":
        verdict: Verdict = "holds" if exact >= printed or same else "false"
        return dataclasses.replace(blank, printed=printed, exact=exact, verdict=verdict)
    beyond = math.isinf(exact) and bound.promise != "pure"
    if bound.promise == "zero_epsilon" and (beyond or printed > PRIOR_ONES.maximum):
        return _flat(dataclasses.replace(blank, printed=printed))
    if beyond or printed > PRIOR_ONES.maximum:  # more prior is never less private: the exact answer decides
        return dataclasses.replace(
            blank,
            printed=printed,
            exact=None if beyond else exact,
            verdict="safe" if printed >= exact else "not asked here",
            sentence=f"The exact answer is sought up to {readable(LARGEST_SOUGHT)} and lies beyond." if beyond else "",
        )
    if method.lost and printed <= method.lost - ROUNDING:
        said = "Unsafe: with so small a prior the mode can be 0, and then a released one tells neighbours apart."
        return dataclasses.replace(blank, printed=printed, exact=exact, verdict="unsafe", sentence=said)
    # A printed prior that rounds to 1 exactly is a little above it: the mode asks for that.
    made = release(blank.method, alpha=max(printed, math.nextafter(method.lost, math.inf)), **shape)
    pure = blank.promised_delta == 0
    gives_delta = delta_for_epsilon(made, epsilon)
    gives_epsilon = None
    if bound.promise != "zero_epsilon":
        gives_epsilon = pure_epsilon(made) if pure else epsilon_for_delta(made, blank.promised_delta)
    kept = gives_delta <= 1e-14 if pure else gives_delta <= blank.promised_delta
    return dataclasses.replace(
        blank,
        verdict="exact" if same else "safe" if kept else "unsafe",
        printed=printed,
        exact=exact,
        gives_epsilon=gives_epsilon,
        gives_delta=gives_delta,
    )


def _unnamed(blank: Finding, exact: float) -> Finding:
    """The constant that would make the claim exact here; of an order, whether some constant makes it true."""
    unit = blank.bound.at(**blank.setting.arguments(constant=1.0))
    constant = exact / unit if 0 < unit < math.inf and math.isfinite(exact) else None
    verdict: Verdict = "constant not named"
    if blank.bound.kind == "order":
        verdict = "holds" if blank.bound.limits[blank.method].holds else "false"
    return dataclasses.replace(blank, verdict=verdict, exact=exact, constant=constant)


def _flat(blank: Finding) -> Finding:
    """PARAM_Post at ε = 0 with a prior beyond `LARGEST_SOUGHT`, where δ = 1/√(πα) to seven digits for every n."""
    delta, printed = blank.setting.delta, blank.printed or 0.0
    exact = quotient(quotient(1 / math.pi, delta), delta)
    if math.isinf(exact):
        times = readable(DIMITRAKAKIS * math.pi, 3)
        return dataclasses.replace(
            blank, verdict="safe", exact=exact, sentence=f"Safe: {times} times the prior that is needed."
        )
    gives = 1 / math.sqrt(math.pi * printed) if math.isfinite(printed) else None
    return dataclasses.replace(blank, verdict="safe", exact=exact, gives_delta=gives)


def _range(blank: Finding) -> Finding:
    bound, setting = blank.bound, blank.setting
    delta = 0.0 if bound.pure else setting.delta
    method = METHODS[blank.method]
    made, exact = GAUSSIAN.release(method, setting), GAUSSIAN.need(method, setting, delta)
    if bound.constant:
        return _unnamed(blank, exact)
    printed = bound.at(**setting.arguments())
    found = dataclasses.replace(blank, printed=printed, exact=exact)
    if not bound.applies(**setting.arguments()):
        return dataclasses.replace(found, sentence=f"Its condition, {bound.condition}, does not hold here.")
    if math.isinf(printed) or printed == 0:
        return dataclasses.replace(found, sentence="It gives no finite range here.")
    if bound.kind == "necessary":
        return dataclasses.replace(found, verdict="holds" if exact <= printed * (1 + SAME) else "false")
    gives_epsilon = made.pure_epsilon(printed) if bound.pure else made.epsilon(printed, delta)
    gives_delta = None if bound.pure else made.delta(printed, setting.epsilon)
    verdict = _compared(printed, exact, printed < exact)
    if bound.kind == "impossible":
        verdict = "holds" if exact <= printed else "false"
    return dataclasses.replace(found, verdict=verdict, gives_epsilon=gives_epsilon, gives_delta=gives_delta)


def _scale(blank: Finding) -> Finding:
    """A scale of Laplace noise on PARAM_MAP: sensitivity over ε. For the Gaussian, in units of R."""
    bound, setting = blank.bound, blank.setting
    exact, printed = KINDS[bound.family].sensitivity(setting) / setting.epsilon, bound.at(**setting.arguments())
    gives = setting.epsilon * exact / printed
    verdict = _compared(printed, exact, printed > exact)
    return dataclasses.replace(blank, verdict=verdict, printed=printed, exact=exact, gives_epsilon=gives)


def _compared(printed: float, exact: float, safe: bool) -> Verdict:
    """Whether both are one, and otherwise which side the printed value is on."""
    return "exact" if abs(printed - exact) <= SAME * exact else "safe" if safe else "unsafe"


def _said(finding: Finding) -> Finding:
    """The finding with its sentence: how far off, then why."""
    because = reasons(finding)
    limit = finding.bound.limits.get(finding.method)
    symbol = finding.bound.constant.split(", ")[-1]
    parts = [finding.sentence or in_words(finding), limit.sentence(symbol) if limit else ""]
    parts += [reason.sentence for reason in because]
    return dataclasses.replace(finding, because=because, sentence=" ".join(part for part in parts if part))
