"""What pages, comparisons and reports tell of each mechanism: the entries of `mechanisms.toml`, typed and checked."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, kw_only=True)
class MechanismInfo:
    r"""What is told of a mechanism; its class holds the mathematics.

    >>> MechanismInfo(label="Coin", formula="p", source="a test", color="other", moved_by="a coin")
    Traceback (most recent call last):
    TypeError: Coin needs `releases`, because it is compared.
    """

    label: str  # name on the pages
    formula: str  # distribution of what is released, in TeX
    source: str  # who published it
    color: str  # name of a color in `dpviz.charts.theme.PALETTE`
    moved_by: str  # what moves the released share away from the confidential one: the subject of a sentence
    releases: str = ""  # what is released and what that spends of ε, in whole sentences; required if it is compared
    finding: str = ""  # what is known of its real ε, in whole sentences
    several_sets: bool = False  # whether it is compared with several sets, which share ε, unless one set is asked for
    kept_by: str = ""  # key of the mechanism that keeps its ε where it may spend more
    broken_because: str = ""  # why it may spend more, in a whole sentence
    compared_as: str = ""  # key of the mechanism that it equals where both have the smallest prior
    not_compared: str = ""  # why it is not compared at all
    compared_source: str = ""  # papers that compare it with others, where `source` does not name them
    rows_drawn: str = ""  # how the rows of a mechanism with a prior come about, in a few words
    no_prior: str = ""  # why it has no smallest prior, where a reader may look for one, as a clause
    opendp: str = ""  # script of the report by which OpenDP makes the same release
    audited: str = ""  # key of the record of `dpviz.audit.release_audit` on its printed promise
    zheng: Sequence[str] = ()  # key and name under which it is a method of Zheng (2015)

    def __post_init__(self) -> None:
        if self.is_compared and not self.releases:
            raise TypeError(f"{self.label} needs `releases`, because it is compared.")
        if self.kept_by and not self.broken_because:
            raise TypeError(f"{self.label} needs `broken_because`, because it names `kept_by`.")

    @property
    def is_compared(self) -> bool:
        """Whether it is a method of its own wherever methods are compared."""
        return not (self.compared_as or self.not_compared)


def read_catalogue(text: str) -> dict[str, MechanismInfo]:
    """Entries of a catalogue in TOML by key, with the line breaks of their texts as blanks.

    Raises
    ------
    TypeError
        If an entry lacks a field or has an unknown one; the message names both.
    """
    catalogue = {}
    for key, entry in tomllib.loads(text).items():
        fields: dict[str, Any] = {
            name: " ".join(value.split()) if isinstance(value, str) else value for name, value in entry.items()
        }
        try:
            catalogue[key] = MechanismInfo(**fields)
        except TypeError as problem:
            raise TypeError(f"mechanisms.toml, [{key}]: {problem}") from None
    return catalogue


CATALOGUE = read_catalogue(files("dpviz.mechanisms").joinpath("mechanisms.toml").read_text(encoding="utf-8"))
