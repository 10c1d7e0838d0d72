"""Level 3: be the agency, whose invented people must stop the attacker and leave the analyst something."""

from dataclasses import dataclass

import numpy as np

from dpviz.core.formatting import TextTable, format_distinct, format_number, join_words, spell_count
from dpviz.mechanisms import BetaBinomial
from dpviz.privacy import pure_epsilon
from dpviz.teaching.game.base import GAME_ROUNDS, FinalWords, Level, RoundMark, Score
from dpviz.teaching.game.cases import GAME_ALPHAS, IMPOSSIBLE_SHARE, OF_ANALYST, OF_ATTACKER, AgencyRound, all_cases


@dataclass(frozen=True)
class AgencyScore(Score[AgencyRound, float | None]):
    """In how many rounds both limits are kept, or rightly called impossible."""

    @property
    def kept(self) -> list[bool]:
        """Whether each choice is right."""
        return [one.right(guess) for one, guess in zip(self.rounds, self.guesses, strict=True)]

    @property
    def right(self) -> int:
        """How many choices are right."""
        return sum(self.kept)

    @property
    def by_chance(self) -> float:
        """How many are right on average where all that can be chosen is chosen alike."""
        return sum(len(one.answers) for one in self.rounds) / (len(GAME_ALPHAS) + 1)

    @property
    def marks(self) -> list[RoundMark]:
        return [
            RoundMark("✓", True, "both limits kept") if one else RoundMark("✗", False, "not kept") for one in self.kept
        ]

    @property
    def standing(self) -> str:
        return f"You: {self.right} right." if self.rounds else ""

    @property
    def told(self) -> FinalWords:
        sentence = (
            f"You were right in <b>{self.right}</b> of {GAME_ROUNDS} rounds. Whoever computes is right in all of them; "
            f"whoever chooses blindly in {format_number(self.by_chance, 3)} on average."
        )
        short = f"You: {self.right} of {GAME_ROUNDS}. Blind choice: {format_number(self.by_chance, 3)}."
        return FinalWords(f"{self.right} of {GAME_ROUNDS}", sentence, short)

    @property
    def numbers(self) -> list[tuple[str, str, str]]:
        return [
            ("You", f"{self.right}", f"right choices in {GAME_ROUNDS} rounds"),
            ("Whoever computes", f"{GAME_ROUNDS}", "every range of α is exact"),
            ("Blind choice", format_number(self.by_chance, 3), "right on average, all choices alike"),
        ]

    @property
    def _choices(self) -> list[tuple[AgencyRound, float | None]]:
        return list(zip(self.rounds, self.guesses, strict=True))

    @property
    def lessons(self) -> list[str]:
        chosen = [(one, one.at(guess)) for one, guess in self._choices if guess is not None]
        exposed = sum(not found.protects for _, found in chosen)
        useless = sum(not found.informs for _, found in chosen)
        impossible = [place for place, one in enumerate(self.rounds, start=1) if one.both is None]
        places = f"Round{'s' if len(impossible) > 1 else ''} {join_words(str(one) for one in impossible)}"
        nothing = f"{places} had no answer: there are too few people, or too few are released." if impossible else ""
        return [
            f"Your choices let the attacker through in {spell_count(exposed, 'round')}, and left the analyst too far "
            "off "
            f"in {spell_count(useless, 'round')}. {nothing}".strip(),
            "There is no luck in this level. The attacker is the stronger, the more synthetic people are released, and "
            "the weaker, the more real ones there are. The analyst is the nearer, the more synthetic people there are; "
            "invented people pull the share of yes towards one half, which costs most where few said yes.",
        ]

    @property
    def table(self) -> TextTable:
        head = ["Round", "People", "Yes", "Released", "Your α", "Attacker", "Analyst", "α that keep both", "Their ε"]
        rows = []
        for place, (one, guess) in enumerate(self._choices, start=1):
            found = None if guess is None else one.at(guess)
            both = "none" if one.both is None else f"{format_number(one.both[0], 4)} to {format_number(one.both[1], 4)}"
            rows.append(
                [
                    f"Round {place}",
                    f"{one.n:,}",
                    f"{one.yes:,}",
                    f"{one.m:,}",
                    "cannot be done" if guess is None else format_number(guess),
                    "–" if found is None else f"{format_distinct(100 * found.success, OF_ATTACKER, 3)} %",
                    "–" if found is None else f"{format_distinct(100 * found.error, OF_ANALYST, 3)} points",
                    both,
                    "–" if one.both is None else _losses(one, *one.both),
                ]
            )
        return TextTable(head, rows, "All rounds of this game")


def _losses(one: AgencyRound, *alphas: float) -> str:
    losses = (pure_epsilon(BetaBinomial(n=one.n, m=one.m, alpha=alpha, beta=alpha)) for alpha in alphas)
    return " to ".join(format_number(loss, 3) for loss in losses)


class BeTheAgency(Level[AgencyRound, float | None]):
    """Choose the invented people of a Beta-binomial release so that two limits are kept."""

    key = "agency"
    label = "3 · Be the agency"
    question = "How many people do you invent?"
    rules = (
        "You invent α people with a yes and as many with a no, and draw synthetic people from all. An attacker who "
        "knows everybody but one may be right 60\N{NO-BREAK SPACE}% of the time. The synthetic share of yes may "
        "typically be 5 points off."
    )
    uses_epsilon = False

    def draw(self, generator: np.random.Generator, epsilon: float) -> tuple[AgencyRound, ...]:
        impossible, possible = all_cases()
        drawn: list[AgencyRound] = []
        while len(drawn) < GAME_ROUNDS:  # none comes twice
            cases = impossible
            if generator.random() >= IMPOSSIBLE_SHARE:
                cases = possible[int(generator.integers(len(possible)))]
            case = cases[int(generator.integers(len(cases)))]
            drawn += [case] if case not in drawn else []
        return tuple(drawn)

    def score(self, rounds: tuple[AgencyRound, ...], guesses: tuple[float | None, ...], epsilon: float) -> AgencyScore:
        return AgencyScore(rounds, guesses, epsilon)
