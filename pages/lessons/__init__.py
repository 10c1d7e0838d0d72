"""The page of the lessons."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Lessons",
    folder="lessons",
    prefix="lesson_",
    question="What does privacy do to a number?",
    lead="Seven short lessons: guess first, then see.",
    carries=False,
)
