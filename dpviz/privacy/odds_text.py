"""Factors of odds, probabilities and risks in words and digits: never rounded to what they are not."""

import math

from dpviz.core.formatting import SUPERSCRIPTS, format_distinct, format_number, round_up
from dpviz.core.numerics.special import MAX_EXPONENT
from dpviz.privacy.attacker import risk_ratio

BELOW_FLOATS = "below 10⁻³⁰⁰"


def belief_text(belief: float, certain: bool = False) -> str:
    """A probability in per cent, to three digits; 50, 0 and 100 only if it is exactly that.

    Parameters
    ----------
    belief : float
        Probability.
    certain : bool, optional
        Whether a 0 or 1 is exact; otherwise it may be a number so near to it that floats are equal.

    Examples
    --------
    >>> belief_text(0.500004), belief_text(1.0), belief_text(1.0, certain=True)
    ('50.0004 %', 'more than 99.999999999999 %', '100 %')
    """
    if belief in (0.0, 1.0) and not certain:
        return f"more than {format_number(100 - 1e-12, 14)} %" if belief else "less than 10⁻³⁰⁰ %"
    return f"{format_distinct(100 * belief, 50.0 * round(2 * belief), 3)} %"


def factor_of_odds(log_factor: float, reference: float = 0.0, *, is_bound: bool = False) -> str:
    """Factor e^L to three digits, or by its power of ten; 1 only if it is that.

    Parameters
    ----------
    log_factor : float
        L, at least 0.
    reference : float, optional
        The text has as many digits as tell the factor from e raised to this.
    is_bound : bool, optional
        Whether it is an upper bound: to five digits, rounded up.

    Examples
    --------
    >>> factor_of_odds(math.log(11)), factor_of_odds(1e-4), factor_of_odds(1000.0)
    ('11', '1.0001', 'about 10⁴³⁴')
    >>> factor_of_odds(1.0001, 1.0), factor_of_odds(1.0, 1.0001), factor_of_odds(1.2, is_bound=True)
    ('2.719', '2.718', '3.3202')
    """
    if log_factor >= MAX_EXPONENT:
        return f"about {_power_of_ten(log_factor)}"
    factor = math.exp(log_factor)
    if is_bound:
        return format_number(round_up(factor, 5), 5)
    references = [math.exp(reference), 1.0] if 0 < reference < MAX_EXPONENT else [1.0]
    return max((format_distinct(factor, number, 3) for number in references), key=len)  # the longer distinguishes both


def chance_text(log_probability: float) -> str:
    """A probability to three digits, or by its power of ten."""
    if -math.inf < log_probability < -MAX_EXPONENT:
        return _power_of_ten(log_probability)
    return format_number(math.exp(log_probability), 3)


def risk_text(log_odds: float, *, prior_risk: float) -> str:
    """What a change of the odds does to a risk: "from 10 % to 50 %, 5 times as likely".

    Parameters
    ----------
    log_odds : float
        Change of the log-odds.
    prior_risk : float
        Risk before it, in (0, 1].
    """
    ratio = risk_ratio(log_odds, prior_risk=prior_risk)
    after = min(ratio * prior_risk, 1.0)
    before, is_certain = belief_text(prior_risk, prior_risk == 1), math.isinf(log_odds) or prior_risk == 1
    risen = belief_text(after, is_certain)
    if after and abs(after - prior_risk) < abs(after - 1):
        risen = f"{format_distinct(100 * after, 100 * prior_risk, 3)} %"
    times = format_distinct(ratio, 1.0, 3) if ratio or is_certain else BELOW_FLOATS
    return f"from {before} to {risen}, {times} times as likely"


def odds_text(log_odds: float, digits: int) -> str:
    """Odds as "3 : 1", or by their power of ten; no odds but those of certainty are ∞ or 0 to 1.

    >>> odds_text(math.log(3), 4), odds_text(1098.0, 4), odds_text(-1098.0, 4)
    ('3 : 1', 'about 10⁴⁷⁷ : 1', '1 : about 10⁴⁷⁷')
    """
    if math.isinf(log_odds) or abs(log_odds) < MAX_EXPONENT:
        return f"{format_number(math.exp(log_odds), digits)} : 1"
    text = factor_of_odds(abs(log_odds))
    return f"{text} : 1" if log_odds > 0 else f"1 : {text}"


def _power_of_ten(logarithm: float) -> str:
    return f"10{str(round(logarithm / math.log(10))).translate(SUPERSCRIPTS)}"


def probability_text(value: float, log_gain: float, digits: int = 3) -> str:
    """A probability after a release that added `log_gain` to the log-odds; 0 and 1 only if that decides.

    Parameters
    ----------
    value : float
    log_gain : float
        Infinite where the release decides.
    digits : int, optional
    """
    if math.isfinite(log_gain) and value in (0.0, 1.0):
        return "above 1 − 10⁻¹⁵" if value else BELOW_FLOATS
    return format_distinct(value, 1.0, digits)
