"""The page "Budget"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Budget",
    folder="budget",
    prefix="bu_",
    question="How is a promise best divided?",
)
