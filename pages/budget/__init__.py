"""The page "Budget"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Budget",
    folder="budget",
    prefix="bu_",
    question="Into how many sets, and between which statistics, is a promised ε best divided?",
)
