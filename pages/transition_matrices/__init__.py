"""The page "Transition matrices"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Transition matrices",
    folder="transition_matrices",
    prefix="tm_",
    question="What does a synthetic table of counts give away about the confidential one? Every number here is exact.",
)
