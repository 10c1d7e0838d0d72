"""The attacker who knows every row but one, before and after the release: odds, and the risk of one person."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpviz.core.checked import checked
from dpviz.core.declarations import PROPORTION
from dpviz.core.numerics.ends import LARGEST_EXPONENT
from dpviz.core.parameters import SUPERSCRIPTS, Parameter, readable, readable_apart, rounded_up
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.base import check_index
from dpviz.mechanisms.draws import Draws

__all__ = ["PRIOR_RISK", "RISK_RATIO", "attacker_view", "epsilon_for_risk_ratio", "gain_in_words", "risk_ratio"]

BOUND_DIGITS = 5  # Of a factor that is rounded up: near 1 fewer would say much more than is so
EQUAL_LOSS = 1e-12  # Relative difference up to which two ε are one, rounding aside

PRIOR_RISK = dataclasses.replace(
    PROPORTION,
    name="prior_risk",
    symbol="p",
    title="Risk before the release",
    default=0.1,
    open_minimum=True,
    slider_minimum=0.01,
    slider_maximum=0.99,
    help="The attacker's probability, before the release, that the person has the sensitive value.",
)
PRIOR_ODDS = Parameter(
    name="prior_odds",
    symbol="a : 1",
    title="Prior odds",
    minimum=1e-9,
    maximum=1e9,
    default=1.0,
    slider_minimum=1e-3,
    slider_maximum=1e3,
    scale="log",
    help="What the attacker believes before the release: how much likelier the first table is than the second.",
)
RISK_RATIO = Parameter(
    name="ratio",
    symbol="r",
    title="Largest ratio of the risks",
    minimum=1.0,
    maximum=1e6,
    default=2.0,
    slider_maximum=20.0,
    scale="log",
    private_end="smaller",
    help="The largest factor by which a release may raise this risk. Smaller is more private.",
)


@dataclass(frozen=True)
class AttackerView:
    """What one released table does to the odds of table `first` against `second`: they grow by e^`log_gain`."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    released: tuple[int, ...]
    prior_odds: float
    log_gain: float

    @property
    def posterior_odds(self) -> float:
        """Odds of the first table after the release."""
        total = math.log(self.prior_odds) + self.log_gain
        return math.exp(total) if total < 709 else math.inf

    @property
    def probabilities(self) -> tuple[float, float]:
        """Probability of the first table before and after the release."""
        prior = math.log(self.prior_odds)
        return float(expit(prior)), float(expit(prior + self.log_gain))


@checked()
def attacker_view(synthesizer: Synthesizer, pair: int, column: int, prior_odds: float) -> AttackerView:
    """Return the posterior odds of neighbouring tables after a release: prior odds × Pr(c | first) / Pr(c | second).

    `pair` and `column` are places in its neighbours and columns. Source: Abowd & Vilhuber (2008), equation (4).

    >>> from dpviz.mechanisms import BetaBinomial
    >>> view = attacker_view(BetaBinomial(n=1, m=1, alpha=1, beta=1), pair=0, column=1, prior_odds=1.0)
    >>> view.first, view.second, round(view.posterior_odds, 6)
    ((0, 1), (1, 0), 0.5)
    """
    if not (math.isfinite(prior_odds) and prior_odds > 0):
        raise ValueError(f"prior_odds must be a finite number above 0; got {prior_odds!r}.")
    check_index(pair, len(synthesizer.neighbours), "pair")
    check_index(column, synthesizer.shape[1], "column")
    gain = float(synthesizer.log_odds(np.array([pair]), np.array([column]))[0, 0])
    first, second = (synthesizer.row_table(int(index)) for index in synthesizer.neighbours[pair])
    return AttackerView(first, second, synthesizer.column_table(column), prior_odds, gain)


@checked()
def gain_in_words(view: AttackerView, epsilon: float = 0.0) -> str:
    """Return what the release did to the odds, in one sentence, told apart from what `epsilon` allows."""
    factor, towards = abs(view.log_gain), view.first if view.log_gain > 0 else view.second
    if math.isinf(factor):
        return f"The release decides: only {towards} can lead to {view.released}."
    if factor < 5e-7:
        return "The release does not move the odds."
    return f"The release moves the odds towards {towards}, by a factor of {factor_of_odds(factor, epsilon)}."


