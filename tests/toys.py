"""Toys of all that somebody can add: each is a class or a record here, and a line of `register`."""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import binom

from dpviz.calibration.methods import CALIBRATED_METHODS, PRIOR_METHODS, method_of
from dpviz.comparisons import DATA_KINDS, BinaryData, CountData, Estimand
from dpviz.core.declarations import EPSILON, ROWS, SYNTHETIC_ROWS
from dpviz.core.parameters import Parameter
from dpviz.core.types import FloatArray, IntArray
from dpviz.curator.declarations import NUMBERS
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyMeasure
from dpviz.curator.question import QUESTION_KINDS
from dpviz.inference import COMBINING_RULES, RULES
from dpviz.inference.combining_rules import CombiningRule
from dpviz.mechanisms import SYNTHESIZERS, PosteriorMean, TwoCellSynthesizer, WorstCase
from dpviz.mechanisms.base import parameter
from dpviz.mechanisms.catalogue import MechanismInfo
from dpviz.mechanisms.prior_mechanism import UnderPrior

TRUTH = Parameter(
    name="truth",
    symbol="t",
    title="Chance of the truth",
    minimum=0.5,
    maximum=0.99,
    default=0.75,
    slider_minimum=0.5,
    scale="log",
    private_end="smaller",
    help="How likely the single row answers truthfully.",
)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(TwoCellSynthesizer):
    """One row that tells the truth with probability t: losses are ± ln(t / (1 − t))."""

    key: ClassVar[str] = "randomized_response"
    info: ClassVar[MechanismInfo] = MechanismInfo(
        label="Randomised response",
        formula=r"\Pr(m_1 = n_1) = t",
        source="Warner (1965)",
        color="other",
        moved_by="an answer that is sometimes a lie",
        not_compared="t sets its ε",
    )

    n: int = 1
    m: int = 1
    truth: float = parameter(TRUTH)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        same = np.asarray(rows)[:, None] == np.asarray(columns)[None, :]
        return np.where(same, math.log(self.truth), math.log1p(-self.truth))

    def hockey_stick(self, epsilon: float) -> WorstCase:
        return WorstCase(max(0.0, self.truth - math.exp(epsilon) * (1 - self.truth)), 1, 0)


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism(TwoCellSynthesizer):
    """Every count from 0 to m, with probability proportional to e^{−ε |j/m − x/n| n/2}."""

    key: ClassVar[str] = "exponential"
    info: ClassVar[MechanismInfo] = MechanismInfo(
        label="Toy of an exponential mechanism",
        formula=r"\Pr(m_1 = j) \propto e^{-\varepsilon |jn/m - n_1|/2}",
        source="McSherry & Talwar (2007)",
        moved_by="the choice between counts at random",
        releases="One set, whose count is chosen at random: the nearer to the real one, the likelier.",
        color="lichen",
        finding="Half of ε is spent on the distance, and the rest on the sum of all weights.",
    )

    n: int = parameter(ROWS)
    m: int = parameter(SYNTHETIC_ROWS)
    epsilon: float = parameter(EPSILON)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        every = -self.epsilon / 2 * np.abs(np.arange(self.m + 1) * self.n / self.m - np.asarray(rows)[:, None])
        return every[:, columns] - np.logaddexp.reduce(every, axis=1)[:, None]


@dataclass(frozen=True, kw_only=True)
class ShyMean(PosteriorMean):
    """The posterior mean under a prior ten times as large."""

    key: ClassVar[str] = "shy_mean"
    info: ClassVar[MechanismInfo] = MechanismInfo(
        label="Shy posterior mean",
        formula=r"m_1 \sim \mathrm{Binomial}(m, (n_1 + 10\alpha)/(n + 10\alpha + 10\beta))",
        source="a test",
        color="other",
        moved_by="the prior α",
        rows_drawn="m rows from a proportion near one half",
        releases="One set of rows drawn with the posterior mean under ten times the prior.",
    )

    @property
    def effective_prior(self) -> tuple[float, float]:
        return 10 * self.alpha, 10 * self.beta

    @classmethod
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        return PosteriorMean.smallest_alpha(m=m, epsilon=epsilon) / 10


