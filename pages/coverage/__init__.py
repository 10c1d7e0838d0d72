"""The page "Coverage"."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Coverage",
    folder="coverage",
    prefix="cv_",
    question="How often does an interval hold the truth?",
)
