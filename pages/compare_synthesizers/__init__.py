"""The page "Compare synthesizers"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Compare synthesizers",
    folder="compare_synthesizers",
    prefix="cs_",
    question="Which method costs the analyst least?",
)
