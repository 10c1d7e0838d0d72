"""A room of the class experiment: what its seats draw and guess, what the class finds, and what is said of it."""

import csv
import dataclasses
import io
import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

from dpviz.core.formatting import format_number, format_percent
from dpviz.coverage import coverage_given_count
from dpviz.inference import RULES
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, TwoCellSynthesizer
from dpviz.privacy.odds_text import belief_text
from dpviz.teaching.classroom.export import COLUMNS, results_csv, results_script
from dpviz.teaching.classroom.results import class_results, guess_task, membership_game
from dpviz.teaching.classroom.settings import MAX_SEATS, ROOM_MECHANISMS, ROOM_RULES, RoomSettings
from dpviz.teaching.classroom.text import class_text, guess_task_text, seat_interval_text
from dpviz.teaching.classroom.tokens import (
    CODE_LENGTH,
    LETTERS,
    TOKEN,
    RateLimit,
    hash_token,
    new_code,
    new_token,
    read_code,
)
from tests.helpers import check_short, run_script
from tests.referees import every_release

FRESH = RoomSettings.fresh(seed=1)
GUESSES = FRESH.with_design(mechanism="geometric").next_round(mode="guesses")
EVERY_SEAT = [(seat, None) for seat in range(1, MAX_SEATS + 1)]
SEATS = range(1, MAX_SEATS + 1)


@pytest.mark.parametrize("sets", [1, 2, 3])
@pytest.mark.parametrize("rule", ROOM_RULES)
@pytest.mark.parametrize("release", [
    BetaBinomial(n=4, m=4, alpha=1.5, beta=1.5),
    BetaBinomial(n=3, m=5, alpha=1.5, beta=0.7),
    GeometricSanitizer(n=5, epsilon=0.7),
], ids=["beta-binomial", "more-rows", "geometric"])  # fmt: skip
def test_coverage_of_the_secret_share_is_that_of_every_release(release, rule, sets) -> None:
    """Each tuple of released counts one by one, with the interval of an analyst who holds them."""
    if RULES[rule].min_sets > sets:
        return
    for x in (0, 1, release.n):
        chance, counts = every_release(release, sets, 0.0, x)
        ends = [RULES[rule].interval_from(release_counts, synthesizer=release) for release_counts in counts.tolist()]
        hit = [low - 1e-9 <= x / release.n <= high + 1e-9 for low, high in ends]
        coverage = coverage_given_count(synthesizer=release, confidential_count=x, rule=rule, sets=sets)
        assert coverage == pytest.approx(chance[hit].sum(), abs=2e-8), (x, rule, sets)


def test_how_many_of_a_hundred_analysts_are_right() -> None:
    """Literal numbers at x = 31 of 100 and ε = 1: as if real, and told."""
    settings = FRESH.with_design(confidential_count=31)
    shares = {
        (rule, sets): class_results(settings.with_design(sets=sets, rules=(rule,)), ()).long_run
        for rule, sets in (("as_if_real", 1), ("as_if_real", 2), ("reiter_2003", 2), ("score", 1), ("score", 5))
    }
    assert list(shares.values()) == pytest.approx([0.4552, 0.1196, 0.4282, 0.9652, 0.9506], abs=5e-5)


@pytest.mark.parametrize("mechanism", ROOM_MECHANISMS)
@pytest.mark.parametrize(
    ("rule", "sets", "epsilon"), [("as_if_real", 1, 1.0), ("reiter_2003", 3, 2.0), ("score", 2, 0.5)]
)
def test_a_class_comes_near_the_exact_coverage(mechanism: str, rule: str, sets: int, epsilon: float) -> None:
    """Four rounds of 300 seats, within four standard errors; another seed takes no other."""
    settings = FRESH.with_design(mechanism=mechanism, sets=sets, epsilon=epsilon, rules=(rule,))
    rounds = [class_results(dataclasses.replace(settings, round=number), EVERY_SEAT) for number in range(1, 5)]
    n_covered = sum(int(results.right.sum()) for results in rounds)
    exact, n_intervals = rounds[0].long_run, len(rounds) * MAX_SEATS
    assert abs(n_covered / n_intervals - exact) <= 4 * math.sqrt(exact * (1 - exact) / n_intervals)
    assert rounds[0].share == pytest.approx(rounds[0].right.mean())


