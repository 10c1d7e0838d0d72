"""The numbers and sentences of the game, against sums over every outcome; its rounds, which follow from the seed."""

from __future__ import annotations

import itertools
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpviz.teaching.game.seen_count
from dpviz.core.formatting import format_percent
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer
from dpviz.privacy.optimum import least_error
from dpviz.teaching.game import LEVELS, rounds_from
from dpviz.teaching.game.base import GAME_EPSILONS, GAME_ROUNDS, WAYS, Level
from dpviz.teaching.game.cases import (
    ERROR_ALLOWED,
    GAME_ALPHAS,
    RELEASED_ROWS,
    SHARES,
    SIZES,
    SUCCESS_ALLOWED,
    AgencyRound,
    all_cases,
)
from dpviz.teaching.game.levels import script_of
from dpviz.teaching.game.luck import coin_beats, sum_below_zero
from dpviz.teaching.game.seen_count import PEOPLE_COUNTED, SHARES_KNOWN, SeenCount
from dpviz.teaching.game.who import FEW_PEOPLE, SeenPerson
from pages.ui import page_text
from tests.helpers import WRONG, check_short, run_script
from tests.referees import beta_binomial_law, binomial_distribution

SEEDS = range(6)
PERSON, COUNT, AGENCY = LEVELS.values()


def every_way(n: int, epsilon: float) -> list[np.ndarray]:
    """Pr(released | count) of both ways, written from their formulas alone."""
    alpha = n / math.expm1(epsilon)
    drawn = [[float(one) for one in beta_binomial_law(alpha + x, alpha + n - x, n)] for x in range(n + 1)]
    ratio, noisy = math.exp(-epsilon), np.zeros((n + 1, n + 1))
    for x in range(n + 1):
        for noise in range(-200, 201):
            noisy[x, min(max(x + noise, 0), n)] += (1 - ratio) / (1 + ratio) * ratio ** abs(noise)
    return [noisy, np.array(drawn)]


@pytest.mark.parametrize("epsilon", GAME_EPSILONS)
def test_the_best_guess_about_a_person_is_that_of_a_sum_over_all_that_can_be_released(epsilon: float) -> None:
    for way, matrix in zip(WAYS, every_way(FEW_PEOPLE, epsilon), strict=True):
        release = way.release(FEW_PEOPLE, epsilon)
        assert release.transition_matrix() == pytest.approx(matrix, abs=1e-12)
        for others in range(FEW_PEOPLE):
            right = 0.0
            for released in range(FEW_PEOPLE + 1):
                seen = SeenPerson(release, released, others)
                no, yes = matrix[others, released], matrix[others + 1, released]
                assert seen.likelihoods == pytest.approx((yes, no), rel=1e-9)
                assert seen.belief == pytest.approx(yes / (yes + no), rel=1e-9)
                assert seen.best is bool(yes > no)
                right += (yes if seen.best else no) / 2
            assert seen.success == pytest.approx(right, rel=1e-9)
            assert seen.success <= 1 / (1 + math.exp(-epsilon)) + 1e-12
            assert isinstance(release, GeometricSanitizer) == math.isclose(right, 1 / (1 + math.exp(-epsilon)))


@pytest.mark.parametrize("epsilon", GAME_EPSILONS)
def test_a_person_can_be_guessed_better_than_by_a_coin_whatever_is_promised(epsilon: float) -> None:
    by_way = [
        [np.maximum(matrix[others], matrix[others + 1]).sum() / 2 for others in range(FEW_PEOPLE)]
        for matrix in every_way(FEW_PEOPLE, epsilon)
    ]
    assert np.mean(by_way) > 0.58 and np.min(by_way) > 0.55


def test_a_coin_beats_the_best_guesser_as_often_as_a_list_of_all_games_says() -> None:
    successes = np.array([0.6, 0.75, 0.9])
    ahead = level = 0.0
    for best in itertools.product((0, 1), repeat=3):
        chance = math.prod(p if hit else 1 - p for p, hit in zip(successes, best, strict=True))
        for coin in itertools.product((0, 1), repeat=3):
            ahead += chance / 8 * (sum(coin) > sum(best))
            level += chance / 8 * (sum(coin) == sum(best))
    assert coin_beats(successes) == pytest.approx((ahead, level))
    twice = coin_beats(np.tile(successes, 2))
    assert coin_beats(successes, 2) == pytest.approx(twice)
    assert coin_beats(successes, 100)[0] < 1e-6 < twice[0] < ahead


