"""The page of the lessons."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Lessons",
    folder="lessons",
    prefix="lesson_",
    question="What does privacy do to a number?",
    lead="Seven short lessons. Each asks for your guess before it shows the answer: a wrong guess often teaches most.",
    carries=False,
    plain=True,
)
