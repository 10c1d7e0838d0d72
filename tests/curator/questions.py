"""Small questions of a curator, whose designs are all quick, and their answers."""

from typing import Any

from dpviz.comparisons import CountData
from dpviz.curator.privacy_limits import PrivacyLimit
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import SearchResult, evaluate_designs


def asking(
    *protections: PrivacyLimit, n: int = 20, m: int = 0, low: float = 0.1, high: float = 0.4, **changes: Any
) -> DesignQuestion:
    """A question about one set of yes or no, of which three shares are tried; m is n unless it is given."""
    usual: dict[str, Any] = {
        "data": CountData(n=n, m=m or n, p=0.5), "lowest": low, "highest": high, "values": 3,
        "sets": (1,), "repetitions": 200, "protections": protections,
    }  # fmt: skip
    return DesignQuestion(**{**usual, **changes})


def answered(asked: DesignQuestion) -> SearchResult:
    """The whole answer."""
    *_, desk = evaluate_designs(asked)
    return desk
