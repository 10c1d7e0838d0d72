"""What a curator asks: the data, the range of the true value that matters, and the limits that must hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from dpviz.comparisons import CategoryData, ComparedMethod, CountData, DataKind, UnknownVariance
from dpviz.comparisons.analysis import COMPARED_SETS, SIMULATED_REPETITIONS, Analysis, Estimand
from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL, SEED
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.parameters import Parameter, parameter_with_default, validate_fields
from dpviz.core.records import ParameterRecord, json_field, validate_unique_choices
from dpviz.core.types import FloatArray
from dpviz.desk.accuracy import ACCURACY, AccuracyLimit
from dpviz.desk.protection import PROTECTIONS, PrivacyLoss, Protection
from dpviz.inference.rules import RULES

ASKED_KINDS: dict[str, type[DataKind]] = {kind.key: kind for kind in (CountData, CategoryData, UnknownVariance)}
"""The kinds of data that a curator can ask about, by key."""

GOALS: dict[str, str] = {
    "root_mean_squared_error": "the smallest root mean squared error",
    "bias": "the smallest bias",
    "mean_width": "the shortest interval",
    "epsilon": "the strongest protection",
}
"""What comes first among the designs that keep all limits."""

VALUES = Parameter(
    name="values",
    symbol="",
    title="True values tried",
    minimum=1,
    maximum=65,
    default=9,
    integer=True,
    slider_maximum=33,
    private_end="neither",
    help="How many true values are tried, from the lowest to the highest. An average is one of these, and so is the "
    "worst where it is simulated; all other numbers are the worst of the whole range.",
)
BELIEVED_ONES = dataclasses.replace(
    GAMMA_ONES,
    name="believed_ones",
    symbol="a",
    title="Your prior ones",
    help="What you believe of the true proportion before you see the data, as rows with a one that you have seen: a "
    "Beta distribution, cut off at the lowest and the highest proportion. 1 and 1: all are alike.",
)
BELIEVED_ZEROS = dataclasses.replace(
    GAMMA_ZEROS,
    name="believed_zeros",
    symbol="b",
    title="Your prior zeros",
    help="The same for rows with a zero. The larger both numbers, the surer you are of a / (a + b).",
)
BELIEVED_PRIOR = BELIEVED_ONES, BELIEVED_ZEROS


@dataclass(frozen=True, kw_only=True)
class Question(ParameterRecord):
    """A curator's question; `stream_designs` answers it.

    `data` has the sizes, `lowest` and `highest` the range of its true value (`DataKind.true_value`), of which `values`
    are tried, and `average` says whether their average counts or the worst of them: of the worst they are evenly
    spaced, of the average evenly in probability under a prior, of a proportion Beta(`believed_ones`, `believed_zeros`),
    cut off at both ends. `sets` and `rules` are the numbers
    of sets and the analyses that are considered, `methods` the keys of the methods, where it is empty all that need
    no public guess; one that needs it gets the middle of the range, unless `data` has another.
    `goal` is a key of `GOALS`. `repetitions` and `seed` are those of what has to be simulated.

    >>> from dpviz.desk.protection import PrivacyLoss
    >>> data, loss = CountData(n=100, m=100, p=0.5), PrivacyLoss(most_epsilon=1.0)
    >>> asked = Question(data=data, protections=(loss,), lowest=0.1, highest=0.3, values=3)
    >>> asked.truths, asked.promises
    ((0.1, 0.2, 0.3), ((1.0, 0.0),))
    >>> Question.from_json(asked.to_json()) == asked
    True
    """

    noun, indent = "question", 2

    data: DataKind = json_field(
        lambda data: {"kind": data.key, **data.to_dict()},
        lambda given: _made("data.kind", ASKED_KINDS, given.pop("kind", None), given),
    )
    lowest: float
    highest: float
    protections: tuple[Protection, ...] = json_field(
        lambda held: {one.key: one.to_dict() for one in held},
        lambda given: tuple(_made("protections", PROTECTIONS, *one) for one in given.items()),
        default=(),
    )
    limits: tuple[AccuracyLimit, ...] = json_field(
        lambda held: {one.key: one.limit for one in held},
        lambda given: tuple(AccuracyLimit(*one) for one in given.items()),
        default=(),
    )
    values: int = parameter_with_default(VALUES)
    average: bool = False
    believed_ones: float = parameter_with_default(BELIEVED_ONES)
    believed_zeros: float = parameter_with_default(BELIEVED_ZEROS)
    sets: tuple[int, ...] = (1, 5)
    rules: tuple[str, ...] = ("reiter_2003",)
    methods: tuple[str, ...] = ()
    goal: str = "root_mean_squared_error"
    level: float = parameter_with_default(LEVEL)
    repetitions: int = parameter_with_default(SIMULATED_REPETITIONS)
    seed: int = parameter_with_default(SEED)

    def check(self) -> None:
        if not isinstance(self.data, tuple(ASKED_KINDS.values())):
            raise ValueError(f"data must be of a kind among {', '.join(ASKED_KINDS)}; got {describe_value(self.data)}.")
        if not isinstance(self.average, bool):
            raise ValueError(f"average must be true or false; got {describe_value(self.average)}.")
        ranged = self.ranged
        if (self.believed_ones, self.believed_zeros) != (1, 1) and not (self.average and takes_prior(ranged)):
            raise ValueError(
                f"believed_ones and believed_zeros must be 1 and 1 unless a proportion is averaged over; got "
                f"{format_number(self.believed_ones)} and {format_number(self.believed_zeros)}."
            )
        validate_fields(self, *(dataclasses.replace(ranged, name=name) for name in ("lowest", "highest")))
        if self.lowest > self.highest:
            raise ValueError(
                f"The lowest {ranged.title.lower()} must not be above the highest; got {format_number(self.lowest)} "
                "and "
                f"{format_number(self.highest)}."
            )
        for name in ("sets", "rules", "methods", "protections", "limits"):
            given = getattr(self, name)
            if not isinstance(given, (tuple, list)):
                raise ValueError(f"{name} must be a list; got {describe_value(given)}.")
            self._set(name, tuple(given))
        self._set("sets", tuple(sorted({int(COMPARED_SETS.validate(one)) for one in self.sets})))
        self._set("rules", validate_unique_choices("rules", self.rules, RULES))
        methods = [one.key for one in type(self.data).methods]
        self._set(
            "methods", tuple(sorted(validate_unique_choices("methods", self.methods, methods), key=methods.index))
        )
        if not self.sets or not self.rules:
            raise ValueError("Choose at least one number of sets and one analysis.")
        if not isinstance(self.goal, str) or self.goal not in GOALS:
            raise ValueError(f"goal must be one of {', '.join(GOALS)}; got {describe_value(self.goal)}.")
        for name, kind in (("protections", Protection), ("limits", AccuracyLimit)):
            held = getattr(self, name)
            if any(not isinstance(one, kind) for one in held) or len({one.key for one in held}) < len(held):
                raise ValueError(f"{name} must be limits of this kind, each once; got {describe_value(held)}.")
        if any(one.guess for one in self.tried):
            self._set("data", self.data.with_guess_from_range(self.lowest, self.highest))
        if not self.promises and not self.limits:
            raise ValueError(
                "Set at least one limit, on what the release may give away or on how far an analyst may be off: "
                "without one every design will do."
            )
        self.data_at  # noqa: B018 (a range that the data cannot have is refused here)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def ranged(self) -> Parameter:
        """The declaration of the true value."""
        return next(one for one in self.data.parameters() if one.name == self.data.true_value)

    @property
    def named(self) -> str:
        """Sizes of the data and range of the true value in words."""
        sizes = self.data.in_symbols(4, self.data.numbers().keys() - {self.data.true_value})
        ends = f"{format_number(self.lowest, 4)} to {format_number(self.highest, 4)}"
        return f"{', '.join(sizes)} and {self.ranged.symbol} from {ends}"

    @property
    def wanted(self) -> Estimand:
        """What users of the release want to know."""
        return self.data.chosen_estimand

    @property
    def supposed(self) -> str:
        """What accuracy rests on beside the range of the true value, in a sentence; nothing where that is all."""
        numbers = (one for one in self.data.parameters() if one.name in self.data.assumed_parameters)
        named = " and ".join(
            f"{one.title.lower()} {one.symbol} = {format_number(getattr(self.data, one.name), 4)}" for one in numbers
        )
        assumed = named and f"The accuracy is that for a {named}, which is assumed: with another it can be far worse."
        guessing = " and ".join(one.label for one in self.tried if one.guess)
        guess = f"The public guess of {guessing} is {format_number(self.data.guess, 4)}{self._middle}."
        return f"{assumed} {guess}".strip() if guessing else assumed

    @property
    def _middle(self) -> str:
        """That the public guess is the middle of the range, where it is."""
        bare = self.data.with_guess(None).with_guess_from_range(self.lowest, self.highest)
        return ", the middle of your range" if bare.guess == self.data.guess else ""

    @cached_property
    def truths(self) -> tuple[float, ...]:
        """The true values that are tried."""
        if self.lowest == self.highest or (self.values == 1 and not self.average):
            return ((self.lowest + self.highest) / 2,)
        shares = (np.arange(self.values) + 0.5) / self.values
        found = self._believed(shares) if self.average else np.linspace(self.lowest, self.highest, self.values)
        return tuple(float(f"{one:.12g}") for one in found)

    def _believed(self, shares: FloatArray) -> FloatArray:
        """The quantiles of the prior between both ends, from the tail in which the range has its digits."""
        if (self.believed_ones, self.believed_zeros) == (1, 1):
            return self.lowest + shares * (self.highest - self.lowest)
        beta = self.believed_ones, self.believed_zeros
        below, quantile = betainc, betaincinv
        if below(*beta, self.lowest) > 0.5:
            below, quantile = betaincc, betainccinv
        first, last = (float(below(*beta, end)) for end in (self.lowest, self.highest))
        found: FloatArray = np.clip(quantile(*beta, first + shares * (last - first)), self.lowest, self.highest)
        if first == last or not np.isfinite(found).all():
            raise ValueError(
                f"Your prior, Beta({format_number(beta[0])}, {format_number(beta[1])}), holds nothing from "
                f"{format_number(self.lowest)} to {format_number(self.highest)} for possible: widen the range, or "
                "lower both."
            )
        return found

    @property
    def prior_in_words(self) -> str:
        """What is believed of the true value, where that is more than that all are alike."""
        beta = self.believed_ones, self.believed_zeros
        return "" if beta == (1, 1) else f"prior Beta({format_number(beta[0])}, {format_number(beta[1])})"

    @cached_property
    def data_at(self) -> tuple[DataKind, ...]:
        """The data with each true value."""
        values: list[dict[str, Any]] = [{self.data.true_value: one} for one in self.truths]
        return tuple(dataclasses.replace(self.data, **one) for one in values)

    @cached_property
    def promises(self) -> tuple[tuple[float, float], ...]:
        """What the limits on protection ask, as ε and δ; without those that every release keeps."""
        return tuple(one.promise for one in self.protections if one.promise[0] < math.inf)

    @property
    def loss(self) -> PrivacyLoss | None:
        """The limit on ε and δ themselves, where there is one."""
        return next((one for one in self.protections if isinstance(one, PrivacyLoss)), None)

    @property
    def most_delta(self) -> float:
        """The δ that was asked for."""
        return self.loss.most_delta if self.loss else 0.0

    @property
    def tried(self) -> tuple[ComparedMethod, ...]:
        """The methods that are considered: those that promise privacy, also where they cannot release such data."""
        chosen = self.methods or self.data.considered_keys()
        return tuple(one for one in self.data.methods if one.key in chosen and not one.reference)

    @property
    def ranked_by(self) -> str:
        """The key of `GOALS` that comes first: without a limit on protection the smallest ε for the accuracy."""
        return self.goal if self.promises else "epsilon"

    @property
    def seeks_smallest(self) -> bool:
        """Whether a design is given the smallest ε that is enough for the accuracy, and not the largest allowed."""
        return self.ranked_by == "epsilon" and bool(self.limits)

    @property
    def of_a_range(self) -> bool:
        """Whether the worst of a range counts."""
        return not self.average and self.lowest < self.highest

    @property
    def needs_interval(self) -> bool:
        """Whether an interval decides: a limit is on one, or the goal is a short one."""
        goal = ACCURACY.get(self.goal)
        return any(one.measure.needs_interval for one in self.limits) or bool(goal and goal.needs_interval)

    @property
    def interval_alone(self) -> bool:
        """Whether intervals alone decide: neither a limit nor the goal is on the estimate."""
        keys = {*(limit.key for limit in self.limits), self.goal} & ACCURACY.keys()
        return bool(keys) and all(ACCURACY[key].needs_interval for key in keys)

    def analysis(self, sets: int, rule: str) -> Analysis:
        """Return what an analyst does."""
        return _analysis(**Analysis.select_parameters(vars(self)) | {"sets": sets, "rule": rule})

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return the question with these values by name, as JSON has them."""
        names = [field.name for field in dataclasses.fields(cls)]
        if not isinstance(values, dict) or not {"data", "lowest", "highest"} <= set(values) <= set(names):
            raise ValueError(f"A question has some of {', '.join(names)}; got {describe_value(values)}.")
        return super().of({name: tuple(one) if isinstance(one, list) else one for name, one in values.items()})


@lru_cache(maxsize=256)
def _analysis(**asked: Any) -> Analysis:
    """Return what an analyst does, the same for the same: a search asks for it at every setting."""
    return Analysis(**asked)


def range_names(kind: type[DataKind]) -> tuple[str, str]:
    """Return what the lowest and the highest true value of a kind of data are called beside its other numbers."""
    return f"lowest_{kind.true_value}", f"highest_{kind.true_value}"


def takes_prior(ranged: Parameter) -> bool:
    """Whether a Beta distribution can say what is believed of a true value: where it is a proportion."""
    return (ranged.minimum, ranged.maximum) == (0, 1)


def _made(name: str, known: Mapping[str, type[Any]], key: object, values: object) -> Any:
    """Return the object of a key with these values, or a ValueError that says what it takes."""
    if not isinstance(key, str) or key not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {describe_value(key)}.")
    fields = [field.name for field in dataclasses.fields(known[key]) if field.init]
    if not isinstance(values, dict) or not set(values) <= set(fields):
        raise ValueError(f"{key} has {', '.join(fields)}; got {describe_value(values)}.")
    try:
        return known[key](**values)
    except TypeError:
        raise ValueError(f"{key} needs {', '.join(fields)}; got {describe_value(values)}.") from None