@dataclass(frozen=True, kw_only=True)
class Lazy(ExponentialMechanism):
    """The exponential mechanism that answers with probability t, else with a count drawn evenly."""

    key: ClassVar[str] = "lazy"
    info: ClassVar[MechanismInfo] = MechanismInfo(
        label="Lazy exponential mechanism",
        formula=ExponentialMechanism.info.formula,
        moved_by=ExponentialMechanism.info.moved_by,
        source="a test",
        color="other",
        releases="One set, whose count is chosen at random, and now and then blindly.",
    )

    truth: float = parameter(TRUTH)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        answered = super().log_transition(rows, columns) + math.log(self.truth)
        return np.logaddexp(answered, math.log((1 - self.truth) / (self.m + 1)))


@dataclass(frozen=True, kw_only=True)
class RepeatedRow(UnderPrior, TwoCellSynthesizer):
    """A single row from one draw of the proportion, m times: its worst pair is all ones or all zeros."""

    key: ClassVar[str] = "repeated_row"
    info: ClassVar[MechanismInfo] = MechanismInfo(
        label="Repeated row",
        formula=r"\Pr(m_1 = m) = (\alpha + n_1) / (\alpha + \beta + n)",
        source="a test",
        color="other",
        moved_by="the prior α",
        rows_drawn="one row, m times",
        releases="One row, m times.",
        several_sets=True,
    )

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        total, i, j = self.alpha + self.beta + self.n, np.asarray(rows)[:, None], np.asarray(columns)[None, :]
        ones, zeros = np.log((self.alpha + i) / total), np.log((self.beta + (self.n - i)) / total)
        return np.where(j == self.m, ones, np.where(j == 0, zeros, -math.inf))

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        return WorstCase(max(0.0, 1 - math.expm1(epsilon) * self.alpha) / (self.alpha + self.beta + self.n), 1, 0)

    @staticmethod
    def draws_and_rows(m: int) -> tuple[int, int]:
        return 1, 1


@dataclass(frozen=True, kw_only=True)
class Smokers(BinaryData):
    """Who smokes, among few people."""

    key: ClassVar[str] = "smokers"
    label: ClassVar[str] = "Smokers (a toy)"
    estimands: ClassVar[tuple[Estimand, ...]] = (Estimand("smokers", "the share of smokers", "p"),)


@dataclass(frozen=True, kw_only=True)
class ManySmokers(CountData):
    """Who smokes, among many people."""

    key: ClassVar[str] = "many_smokers"
    label: ClassVar[str] = "Many smokers (a toy)"
    estimands: ClassVar[tuple[Estimand, ...]] = Smokers.estimands


TWICE = CombiningRule(
    key="twice",
    label="Twice the variance between",
    abbreviation="Twice b",
    formula="T = 2 b",
    source="a test",
    total=lambda between, within, sets, ratio: 2 * between,
)
ADDED = AccuracyMeasure(
    key="release_error",
    label="error that the toy measures",
    column_label="toy error",
    symbol="√E[(q − x/n)²]",
    meaning=", what the release adds",
    parameter=dataclasses.replace(NUMBERS["most_error"], name="most_added", title="Largest error added"),
    sentence="the release adds an error of {}",
)


SYNTHESIZER_TOYS = (ExponentialMechanism, ShyMean, RepeatedRow)


def matrix_of(toy: type[TwoCellSynthesizer], n: int, m: int, epsilon: float) -> FloatArray:
    """Transition matrix of a toy, whose row x has the probabilities of the released counts."""
    x = np.arange(n + 1)[:, None]
    count = np.arange(m + 1)
    if toy is ShyMean:
        prior = 1 / math.expm1(epsilon / m)
        return binom.pmf(count, m, (x + prior) / (n + 2 * prior))
    weights = np.exp(-epsilon / 2 * np.abs(count * n / m - x))
    return weights / weights.sum(axis=1, keepdims=True)


def worst_log_odds(n: int, epsilon: float) -> float:
    """Largest log-odds of the exponential toy, from its probabilities."""
    return float(np.abs(np.diff(np.log(matrix_of(ExponentialMechanism, n, n, epsilon)), axis=0)).max())


def register() -> None:
    """One line for each toy."""
    for toy in SYNTHESIZER_TOYS:
        SYNTHESIZERS[toy.key] = toy
        if issubclass(toy, UnderPrior):
            PRIOR_METHODS[toy.key] = CALIBRATED_METHODS[toy.key] = method_of(toy)
    COMBINING_RULES[TWICE.key] = RULES[TWICE.key] = TWICE
    DATA_KINDS[Smokers.key] = Smokers
    QUESTION_KINDS[ManySmokers.key] = ManySmokers
    ACCURACY_MEASURES[ADDED.key] = ADDED
