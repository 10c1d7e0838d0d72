"""The page "Posterior"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Posterior",
    folder="posterior",
    prefix="po_",
    question="What can an analyst learn from a release?",
)
