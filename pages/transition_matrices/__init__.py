"""The page "Transition matrices"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Transition matrices",
    folder="transition_matrices",
    prefix="tm_",
    question="What does a release give away?",
)
