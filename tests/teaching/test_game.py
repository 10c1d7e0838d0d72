"""The numbers and sentences of the game, against sums over every outcome; its rounds, which follow from the seed."""

import itertools
import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpviz.teaching.game.guess_count
from dpviz.core.formatting import format_number, format_percent
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer
from dpviz.privacy.optimum import least_error
from dpviz.teaching.game import LEVELS, draw_rounds
from dpviz.teaching.game.choose_prior import ALPHA_STOPS, MAX_ERROR, MAX_SUCCESS, PriorRound, all_cases
from dpviz.teaching.game.guess_answer import N_PEOPLE as FEW_PEOPLE
from dpviz.teaching.game.guess_count import KNOWN_SHARES, N_PEOPLE, CountRound
from dpviz.teaching.game.level import GAME_EPSILONS, GAME_ROUNDS, Level, possible_releases
from dpviz.teaching.game.luck import chance_below_zero, coin_chances
from dpviz.teaching.membership import MembershipGame
from pages.ui import page_text
from tests.helpers import WRONG, check_short, run_script
from tests.referees import beta_binomial_law, binomial_distribution

SEEDS = range(6)
SIZES, RELEASED_ROWS = (50, 100, 200, 500, 1000), (20, 30, 50, 100, 200, 500, 1000)  # of cases of level 3
SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
PERSON, COUNT, AGENCY = LEVELS.values()


def every_way(n: int, epsilon: float) -> list[np.ndarray]:
    """Pr(released | count) of both ways, written from their formulas alone."""
    alpha = n / math.expm1(epsilon)
    mixed = [[float(chance) for chance in beta_binomial_law(alpha + x, alpha + n - x, n)] for x in range(n + 1)]
    ratio, noisy = math.exp(-epsilon), np.zeros((n + 1, n + 1))
    for x in range(n + 1):
        for noise in range(-200, 201):
            noisy[x, min(max(x + noise, 0), n)] += (1 - ratio) / (1 + ratio) * ratio ** abs(noise)
    return [noisy, np.array(mixed)]


@pytest.mark.parametrize("epsilon", GAME_EPSILONS)
def test_the_best_guess_about_a_person_is_that_of_a_sum_over_all_that_can_be_released(epsilon: float) -> None:
    for release, matrix in zip(possible_releases(FEW_PEOPLE, epsilon), every_way(FEW_PEOPLE, epsilon), strict=True):
        assert release.transition_matrix() == pytest.approx(matrix, abs=1e-12)
        for known_yes in range(FEW_PEOPLE):
            right, game = 0.0, MembershipGame(release, known_yes)
            for released in range(FEW_PEOPLE + 1):
                no, yes = matrix[known_yes, released], matrix[known_yes + 1, released]
                assert game.likelihoods[:, released] == pytest.approx((no, yes), rel=1e-9)
                assert game.posterior(released) == pytest.approx(yes / (yes + no), rel=1e-9)
                assert game.best_guess(released) is bool(yes > no)
                right += (yes if game.best_guess(released) else no) / 2
            assert game.success_rate == pytest.approx(right, rel=1e-9)
            assert game.success_rate <= 1 / (1 + math.exp(-epsilon)) + 1e-12
            assert isinstance(release, GeometricSanitizer) == math.isclose(right, 1 / (1 + math.exp(-epsilon)))


@pytest.mark.parametrize("epsilon", GAME_EPSILONS)
def test_a_person_can_be_guessed_better_than_by_a_coin_whatever_is_promised(epsilon: float) -> None:
    by_way = [
        [np.maximum(matrix[known_yes], matrix[known_yes + 1]).sum() / 2 for known_yes in range(FEW_PEOPLE)]
        for matrix in every_way(FEW_PEOPLE, epsilon)
    ]
    assert np.mean(by_way) > 0.58 and np.min(by_way) > 0.55


