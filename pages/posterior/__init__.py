"""The page "Posterior"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Posterior",
    folder="posterior",
    prefix="po_",
    question="What do synthetic counts say about the proportion to an analyst who knows how they were made?",
)
