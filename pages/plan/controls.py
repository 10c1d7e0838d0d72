"""The controls of the page "Plan", its worked cases, and the plan that they ask for."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpviz.core.parameters import Parameter, readable, shown
from dpviz.core.settings import ControlSetting
from dpviz.desk import stated
from dpviz.desk.protection import PROTECTIONS, Protection, promise_in_words
from dpviz.plans import NEIGHBOURS, BoundedMean, CategoryShares, CrossTable, ReleasePlan, YesNoShare
from dpviz.plans.plan import MOST_GROUPS, PERSON_ROWS, PLAN_ROWS
from dpviz.plans.statistic import Statistic
from pages.components.address import drawn
from pages.components.controls import Choice, Control, Controls, Numbers, Presets, Said, Switch, Text
from pages.components.numbers import PageNumbers
from pages.plan import SPEC

PREFIX = SPEC.prefix
LIST = f"{PREFIX}statistics"
"""Where the session keeps the statistics."""
LONGEST_LIST = 12_000  # Characters of the statistics in an address
LISTED = next(one for one in dataclasses.fields(ReleasePlan) if one.name == "statistics").metadata
"""How a plan writes and reads its statistics."""

FIVE: tuple[Statistic, ...] = (
    YesNoShare(name="In work", limit=0.0015),
    CategoryShares(name="Region", categories=8, limit=0.002),
    CrossTable(name="Work by age", first=2, second=6, measure="all_within", limit=0.004),
    BoundedMean(name="Hours a week", lower=0.0, upper=80.0, limit=0.12),
    YesNoShare(name="Disabled", measure="within", limit=0.0025, lowest=0.02, highest=0.2),
)
EVERY: dict[str, object] = {
    "protect": "loss", "epsilon": 1.0, "delta": 0.0, "n": 12_000, "person_rows": 1, "neighbours": "substitution",
    "groups": "", "public": False, "spend": False, "statistics": FIVE,
}  # fmt: skip
PRESETS: dict[str, dict[str, object]] = {
    "Five statistics": {},
    "Five, as right guesses": {"protect": "guess", "known_before": 0.5, "guesses": 54.0},
    "Households of up to 4": {
        "person_rows": 4, "neighbours": "add_remove", "epsilon": 1.0, "delta": 1e-6,
        "statistics": (
            YesNoShare(name="In work", limit=0.002),
            YesNoShare(name="Owns a car", limit=0.002),
            BoundedMean(name="Income, thousands", lower=0.0, upper=150.0, limit=0.4),
        ),
    },
    "Two regions": {
        "groups": "North = 7,000; South = 5,000",
        "statistics": (
            YesNoShare(name="In work, North", group="North", limit=0.001),
            YesNoShare(name="In work, South", group="South", limit=0.001),
            CategoryShares(name="Education", categories=5, limit=0.001),
        ),
    },
    "A table with small counts": {
        "statistics": (
            CrossTable(
                name="Illness by district", first=2, second=25, highest=0.05, measure="all_within", limit=0.002,
                suppress_below=20,
            ),
            YesNoShare(name="Ever ill", limit=0.002),
        ),
    },
}  # fmt: skip
"""The worked cases of the page; each sets what it says, and all else as on a fresh page."""

SENTENCE = (
    "The largest privacy loss of all statistics together: between two neighbouring data sets no release may change an "
    "attacker's odds by more than a factor eᵋ. Smaller is more private; values from 0.1 to 10 are usual."
)
PROMISED = {name for kind in PROTECTIONS.values() for name in stated.asked_by(kind)}
NUMBERS: dict[str, Parameter] = {
    **{name: one for name, one in stated.STATED.items() if name in PROMISED},
    "epsilon": dataclasses.replace(stated.STATED["epsilon"], help=SENTENCE),
    "n": dataclasses.replace(
        PLAN_ROWS,
        slider_minimum=100,
        slider_maximum=PLAN_ROWS.maximum,
        help="How many rows the data have. Their number is public, and larger data hide each person better.",
    ),
    "person_rows": dataclasses.replace(
        PERSON_ROWS,
        symbol="c",
        title="Most rows of a person",
        private_end="neither",
        slider_maximum=20,
        help="1: every row is another person. A household or a patient with several rows is protected as a whole if "
        "you say how many rows it has at most; that costs accuracy.",
    ),
}


@dataclass(frozen=True)
class Asked:
    """The plan that is asked for."""

    plan: ReleasePlan
    problems: tuple[str, ...] = ()

    @property
    def named(self) -> str:
        """Its settings in words."""
        many = len(self.plan.statistics)
        asked = self.plan.protection
        promised = promise_in_words(*asked.promise) if asked.by_delta and not asked.share else asked.words
        return f"{many} statistic{'s' * (many > 1)} of n = {readable(self.plan.n)} rows, {promised}"

    @property
    def neighbours(self) -> str:
        """What is between two neighbouring data sets."""
        return self.plan.unit_in_words


def is_plan(asked: Asked) -> ReleasePlan:
    """What is answered: nothing more is refused than the controls have refused already."""
    return asked.plan


def read_list(text: str) -> tuple[Statistic, ...]:
    """The statistics of an address; a ValueError in a sentence refuses them."""
    if len(text) > LONGEST_LIST:
        raise ValueError(f"a link carries statistics of up to {LONGEST_LIST:,} characters; these have {len(text):,}.")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("it must be a list of statistics as JSON.") from None
    found: tuple[Statistic, ...] = LISTED["read"]("statistics", given)
    if not found:
        raise ValueError("a plan has at least one statistic.")
    return found


def write_list(listed: tuple[Statistic, ...]) -> str:
    """The statistics as an address has them: what is usual is left out."""
    given = [{"kind": one.key, **one.told()} for one in listed]
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))


def listed() -> tuple[Statistic, ...]:
    """The statistics of the reader's list."""
    found: tuple[Statistic, ...] = st.session_state.get(LIST, FIVE)
    return found


