"""Small questions of a curator, whose designs are all quick, and their answers."""

from typing import Any

from dpviz.comparisons import CountData
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit, PrivacyLimit
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import SearchResult, evaluate_designs

ACCURACY = {"error": "root_mean_squared_error", "coverage": "coverage", "width": "mean_width", "bias": "bias"}


def asking(
    *protections: PrivacyLimit, n: int = 20, m: int = 0, low: float = 0.1, high: float = 0.4, epsilon: float = 0.0,
    success: float = 0.0, **changes: Any,
) -> DesignQuestion:  # fmt: skip
    """A question about one set of yes or no, of which three shares are tried; m is n unless it is given.

    `epsilon` limits the privacy loss, `success` the share of right guesses; ``error``, ``coverage``, ``width`` and
    ``bias`` limit the accuracy.
    """
    if epsilon:
        protections += (EpsilonDeltaLimit(most_epsilon=epsilon),)
    if success:
        protections += (GuessingLimit(most_success=success),)
    limits = tuple(AccuracyLimit(ACCURACY[name], changes[name]) for name in changes if name in ACCURACY)
    others = {name: value for name, value in changes.items() if name not in ACCURACY}
    usual: dict[str, Any] = {
        "data": CountData(n=n, m=m or n, p=0.5), "lowest": low, "highest": high, "values": 3, "sets": (1,),
        "repetitions": 200, "protections": protections, "limits": limits,
    }  # fmt: skip
    return DesignQuestion(**{**usual, **others})


def answered(asked: DesignQuestion) -> SearchResult:
    """The whole answer."""
    *_, desk = evaluate_designs(asked)
    return desk