@pytest.mark.parametrize("epsilon", GAME_EPSILONS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_the_best_count_is_that_of_a_search_over_all_counts(epsilon: float, share: float) -> None:
    counts = np.arange(PEOPLE_COUNTED + 1)
    prior = np.array([float(one) for one in binomial_distribution(PEOPLE_COUNTED, share)])
    for way, matrix in zip(WAYS, every_way(PEOPLE_COUNTED, epsilon), strict=True):
        release, joint = way.release(PEOPLE_COUNTED, epsilon), prior[:, None] * matrix
        best = mean = repeated = 0.0
        for released in counts.tolist():
            seen = SeenCount(release, released, share)
            column = joint[:, released]
            assert seen.posterior == pytest.approx(column / column.sum(), abs=1e-9)
            errors = [float(column @ (counts - guess) ** 2) for guess in counts]
            assert errors[seen.best] == pytest.approx(min(errors), rel=1e-9)
            best, repeated = best + min(errors), repeated + errors[released]
            mean += float(column @ (counts - seen.mean) ** 2)
        found = seen.best_error, seen.mean_error, seen.released_error
        assert found == pytest.approx((best, mean, repeated), rel=1e-9)
        assert seen.smallest_error <= seen.mean_error * (1 + 1e-9) <= seen.best_error * (1 + 2e-9)
        assert math.isclose(seen.smallest_error, seen.mean_error) == isinstance(release, GeometricSanitizer)
        assert seen.unread_error == pytest.approx(float(prior @ (counts - PEOPLE_COUNTED * share) ** 2))


def test_with_all_counts_alike_the_limit_of_epsilon_is_the_smallest_error_of_any_release(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        dpviz.teaching.game.seen_count, "binomial_distribution", lambda n, _: np.full(n + 1, 1 / (n + 1))
    )
    for epsilon in GAME_EPSILONS:
        seen = SeenCount(WAYS[1].release(PEOPLE_COUNTED, epsilon), 3, 0.5)
        smallest = PEOPLE_COUNTED * least_error(n=PEOPLE_COUNTED, epsilon=epsilon).root_mean_squared_error
        assert math.sqrt(seen.smallest_error) == pytest.approx(smallest, rel=1e-9)


def test_who_repeats_the_release_is_ahead_as_often_as_all_pairs_of_rounds_say() -> None:
    seen = [SeenCount(way.release(PEOPLE_COUNTED, 1.0), 4, share) for way, share in zip(WAYS, (0.2, 0.6), strict=True)]
    counts = np.arange(PEOPLE_COUNTED + 1)
    leads, chances = [], []
    for one in seen:
        prior = np.array([float(p) for p in binomial_distribution(PEOPLE_COUNTED, one.share)])
        guesses = np.array([SeenCount(one.release, y, one.share).best for y in counts.tolist()])
        away = (counts[None, :] - counts[:, None]) ** 2 - (guesses[None, :] - counts[:, None]) ** 2
        leads.append(away.ravel())
        chances.append((prior[:, None] * one.release.transition_matrix()).ravel())
    below = (leads[0][:, None] + leads[1][None, :] < 0) * np.outer(*chances)
    assert sum_below_zero([one.lead_on_repeated for one in seen]) == pytest.approx(float(below.sum()), rel=1e-9)


def test_what_the_agency_chooses_is_judged_by_sums_over_the_whole_matrix() -> None:
    for case in (AgencyRound(50, 30, 5), AgencyRound(100, 200, 50), AgencyRound(200, 100, 4)):
        for alpha in (0.1, 2, 50):
            matrix = BetaBinomial(n=case.n, m=case.m, alpha=alpha, beta=alpha).transition_matrix()
            success = np.maximum(matrix[1:], matrix[:-1]).sum(axis=1).max() / 2
            away = np.arange(case.m + 1) / case.m - case.yes / case.n
            found = case.at(alpha)
            assert found.success == pytest.approx(success, rel=1e-9)
            assert found.error == pytest.approx(math.sqrt(matrix[case.yes] @ away**2), rel=1e-9)


def test_more_synthetic_people_help_both_and_more_real_ones_hinder_the_attacker() -> None:
    for alpha in (0.1, 1, 10, 100):
        by_size = []
        for n in SIZES:
            for share in SHARES:
                found = [AgencyRound(n, m, round(share * n)).at(alpha) for m in RELEASED_ROWS]
                assert all(one.success < more.success and one.error > more.error for one, more in pairwise(found))
            by_size.append([one.success for one in found])
            pulls = [AgencyRound(n, 1000, round(share * n)) for share in SHARES]
            means = [BetaBinomial(n=n, m=1, alpha=alpha, beta=alpha).row(one.yes)[1] - one.yes / n for one in pulls]
            assert means == sorted(means, reverse=True) and min(means) > -1e-12
        assert all(x > y for few, many in pairwise(by_size) for x, y in zip(few, many, strict=True))


def test_at_the_ends_of_its_range_alpha_just_keeps_both_limits_and_elsewhere_none_does() -> None:
    impossible, possible = all_cases()
    cases = list(dict.fromkeys(itertools.chain(*possible)))
    assert len(impossible) > 20 < len(cases)
    for case in cases:
        assert case.both is not None
        for end, inwards in zip(case.both, (1 + 1e-6, 1 - 1e-6), strict=True):
            inside, outside = case.at(end * inwards), case.at(end / inwards)
            assert inside.protects and inside.informs
            if GAME_ALPHAS[0] < end < GAME_ALPHAS[-1]:
                assert not (outside.protects and outside.informs)
                near = abs(case.at(end).success - SUCCESS_ALLOWED), abs(case.at(end).error - ERROR_ALLOWED)
                assert min(near) < 1e-9
        assert [one for one in case.answers if one] == [
            one for one in GAME_ALPHAS if case.both[0] <= one <= case.both[1]
        ]
    tried = np.geomspace(GAME_ALPHAS[0], GAME_ALPHAS[-1], 60).tolist()
    for case in impossible[::6]:
        assert not any((found := case.at(alpha)).protects and found.informs for alpha in tried)
        assert case.answers == [None]


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
def test_a_seed_draws_ten_rounds_and_the_line_of_python_draws_them_again_to_the_digit(level: Level) -> None:
    rounds = rounds_from(3, level=level.key, epsilon=2.0)
    assert len(rounds) == GAME_ROUNDS
    assert run_script(script_of(3, level, 2.0)).splitlines() == [repr(one) for one in rounds]


def test_every_seed_level_and_promise_has_a_game_of_its_own() -> None:
    games = {level.game_text(epsilon, seed) for level in LEVELS.values() for epsilon in GAME_EPSILONS for seed in SEEDS}
    assert len(games) == (2 * len(GAME_EPSILONS) + 1) * len(SEEDS)  # ε has no part in level 3
    assert rounds_from(1, level="agency", epsilon=0.5) == rounds_from(1, level="agency", epsilon=5.0)
    secrets = {
        (seed, epsilon): tuple(one.secret for one in rounds_from(seed, level="person", epsilon=epsilon))
        for seed in SEEDS
        for epsilon in GAME_EPSILONS
    }
    assert len(set(secrets.values())) > len(secrets) - 3  # who knows one game knows none of the others
    for seed in (-1, 1.5, 10**9 + 1):
        with pytest.raises(ValueError, match="seed must be a whole number"):
            rounds_from(seed, level="person", epsilon=1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level must be one of person, count, agency"):
        rounds_from(1, level="none", epsilon=1.0)


def test_the_best_possible_guesser_is_as_good_as_is_said_of_it():
    """Over many games, within four standard errors."""
    scores: list[Any]
    for epsilon in (0.5, 2.0):
        games = [PERSON.draw(np.random.default_rng([seed, 1]), epsilon) for seed in range(100)]
        scores = [PERSON.score(rounds, tuple(one.seen.best for one in rounds), epsilon) for rounds in games]
        surplus = np.array([score.right - score.average for score in scores])
        assert abs(surplus.mean()) < 4 * surplus.std() / math.sqrt(len(surplus))
        assert all(score.against == [] and score.best == score.right for score in scores)
        counted = [COUNT.draw(np.random.default_rng([seed, 2]), epsilon) for seed in range(100)]
        squares = np.array(
            [(one.seen.best - one.secret) ** 2 - one.seen.best_error for game in counted for one in game]
        )
        assert abs(squares.mean()) < 4 * squares.std() / math.sqrt(len(squares))
        assert {one.seen.share for game in counted for one in game} == set(SHARES_KNOWN)


def test_rounds_of_the_agency_come_once_and_some_have_no_answer() -> None:
    games = [AGENCY.draw(np.random.default_rng(seed), 1.0) for seed in range(60)]
    assert all(len(set(game)) == GAME_ROUNDS for game in games)
    impossible = sum(one.both is None for game in games for one in game) / len(games)
    assert 1.5 < impossible < 4
    constant = [sum(one.right(alpha) for game in games for one in game) / len(games) for alpha in (*GAME_ALPHAS, None)]
    assert max(constant) < 4.5  # who always chooses the same wins less than half


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("epsilon", GAME_EPSILONS)
def test_every_sentence_holds_for_every_guess(level: Level, epsilon: float) -> None:
    assert len(level.rules.split()) <= 45 and level.question.endswith("?")
    for seed in SEEDS:
        rounds = level.draw(np.random.default_rng([seed, 3]), epsilon)
        for choose in (seed % 3,):
            guesses = tuple(_guess(level, one, choose) for one in rounds)
            score = level.score(rounds, guesses, epsilon)
            check_short(score.told.short)
            told = [score.told.sentence, *score.lessons, score.standing, *itertools.chain(*score.numbers)]
            for one, guess, mark in zip(rounds, guesses, score.marks, strict=True):
                check_short(one.short(guess))
                told += [one.told(guess), one.verdict(guess), mark.text, mark.said]
            for sentence in told:
                assert not WRONG.search(sentence) and "  " not in sentence, sentence
            assert all(len(row) == len(score.table.head) for row in score.table.rows)
            assert len(score.table.rows) == GAME_ROUNDS
            empty = level.score((), (), epsilon)
            assert empty.standing == "" and empty.marks == []


def _guess(level: Level, one: Any, choose: int) -> Any:
    """The best guess, the worst one, or always the same."""
    if level is AGENCY:
        return (one.answers[0], next(a for a in (*GAME_ALPHAS, None) if a not in one.answers), None)[choose]
    if level is COUNT:
        return (one.seen.best, 20 if one.secret < 10 else 0, 10)[choose]
    return (one.seen.best, not one.seen.best, True)[choose]


def test_what_is_said_of_a_person_fits_the_answer_and_the_odds():
    score: Any
    for seed in SEEDS:
        rounds = PERSON.draw(np.random.default_rng(seed), 1.0)
        for guess in (True, False):
            score = PERSON.score(rounds, (guess,) * GAME_ROUNDS, 1.0)
            for place, one in enumerate(rounds, start=1):
                said, right, against = one.told(guess), one.secret is guess, guess is not one.seen.best
                assert ("You are right" in said) == right == (one.verdict(guess) == "Right")
                assert ("against the odds" in said) == against == (place in score.against)
                assert ("Bad luck" in said) == (not right and not against)
                assert f"The person said <b>{'yes' if one.secret else 'no'}</b>" in said
            assert f"<b>{sum(one.secret is guess for one in rounds)}</b> of 10" in score.told.sentence
    mine = PERSON.score(rounds, tuple(one.seen.best for one in rounds), 1.0)
    assert mine.lessons[0].startswith("No guess of yours went against the odds")


def test_the_words_beside_the_page_name_the_limits_of_epsilon() -> None:
    named = [f"{format_percent(1 / (1 + math.exp(-epsilon)), 3 if epsilon == 5 else 2)}" for epsilon in GAME_EPSILONS]
    assert named == ["62 %", "73 %", "88 %", "99.3 %"]
    pieces = zip(named, ("at\nε = 0.5", "at 1", "at 2", "at 5"), strict=True)
    assert all(f"{share} {at}" in page_text("game") for share, at in pieces)


def test_what_is_said_of_the_agency_fits_both_limits() -> None:
    for case in AGENCY.draw(np.random.default_rng(5), 1.0):
        for guess in (*GAME_ALPHAS, None):
            said, right = case.told(guess), case.right(guess)
            assert ("It cannot be done" in said) == (case.both is None)
            assert case.verdict(guess) in (("Both kept", "Right") if right else ("Not kept", "It can be done"))
            if guess is not None:
                found = case.at(guess)
                assert ("more than 60 %" in said.split("points")[0]) == (not found.protects)
                assert said.split(". ")[0].count("(kept)") == found.protects + found.informs
