"""Links from page to page that take the release along."""

import contextlib
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from types import MappingProxyType

import streamlit as st

from dpviz.designs import Design
from pages.components.address import SETTINGS
from pages.components.class_mode import KEY, class_mode
from pages.components.navigation import PAGES, as_declared
from pages.components.prior_rule import settings_of
from pages.components.spec import PageSpec

OF_A_PAGE = {"p", "x", "gamma1", "gamma2", "level", "rules", "repetitions", "seed"}
"""What an address says of the truth, the analysis and the seed."""


def page_link(page: PageSpec, design: Design, label: str = "", said: tuple[str, ...] | None = None) -> None:
    """A link to a page, which opens with this release."""
    words = {**address_of(page, design, said), **({KEY: "1"} if class_mode() else {})}
    st.page_link(as_declared(page), label=f"{label or page.title} →", query_params=words)


@lru_cache(maxsize=1024)
def address_of(page: PageSpec, design: Design, said: tuple[str, ...] | None = None) -> Mapping[str, str]:
    """What the address of a page says of a release: every setting that the page has for it.

    Of the truth and the analysis it is all of the design, or what is `said` of them: the page has its own for the rest.
    """
    settings, first = settings_of(page.prefix, design), len(page.prefix)
    kept = [key for key in settings if said is None or key[first:] in said or key[first:] not in OF_A_PAGE]
    return MappingProxyType({key: SETTINGS[key].write(settings[key]) for key in kept})


def lead_on(
    here: PageSpec,
    design: Design,
    words: str = "This release on",
    place: str = "",
    said: tuple[str, ...] | None = None,
) -> None:
    """Links to what the other pages say of this release, where they take it; `place` tells several such lists apart.

    `said` names what the page knows of the truth and the analysis, None all that is in the design.
    """
    with st.container(horizontal=True, key=f"{here.prefix}lead_on{place}"):
        st.html(f'<span class="dpviz-lead">{escape(words)}</span>', width="content")
        for page in PAGES:
            if page is not here and not page.home:
                with contextlib.suppress(ValueError):  # the page has no control for something of it
                    page_link(page, design, said=said)