def test_a_seat_draws_the_same_in_any_class_and_moves_smoothly_with_epsilon() -> None:
    tables = FRESH.draw_tables([1, 2, 3, 4])
    assert tables.tolist() == [[47], [44], [33], [38]]
    assert FRESH.draw_tables([4, 2]).tolist() == [[38], [44]]
    three = FRESH.with_design(sets=3).draw_tables([1, 2])
    assert three.shape == (2, 3)
    epsilons = [0.5 * 1.05**step for step in range(60)]
    along = np.array([FRESH.with_design(epsilon=epsilon).draw_tables([1, 2])[:, 0] for epsilon in epsilons])
    assert np.abs(np.diff(along, axis=0)).max() <= 2
    assert FRESH.next_round().draw_tables([1, 2, 3, 4]).tolist() != tables.tolist()
    assert RoomSettings.fresh(seed=2).draw_tables([1, 2, 3, 4]).tolist() != tables.tolist()
    with pytest.raises(ValueError, match="seat must be a whole number from 1 to 300; got 301"):
        FRESH.draw_tables([301])


def test_another_rule_keeps_the_tables() -> None:
    noise_aware = FRESH.update(rules=("score",))
    assert noise_aware.round == FRESH.round
    naive, aware = (class_results(settings, EVERY_SEAT) for settings in (FRESH, noise_aware))
    assert naive.columns["counts"].tolist() == aware.columns["counts"].tolist()
    assert naive.right.sum() < 200 < 270 < aware.right.sum()


def release_of(settings: RoomSettings) -> TwoCellSynthesizer:
    return settings.with_design(sets=1).design.release


