"""Sentences of comparisons, of the page Start and of the tables of Compare: macros of ``sentences.txt``."""

import math
from functools import cache
from typing import Any

from dpviz.core import formatting
from dpviz.core.data_files import sentence_macros
from dpviz.privacy.odds_text import belief_text


def sentences(name: str, /, *facts: object) -> list[str]:
    """Texts of a macro, which a bar divides, each in one line, as inline HTML."""
    return [" ".join(text.split()) for text in getattr(_macros(), name)(*facts).split(" |")]


@cache
def _macros() -> Any:
    return sentence_macros(
        "comparisons", readable=formatting.format_number, distinct=formatting.format_distinct,
        percent=formatting.format_percent, error=formatting.format_error, join_words=formatting.join_words,
        invented_rows=formatting.describe_invented_rows, is_small_weight=formatting.is_small_weight, isnan=math.isnan,
        belief=belief_text, infinity=math.inf,
    )  # fmt: skip
