"""The page on everything that the papers print."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Published",
    folder="published",
    prefix="pub_",
    question="What was printed, and does it come out?",
    carries=False,
)
