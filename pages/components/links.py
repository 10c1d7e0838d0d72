"""Links from page to page that take the release along."""

import contextlib
from collections.abc import Mapping
from html import escape
from types import MappingProxyType

import streamlit as st

from dpviz.core.keeping import kept
from dpviz.designs import Design
from pages.components.address import SETTINGS
from pages.components.class_mode import KEY, class_mode
from pages.components.navigation import PAGES, as_declared
from pages.components.prior_rule import settings_of
from pages.components.release import goes_along, told_by
from pages.components.spec import PageSpec

ANALYSIS = frozenset({"gamma1", "gamma2", "level", "rules", "repetitions"})
"""What an address says of the analysis, which belongs to a page."""


def page_link(
    page: PageSpec, design: Design, label: str = "", said: frozenset[str] | None = None, **further: str
) -> None:
    """A link to a page, which opens with this release, and with `further` settings by their names on it."""
    words = {**address_of(page, design, said), **{f"{page.prefix}{name}": word for name, word in further.items()}}
    words |= {KEY: "1"} if class_mode() else {}
    st.page_link(as_declared(page), label=f"{label or page.title} →", query_params=words)


@kept
def address_of(page: PageSpec, design: Design, said: frozenset[str] | None = None) -> Mapping[str, str]:
    """What the address of a page says of a release: every setting that the page has for it.

    Of the truth, the draw and the analysis it is all of the design, or what is `said` of it: the page has its own for
    the rest.
    """
    settings, first = settings_of(page.prefix, design), len(page.prefix)
    kept = [key for key in settings if said is None or key[first:] not in ANALYSIS - said]
    kept = [key for key in kept if said is None or goes_along(key[first:], design, said)]
    return MappingProxyType({key: SETTINGS[key].write(settings[key]) for key in kept})


def lead_on(
    here: PageSpec,
    design: Design,
    words: str = "This release on",
    place: str = "",
    *,
    whole: bool = False,
) -> None:
    """Links to what the other pages say of this release, where they take it; `place` tells several such lists apart.

    They say what `here` says of it, or all of a `whole` design that the page has found.
    """
    said = None if whole else told_by(here)
    with st.container(horizontal=True, key=f"{here.prefix}lead_on{place}"):
        st.html(f'<span class="dpviz-lead">{escape(words)}</span>', width="content")
        for page in PAGES:
            if page is not here and not page.home:
                with contextlib.suppress(ValueError):  # the page has no control for something of it
                    page_link(page, design, said=said)
