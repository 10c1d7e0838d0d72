"""Plan: several statistics of the same people under one promise."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count, cycle
from typing import Any, NamedTuple

import streamlit as st

from dpviz.charts.lines import rows_height
from dpviz.charts.plan import composition_chart, factors_chart, ranges_chart
from dpviz.core.escape import decode_utf8, escape_markdown
from dpviz.core.formatting import format_count, format_number
from dpviz.core.parameters import Parameter
from dpviz.curator import form as stated
from dpviz.curator.privacy_limits import PRIVACY_LIMITS, promise_text
from dpviz.export.stored import MAX_CHARACTERS, read_stored
from dpviz.export.tables import columns_of, to_csv
from dpviz.export.templates import capitalize_first
from dpviz.plans import ReleasePlan, YesNoShare, figures, files, forms, sensitivity, summary
from dpviz.plans.plan import MAX_STATISTICS, NEIGHBOURS, read_statistics
from dpviz.plans.solve import PlanSolution
from dpviz.plans.statistics import MAX_NAME_CHARACTERS, PLAN_STATISTICS, Statistic
from dpviz.plans.statistics import NUMBERS as PLAN_NUMBERS
from pages import ui
from pages.ui.navigation import PLAN

PREFIX = PLAN.prefix
STATISTICS = f"{PREFIX}statistics"
WHICH = f"{PREFIX}which"
FIELD = f"{PREFIX}one_"  # what the keys of the fields begin with; they are no settings of the URL
OPENED = f"{PREFIX}opened"  # key of the text of a file that was opened, with its plan
PLACES = [str(place) for place in range(1, MAX_STATISTICS + 1)]
NUMBERS = {
    **{name: stated.NUMBERS[name] for key in PRIVACY_LIMITS for name in stated.privacy_names(key)},
    **ui.declared_numbers("plan", stated.NUMBERS | PLAN_NUMBERS),
}
PRESETS = {
    label: values | {"statistics": read_statistics(values["statistics"])}
    for label, values in ui.declared_presets("plan").items()
}
USUAL_STATISTICS = PRESETS["Five statistics"]["statistics"]


class Question(NamedTuple):
    """The plan that the controls ask for, in words too, and what is between two neighbouring data sets."""

    plan: ReleasePlan
    description: str
    neighbours: str


def describe_plan(plan: ReleasePlan) -> str:
    protection = plan.protection
    promise = protection.text
    if protection.follows_from_delta and not protection.is_share:
        promise = promise_text(*protection.as_epsilon_delta())
    return f"{format_count(len(plan.statistics), 'statistic')} of n = {format_number(plan.n)} rows, {promise}"


def controls() -> Question:
    places = ui.control_places(PRESETS, help=ui.words("presets"))

    # The promise
    key = ui.choice("protect", place=places.first, widget=st.pills, required=True, help=ui.words("protect"))
    limits = {}
    for name in stated.privacy_names(key):
        is_limit = name in ("epsilon", "guesses", "most_after", "most_ratio")  # else what an attacker starts from
        limits[name] = ui.number_control(name, place=places.first if is_limit else places.main)

    # The data, and what one person is
    n = ui.number_control("n", place=places.first)
    person_rows = ui.number_control("person_rows", place=places.main)
    neighbours = ui.choice("neighbours", place=places.folded, widget=st.radio, help=ui.words("neighbours"))
    example = "North = 7,000; South = 5,000"
    box = places.folded.container()
    groups = ui.text_control("groups", place=box, placeholder=example, help=ui.words("groups"))
    ui.register_shown(STATISTICS)  # a setting without a widget of its own
    is_public, spend_all = (ui.toggle(name, place=places.folded, help=ui.words(name)) for name in ("public", "spend"))
    try:
        plan = ReleasePlan(
            n=n, statistics=st.session_state[STATISTICS], protection=PRIVACY_LIMITS[key](**stated.from_form(limits)),
            person_rows=person_rows, neighbours=neighbours, groups=forms.read_groups_line(groups),
            membership_public=is_public, spend_all=spend_all,
        )  # fmt: skip
    except ValueError as error:
        if "group" not in str(error).lower():
            raise
        with box:  # where they are written, which may be far from the answer
            ui.problem(str(error))
        raise ValueError(f"“Disjoint groups”, under “More”: {error}") from None
    return Question(plan, describe_plan(plan), plan.unit)


# The list of statistics: a line for each, and the fields of the chosen one


def edit_statistics(plan: ReleasePlan) -> None:
    """Draw the list of statistics, buttons that make it longer or shorter, and the fields of the chosen one."""
    state = st.session_state
    statistics = state[STATISTICS]
    ui.heading("The statistics")
    left, right = st.container(key=f"{PREFIX}list").columns([1, 1.3], gap="medium")
    with left:
        lines = {}
        for key, statistic in zip(PLACES, statistics, strict=False):
            limit = statistic.format_error(statistic.limit)
            lines[key] = escape_markdown(f"{statistic.name} · {statistic.description} · {limit}")
        if state[WHICH] not in lines and not ui.visit().is_linked:
            state[WHICH] = PLACES[0]  # a preset has made the list shorter
        place = PLACES.index(ui.choice("which", lines, "Statistics of the plan", widget=st.radio))
        with st.container(horizontal=True):
            st.button("Add one", key=f"{FIELD}add", on_click=_add, disabled=len(statistics) == MAX_STATISTICS)
            st.button("Remove this one", key=f"{FIELD}remove", on_click=_remove, disabled=len(statistics) == 1)
    with right:
        _show_fields(plan, place)


def _show_fields(plan: ReleasePlan, place: int) -> None:
    """Draw the fields of the statistic at a place, each a choice, a number or the name."""
    state = st.session_state
    statistic: Statistic = state[STATISTICS][place]
    if state.get(f"{FIELD}filled") != (place, statistic):  # else what was refused stays in its box
        values = forms.form_values(statistic) | {"filled": (place, statistic), "refused": ""}
        state.update({FIELD + name: value for name, value in values.items()})
    if state[f"{FIELD}refused"]:
        ui.problem(state[f"{FIELD}refused"])

    # The usual fields in two columns, and the others below them
    options = forms.form_options(plan, statistic)
    parameters = forms.form_parameters(type(statistic))
    names = dict.fromkeys(["name", "kind", "measure", "limit", *parameters, *options])
    usual = st.columns([1.3, 1])  # "Typical error (root mean squared error)" in full
    folded = st.expander("More about it", key=f"{FIELD}more", on_change="rerun")
    places = {False: cycle(usual), True: cycle(folded.columns([1.3, 1]))}
    for name in names:
        is_folded = name in ("lowest", "highest", "suppress_below", "mechanism", "group")
        if folded.open or not is_folded:
            with next(places[is_folded]):
                _draw_field(name, options.get(name, {}), parameters.get(name))


def _draw_field(name: str, options: Mapping[str, str], parameter: Parameter | None) -> None:
    rest: dict[str, Any] = {"key": FIELD + name, "on_change": _take_fields, "persist_state": "session"}
    if options:
        label = {"measure": "What is limited", "group": "Rows of the group"}.get(name, name.capitalize())
        st.selectbox(label, list(options), format_func=options.__getitem__, **rest)
    elif parameter is None:
        st.text_input("Name", max_chars=MAX_NAME_CHARACTERS, **rest)
    else:
        rest |= {"step": 1} if parameter.integer else {"format": "%.10g"}
        help = f"{parameter.help} Accepted: {parameter.domain}.".strip()
        st.number_input(capitalize_first(parameter.title), value=None, help=help, **rest)


def _take_fields() -> None:
    """Put what the fields say into the list; a refusal is noted, and the list stays."""
    state = st.session_state
    place, statistic = state[f"{FIELD}filled"]
    values = {name: state.get(FIELD + name, value) for name, value in forms.form_values(statistic).items()}
    kind = PLAN_STATISTICS[values["kind"]]
    state[f"{FIELD}refused"] = ""
    try:
        changed = forms.statistic_of_form(values) if kind is type(statistic) else forms.as_kind(statistic, kind)
    except ValueError as error:
        state[f"{FIELD}refused"] = str(error)
        return
    if changed.unit != statistic.unit:
        st.toast("The limit was set anew, because its unit is another one.")
    _set_list([*state[STATISTICS][:place], changed, *state[STATISTICS][place + 1 :]], place)


def _add() -> None:
    statistics = st.session_state[STATISTICS]
    names = {statistic.name for statistic in statistics}
    name = next(name for name in map("Statistic {}".format, count(len(statistics) + 1)) if name not in names)
    _set_list([*statistics, YesNoShare(name=name, limit=forms.NEW_LIMIT)], len(statistics))


def _remove() -> None:
    statistics = st.session_state[STATISTICS]
    place = PLACES.index(st.session_state[WHICH])
    _set_list([*statistics[:place], *statistics[place + 1 :]], max(place - 1, 0))


def _set_list(statistics: Sequence[Statistic], place: int) -> None:
    """Make these the statistics, with the one at `place` chosen."""
    st.session_state[STATISTICS] = tuple(statistics)
    st.session_state[WHICH] = PLACES[place]


def _show_choice(facts: summary.PlanFacts) -> None:
    ui.note(escape_markdown(summary.sentence("mixture", solution=facts.solution)))
    if len(facts.solution.tried) > 1:
        ui.table(*summary.page_table("mixtures", solution=facts.solution), numeric=())


def _promise_curve(plan: ReleasePlan) -> tuple[tuple[float, float], ...]:
    return ui.result(sensitivity.epsilon_curve, plan, spinner="Solving the plan at other promises …")


def _assumption_curves(solution: PlanSolution) -> tuple[sensitivity.AssumptionCurve, ...]:
    return ui.result(sensitivity.assumption_curves, solution, spinner="Solving the plan under other assumptions …")


def _show_what_if(facts: summary.PlanFacts) -> None:
    solution = facts.solution
    plan = solution.plan
    if promises := _promise_curve(plan):
        chart = factors_chart(*zip(*promises, strict=True), chosen=plan.promise[0])
        ui.show_figure(chart, "factors_picture", height=330)
        ui.note(escape_markdown(summary.sentence("changes", solution=solution, curve=promises)))

    # Each assumption changed alone
    if curves := _assumption_curves(solution):
        ui.note(f"{summary.sentence('assumptions_note')} {ui.words('dashed')}")
        points = {changed.assumption: changed.points for changed in curves}
        chart = ranges_chart(points, promised=figures.promise_label(plan))
        ui.show_figure(chart, "ranges_picture", height=360)
        for changed in curves:
            sentence = summary.sentence("assumption", solution=solution, curve=changed)
            ui.note(escape_markdown(f"{capitalize_first(changed.assumption)}: {sentence}"))
        ui.table(*summary.table("assumptions", plan=plan, curves=curves), numeric=(1, 2, 3))


def _show_composition(facts: summary.PlanFacts) -> None:
    solution = facts.solution
    ui.note(escape_markdown(summary.sentence("composition", solution=solution)))
    curves = ui.result(figures.composition_curves, solution.design, spinner="Composing the losses …")
    ui.show_figure(composition_chart(*curves, solution.plan.promise), "composed_picture", height=380)


def _show_withheld(facts: summary.PlanFacts) -> None:
    sentences = [summary.sentence("suppression", published=published) for published in facts.published]
    for sentence in sentences or [ui.words("nothing_withheld")]:
        ui.note(escape_markdown(sentence))
    if sentences:
        ui.table(*summary.page_table("withheld", facts=facts))


def _show_naive(facts: summary.PlanFacts) -> None:
    designs = ui.result(sensitivity.naive_designs, facts.solution, spinner="Judging other designs …")
    ui.note(ui.words("rejected" if designs else "none_rejected"))
    if designs:
        ui.table(*summary.page_table("naive", designs=designs))


def _show_report(facts: summary.PlanFacts) -> None:
    solution = facts.solution
    curves = {"promises": _promise_curve(solution.plan), "assumptions": _assumption_curves(solution)}
    written = ui.result(files.plan_report, solution, **ui.origin(), **curves, spinner="Writing the report …")
    report = ("Report, HTML", "plan.html", lambda: written)
    stored = ("Plan with its numbers, JSON", "plan.json", partial(files.solution_json, solution))
    notebook = ("Notebook, Jupyter", "plan.ipynb", partial(files.plan_notebook, solution))
    written_files = ("To read and to print", report, ui.words("print"))
    ui.show_files(written_files, ("To open again", stored), ("To reproduce it", notebook, ui.words("notebook")))
    if ui.open_file("Open a plan", f"{PREFIX}file", read_file, megabytes=1, types=ui.STORED_TYPES):
        text, plan = st.session_state.get(OPENED, ("", None))
        if plan != solution.plan or "numbers" not in read_stored(text):
            ui.note(ui.words("changed_since" if plan != solution.plan else "no_numbers"))
            return
        ui.show_differences(ui.result(files.plan_differences, text, solution, spinner="Comparing every number …"))


def read_file(content: bytes) -> dict[str, Any]:
    """Settings that ask for the plan of a file, by key; a ValueError says what is wrong with it."""
    text = decode_utf8(content, 4 * MAX_CHARACTERS)
    plan = files.read_plan(text)
    if any(";" in name for name, _ in plan.groups):
        raise ValueError("the name of a group must have no semicolon on this page.")
    values = {
        "protect": plan.protection.key, "n": plan.n, "person_rows": plan.person_rows, "neighbours": plan.neighbours,
        "groups": forms.groups_line(plan.groups), "public": plan.membership_public, "spend": plan.spend_all,
        "statistics": plan.statistics,
    }  # fmt: skip
    values |= stated.to_form(plan.protection.settings())
    return {PREFIX + name: value for name, value in values.items()} | {OPENED: (text, plan)}


def _show_downloads(facts: summary.PlanFacts) -> None:
    plan = facts.solution.plan
    columns = columns_of("statistic", facts.statistics)
    table = ("The numbers of each statistic, CSV", "plan.csv", partial(to_csv, columns))
    script = ("plan.py", files.plan_script(plan), "the shares and the errors of the plan")
    as_json = ("The plan, JSON", "plan_alone.json", plan.to_json)
    plan_files: list[ui.File | str] = [as_json, ("The plan, TOML", "plan.toml", partial(files.plan_toml, plan))]
    if facts.solution.design.keeps_promise:
        plan_files.append(("Its release by OpenDP, Python", "release.py", partial(files.opendp_script, facts.solution)))
    ui.show_page_files([table], script, "Your plan", [*plan_files, ui.words("with_numbers")])


SECTIONS: dict[str, ui.Section] = {
    "How to read this page": lambda _: st.markdown(ui.page_text("plan", "guide")),
    "Why this one": _show_choice,
    "What if": _show_what_if,
    "Exact and basic": _show_composition,
    "Withheld counts": _show_withheld,
    "Rejected designs": _show_naive,
    "The report": _show_report,
    "Download": _show_downloads,
    "Why, and sources": lambda _: st.markdown(ui.page_text("plan", "why")),
}
SETTINGS = {
    **ui.number_settings(NUMBERS, PREFIX),
    f"{PREFIX}protect": ui.choice_setting(
        {key: kind.short_label for key, kind in PRIVACY_LIMITS.items()}, "loss", "How private"
    ),
    STATISTICS: ui.Setting(USUAL_STATISTICS, forms.read_statistics_line, forms.statistics_line, "Statistics"),
    WHICH: ui.choice_setting(PLACES, PLACES[0], "Statistic shown"),
    f"{PREFIX}neighbours": ui.choice_setting(NEIGHBOURS, "substitution", "Between neighbouring data sets"),
    f"{PREFIX}groups": ui.text_setting("", "Disjoint groups"),
    f"{PREFIX}public": ui.switch_setting(False, "Who belongs to which group is public"),
    f"{PREFIX}spend": ui.switch_setting(False, "Spend what is left on smaller errors"),
    f"{PREFIX}look": ui.section_setting(SECTIONS),
}


def page() -> None:
    with ui.page_frame(PLAN, SETTINGS, controls) as (question, parts):
        with parts.details:
            edit_statistics(question.plan)
        with parts.results:
            fresh = ReleasePlan(statistics=USUAL_STATISTICS, spend_all=False)
            solve = partial(ui.result, summary.plan_facts, spinner="The promise is being divided …")
            facts = ui.last_valid_value("plan", question.plan, solve, fresh, describe_plan)
            solution = facts.solution
            names = ("badge", "point", "rest", "short")
            badge, point, rest, short = (summary.sentence(name, facts=facts) for name in names)
            ui.answer(badge, f"<b>{point}</b> {escape_markdown(rest)}" if point else escape_markdown(rest), short)
            height = rows_height(len(facts.statistics) + 1)
            ui.show_figure(figures.plan_figure(facts), "picture", height=height, hero=True)
        with parts.details:
            ui.table(*summary.page_table("statistics", facts=facts), numeric=(2, 3, 4, 5))
            spinner = "Computing what all statistics together give away …"
            loss = ui.result(summary.sentence, "loss", design=solution.design, spinner=spinner)
            ui.note(escape_markdown(f"{loss} {summary.sentence('groups', plan=solution.plan)}".strip()))
            ui.look_closer(SECTIONS, facts)