def test_a_coin_chances_the_best_guesser_as_often_as_a_list_of_all_games_says() -> None:
    successes = np.array([0.6, 0.75, 0.9])
    ahead = level = 0.0
    for best in itertools.product((0, 1), repeat=3):
        chance = math.prod(p if hit else 1 - p for p, hit in zip(successes, best, strict=True))
        for coin in itertools.product((0, 1), repeat=3):
            ahead += chance / 8 * (sum(coin) > sum(best))
            level += chance / 8 * (sum(coin) == sum(best))
    assert coin_chances(successes) == pytest.approx((ahead, level))
    twice = coin_chances(np.tile(successes, 2))
    assert coin_chances(np.tile(successes, 100))[0] < 1e-6 < twice[0] < ahead


@pytest.mark.parametrize("epsilon", GAME_EPSILONS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_the_best_count_is_that_of_a_search_over_all_counts(epsilon: float, share: float) -> None:
    counts = np.arange(N_PEOPLE + 1)
    prior = np.array([float(chance) for chance in binomial_distribution(N_PEOPLE, share)])
    for release, matrix in zip(possible_releases(N_PEOPLE, epsilon), every_way(N_PEOPLE, epsilon), strict=True):
        joint = prior[:, None] * matrix
        best = mean = repeated = 0.0
        for released in counts.tolist():
            seen = CountRound(release, released, share, 0)
            column = joint[:, released]
            assert seen.posterior == pytest.approx(column / column.sum(), abs=1e-9)
            errors = [float(column @ (counts - guess) ** 2) for guess in counts]
            assert errors[seen.best] == pytest.approx(min(errors), rel=1e-9)
            best, repeated = best + min(errors), repeated + errors[released]
            mean += float(column @ (counts - seen.mean) ** 2)
        errors = [seen.expected_error(guesses) for guesses in (seen.best_guesses, seen.posterior_means, counts)]
        assert errors == pytest.approx([best, mean, repeated], rel=1e-9)
        assert seen.smallest_error <= mean * (1 + 1e-9) <= best * (1 + 2e-9)
        assert math.isclose(seen.smallest_error, mean) == isinstance(release, GeometricSanitizer)


def test_with_all_counts_alike_the_limit_of_epsilon_is_the_smallest_error_of_any_release(monkeypatch) -> None:
    monkeypatch.setattr(
        dpviz.teaching.game.guess_count, "binomial_weights", lambda _, n: np.full((1, n + 1), 1 / (n + 1))
    )
    for epsilon in GAME_EPSILONS:
        seen = CountRound(possible_releases(N_PEOPLE, epsilon)[1], 3, 0.5, 0)
        smallest = N_PEOPLE * least_error(n=N_PEOPLE, epsilon=epsilon).root_mean_squared_error
        assert math.sqrt(seen.smallest_error) == pytest.approx(smallest, rel=1e-9)


def test_who_repeats_the_release_is_ahead_as_often_as_all_pairs_of_rounds_say() -> None:
    rounds = [
        CountRound(release, 4, share, 0)
        for release, share in zip(possible_releases(N_PEOPLE, 1.0), (0.2, 0.6), strict=True)
    ]
    counts = np.arange(N_PEOPLE + 1)
    leads, chances = [], []
    for case in rounds:
        prior = np.array([float(p) for p in binomial_distribution(N_PEOPLE, case.share)])
        guesses = case.best_guesses
        away = (counts[None, :] - counts[:, None]) ** 2 - (guesses[None, :] - counts[:, None]) ** 2
        leads.append(away.ravel())
        chances.append((prior[:, None] * case.release.transition_matrix()).ravel())
    below = (leads[0][:, None] + leads[1][None, :] < 0) * np.outer(*chances)
    assert chance_below_zero([case.lead(counts) for case in rounds]) == pytest.approx(float(below.sum()), rel=1e-9)


def test_what_the_agency_chooses_is_judged_by_sums_over_the_whole_matrix() -> None:
    for case in (PriorRound(50, 30, 5), PriorRound(100, 200, 50), PriorRound(200, 100, 4)):
        for alpha in (0.1, 2, 50):
            matrix = BetaBinomial(n=case.n, m=case.m, alpha=alpha, beta=alpha).transition_matrix()
            success = np.maximum(matrix[1:], matrix[:-1]).sum(axis=1).max() / 2
            away = np.arange(case.m + 1) / case.m - case.yes / case.n
            assert case.success(alpha) == pytest.approx(success, rel=1e-9)
            assert case.error(alpha) == pytest.approx(math.sqrt(matrix[case.yes] @ away**2), rel=1e-9)


def test_more_synthetic_people_help_both_and_more_real_ones_hinder_the_attacker() -> None:
    for alpha in (0.1, 1, 10, 100):
        by_size = []
        for n in SIZES:
            for share in SHARES:
                cases = [PriorRound(n, m, round(share * n)) for m in RELEASED_ROWS]
                assert all(small.success(alpha) < large.success(alpha) for small, large in pairwise(cases))
                assert all(small.error(alpha) > large.error(alpha) for small, large in pairwise(cases))
            by_size.append([case.success(alpha) for case in cases])
        assert all(x > y for small, large in pairwise(by_size) for x, y in zip(small, large, strict=True))


def is_fair(case: PriorRound) -> bool:
    """Whether no stop just keeps a limit, and either two to eight stops keep both, or no α at all does."""
    for alpha in ALPHA_STOPS:
        if math.isclose(case.success(alpha), MAX_SUCCESS, rel_tol=1e-6):
            return False
        if math.isclose(case.error(alpha), MAX_ERROR, rel_tol=1e-6):
            return False
    if case.both:
        return 2 <= len(case.both) <= 8
    between = np.geomspace(ALPHA_STOPS[0], ALPHA_STOPS[-1], 60).tolist()
    return not any(case.error(alpha) <= MAX_ERROR and case.success(alpha) <= MAX_SUCCESS for alpha in between)


def test_the_cases_in_the_file_are_all_fair_ones_of_a_grid() -> None:
    grid = [PriorRound(n, m, round(share * n)) for n, m, share in itertools.product(SIZES, RELEASED_ROWS, SHARES)]
    impossible, possible = all_cases()
    assert {*impossible, *itertools.chain(*possible)} == {case for case in grid if is_fair(case)}


def test_the_answers_of_a_case_are_the_stops_that_keep_both_limits() -> None:
    impossible, possible = all_cases()
    cases = list(dict.fromkeys(itertools.chain(*possible)))
    assert (len(impossible), len(cases)) == (97, 41)
    for case in (*cases, *impossible[::6]):
        stops: list[float | int | None] = [
            a for a in ALPHA_STOPS if case.success(a) <= MAX_SUCCESS and case.error(a) <= MAX_ERROR
        ]
        assert case.answers == (stops or [None])


def test_the_rounds_of_a_seed_are_those_of_links_that_were_shared() -> None:
    """Literal rounds of seed 1."""
    person, count, agency = (draw_rounds(1, level=level, epsilon=1.0)[:4] for level in LEVELS)
    seen = [(case.known_yes, case.released, case.secret) for case in person]
    assert seen == [(1, 1, True), (0, 1, False), (1, 1, True), (0, 0, False)]
    seen = [(case.share, case.released, case.secret) for case in count[:3]]
    assert seen == [(0.8, 11, 13), (0.6, 8, 7), (0.5, 11, 9)]
    assert [(case.n, case.m, case.yes) for case in agency[:3]] == [(50, 30, 10), (100, 500, 50), (500, 20, 25)]


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
def test_a_seed_draws_ten_rounds_and_the_line_of_python_draws_them_again_to_the_digit(level: Level) -> None:
    rounds = draw_rounds(3, level=level.key, epsilon=2.0)
    assert len(rounds) == GAME_ROUNDS
    assert run_script(level.script(2.0, 3)).splitlines() == [repr(case) for case in rounds]


def test_every_seed_level_and_promise_has_a_game_of_its_own() -> None:
    games = {level.describe(epsilon, seed) for level in LEVELS.values() for epsilon in GAME_EPSILONS for seed in SEEDS}
    assert len(games) == (2 * len(GAME_EPSILONS) + 1) * len(SEEDS)  # ε has no part in level 3
    assert draw_rounds(1, level="agency", epsilon=0.5) == draw_rounds(1, level="agency", epsilon=5.0)
    secrets = {
        (seed, epsilon): tuple(case.secret for case in draw_rounds(seed, level="person", epsilon=epsilon))
        for seed in SEEDS
        for epsilon in GAME_EPSILONS
    }
    assert len(set(secrets.values())) > len(secrets) - 3  # who knows one game knows none of the others
    for seed in (-1, 1.5, 10**9 + 1):
        with pytest.raises(ValueError, match="seed must be a whole number"):
            draw_rounds(seed, level="person", epsilon=1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level must be one of person, count, agency"):
        draw_rounds(1, level="none", epsilon=1.0)


def test_the_best_possible_guesser_reaches_its_success_rate() -> None:
    """Over many games, within four standard errors."""
    for epsilon in (0.5, 2.0):
        games = [PERSON.draw(np.random.default_rng([seed, 1]), epsilon) for seed in range(100)]
        surplus = np.array([sum(case.is_right(case.best) - case.game.success_rate for case in game) for game in games])
        assert abs(surplus.mean()) < 4 * surplus.std() / math.sqrt(len(surplus))
        counted = [COUNT.draw(np.random.default_rng([seed, 2]), epsilon) for seed in range(100)]
        cases = [case for game in counted for case in game]
        squares = np.array([(case.best - case.secret) ** 2 - case.expected_error(case.best_guesses) for case in cases])
        assert abs(squares.mean()) < 4 * squares.std() / math.sqrt(len(squares))
        assert {case.share for case in cases} == set(KNOWN_SHARES)


def test_rounds_of_the_agency_come_once_and_some_have_no_answer() -> None:
    games = [AGENCY.draw(np.random.default_rng(seed), 1.0) for seed in range(60)]
    assert all(len(set(game)) == GAME_ROUNDS for game in games)
    impossible = sum(case.answers == [None] for game in games for case in game) / len(games)
    assert 1.5 < impossible < 4
    constant = [sum(alpha in case.answers for game in games for case in game) for alpha in (*ALPHA_STOPS, None)]
    assert max(constant) / len(games) < 4.5  # who always chooses the same wins less than half


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("epsilon", GAME_EPSILONS)
def test_every_sentence_holds_for_every_guess(level: Level, epsilon: float) -> None:
    assert len(level.text("rules").split()) <= 45 and level.text("question").endswith("?")
    assert level.score_line((), ()) == "" and level.marks((), ()) == []
    for seed in SEEDS:
        rounds = level.draw(np.random.default_rng([seed, 3]), epsilon)
        guesses = tuple(_guess(level, case, seed % 3) for case in rounds)
        score = level.final_score(rounds, guesses, epsilon)
        check_short(score.answer[2])
        sentences = [*score.answer, *score.lessons, level.score_line(rounds, guesses), *itertools.chain(*score.numbers)]
        for case, guess, mark in zip(rounds, guesses, level.marks(rounds, guesses), strict=True):
            check_short(case.answer(guess)[2])
            sentences += [*case.answer(guess), mark.text, mark.meaning]
        for sentence in sentences:
            assert not WRONG.search(sentence) and "  " not in sentence, sentence
        assert all(len(row) == len(score.table.head) for row in score.table.rows)
        assert len(score.table.rows) == GAME_ROUNDS


def _guess(level: Level, case: Any, choose: int) -> Any:
    """The best guess, the worst one, or always the same."""
    if level is AGENCY:
        return (case.answers[0], next(a for a in (*ALPHA_STOPS, None) if a not in case.answers), None)[choose]
    if level is COUNT:
        return (case.best, 20 if case.secret < 10 else 0, 10)[choose]
    return (case.best, not case.best, True)[choose]


def test_the_sentence_on_a_person_fits_the_answer_and_the_odds() -> None:
    for seed in SEEDS:
        rounds = PERSON.draw(np.random.default_rng(seed), 1.0)
        for guess in (True, False):
            score = PERSON.final_score(rounds, (guess,) * GAME_ROUNDS, 1.0)
            for case in rounds:
                verdict, sentence, _ = case.answer(guess)
                right, against = case.secret is guess, guess is not case.best
                assert ("You are right" in sentence) == right == (verdict == "Right")
                assert ("against the odds" in sentence) == against
                assert ("Bad luck" in sentence) == (not right and not against)
                assert f"The person said <b>{'yes' if case.secret else 'no'}</b>" in sentence
            places = [str(place) for place, case in enumerate(rounds, 1) if guess is not case.best]
            assert all(place in score.lessons[0] for place in places)
            assert f"<b>{sum(case.secret is guess for case in rounds)}</b> of 10" in score.answer[1]
    mine = PERSON.final_score(rounds, tuple(case.best for case in rounds), 1.0)
    assert mine.lessons[0].startswith("No guess of yours went against the odds")


def test_before_the_guess_a_round_tells_how_probable_each_number_is_under_both_answers() -> None:
    """The ringed person's answer is the one thing that the player does not know."""
    matrices = every_way(FEW_PEOPLE, 1.0)
    for case in draw_rounds(2, level="person", epsilon=1.0):
        matrix = matrices[not isinstance(case.release, GeometricSanitizer)]
        *_, yes, no = re.findall(r"<tr>(.*?)</tr>", case.question_html)
        for row, name, known in ((yes, "yes", case.known_yes + 1), (no, "no", case.known_yes)):
            cells = re.findall(r"<td.*?>(.*?)</td>", row)
            told = [format_percent(chance, 3) for chance in matrix[known]]
            told[case.released] = f"<b>{told[case.released]}</b>"
            assert cells == [name, *told]


def test_the_published_number_stays_in_the_picture_of_the_posterior() -> None:
    game_round = draw_rounds(1, level="count", epsilon=1.0)[0]
    html = game_round.outcome_html(7)
    for mark in ("truth", "published", "you: 7", f"best: {game_round.best}"):
        assert mark in html


def test_the_text_of_the_page_names_the_limits_of_epsilon() -> None:
    named = [f"{format_percent(1 / (1 + math.exp(-epsilon)), 3 if epsilon == 5 else 2)}" for epsilon in GAME_EPSILONS]
    assert named == ["62 %", "73 %", "88 %", "99.3 %"]
    pieces = zip(named, ("at\nε = 0.5", "at 1", "at 2", "at 5"), strict=True)
    assert all(f"{share} {at}" in page_text("game") for share, at in pieces)


def test_the_sentence_on_the_agency_fits_both_limits() -> None:
    for case in AGENCY.draw(np.random.default_rng(5), 1.0):
        for guess in (*ALPHA_STOPS, None):
            verdict, sentence, _ = case.answer(guess)
            right = guess in case.answers
            assert ("It cannot be done" in sentence) == (case.answers == [None])
            assert verdict in (("Both kept", "Right") if right else ("Not kept", "It can be done"))
            if guess is not None:
                protects, informs = case.success(guess) <= MAX_SUCCESS, case.error(guess) <= MAX_ERROR
                assert ("more than 60 %" in sentence.split("points")[0]) == (not protects)
                assert sentence.split(". ")[0].count("(kept)") == protects + informs
            if case.answers != [None]:
                assert f"{format_number(case.answers[0])} " in sentence


def test_the_agency_is_told_that_the_attackers_rate_is_that_of_the_most_exposed_table() -> None:
    """Of 100 people 50 said yes: 62.4 % is the worst over all tables, in theirs it is 53.6 %."""
    case = PriorRound(100, 500, 50)
    assert MembershipGame(case.release(2), 49).success_rate == pytest.approx(0.5357, abs=1e-4)
    assert case.answer(2)[1].startswith(
        "With α = 2 the attacker is right <b>62.4 %</b> of the time (more than 60 %) in the most exposed of all tables "
        "of 100 people, and in yours the analyst is typically off by <b>5.36 points</b> (more than 5)."
    )
