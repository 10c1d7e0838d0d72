"""The page of the experiment for a whole class."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Class experiment",
    folder="experiment",
    prefix="room_",
    question="What do many releases of one table show?",
    carries=False,
)