def belief_text(belief: float, certain: bool = False) -> str:
    """Return a probability in per cent, to three digits; 50, 0 and 100 only where it is exactly that.

    `certain` says that a 0 or 1 is meant, not what a number nearer to it than floating-point numbers are rounds to.

    >>> belief_text(0.5), belief_text(0.500004), belief_text(0.7310585)
    ('50 %', '50.0004 %', '73.1 %')
    >>> belief_text(1.0), belief_text(1.0, certain=True)
    ('more than 99.999999999999 %', '100 %')
    """
    if belief in (0.0, 1.0) and not certain:
        return f"more than {readable(100 - 1e-12, 14)} %" if belief else "less than 10⁻³⁰⁰ %"
    nearest = min((0.0, 0.5, 1.0), key=lambda one: abs(one - belief))
    return f"{readable_apart(100 * belief, 100 * nearest, 3)} %"


def factor_of_odds(log_factor: float, other: float = 0.0, *, most: bool = False) -> str:
    """e raised to `log_factor`, 0 or above, to three digits, or by its power of ten; 1 only where it is that.

    With more digits where they tell it from e raised to `other`; to five, rounded up, where it is the `most` there is.

    >>> factor_of_odds(math.log(11)), factor_of_odds(1e-4), factor_of_odds(1000.0)
    ('11', '1.0001', 'about 10⁴³⁴')
    >>> factor_of_odds(1.0001, 1.0), factor_of_odds(1.0, 1.0001), factor_of_odds(1.2, most=True)
    ('2.719', '2.718', '3.3202')
    """
    if log_factor < LARGEST_EXPONENT:
        if most:
            return readable(rounded_up(math.exp(log_factor), BOUND_DIGITS), BOUND_DIGITS)
        factor, others = math.exp(log_factor), (1.0, math.exp(other) if 0 < other < LARGEST_EXPONENT else 1.0)
        apart = (
            at
            for at in range(3, 18)  # with 17 digits no two numbers are written alike
            if all(one == factor or readable(one, at) != readable(factor, at) for one in others)
        )
        return readable(factor, next(apart))
    return "about 10" + str(round(log_factor / math.log(10))).translate(SUPERSCRIPTS)


@checked(prior_risk=PRIOR_RISK)
def risk_ratio(log_odds: float, *, prior_risk: float) -> float:
    """Risk after ÷ risk before where a release moves the odds by a factor e^`log_odds`: 1 / (p + (1 − p) e^−L).

    Source: Kazan & Reiter (2023), for a person who is known to be in the data (q = 1).

    >>> round(risk_ratio(math.log(9), prior_risk=0.1), 12)  # odds 1 : 9 become 1 : 1, so 0.1 becomes 0.5
    5.0
    """
    if log_odds > 0:
        return 1 / (prior_risk + (1 - prior_risk) * math.exp(-log_odds))
    scale = math.exp(log_odds)
    return scale / (prior_risk * scale + (1 - prior_risk)) if prior_risk < 1 else 1.0


@checked(ratio=RISK_RATIO, prior_risk=PRIOR_RISK)
def epsilon_for_risk_ratio(ratio: float, *, prior_risk: float) -> float:
    """Return the largest ε whose promise keeps risk after ÷ risk before at most `ratio`: ln[(1 − p) / (1/r − p)].

    Infinite where no release can lift the risk so far, for it cannot exceed 1. Source: Kazan & Reiter (2023), q = 1.

    >>> round(epsilon_for_risk_ratio(5.0, prior_risk=0.1), 12) == round(math.log(9), 12)
    True
    """
    if ratio * prior_risk >= 1:
        return math.inf
    return math.log1p((ratio - 1) / (1 - ratio * prior_risk))


