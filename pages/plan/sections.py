"""The closer looks of the page, each run only when it is opened."""

from collections.abc import Callable
from functools import partial

from dpviz.core.plain import plain
from dpviz.core.pool import single
from dpviz.core.types import Result
from dpviz.core.wording import TextTable
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.texts import capitalized
from dpviz.plans import ReleasePlan, plan_toml, suppression_costs
from dpviz.plans.drawn import (
    ComposedCurves,
    PlanCurve,
    SolvedPlan,
    composed_curves,
    composition_picture,
    factors_picture,
    ranges_picture,
    stream_factors,
)
from dpviz.plans.ranges import RangeCurve, stream_ranges
from dpviz.plans.shares import PlanAnswer
from dpviz.plans.suppression import SuppressionCost
from dpviz.plans.told import mixtures_table, rejected_table, statistics_csv, withheld_table
from dpviz.plans.what_if import (
    RANGES_MEANT,
    range_sentence,
    ranges_table,
    sensitivities,
    sensitivity_sentence,
)
from dpviz.plans.words import composition_sentence, suppression_sentences, why_sentence
from pages.components.downloads import show_columns
from pages.components.figure import show_figure
from pages.components.frame import Section, text_of
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, note
from pages.plan import SPEC
from pages.plan.answer import solving
from pages.plan.controls import PREFIX, Asked
from pages.plan.files import plan_script, show_report

MOST_MIXTURES_SHOWN = 6
WAITS = "The answer is being computed …"


def of_answer(draw: Callable[[SolvedPlan], None]) -> Section[Asked]:
    """A section that shows something of the answer, once that is there."""

    def show(asked: Asked) -> None:
        show_growing(solving(asked.plan), WAITS, draw, key=f"{PREFIX}section_step")

    return show


def further(
    name: str, plan: ReleasePlan, kind: type[Result], function: Callable[..., Result], *args: object
) -> Growing[Result]:
    """What a section computes of a plan beside the process that serves."""
    return growing_of(f"{PREFIX}{name}", (f"plan {name}", repr(plan)), kind, partial(single, function, *args))


def _why(solved: SolvedPlan) -> None:
    answer = solved.answer
    note(plain(why_sentence(answer)))
    table = mixtures_table(answer, MOST_MIXTURES_SHOWN)
    if table.rows:
        listing(*table, ())


def _what_if(solved: SolvedPlan) -> None:
    """What other ε would do, as a curve, and other ranges, in sentences."""
    answer = solved.answer
    plan = answer.plan
    if isinstance(plan.protection, PrivacyLoss):
        begin = partial(stream_factors, plan)
        curve = growing_of(f"{PREFIX}factors", ("plan factors", repr(plan)), PlanCurve, begin)
        show_growing(curve, "Solving the plan at other ε …", partial(_curve, plan), key=f"{PREFIX}factors_step")
    found = further("sensitivity", plan, tuple, sensitivities, plan)
    show_growing(
        found,
        "Solving the plan at other promises …",
        lambda ranges: note(plain(sensitivity_sentence(answer, ranges))),
        key=f"{PREFIX}sensitivity_step",
    )
    begin_ranges = partial(stream_ranges, answer)
    curves = growing_of(f"{PREFIX}ranges", ("plan ranges", repr(plan)), tuple, begin_ranges)
    show_growing(curves, "Solving the plan with other ranges …", partial(_ranges, answer), key=f"{PREFIX}ranges_step")


def _ranges(answer: PlanAnswer, found: tuple[RangeCurve, ...]) -> None:
    """What other assumptions about the data would need: a picture, a sentence for each, and every number."""
    note(RANGES_MEANT)
    alt = "Errors as a factor of their limits, and the needed share of the promise, where what is assumed is as wide."
    show_figure(ranges_picture(answer.plan, found), key=f"{PREFIX}ranges_picture", alt=alt, height=360)
    for one in found:
        note(plain(f"{capitalized(one.assumption.label)}: {range_sentence(answer, one)}"))
    listing(*ranges_table(found), (1, 2, 3))


def _curve(plan: ReleasePlan, found: PlanCurve) -> None:
    alt = "The factor of all limits that the promise allows, at smaller and larger ε than yours."
    show_figure(factors_picture(plan, found), key=f"{PREFIX}factors_picture", alt=alt, height=330)


def _composition(solved: SolvedPlan) -> None:
    """δ(ε) of all statistics together, by both ways of composing."""
    answer = solved.answer
    note(plain(composition_sentence(answer)))

    def draw(found: ComposedCurves) -> None:
        alt = "The δ that all statistics together need at each ε, composed exactly and by adding up."
        picture = composition_picture(answer.plan, found)
        show_figure(picture, key=f"{PREFIX}composed_picture", alt=alt, height=380)

    curves = further("composed", answer.plan, ComposedCurves, composed_curves, answer.design)
    show_growing(curves, "Composing the losses …", draw, key=f"{PREFIX}composed_step")


def _withheld(solved: SolvedPlan) -> None:
    """What withholding small counts does."""
    design = solved.answer.design
    if not any(one.suppress_below for one in design.plan.statistics):
        note(SPEC.note("nothing_withheld"))
        return

    def draw(found: tuple[SuppressionCost, ...]) -> None:
        for sentence in suppression_sentences(found, solved.published):
            note(plain(sentence))
        listing(*withheld_table(found))

    costs = further("withheld", design.plan, tuple, suppression_costs, design)
    show_growing(costs, "Judging what is withheld …", draw, key=f"{PREFIX}withheld_step")


def _rejected(solved: SolvedPlan) -> None:
    """Designs that look right and are not."""
    found = further("rejected", solved.answer.plan, TextTable, rejected_table, solved.answer)
    show_growing(found, "Judging other designs …", _draw_rejected, key=f"{PREFIX}rejected_step")


def _draw_rejected(table: TextTable) -> None:
    note(SPEC.note("rejected" if table.rows else "none_rejected"))
    if table.rows:
        listing(*table)


def _downloads(asked: Asked) -> None:
    """Offer the numbers, the plan and the script."""

    def draw(solved: SolvedPlan) -> None:
        answer = solved.answer
        show_columns(
            PREFIX,
            [("The numbers of each statistic, CSV", "plan.csv", partial(statistics_csv, answer))],
            [
                ("The plan, JSON", "plan_alone.json", answer.plan.to_json),
                ("The plan, TOML", "plan.toml", partial(plan_toml, answer.plan)),
                SPEC.note("with_numbers"),
            ],
            ("plan.py", plan_script(answer.plan), "the shares and the errors of the plan"),
            middle="Your plan",
        )

    show_growing(solving(asked.plan), WAITS, draw, key=f"{PREFIX}section_step")


SECTIONS: dict[str, Section[Asked]] = {
    "How to read this page": text_of(SPEC, "guide"),
    "Why this one": of_answer(_why),
    "What if": of_answer(_what_if),
    "Exact and basic": of_answer(_composition),
    "Withheld counts": of_answer(_withheld),
    "Rejected designs": of_answer(_rejected),
    "The report": show_report,
    "Download": _downloads,
    "Why, and sources": text_of(SPEC),
}