@pytest.mark.parametrize("mechanism", ROOM_MECHANISMS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_a_class_that_guesses_as_well_as_possible_comes_near_the_optimum(mechanism: str, epsilon: float) -> None:
    settings = FRESH.with_design(mechanism=mechanism, epsilon=epsilon)
    right = number = 0
    for turn in range(1, 11):
        present = dataclasses.replace(settings, round=turn, mode="guesses")
        results = class_results(present, [(seat, int(guess_task(present, seat).best)) for seat in SEATS])
        right, number = right + int(results.right.sum()), number + len(results.right)
        assert abs(np.mean(results.columns["answer"]) - 0.5) < 4 * 0.5 / math.sqrt(MAX_SEATS)
    x, matrix = settings.secret, release_of(settings).transition_matrix()
    optimum = np.maximum(matrix[x - 1], matrix[x]).sum() / 2
    assert results.long_run == pytest.approx(optimum, rel=1e-9)
    assert abs(right / number - optimum) <= 4 * math.sqrt(optimum * (1 - optimum) / number)
    assert results.long_run <= results.allowed * (1 + 1e-12)
    assert results.allowed == pytest.approx(1 / (1 + math.exp(-epsilon)))
    assert membership_game(settings).mean_released == pytest.approx((matrix[[x - 1, x]] @ np.arange(101)).tolist())


def test_geometric_noise_lets_the_best_guesser_have_all_that_epsilon_allows() -> None:
    guessing = dataclasses.replace(FRESH, mode="guesses")
    geometric = guessing.with_design(mechanism="geometric")
    assert class_results(geometric, []).long_run == pytest.approx(0.7310585786, abs=1e-9)
    assert class_results(guessing, []).long_run == pytest.approx(0.5154899316, abs=1e-9)


def test_a_guess_needs_one_table_and_an_answer_is_no_secret_of_the_table_alone() -> None:
    assert guess_task(FRESH.with_design(sets=3), 1) == guess_task(FRESH, 1)
    for seat in range(1, 60):
        task = guess_task(FRESH, seat)
        no, yes = release_of(FRESH).transition_matrix()[[FRESH.secret - 1, FRESH.secret], task.released]
        assert task.game.posterior(task.released) == pytest.approx(yes / (no + yes))
        assert task.best is bool(yes >= no)


def test_what_an_answer_was_given_to_stays_until_the_next_round() -> None:
    """Another ε is the same round where phones draw by themselves, and a new one where somebody has guessed."""
    assert FRESH.update(epsilon=2.0).round == 1
    revealed = dataclasses.replace(FRESH, mode="guesses", revealed=True)
    after = revealed.update(epsilon=2.0)
    assert (after.round, after.revealed) == (2, False)
    fewer = dataclasses.replace(FRESH, revealed=True).update(n=20)
    assert (fewer.round, fewer.revealed, fewer.design.m, fewer.secret) == (2, False, 20, FRESH.with_design(n=20).secret)


@pytest.mark.parametrize("changes", [{"epsilon": 2.0}, {"sets": 3}, {"rules": ("score",)}, {"mechanism": "geometric"}])
def test_the_truth_of_another_setting_is_not_told_until_it_is_revealed(changes: dict[str, Any]) -> None:
    revealed = dataclasses.replace(FRESH, revealed=True)
    after = revealed.update(**changes)
    assert (after.round, after.revealed, after.design) == (1, False, FRESH.with_design(**changes).design)
    assert revealed.update(epsilon=FRESH.design.epsilon) == revealed  # the same setting, chosen once more


def test_a_rule_that_needs_more_sets_gives_way() -> None:
    three = FRESH.with_design(sets=3, rules=("reiter_2003",))
    assert three.with_design(sets=1).rule == "as_if_real"
    assert three.with_design(sets=2).rule == "reiter_2003"


def test_the_secret_share_lies_where_the_pull_is_seen_and_differs_between_rooms() -> None:
    counts = [RoomSettings.fresh(seed=seed).secret for seed in range(300)]
    assert min(counts) >= 15
    assert max(counts) <= 35
    assert len(set(counts)) > 15
    assert min(RoomSettings.fresh(seed=seed).with_design(n=20).secret for seed in range(300)) >= 3


@pytest.mark.parametrize(("changes", "words"), [
    ({"mode": "<b>"}, "mode must be one of intervals, guesses; got '<b>'"),
    ({"running": 1}, "running must be true or false; got 1"),
    ({"round": 0}, "round must be a whole number from 1 to 10,000; got 0"),
    ({"design": FRESH.with_design(epsilon=2.0, n=20).design, "revealed": "no"}, "revealed must be true or false"),
    ({"sets": 6}, "sets must be a whole number from 1 to 5; got 6"),
    ({"mechanism": "laplace"}, "mechanism must be one of beta_binomial, geometric"),
    ({"n": 50}, "n and m must be alike, and 20 or 100; got 50"),
    ({"rules": ("rubin_1987",), "sets": 2}, "rules must be one of as_if_real, reiter_2003, score"),
    ({"confidential_count": 0}, "confidential_count must be at least 1; got 0"),
])  # fmt: skip
def test_settings_and_designs_that_a_room_cannot_have_are_refused(changes: dict[str, object], words: str) -> None:
    of_room = changes.keys() <= {field.name for field in dataclasses.fields(RoomSettings)}
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(FRESH, **changes) if of_room else FRESH.with_design(**changes)


def test_settings_come_back_from_their_json() -> None:
    settings = dataclasses.replace(
        FRESH.with_design(sets=4, rules=("score",), mechanism="geometric"), revealed=True, round=7
    )
    assert RoomSettings.from_json(settings.to_json()) == settings


def settings_grid() -> list[RoomSettings]:
    grid = []
    for mechanism, epsilon, sets, n, rule, revealed in itertools.product(
        ROOM_MECHANISMS, (0.1, 1.0, 8.0), (1, 3), (20, 100), ROOM_RULES, (False, True)
    ):
        settings = FRESH.with_design(n=n).with_design(mechanism=mechanism, epsilon=epsilon, sets=sets)
        if RULES[rule].min_sets <= sets:
            grid.append(dataclasses.replace(settings.with_design(rules=(rule,)), revealed=revealed))
    return grid


BAD = re.compile(r"\bnan\b|None|inf\b|  ")


def test_sentences_on_a_class_have_its_numbers() -> None:
    for settings in settings_grid():
        for come in (0, 1, 7, 40):
            intervals = class_results(settings, EVERY_SEAT[:come])
            guessing = dataclasses.replace(settings, mode="guesses")
            guesses = class_results(guessing, [(seat, seat % 2) for seat in SEATS[:come]])
            for mark, sentence, short in (class_text(intervals, 40), class_text(guesses, 40)):
                assert not BAD.search(f"{mark} {sentence} {short}"), (mark, sentence, short)
                check_short(short)
            if settings.revealed and come:
                mark, sentence, short = class_text(intervals, 40)
                assert mark == f"{int(intervals.right.sum())} of {come}"
                assert format_percent(intervals.long_run, 3) in sentence
                assert format_percent(intervals.long_run, 3) in short
                mark, sentence, short = class_text(guesses, 40)
                assert mark == f"{int(guesses.right.sum())} of {come}"
                assert belief_text(guesses.long_run) in sentence
                assert belief_text(guesses.allowed) in short
            elif not settings.revealed:
                mark, sentence, short = class_text(intervals, 40)
                assert mark == f"{come} of 40 reported"  # and not how many hold the truth
                assert format_number(100 * settings.share, 3) + " %" not in sentence


def test_intervals_that_span_everything_are_told_apart_once_the_truth_is_known() -> None:
    settings = dataclasses.replace(FRESH.with_design(epsilon=0.1, sets=5, rules=("score",)), revealed=True)
    results = class_results(settings, EVERY_SEAT[:30])
    spans = zip(results.columns["low"], results.columns["high"], strict=True)
    n_vacuous = sum(low <= 0 and high >= 1 for low, high in spans)
    assert 20 < n_vacuous < results.right.sum()
    assert f" {n_vacuous} of them (pale) say nothing: 0 to 100 %. In the long run" in class_text(results, 30)[1]
    assert f"hold the truth ({n_vacuous} say nothing), in the long run" in class_text(results, 30)[2]
    traces = {trace.get("meta"): len(trace.get("customdata", ())) for trace in results.chart(30).to_dict()["data"]}
    assert traces["holds it, but runs from 0 to 100 %"] == n_vacuous
    assert traces["holds the true share"] == results.right.sum() - n_vacuous
    hidden = class_results(dataclasses.replace(settings, revealed=False), EVERY_SEAT[:30])
    assert "pale" not in class_text(hidden, 30)[1] and len(hidden.chart(30).to_dict()["data"]) == 1
    assert "pale" not in class_text(class_results(dataclasses.replace(FRESH, revealed=True), EVERY_SEAT), 40)[1]


def test_a_seat_sees_no_truth_before_the_reveal() -> None:
    for settings in settings_grid():
        results = class_results(settings, [(3, None)])
        sentences = " ".join(seat_interval_text(results))
        assert ("The true share is" in sentences) is settings.revealed
        assert not settings.revealed or ("holds it" in sentences) is bool(results.right[0])
        task = guess_task(settings, 3)
        before = " ".join(guess_task_text(task, None, settings.revealed))
        assert (f"The ringed person said {'yes' if task.answer else 'no'}." in before) is settings.revealed
        for guess in (True, False):
            words = " ".join(guess_task_text(task, guess, settings.revealed))
            right = "right" if guess == task.answer else "wrong"
            assert (f"is {right}." in words) is settings.revealed


def test_an_interval_that_has_shrunk_to_a_point_is_called_one() -> None:
    """The noise-aware score is empty for some releases, and the naive interval of a table of one kind has no width."""
    private = FRESH.with_design(n=20, epsilon=0.1)
    for settings in (private.with_design(rules=("score",)), private.with_design(mechanism="geometric")):
        sentences = [seat_interval_text(class_results(settings, [(seat, None)]))[1] for seat in range(1, 101)]
        columns = class_results(settings, EVERY_SEAT[:100]).columns
        points = [" is a single point, " in sentence for sentence in sentences]
        assert any(points)
        assert points == (columns["low"] == columns["high"]).tolist()
        assert not [text for text in sentences if "0 % to 0 %" in text or "100 % to 100 %" in text]


ROUNDS = [
    (FRESH, [(3, None), (1, None), (2, None)]),
    (FRESH.with_design(sets=3, epsilon=2.0, rules=("reiter_2003",)).next_round(), EVERY_SEAT[:40]),
    (FRESH.with_design(n=20, mechanism="geometric", rules=("score",)).next_round(), EVERY_SEAT[:5]),
    (FRESH.with_design(sets=2).next_round(mode="guesses"), [(1, 1), (2, 0)]),
    (FRESH.with_design(n=20, mechanism="geometric").next_round(mode="guesses"), [(5, 1), (2, 0), (300, 1)]),
    (FRESH.next_round(mode="guesses"), []),  # nobody has guessed yet
]


def test_a_line_of_the_file_has_all_that_its_numbers_follow_from() -> None:
    text = results_csv(ROUNDS)
    lines = text.splitlines()
    assert lines[0].split(",") == COLUMNS
    *cells, coverage, level = lines[1].split(",")
    assert [float(end) for end in cells[14:16]] == pytest.approx([0.2378400007999419, 0.4221599992000581], abs=1e-15)
    del cells[14:16]
    assert ",".join(cells) == "1,intervals,1,3,beta_binomial,100,33,1.0,1,as_if_real,0.95,1,33,0.33,,,true"
    assert float(coverage) == pytest.approx(0.526025368082466, rel=1e-12)
    assert level == "0.95"
    assert len(lines) == 1 + 3 + 40 + 5 + 2 + 3


def test_a_line_of_a_guess_has_the_secret_count_of_its_own_table() -> None:
    """Of 99 other people 32 said yes: 33 of 100 where the ringed person did, else 32."""
    rows = list(csv.DictReader(io.StringIO(results_csv([(GUESSES, [(1, 1), (4, 1)])]))))
    assert [(row["x"], row["answer"]) for row in rows] == [("32", "false"), ("33", "true")]


def test_a_single_report_is_told_in_the_singular() -> None:
    for settings, reports in itertools.product((FRESH, GUESSES), ([(1, 1)], [(1, 0)])):
        for revealed in (False, True):
            _, *texts = class_text(class_results(dataclasses.replace(settings, revealed=revealed), reports), 1)
            assert not re.search(r"\b1(</b>)? (intervals|guesses|seats)", " ".join(texts)), texts


def test_a_reveal_before_the_first_guess_says_that_nobody_has_guessed() -> None:
    mark, sentence, short = class_text(class_results(dataclasses.replace(GUESSES, revealed=True), []), 4)
    assert mark == "0 of 4 reported"
    assert sentence.startswith("Nobody has guessed yet. ")
    assert short == "Nobody has guessed yet. The best guesser reaches 73.1 %; ε allows 73.1 %."


def test_the_script_prints_the_file_to_the_digit_in_a_clean_process() -> None:
    assert run_script(results_script(ROUNDS)) == results_csv(ROUNDS)
    assert run_script(results_script([])) == results_csv([])


def test_codes_are_typed_without_doubt_and_tokens_cannot_be_guessed() -> None:
    assert not set("01IO") & set(LETTERS)
    assert len(LETTERS) ** CODE_LENGTH > 10**9
    codes = {new_code() for _ in range(2000)}
    assert len(codes) > 1990
    assert all(read_code(f" {code[:3].lower()}-{code[3:]} ") == code for code in codes)
    for text in ("", "ABC", "ABCDEFG", "ABCDE1", "'; drop", "ABC\u0661\u0662\u0663", "<i>abc", "A" * 10_000):
        assert read_code(text) is None
    assert all(TOKEN.fullmatch(new_token()) for _ in range(100))
    assert hash_token("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


def test_whoever_is_wrong_too_often_waits_for_the_next_period() -> None:
    limit = RateLimit(3, 60.0)
    assert [limit.count("a", now) for now in (0.0, 10.0, 20.0, 30.0, 59.0)] == [True, True, True, False, False]
    assert not limit.is_free("a", 59.9)
    assert limit.is_free("b", 59.9)
    assert limit.count("a", 60.1)