@checked(prior_risk=PRIOR_RISK)
def risk_in_words(log_odds: float, *, prior_risk: float) -> str:
    """Return what such a factor does to a risk, in a few words: "from 10 % to 50 %, 5 times as likely"."""
    ratio = risk_ratio(log_odds, prior_risk=prior_risk)
    after = min(ratio * prior_risk, 1.0)
    risen = belief_text(after, math.isinf(log_odds) or prior_risk == 1)
    if abs(after - prior_risk) < abs(after - 1):
        risen = f"{readable_apart(100 * after, 100 * prior_risk, 3)} %"
    return f"from {readable(100 * prior_risk, 3)} % to {risen}, {readable_apart(ratio, 1.0, 3)} times as likely"


def probability_text(value: float, log_gain: float, digits: int = 3) -> str:
    """A probability; 0 and 1 only where the release decides."""
    if math.isinf(log_gain):
        return readable(value, digits)
    return "above 1 − 10⁻¹⁵" if value == 1 else "below 10⁻³⁰⁰" if value == 0 else readable_apart(value, 1.0, digits)


def attacker_numbers(view: AttackerView) -> list[tuple[str, str, str]]:
    """Odds and probability of the first table before and after the release, each with its name."""
    (prior, posterior), odds = view.probabilities, (readable(view.prior_odds, 4), readable(view.posterior_odds, 6))
    return [
        ("before the release", f"{odds[0]} : 1", f"probability {probability_text(prior, 0.0, 6)}"),
        ("after the release", f"{odds[1]} : 1", f"probability {probability_text(posterior, view.log_gain, 6)}"),
    ]


def attacker_sentence(view: AttackerView, epsilon: float) -> str:
    """The whole step from prior to posterior in words a person can use."""
    gain = abs(view.log_gain)
    promised = f"that ε = {readable(epsilon, 4)} alone allows"
    limit, beyond = f"within the factor {factor_of_odds(epsilon)} {promised}", gain > epsilon * (1 + EQUAL_LOSS)
    if beyond:
        limit = f"more than the factor {factor_of_odds(epsilon, gain)} {promised}"
    return (
        f"The attacker knows every row but one, so only {view.first} and {view.second} are left. Before the release "
        f"the first has probability {probability_text(view.probabilities[0], 0.0)}. Then {view.released} is released. "
        f"{gain_in_words(view, epsilon * beyond)} That is {limit}. Now the first has probability "
        f"<b>{probability_text(view.probabilities[1], view.log_gain)}</b>."
    )


def draw_sentence(draws: Draws) -> str:
    """The last release, how probable it was, and what it gives away, as inline HTML."""
    release = draws.synthesizer
    secret = release.row_table(draws.row)
    if not len(draws.columns):
        return f"The secret table is <b>{secret}</b>. Draw a release."
    last = int(draws.columns[-1])
    text = (
        f"The secret table is <b>{secret}</b>. Release {len(draws.columns):,}: <b>{release.column_table(last)}</b>, "
        f"which comes from this table with probability {readable(float(draws.probabilities[last]), 4)}."
    )
    gains = {int(one): float(draws.log_odds(int(one))[last]) for one in draws.neighbours}
    strongest = max(gains, key=lambda one: abs(gains[one]))
    gain, other = gains[strongest], release.row_table(strongest)
    if math.isinf(gain):
        return f"{text} It settles the question between {secret} and {other}."
    if abs(gain) < 5e-4:
        return f"{text} It does not tell {secret} from its neighbours."
    factor, towards = factor_of_odds(abs(gain)), secret if gain > 0 else other
    return f"{text} It moves the odds between {secret} and {other} by a factor of <b>{factor}</b> towards {towards}."


def own_release_sentence(draws: Draws) -> str:
    """What is framed in the tables: the reader's secret table, and what was released where it is known; inline HTML."""
    release = draws.synthesizer
    sentence = f"Framed is what came of your secret table, <b>{release.row_table(draws.row)}</b>"
    if len(draws.columns):
        sentence += f": the released table <b>{release.column_table(int(draws.columns[-1]))}</b>"
    return f"{sentence}."