class _Listed(Control):
    """The list, which the part of the page below the picture sets."""

    def draw(self) -> tuple[Statistic, ...]:
        return drawn(self.key, listed(), self.label)


def read_groups(text: str) -> tuple[tuple[str, int], ...]:
    """The groups of a line such as "North = 7,000; South = 5,000"; a ValueError in a sentence refuses it."""
    found = []
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, rows = part.rpartition("=")
        digits = rows.replace(",", "").replace("\u202f", "").strip()
        if not name.strip() or not digits.isdecimal() or len(digits) > 9:
            raise ValueError(
                f"Groups must be written as “North = 7,000; South = 5,000”, at most {MOST_GROUPS} of them; "
                f"got {shown(part)}."
            )
        found.append((" ".join(name.split()), int(digits)))
    return tuple(found)


def write_groups(groups: tuple[tuple[str, int], ...]) -> str:
    """The line that says the groups."""
    return "; ".join(f"{name} = {rows:,}" for name, rows in groups)


def protection_of(said: Mapping[str, Any]) -> Protection:
    """The promise that is asked for."""
    kind = PROTECTIONS[said["protect"]]
    return kind(**{one.name: stated.meant(name, said[name]) for name, one in stated.asked_by(kind).items()})


def asked_for(said: Said) -> Asked:
    """The plan that the controls ask for; a ValueError in a sentence refuses."""
    plan = ReleasePlan(
        n=int(said["n"]), statistics=said["statistics"], protection=protection_of(said),
        person_rows=int(said["person_rows"]), neighbours=said["neighbours"], groups=read_groups(said["groups"]),
        membership_public=said["public"], spend_all=said["spend"],
    )  # fmt: skip
    return Asked(plan)


CONTROLS = Controls(
    PageNumbers(PREFIX, NUMBERS, ()),
    [
        Presets(PRESETS, EVERY, help=SPEC.note("presets")),
        Choice(
            "protect", "How private", {key: one.choice for key, one in PROTECTIONS.items()}, "loss", st.pills,
            required=True, help=SPEC.note("protect"),
        ),
        Numbers(of=lambda said: [*stated.asked_by(PROTECTIONS[said["protect"]])]),
        Numbers("n"),
        _Listed("statistics", "Statistics", ControlSetting(FIVE, read_list, write_list), st.radio),
        Numbers("person_rows"),
        Choice(
            "neighbours", "Between neighbouring data sets", {key: one.label for key, one in NEIGHBOURS.items()},
            "substitution", st.radio, help=SPEC.note("neighbours"),
        ),
        Text(
            "groups", "Disjoint groups", "", st.text_input, placeholder="North = 7,000; South = 5,000",
            help=SPEC.note("groups"),
        ),
        Switch("public", "Who belongs to which group is public", help=SPEC.note("public")),
        Switch("spend", "Spend what is left on smaller errors", help=SPEC.note("spend")),
    ],
    asked_for,
    few=("preset", "protect", "epsilon", "guesses", "most_after", "most_ratio", "n"),
    main=("delta", "known_before", "believed_before", "risk_before", "person_rows"),
    carried=False,
)  # fmt: skip


def promised(plan: ReleasePlan) -> dict[str, float]:
    """The numbers with which the promise of a plan is stated, by name."""
    asked = stated.asked_by(plan.protection)
    return {name: stated.stated(name, getattr(plan.protection, one.name)) for name, one in asked.items()}


def settings_of(plan: ReleasePlan) -> dict[str, Any]:
    """What the controls say where this is asked, by key."""
    said: dict[str, Any] = {
        "protect": plan.protection.key, "n": plan.n, "person_rows": plan.person_rows, "neighbours": plan.neighbours,
        "groups": write_groups(plan.groups), "public": plan.membership_public, "spend": plan.spend_all,
        "statistics": plan.statistics,
    }  # fmt: skip
    said |= promised(plan)
    if read_groups(said["groups"]) != plan.groups:
        raise ValueError("the name of a group must have no semicolon and no equals sign on this page.")
    return {PREFIX + name: value for name, value in said.items()}
