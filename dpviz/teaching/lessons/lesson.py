"""A lesson: steps with words, a picture and a question, and the page on which a reader goes on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from dpviz.charts.theme import Figure
from dpviz.designs import Design
from dpviz.teaching.lessons.questions import Moment, NumberAsked, QuestionAsked, Slider
from dpviz.teaching.lessons.words import LessonWords, StepWords


@dataclass(frozen=True)
class LessonPicture:
    """A picture, and what it shows in words, for who does not see it."""

    figure: Figure
    alt: str


@dataclass(frozen=True)
class Onward:
    """The page, by its folder, on which a lesson ends: the release that it opens with, and further settings by name."""

    page: str
    design: Design
    further: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, object]:
        """All settings of the page by name."""
        design = self.design
        values: dict[str, object] = {name: text for name, text in design.to_address().items() if text}
        if design.prior != "own":
            del values["alpha"]
        return values | {
            "m_is_n": design.m == design.n,
            "beta_is_alpha": True,
            "noise_is_promise": True,
            **self.further,
        }


@dataclass(frozen=True, kw_only=True)
class LessonStep:
    """One idea: what is asked, or a slider to play with, what is drawn, and the numbers of its words at a moment.

    `name` is its heading in the text file. `draws` says that its picture follows the seed.
    """

    name: str
    picture: Callable[[Moment], LessonPicture]
    numbers: Callable[[Moment], Mapping[str, str]]
    question: QuestionAsked | None = None
    slider: Slider | None = None
    draws: bool = False

    def __post_init__(self) -> None:
        if (self.question is None) == (self.slider is None):
            raise ValueError(f"the step {self.name} must have either a question or a slider.")

    @property
    def moved(self) -> Slider | None:
        """The slider that a reader moves here, be it for a guess."""
        return self.question.slider if isinstance(self.question, NumberAsked) else self.slider

    def shows(self, moment: Moment) -> bool:
        """Whether the answer is drawn: where there is no question, or it has been answered."""
        return self.question is None or moment.guess is not None


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """Some steps in their order, each with its words, and where they lead; `key` is the name of its folder."""

    key: str
    words: LessonWords
    steps: tuple[LessonStep, ...]
    onward: Callable[[], Onward]

    def __post_init__(self) -> None:
        if list(self.words.steps) != [one.name for one in self.steps]:
            raise ValueError(f"words.md of {self.key} must have the steps {', '.join(one.name for one in self.steps)}.")

    def words_of(self, step: LessonStep) -> StepWords:
        """Return the words of one of its steps."""
        return self.words.steps[step.name]

    def text(self, step: LessonStep, moment: Moment) -> str:
        """Return what stands above the picture of a step, in Markdown."""
        return self.words_of(step).text.format(**step.numbers(moment))

    def asked(self, step: LessonStep, moment: Moment) -> str:
        """Return what a step asks, nothing where it does not ask."""
        return self.words_of(step).said("asks", dict(step.numbers(moment)))

    def said(self, step: LessonStep, moment: Moment) -> str:
        """Return what is said of the guess, or where nothing is asked of the picture; nothing before there is one."""
        if not step.shows(moment):
            return ""
        part = "shows" if step.question is None else step.question.verdict(moment)
        return self.words_of(step).said(part, dict(step.numbers(moment)))
