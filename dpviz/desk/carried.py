"""A release that goes along from page to page: what belongs to it, and how what one page sets changes it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from dpviz.core.declarations import PUBLIC_GUESS
from dpviz.core.keeping import kept
from dpviz.core.parameters import readable
from dpviz.core.sliders import LINKS
from dpviz.core.wording import in_figures
from dpviz.designs import NOISE_EPSILON_KEY, Design
from dpviz.desk.promises import FURTHER_NUMBERS
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.given_matrix import GivenMatrix

NOT_EVERYWHERE = frozenset({"delta", "p", "x", "seed"})
"""What some pages do not say of a release: it goes along from those that do."""

CARRIED = (
    *["synthesizer", "n", "m", "m_is_n", "sets", "prior", "epsilon", "alpha", "beta", "beta_is_alpha", "cells"],
    *(
        NOISE_EPSILON_KEY,
        "noise_is_promise",
        *FURTHER_NUMBERS,
        LINKS[PUBLIC_GUESS.name].switch,
        *sorted(NOT_EVERYWHERE),
    ),
)
"""What belongs to the release, by the names of an address; the analysis belongs to a page."""

SYMBOLS = {"epsilon": "ε", "delta": "δ", "alpha": "α"}


@dataclass(frozen=True)
class Carried:
    """The reader's release; `known` are those of `NOT_EVERYWHERE` that some page has said of it."""

    design: Design
    known: frozenset[str]

    @property
    def words(self) -> str:
        """What a reader knows it by."""
        made = self.design
        promised = [
            f"{name} = {readable(getattr(made, key), 3)}" for key, name in SYMBOLS.items() if key in made.promised
        ]
        sizes = in_figures(made.n, "person", "people"), in_figures(made.sets, "set")
        return ", ".join((made.synthesizer_type.label.partition(" (")[0], *sizes, *promised))


def goes_along(name: str, design: Design, said: Collection[str]) -> bool:
    """Whether a setting of a page belongs to what was `said` of a design; an x that nobody has said does where it is
    there, for the page's own would not fit.
    """
    return name not in NOT_EVERYWHERE or name in said or (name == "x" and design.confidential_count is None)


@dataclass
class OnItsWay:
    """What a session holds of the reader's release: on which `page` the reader is, and what was `entered` there.

    That is the design that the page began with or shows, or how it came to it: by an "address"; None for the page's
    own. `refused` says why the page does not take the release; `touched` that the reader has set any page.
    """

    release: Carried | None = None
    page: Any = None
    entered: Design | str | None = None
    refused: str = ""
    touched: bool = False

    def shown(self, design: Design, told: frozenset[str], *, begins: bool, set_here: bool, ruled: bool) -> None:
        """Take what the page showed last for the release, as far as it was `set_here`, of which the page has `told`.

        The page where the app `begins` shows a release from the first; all else is as in `_changed`.
        """
        entered = self.entered
        self.touched = self.touched or entered not in {None, design}
        if design.synthesizer_type is GivenMatrix:  # a matrix of the reader's own belongs to its page
            return
        self.entered = design
        first = begins and self.release is None and not self.touched
        if (entered is None and not first) or entered == design or not set_here:
            return
        if self.release is None or self.refused:
            self.release, self.refused = Carried(design, told & NOT_EVERYWHERE), ""
        else:
            since = entered if isinstance(entered, Design) else None
            self.release = _changed(self.release, since, design, told, ruled)


@kept
def _changed(release: Carried, entered: Design | None, design: Design, told: frozenset[str], ruled: bool) -> Carried:
    """Return a release with what has changed since the page was entered, or all that the page tells if that is None.

    `ruled` pages have a rule for the prior, which hides what it has no use for.
    """
    now, words = design.to_address(), release.design.to_address()
    hidden = {"epsilon", "delta", "alpha"} - set(design.promised) if ruled else set()
    if entered is None:
        names = {name for name in CARRIED if name in told} | ({"m"} if "n" in told else set())
        if _cells(design.synthesizer_type) != _cells(release.design.synthesizer_type):
            names |= {"synthesizer", "cells", "prior"}
    else:
        before = entered.to_address()
        names = {name for name in (*CARRIED, "details") if before.get(name) != now.get(name)}
    names -= hidden
    for name in names:
        words.pop(name, None)
        words |= {name: now[name]} if name in now else {}
    known = release.known | (names & told & NOT_EVERYWHERE)
    try:
        found = Design.from_address(words)
        if "synthesizer" in told and not ruled and names - NOT_EVERYWHERE:
            found = _as_made(found, design)
    except ValueError:
        found = design
    return Carried(found, known)


def _cells(synthesizer_type: type[Synthesizer]) -> bool:
    return issubclass(synthesizer_type, TwoCellSynthesizer)


def _as_made(found: Design, design: Design) -> Design:
    """The release that a page without a rule shows: with a prior of its own, where the rule would not give it."""
    if found.prior != "exact" and found.synthesizer == design.synthesizer:
        return found
    shared = {one: getattr(found, one) for one in ("epsilon", "delta", "sets", "p", "confidential_count", "seed")}
    return Design.releasing(design.synthesizer, **shared) or design
