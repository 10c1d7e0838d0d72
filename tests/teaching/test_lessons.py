"""Seven lessons: words, answers and pictures agree, whatever is drawn, guessed and moved; answers are refereed."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln

from dpviz.charts.teaching import Bar, bars_chart
from dpviz.comparisons import BinaryData
from dpviz.comparisons.proportion import BinaryMethod
from dpviz.teaching.lessons import LESSONS
from dpviz.teaching.lessons.handout import lesson_handout
from dpviz.teaching.lessons.invented_rows import DELTA, _invented_rows
from dpviz.teaching.lessons.lesson import RIGHT, Lesson, LessonState, LessonStep, NumberQuestion, RankingQuestion
from dpviz.teaching.lessons.one_person import INVENTED, likelihood_ratios
from dpviz.teaching.lessons.sampling import DESIGN, IntervalSample
from tests.teaching.guesses import guesses, write_guess

SEEDS = (1, 7, 2025)
STEPS = [(lesson, step) for lesson in LESSONS.values() for step in lesson.steps]
NAMES = [f"{lesson.key}-{step.name}" for lesson, step in STEPS]
PICTURES: dict[tuple[int, LessonState], dict[str, Any]] = {}
NUMBER = re.compile(r"\d[\d,]*\.?\d*")
UNITS = {"floor", "longer"}  # Steps whose pictures show two numbers, and whose answer is their ratio
RATIOS = {"people"}  # a step whose sentence sets the ratio of two bars in bold
MAX_WORDS = 45
"""Words that may stand above a picture, the question among them, and that a sentence on a guess may have."""

NO_VERDICTS = {"text", "asks", "picture", "answered", "shows", "formula", "teacher"}
GUESSED = ("your guess", "as you guess", "with your guess", "(your no.")


def states(step: LessonStep) -> Iterator[LessonState]:
    """Every seed that is tried, every guess, and every stop of the slider."""
    for seed in SEEDS if step.is_random else SEEDS[:1]:
        if step.question is not None:
            yield LessonState(step.name, seed)
            yield from (LessonState(step.name, seed, guess) for guess in guesses(step))
        else:
            assert step.slider is not None
            yield from (LessonState(step.name, seed, None, stop) for stop in (None, *step.slider.stops))


def step_of(key: str, name: str) -> LessonStep:
    return next(step for step in LESSONS[key].steps if step.name == name)


def answer_of(key: str, name: str) -> Any:
    question = step_of(key, name).question
    assert question is not None
    return question.answer(LessonState(name))


def spec_of(step: LessonStep, state: LessonState) -> dict[str, Any]:
    """The picture of a step, which several tests look at."""
    if (id(step), state) not in PICTURES:
        PICTURES[id(step), state] = json.loads(step.picture(state).json_text())
    return PICTURES[id(step), state]


def written(step: LessonStep, state: LessonState) -> str:
    """All that the picture of a step says."""
    spec = spec_of(step, state)
    texts = [str(item.get("text", "")) for item in (*spec["data"], *spec["layout"].get("annotations", ()))]
    texts += [str(trace.get("name", "")) for trace in spec["data"]]
    texts += list(map(str, spec["layout"]["yaxis"].get("ticktext", ())))
    return " ".join(texts).replace("<br>", " ")


def count_words(text: str) -> int:
    """Number of words: what is set apart by spaces and has a letter or a digit."""
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def numbers_in(text: str) -> list[float]:
    return [float(number.replace(",", "").rstrip(".")) for number in NUMBER.findall(text)]


def is_value_in(text: str, value: float) -> bool:
    """Whether a text has the value to three digits, as it is or in per cent."""
    return any(math.isclose(number, value * unit, rel_tol=6e-3) for number in numbers_in(text) for unit in (1, 100))


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=NAMES)
def test_words_sentences_and_pictures_agree_at_every_guess_and_every_stop(lesson: Lesson, step: LessonStep) -> None:
    verdicts = set()
    for state in states(step):
        above = f"{lesson.text('text', state)} {lesson.text('asks', state)}"
        sentence, alt = lesson.answer_text(step, state), lesson.picture_text(state)
        assert 0 < count_words(above) <= MAX_WORDS
        assert count_words(sentence) <= MAX_WORDS
        assert bool(sentence) == step.is_answered(state)
        picture, words = spec_of(step, state), written(step, state)
        assert alt.endswith(".")
        for text in (above, sentence, words, alt):
            assert not re.search(r"\bnan\b|\binf\b|\bNone\b|[{}]", text), text
        assert "NaN" not in json.dumps(picture["layout"])
        if step.question is None or state.guess is None:
            continue
        assert any(label in words for label in GUESSED), words
        verdict = step.question.verdict(state)
        verdicts.add(verdict)
        if isinstance(step.question, NumberQuestion) and not step.is_random:
            answer = float(step.question.answer(state))
            assert is_value_in(sentence, answer), (sentence, answer)
            assert is_value_in(words, answer) or step.name in UNITS, (words, answer)
    assert verdicts == (set(lesson.script[step.name]) - NO_VERDICTS)


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=NAMES)
def test_axes_stay_still_while_a_slider_is_moved(lesson: Lesson, step: LessonStep) -> None:
    if step.slider is None:
        return
    for seed in SEEDS if step.is_random else SEEDS[:1]:
        specs = [spec_of(step, LessonState(step.name, seed, None, stop)) for stop in step.slider.stops]
        ranges = {json.dumps([spec["layout"][axis]["range"] for axis in ("xaxis", "yaxis")]) for spec in specs}
        assert len(ranges) == 1, ranges


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=NAMES)
def test_bars_keep_their_lengths_when_the_guess_is_made(lesson: Lesson, step: LessonStep) -> None:
    specs = [spec_of(step, state) for state in states(step)]
    ranges = {json.dumps(spec["layout"]["xaxis"]["range"]) for spec in specs if spec["data"][0]["type"] == "bar"}
    assert len(ranges) <= 1, ranges


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=NAMES)
def test_what_a_sentence_on_a_slider_sets_in_bold_is_in_the_picture(lesson: Lesson, step: LessonStep) -> None:
    """As a number, or as the place of a mark, but for where the slider stands, and a ratio of two bars."""
    if step.question is not None:
        return
    assert step.slider is not None
    for state in states(step):
        bold = " ".join(re.findall(r"\*\*(.+?)\*\*", lesson.answer_text(step, state)))
        assert numbers_in(bold), state
        traces = [trace for trace in spec_of(step, state)["data"] if "markers" in trace.get("mode", "")]
        places = [trace[letter] for trace in traces for letter in "xy" if isinstance(trace[letter], list)]
        shown = f"{written(step, state)} {' '.join(f'{value:.9f}' for row in places for value in row if value)}"
        for value in numbers_in(bold):
            is_stop = value == step.slider.value(state)  # which the slider says
            assert is_stop or is_value_in(shown, value) or step.name in RATIOS, (value, shown)


def is_inside(axis: dict[str, Any], place: float) -> bool:
    """Whether a place in units of the axis, the exponent of ten where it is logarithmic, lies within its ends."""
    low, high = sorted(axis["range"])
    return low - 1e-9 <= place <= high + 1e-9


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=NAMES)
def test_marks_rules_and_words_of_a_picture_lie_inside_its_axes(lesson: Lesson, step: LessonStep) -> None:
    for state in states(step):
        spec = spec_of(step, state)
        layout = spec["layout"]
        for trace in spec["data"]:
            if trace.get("mode") not in ("markers+text", "markers") or "bdata" in str(trace["x"]):
                continue
            for letter in "xy":
                axis = layout[f"{letter}axis{trace.get(f'{letter}axis', '')[1:]}"]
                for value in trace[letter]:
                    if value is not None and "range" in axis:
                        assert is_inside(axis, math.log10(value) if axis.get("type") == "log" else value), trace
        for part in (*layout.get("shapes", ()), *layout.get("annotations", ())):
            for letter in "xy":
                ref = part.get(f"{letter}ref", letter)
                names = [name for name in (letter, f"{letter}0", f"{letter}1") if name in part]
                if "domain" in ref or ref == "paper":
                    continue
                axis = layout[f"{letter}axis{ref[1:]}"]
                is_rule = part.get("type") == "line"  # in units of the values, words in exponents
                for name in names:
                    is_log = axis.get("type") == "log" and is_rule
                    assert is_inside(axis, math.log10(part[name]) if is_log else part[name]), part


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=NAMES)
def test_a_larger_value_is_a_bar_that_ends_farther_right_and_inside(lesson: Lesson, step: LessonStep) -> None:
    for state in states(step):
        spec = spec_of(step, state)
        bars = [trace for trace in spec["data"] if trace["type"] == "bar"]
        if not bars:
            continue
        is_log = spec["layout"]["xaxis"].get("type") == "log"
        lengths = np.sum([np.array(trace["x"], float) for trace in bars], axis=0)
        ends = lengths + bars[0].get("base", 0.0)
        values = np.sum([np.array(trace["customdata"], float) for trace in bars], axis=0)
        visible = values > 0  # a bar that is not told yet has none
        places = np.log10(ends[visible]) if is_log else ends[visible]
        assert all(is_inside(spec["layout"]["xaxis"], place) for place in places.tolist())
        order = np.argsort(values[visible])
        assert np.all(np.diff(places[order]) >= 0)
        assert np.all((np.diff(values[visible][order]) <= 1e-12) | (np.diff(places[order]) > 0))


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=NAMES)
def test_a_guess_gets_the_sentence_that_belongs_to_it(lesson: Lesson, step: LessonStep) -> None:
    question = step.question
    if question is None:
        return
    parse = (step.slider or question).parse
    answer, sentences = question.answer(LessonState(step.name)), {}
    for guess in guesses(step):
        verdict = question.verdict(LessonState(step.name, 1, guess))
        sentences[verdict] = lesson.script[step.name][verdict]
        if isinstance(question, NumberQuestion):
            assert isinstance(guess, float | int)
            off = math.log(guess / answer) if question.is_factor else guess - answer
            near = math.log(question.within) if question.is_factor else question.within
            expected = RIGHT if abs(off) <= near else "low" if off < 0 else "high"
            assert verdict == expected or (verdict == "far" and off > near)
        elif not isinstance(question, RankingQuestion):
            assert verdict == (RIGHT if guess == answer else guess)
        else:
            assert isinstance(guess, str)
            assert (verdict == RIGHT) == (guess == answer)
            assert verdict in (RIGHT, "rest", guess.split(".")[0])
        assert parse(write_guess(guess)) == guess
        assert step.describe(guess)
    assert len(set(sentences.values())) == len(sentences) >= 2  # each has its own
    for refused in ("", "foo", "1.2345", "<b>", "geometric.geometric.modips"):
        with pytest.raises(ValueError, match="it must"):
            parse(refused)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_drawn_is_counted_alike_in_sentence_and_picture(seed: int) -> None:
    counts = {}
    for key, name, guess in (("too_sure", "one", 50), ("too_sure", "sets", "more"), ("told_how", "again", 50)):
        lesson = LESSONS[key]
        step = step_of(key, name)
        state = LessonState(name, seed, guess)
        counted = [int(number) for number in re.findall(r"<b>(\d+) of 100</b>", written(step, state))]
        sentence = lesson.answer_text(step, state).replace("none", "0")
        assert f"{counted[-1]} hold" in sentence
        counts[name] = counted
        for sample in (
            IntervalSample(replace(DESIGN, seed=seed)),
            IntervalSample(replace(DESIGN, rules=("score",), seed=seed)),
            IntervalSample(replace(DESIGN, sets=5)),
        ):
            intervals = sample.intervals
            assert sample.n_covered == sum(
                low <= DESIGN.p <= high for low, high in zip(intervals.low, intervals.high, strict=True)
            )  # fmt: skip
    assert counts["again"] == [counts["one"][0], IntervalSample(replace(DESIGN, rules=("score",), seed=seed)).n_covered]


def test_the_numbers_of_the_note_come_out() -> None:
    right = {
        "one_answer": ("which", ["0.367", "1.34", "4.93", "18.1", "66.3", "243"]),
        "called_epsilon": ("curve", ["62.2 %", "73.1 %", "88.1 %", "99.3 %"]),
        "invented_rows": ("sizes", ["117", "1,164", "11,640"]),
        "best": ("floor", ["1.34", "16.7"]),
    }
    for key, (name, numbers) in right.items():
        step = step_of(key, name)
        guess = None if step.question is None else guesses(step)[1]
        state = LessonState(step.name, 1, guess)
        words = written(step, state).replace("<b>", " ") + LESSONS[key].answer_text(step, state)
        assert set(numbers) <= {number.rstrip(".,") for number in re.findall(r"[\d.,]+(?: %)?", words)}

    assert (answer_of("one_answer", "which"), answer_of("one_answer", "often")) == ("5", "1_in_1000")
    assert round(100 * answer_of("called_epsilon", "real"), 1) == 70.5
    assert (round(answer_of("invented_rows", "many")), round(answer_of("invented_rows", "delta"), 1)) == (1164, 15.2)
    assert (round(answer_of("too_sure", "one")), answer_of("too_sure", "sets")) == (68, "none")
    assert [round(100 * IntervalSample(replace(DESIGN, sets=sets)).exact.coverage) for sets in (1, 2, 5)] == [68, 18, 0]
    assert round(answer_of("told_how", "again")) == 95
    assert (answer_of("one_or_ten", "modips"), answer_of("one_or_ten", "beta")) == (5, 1)
    assert round(answer_of("best", "floor"), 1) == 12.5


def test_the_ratios_and_guesses_of_five_people_are_those_of_fractions() -> None:
    yes, no = Fraction(3, 12), Fraction(1, 12)
    rows = [[math.comb(5, k) * p**k * (1 - p) ** (5 - k) for k in range(6)] for p in (yes, no)]
    ratios = [float(a / b) for a, b in zip(*rows, strict=True)]
    assert ratios[5] == 243
    step = LESSONS["one_answer"].steps[0]
    for k, ratio in enumerate(ratios):
        assert is_value_in(LESSONS["one_answer"].answer_text(step, LessonState(step.name, 1, str(k))), ratio)
    real = float(sum(max(a, b) for a, b in zip(*rows, strict=True))) / 2
    assert answer_of("called_epsilon", "real") == pytest.approx(real, rel=1e-12)
    assert answer_of("called_epsilon", "limit") == pytest.approx(math.exp(2) / (1 + math.exp(2)), rel=1e-12)


def beta_binomial(n: int, alpha: float) -> np.ndarray:
    """The matrix of a Beta-binomial release of n rows: an obvious reference."""
    x, k = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.exp(choose + betaln(x + alpha + k, 2 * n - x + alpha - k) - betaln(x + alpha, n - x + alpha))


@pytest.mark.parametrize("people", [20, 100, 1000])
def test_invented_rows_are_the_smallest_that_keep_the_promise(people: int) -> None:
    """Without δ the closed form; with δ the hockey-stick divergence of all neighbours is 10⁻⁶ there and more below."""
    lesson = LESSONS["invented_rows"]
    sentence = lesson.answer_text(lesson.steps[3], LessonState("both", 1, None, people))
    without, with_delta = numbers_in(sentence)[1:3]
    smallest = 2 * people / (math.e - 1)
    assert smallest <= without < smallest + 10 ** (math.floor(math.log10(smallest)) - 2)  # rounded up to three digits

    def delta(alpha: float) -> float:
        rows = beta_binomial(people, alpha)
        up, down = rows[1:] - math.e * rows[:-1], rows[:-1] - math.e * rows[1:]
        return max(float(np.maximum(excess, 0).sum(axis=1).max()) for excess in (up, down))

    assert delta(with_delta / 2 * 0.99) > 1e-6 > delta(with_delta / 2 * 1.01)


def coverage_of(sets: int, rule: str) -> float:
    """How often an interval holds ¼ at n = 100 and ε = 2, by a sum over all secret and all released counts."""
    n, p, z = 100, 0.25, stats.norm.ppf(0.975)
    rows = beta_binomial(n, n / (math.exp(2 / sets) - 1))
    weights = stats.binom.pmf(np.arange(n + 1), n, p)
    q = np.arange(n + 1) / n
    within = q * (1 - q) / n
    if rule == "score":  # the distance is held against the standard deviation at the true share
        every = weights @ rows
        mean = float(every @ q)
        return float(every @ (np.abs(q - mean) <= z * math.sqrt(float(every @ (q - mean) ** 2))))
    means, variances = q, within
    for _ in range(sets - 1):  # all pairs of counts: of two sets at most
        means, variances = np.add.outer(means, q), np.add.outer(variances, within)
    holds = np.abs(means / sets - p) <= z * np.sqrt(variances / sets)
    return sum(
        float(weight * (row @ (holds @ row if sets == 2 else holds))) for weight, row in zip(weights, rows, strict=True)
    )


@pytest.mark.parametrize(("sets", "rule"), [(1, "as_if_real"), (2, "as_if_real"), (1, "score")])
def test_how_many_intervals_hold_the_truth_is_a_sum_over_all_releases(sets: int, rule: str) -> None:
    exact = IntervalSample(replace(DESIGN, rules=(rule,), sets=sets)).exact
    assert exact.coverage == pytest.approx(coverage_of(sets, rule), abs=1e-7)
    counts = [IntervalSample(replace(DESIGN, rules=(rule,), sets=sets, seed=seed)).n_covered for seed in range(20)]
    error = math.sqrt(100 * exact.coverage * (1 - exact.coverage) / len(counts))
    assert np.mean(counts) == pytest.approx(100 * exact.coverage, abs=4 * error + 1e-2)


def test_hardly_an_interval_of_five_sets_holds_the_truth() -> None:
    generator, n, p = np.random.default_rng(5), 100, 0.25
    x = generator.binomial(n, p, 100_000)[:, None]
    alpha = n / (math.exp(2 / 5) - 1)
    q = generator.binomial(n, generator.beta(x + alpha, n - x + alpha, (len(x), 5))) / n
    mean, within = q.mean(axis=1), (q * (1 - q)).mean(axis=1) / n
    sample = IntervalSample(replace(DESIGN, sets=5))
    assert float(np.mean(np.abs(mean - p) <= 1.96 * np.sqrt(within))) < 2e-4 > sample.exact.coverage > 0
    assert sample.moments.mean_estimate == pytest.approx(float(mean.mean()), abs=5e-4)
    assert math.sqrt(sample.moments.variance_estimate) == pytest.approx(float(mean.std()), rel=0.02)
    assert sample.mean_standard_error == pytest.approx(float(np.sqrt(within).mean()), rel=1e-3)


@pytest.mark.parametrize(("key", "name"), [("modips", "modips"), ("beta_binomial", "beta")])
def test_the_best_number_of_sets_has_the_smallest_error_of_all(key: str, name: str) -> None:
    n, p, weights, errors = 100, 0.25, stats.binom.pmf(np.arange(101), 100, 0.25), {}
    data = BinaryData(n=n, p=p)
    for sets in range(1, 21):
        method = data.method(key)
        assert isinstance(method, BinaryMethod)
        rows = method.synthesizer(data, 1.0 / sets).transition_matrix()
        q = np.arange(n + 1) / n
        mean = rows @ q
        variance = rows @ q**2 - mean**2
        errors[sets] = math.sqrt(float(weights @ (variance / sets + (mean - p) ** 2)))
    step = step_of("one_or_ten", name)
    best = min(errors, key=errors.__getitem__)
    assert answer_of("one_or_ten", name) == best
    assert is_value_in(LESSONS["one_or_ten"].answer_text(step, LessonState(step.name, 1, best)), errors[best])
    (line,) = [trace for trace in spec_of(step, LessonState(step.name, 1, best))["data"] if trace["mode"] == "lines"]
    assert line["name"]


def test_the_best_there_is_is_geometric_noise_with_its_posterior_means() -> None:
    """All counts are as likely beforehand; the error is the root of the mean posterior variance."""
    n, share = 100, math.exp(-1)
    x, k = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    rows = (1 - share) / (1 + share) * share ** np.abs(x - k)
    rows[:, 0], rows[:, n] = share ** x[:, 0] / (1 + share), share ** (n - x[:, 0]) / (1 + share)
    assert np.allclose(rows.sum(axis=1), 1)
    weights = rows / rows.sum(axis=0)
    mean = (weights * x).sum(axis=0) / n
    smallest = math.sqrt(float((rows * (x / n - mean) ** 2).sum() / (n + 1)))
    beta = beta_binomial(n, n / (math.e - 1))
    error = math.sqrt(float((beta * (x / n - k / n) ** 2).sum() / (n + 1)))
    assert answer_of("best", "floor") == pytest.approx(error / smallest, rel=1e-5)


def test_modips_has_the_prior_in_lesson_7_that_it_has_in_lesson_6_and_on_compare() -> None:
    """A prior of 1/3 for each cell, with which the share is off by 5.90 points; a prior of 1 would make it 5.94."""
    step = step_of("best", "order")
    right = LessonState(step.name, 1, "geometric.modips.beta_binomial")
    assert "modips by 5.9," in LESSONS["best"].answer_text(step, right)


def test_every_lesson_ends_with_a_release_and_tells_a_teacher_what_to_ask() -> None:
    assert [int(lesson.head["number"]) for lesson in LESSONS.values()] == list(range(1, 8))
    for lesson in LESSONS.values():
        assert lesson.design.n >= 5
        assert 4 <= int(lesson.head["minutes"]) <= 6
        for step in lesson.steps:
            words = lesson.script[step.name]
            assert words["formula"] and "- *Ask" in words["teacher"]
            assert "minute" in words["teacher"].lower()


def test_a_printed_lesson_has_blanks_and_no_answer_before_the_key() -> None:
    for lesson in LESSONS.values():
        page = lesson_handout(lesson, 3)
        assert len(page) < 2_500_000
        body = page[page.index("<h1>") :]
        pupils, key = body.split('<div class="key">')
        n_questions = sum(step.question is not None for step in lesson.steps)
        assert (
            pupils.count('class="asked"')
            == pupils.count('class="blank"') + pupils.count('class="options"')
            == n_questions
        )
        assert not re.search(r'src="http|href="http', body)
        for step in lesson.steps:
            sentence = lesson.text("shows" if step.question is None else RIGHT, LessonState(step.name, 3))
            plain = re.sub(r"[*]", "", sentence)[:40]
            assert plain not in re.sub(r"<[^>]+>", "", pupils)
            assert plain in re.sub(r"<[^>]+>", "", key)


def test_words_fit_their_steps_and_sliders_begin_at_a_stop() -> None:
    for lesson in LESSONS.values():
        assert set(lesson.head) == {"text", "title", "number", "minutes", "answers", "stays"}
        assert list(lesson.script) == ["head", *(step.name for step in lesson.steps)]
    for slider in (step.slider for _, step in STEPS if step.slider is not None):
        assert slider.start in slider.stops and list(slider.stops) == sorted(set(slider.stops))


def test_an_order_counts_only_where_everything_is_there_once() -> None:
    question = LESSONS["best"].steps[1].question
    assert isinstance(question, RankingQuestion)
    assert question.parse("geometric.modips.beta_binomial") == question.answer(LessonState(""))
    assert len(question.options) == 6
    for text in ("geometric.modips", "geometric.modips.foo", "geometric.modips.modips"):
        with pytest.raises(ValueError, match=r"it must be one of beta_binomial\.modips\.geometric, "):
            question.parse(text)


def test_a_logarithmic_axis_of_shares_has_plain_per_cent_and_no_more_than_all() -> None:
    axis = bars_chart([Bar(name="often", text="30 %", plain=0.3)], "how often", percent=True, base=1e-6)
    ticks = dict(zip(axis.layout.xaxis.tickvals, axis.layout.xaxis.ticktext, strict=True))
    assert len(ticks) > 2 and max(ticks) <= 1
    assert all(float(text.removesuffix(" %")) == pytest.approx(100 * value) for value, text in ticks.items())


NEAR_MISSES = [
    ("too_sure", "one", 76, "Fewer than that: 68.2 % over all tables"),
    ("too_sure", "one", 60, "More than that: 68.2 % over all tables"),
    ("called_epsilon", "real", 0.9, "Only rare tables allow that much, the worst of them 99.6 %: with the yes"),
    ("best", "floor", 10, "More: 12.5 times."),
    ("invented_rows", "delta", 10, "A few more: it takes 15.2."),
    ("invented_rows", "delta", 30, "Fewer: 15.2 are enough, instead of 1,164."),
]


@pytest.mark.parametrize(("key", "name", "guess", "beginning"), NEAR_MISSES)
def test_the_sentence_on_a_near_miss_is_true_of_it(key: str, name: str, guess: float, beginning: str) -> None:
    sentence = LESSONS[key].answer_text(step_of(key, name), LessonState(name, 1, guess))
    assert sentence.startswith(beginning), sentence


def test_a_point_below_the_promise_is_named_as_the_best_guess_about_the_most_exposed_person() -> None:
    sentence = LESSONS["called_epsilon"].answer_text(step_of("called_epsilon", "both"), LessonState("both"))
    assert sentence.endswith("The best guess about the most exposed person is really right **70.5 %** of the time.")


def test_the_notes_answer_what_is_asked_of_a_slider() -> None:
    """Lesson 1: the first stop below the goal; lesson 6: the pull is larger from the first stop on, and so on."""
    worst = {stop: float(likelihood_ratios(stop).max()) for stop in INVENTED.stops}
    enough = next(stop for stop, ratio in worst.items() if ratio <= math.e**2)
    assert (enough, round(worst[5], 2), round(worst[4], 2)) == (5, 5.38, 7.59)
    why = LESSONS["one_or_ten"].quantities(LessonState("why"))
    assert (round(why["pull"], 3), round(why["luck"], 3)) == (0.134, 0.062)
    shares = [rows / (rows + 20_000) for rows in (_invented_rows(20_000), _invented_rows(20_000, DELTA))]
    assert shares == pytest.approx([0.538, 0.000754], rel=1e-3)
    for key, name, words in (
        ("one_answer", "blur", "five invented answers, with a largest ratio of 5.38; with four it is still 7.59"),
        ("one_or_ten", "why", "with one table the pull is 13.4 points already, and luck 6.2"),
        ("invented_rows", "both", "with 20,000 they are 53.8 % and 0.0754 %"),
    ):
        assert words in LESSONS[key].script[name]["teacher"]
        assert words in lesson_handout(LESSONS[key])


def test_on_paper_what_needs_the_screen_says_so() -> None:
    for lesson in LESSONS.values():
        body = lesson_handout(lesson).partition("<h1>")[2].partition("<script>")[0]
        assert not re.search(r"(?<!On the screen, )[Mm]ove (the|ε|M)\b|The link|link below opens", body)


def test_lesson_3_tells_why_it_takes_fewer_rows_than_the_formula_of_lesson_1() -> None:
    alpha = 1 / math.expm1(1 / 1000)  # of ((1 + α) / α)^1000 = e
    formula = LESSONS["invented_rows"].script["many"]["formula"]
    assert f"The formula of lesson 1 would give {2 * alpha:,.0f} rows" in formula


def test_with_delta_the_number_of_rows_rises_at_first_as_the_formula_says() -> None:
    rows = [_invented_rows(n, DELTA) for n in (20, 50, 1000, 2000, 5000, 20_000)]
    assert rows == pytest.approx([14.816, 15.922, 15.161, 15.099, 15.103, 15.095], abs=6e-4)
    assert (
        "rises from about 15 at 20 people to about 16 at 50, and is 15.1 to 15.2 from 1,000 on"
        in (LESSONS["invented_rows"].script["both"]["formula"])
    )


def test_words_on_a_guess_hide_neither_lines_nor_the_words_above_the_picture() -> None:
    layout = spec_of(step_of("told_how", "again"), LessonState("again", 1, 0))["layout"]
    (words,) = [item for item in layout["annotations"] if item["text"] == "<b>your guess: 0 hold it</b>"]
    assert words["yanchor"] == "top" and "bgcolor" not in words and words["font"]["shadow"] == "auto"
    assert layout["xaxis2"]["domain"][0] - layout["xaxis"]["domain"][1] == pytest.approx(0.1)


@pytest.mark.parametrize("invented", [1, 2, 5, 6])
def test_numbers_of_bars_stand_clear_of_the_goal(invented: float) -> None:
    layout = spec_of(step_of("one_answer", "blur"), LessonState("blur", 1, None, invented))["layout"]
    *numbers, goal = layout["annotations"]
    assert len(numbers) == 6 and goal["text"] == "<b>goal: 7.39</b>"
    assert {(text["xref"], text["x"], text["xanchor"]) for text in numbers} == {("x domain", 0.995, "right")}


def test_the_line_of_a_slider_crosses_no_number_beside_a_mark() -> None:
    step = step_of("called_epsilon", "curve")
    shown = {}
    for stop in (0.5, 0.7, 1.0, 1.5, 3.0, 8.0):
        marks = [trace for trace in spec_of(step, LessonState("curve", 1, None, stop))["data"] if "text" in trace]
        shown[stop] = [trace["x"][0] for trace in marks if trace["text"] != [""]]
        assert len(marks) == 4 or stop == 8.0
    everything = [0.5, 1, 2, 5]
    assert shown == {0.5: everything, 0.7: [1, 2, 5], 1.0: [1, 2, 5], 1.5: [2, 5], 3.0: [0.5, 1, 5], 8.0: everything}


def test_nobody_is_ringed_where_nobody_is_attacked() -> None:
    assert "ringed" in json.dumps(spec_of(step_of("one_answer", "which"), LessonState("which")))
    assert "ringed" not in json.dumps(spec_of(step_of("too_sure", "one"), LessonState("one")))


@pytest.mark.parametrize("name", ["pull", "epsilon"])
def test_the_words_on_the_centre_stand_below_all_intervals(name: str) -> None:
    layout = spec_of(step_of("too_sure", name), LessonState(name))["layout"]
    bottom, top = layout["yaxis"]["range"]
    (words,) = [label for label in layout["annotations"] if "they centre on" in label["text"]]
    assert (words["yref"], words["yanchor"], words["y"]) == ("y domain", "bottom", 0.03)
    assert bottom + 0.09 * (top - bottom) > 100  # 22 of 240 pixels: the edge, and a line of words


def test_luck_pull_and_error_can_be_told_apart_without_colour() -> None:
    traces = {trace.get("name"): trace for trace in spec_of(step_of("one_or_ten", "why"), LessonState("why"))["data"]}
    looks = {name: (traces[name]["line"]["dash"], traces[name]["mode"]) for name in ("error", "pull", "luck")}
    assert looks == {"error": ("solid", "lines"), "pull": ("dashdot", "lines+markers"), "luck": ("dot", "lines")}
    assert list(traces).index("pull") > list(traces).index("error")  # it is drawn on top, where they nearly agree
