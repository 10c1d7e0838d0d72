"""A curator's question: the data, the range of the true value, and the limits that a design must meet."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from dpviz.comparisons import CategoryData, ComparedMethod, CountData, DataKind, UnknownVariance
from dpviz.comparisons.analysis import COMPARED_SETS, SIMULATED_REPETITIONS, Analysis
from dpviz.core.declarations import LEVEL, SEED
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.parameters import Parameter, parameter_with_default, validate_choice, validate_fields
from dpviz.core.records import ParameterRecord, json_field, read_record, validate_unique_choices
from dpviz.core.types import FloatArray
from dpviz.curator.declarations import NUMBERS
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import PRIVACY_LIMITS, EpsilonDeltaLimit, PrivacyLimit
from dpviz.export.templates import render_paragraphs
from dpviz.inference.rules import RULES

QUESTION_KINDS: dict[str, type[DataKind]] = {kind.key: kind for kind in (CountData, CategoryData, UnknownVariance)}
"""Kinds of data that a curator can ask about, by key."""

GOALS: dict[str, str] = {
    "root_mean_squared_error": "the smallest root mean squared error",
    "bias": "the smallest bias",
    "mean_width": "the shortest interval",
    "epsilon": "the strongest protection",
}
"""What comes first among the designs that meet all limits."""


@dataclass(frozen=True, kw_only=True)
class DesignQuestion(ParameterRecord):
    """What a curator asks; `search.evaluate_designs` answers it.

    Parameters
    ----------
    data : DataKind
        Sizes of the data; its own true value does not count.
    lowest, highest : float
        Range of the true value.
    protections : tuple of PrivacyLimit
    limits : tuple of AccuracyLimit
    values, average : int, bool
        True values tried, and whether their average counts or the worst. Of an average they are evenly spaced in
        probability under the prior Beta(`believed_ones`, `believed_zeros`), cut off at both ends.
    sets, rules, methods : tuple
        Numbers of sets, analyses and methods considered; all methods without a public guess where `methods` is empty.
    goal : str
        Of `GOALS`.
    level, repetitions, seed
        Of the intervals, and of what is simulated.

    Examples
    --------
    >>> data, limit = CountData(n=100, m=100, p=0.5), EpsilonDeltaLimit(most_epsilon=1.0)
    >>> question = DesignQuestion(data=data, protections=(limit,), lowest=0.1, highest=0.3, values=3)
    >>> question.truths, question.promises
    ((0.1, 0.2, 0.3), ((1.0, 0.0),))
    >>> DesignQuestion.from_json(question.to_json()) == question
    True
    """

    noun, indent = "question", 2

    data: DataKind = json_field(
        lambda data: {"kind": data.key, **data.to_dict()},
        lambda values: read_record("data.kind", QUESTION_KINDS, values.pop("kind", None), values),
    )
    lowest: float
    highest: float
    protections: tuple[PrivacyLimit, ...] = json_field(
        lambda limits: {limit.key: limit.to_dict() for limit in limits},
        lambda values: tuple(read_record("protections", PRIVACY_LIMITS, *item) for item in values.items()),
        default=(),
    )
    limits: tuple[AccuracyLimit, ...] = json_field(
        lambda limits: {limit.key: limit.limit for limit in limits},
        lambda values: tuple(AccuracyLimit(*item) for item in values.items()),
        default=(),
    )
    values: int = parameter_with_default(NUMBERS["values"])
    average: bool = False
    believed_ones: float = parameter_with_default(NUMBERS["believed_ones"])
    believed_zeros: float = parameter_with_default(NUMBERS["believed_zeros"])
    sets: tuple[int, ...] = (1, 5)
    rules: tuple[str, ...] = ("reiter_2003",)
    methods: tuple[str, ...] = ()
    goal: str = "root_mean_squared_error"
    level: float = parameter_with_default(LEVEL)
    repetitions: int = parameter_with_default(SIMULATED_REPETITIONS)
    seed: int = parameter_with_default(SEED)

    _set = object.__setattr__

    def check(self) -> None:
        if not isinstance(self.data, tuple(QUESTION_KINDS.values())):
            kinds = ", ".join(QUESTION_KINDS)
            raise ValueError(f"data must be of a kind among {kinds}; got {describe_value(self.data)}.")
        self._check_range()
        self._check_lists()
        validate_choice("goal", self.goal, GOALS)
        if any(method.guess for method in self.considered_methods):
            self._set("data", self.data.with_guess_from_range(self.lowest, self.highest))
        if not self.promises and not self.limits:
            raise self._refusal("no limit")
        self.data_at_truths  # noqa: B018 (a range that the data cannot have is refused)

    def _refusal(self, reason: str) -> ValueError:
        return ValueError(*render_paragraphs("curator/templates/refusals.txt", question=self, reason=reason))

    def _check_range(self) -> None:
        if not isinstance(self.average, bool):
            raise ValueError(f"average must be true or false; got {describe_value(self.average)}.")
        parameter = self.true_parameter
        if self.prior_text and not (self.average and takes_prior(parameter)):
            raise self._refusal("prior")
        validate_fields(self, *(dataclasses.replace(parameter, name=name) for name in ("lowest", "highest")))
        if self.lowest > self.highest:
            raise self._refusal("range")

    def _check_lists(self) -> None:
        types = {"protections": PrivacyLimit, "limits": AccuracyLimit, "sets": None, "rules": None, "methods": None}
        for name, limit_type in types.items():
            items = getattr(self, name)
            if not isinstance(items, tuple | list):
                raise ValueError(f"{name} must be a list; got {describe_value(items)}.")
            self._set(name, tuple(items))
            if limit_type and len({limit.key for limit in items if isinstance(limit, limit_type)}) < len(items):
                raise ValueError(f"{name} must be limits of this kind, each once; got {describe_value(items)}.")
        self._set("sets", tuple(sorted({int(COMPARED_SETS.validate(count)) for count in self.sets})))
        self._set("rules", validate_unique_choices("rules", self.rules, RULES))
        keys = [method.key for method in type(self.data).methods]
        self._set("methods", tuple(sorted(validate_unique_choices("methods", self.methods, keys), key=keys.index)))
        if not self.sets or not self.rules:
            raise ValueError("Choose at least one number of sets and one analysis.")

    # The true value

    @property
    def true_parameter(self) -> Parameter:
        """Declaration of the true value."""
        return true_value_of(type(self.data))

    @property
    def prior_text(self) -> str:
        """Prior of the true value; empty where all values are alike."""
        if (self.believed_ones, self.believed_zeros) == (1, 1):
            return ""
        return f"prior Beta({format_number(self.believed_ones)}, {format_number(self.believed_zeros)})"

    @cached_property
    def truths(self) -> tuple[float, ...]:
        """True values that are tried."""
        if self.lowest == self.highest or (self.values == 1 and not self.average):
            return ((self.lowest + self.highest) / 2,)
        truths = np.linspace(self.lowest, self.highest, self.values).astype(float)
        if self.average:
            truths = self._prior_quantiles((np.arange(self.values) + 0.5) / self.values)
        return tuple(float(f"{truth:.12g}") for truth in truths)

    def _prior_quantiles(self, shares: FloatArray) -> FloatArray:
        """Quantiles of the prior between both ends, from the tail in which the range has its digits."""
        if not self.prior_text:
            return self.lowest + shares * (self.highest - self.lowest)
        beta = self.believed_ones, self.believed_zeros
        tail, quantile = (betaincc, betainccinv) if betainc(*beta, self.lowest) > 0.5 else (betainc, betaincinv)
        first, last = (float(tail(*beta, end)) for end in (self.lowest, self.highest))
        truths: FloatArray = np.clip(quantile(*beta, first + shares * (last - first)), self.lowest, self.highest)
        if first == last or not np.isfinite(truths).all():
            raise self._refusal("empty prior")
        return truths

    @cached_property
    def data_at_truths(self) -> tuple[DataKind, ...]:
        """The data with each true value."""
        values: list[dict[str, Any]] = [{self.data.true_value: truth} for truth in self.truths]
        return tuple(dataclasses.replace(self.data, **value) for value in values)

    # What is asked

    @property
    def description(self) -> str:
        """Sizes of the data and range of the true value: a head line of every file of the page."""
        sizes = self.data.in_symbols(4, self.data.numbers().keys() - {self.data.true_value})
        ends = f"{format_number(self.lowest, 4)} to {format_number(self.highest, 4)}"
        return f"{', '.join(sizes)} and {self.true_parameter.symbol} from {ends}"

    @property
    def assumptions(self) -> str:
        """What accuracy rests on beside the range of the true value, in sentences; empty where that is all."""
        guessing = [method.label for method in self.considered_methods if method.guess]
        middle = self.data.with_guess(None).with_guess_from_range(self.lowest, self.highest) if guessing else None
        facts = {"data": self.data, "guessing": guessing, "middle": middle}
        return " ".join(render_paragraphs("curator/templates/assumptions.txt", **facts))

    @cached_property
    def promises(self) -> tuple[tuple[float, float], ...]:
        """Privacy limits as (ε, δ), without those that every release meets."""
        pairs = (limit.as_epsilon_delta() for limit in self.protections)
        return tuple(pair for pair in pairs if pair[0] < math.inf)

    @property
    def epsilon_delta_limit(self) -> EpsilonDeltaLimit | None:
        """The limit on ε and δ themselves, if any."""
        return next((limit for limit in self.protections if isinstance(limit, EpsilonDeltaLimit)), None)

    @property
    def max_delta(self) -> float:
        """δ that is allowed."""
        return self.epsilon_delta_limit.most_delta if self.epsilon_delta_limit else 0.0

    @property
    def considered_methods(self) -> tuple[ComparedMethod, ...]:
        """Methods that promise privacy and are considered, also where they cannot release such data."""
        chosen = self.methods or self.data.considered_keys()
        return tuple(method for method in self.data.methods if method.key in chosen and not method.reference)

    @property
    def ranked_by(self) -> str:
        """Goal that counts: without a privacy limit the smallest ε."""
        return self.goal if self.promises else "epsilon"

    @property
    def minimizes_epsilon(self) -> bool:
        """Whether a design is given the smallest ε that is enough for the accuracy, and not the largest allowed."""
        return self.ranked_by == "epsilon" and bool(self.limits)

    @property
    def relevant_measures(self) -> tuple[str, ...]:
        """Keys of the measures on which a limit or the goal is; of the error where there is none."""
        keys = dict.fromkeys([*(limit.key for limit in self.limits), self.goal])
        return tuple(key for key in keys if key in ACCURACY_MEASURES) or ("root_mean_squared_error",)

    @property
    def needs_interval(self) -> bool:
        """Whether an interval decides."""
        return any(ACCURACY_MEASURES[key].needs_interval for key in self.relevant_measures)

    def analysis(self, sets: int, rule: str) -> Analysis:
        """What an analyst does."""
        return Analysis(sets=sets, rule=rule, level=self.level, repetitions=self.repetitions, seed=self.seed)

    @classmethod
    def of(cls, values: Any) -> Self:
        names = [field.name for field in dataclasses.fields(cls)]
        if not isinstance(values, dict) or not {"data", "lowest", "highest"} <= set(values) <= set(names):
            raise ValueError(f"A question has some of {', '.join(names)}; got {describe_value(values)}.")
        return super().of({name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def true_value_of(kind: type[DataKind]) -> Parameter:
    """Declaration of the true value of a kind of data."""
    return kind.numbers()[kind.true_value]


def range_names(kind: type[DataKind]) -> tuple[str, str]:
    """Names of the lowest and the highest true value of a kind of data."""
    return f"lowest_{kind.true_value}", f"highest_{kind.true_value}"


def takes_prior(parameter: Parameter) -> bool:
    """Whether a true value is a proportion, so that a Beta distribution can be its prior."""
    return (parameter.minimum, parameter.maximum) == (0, 1)
