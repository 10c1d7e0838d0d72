"""What the suites over all pages need to know of each: small settings, where its controls are shown, other values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from pages.ui import navigation as nav
from pages.ui.navigation import Page
from pages.ui.url import Setting

Query = dict[str, str]

NO_OPTION = "no such option"
MATRIX = "0.7, 0.3\n0.1, 0.9"
STATISTIC = '[{"kind": "yes_no", "name": "Works", "limit": 0.05}]'


@dataclass(frozen=True)
class Case:
    """A page, `small` settings with which it answers at once, and `contexts` that together show all of its numbers.

    `typed` has other values of settings that no rule finds; `slow` sliders are moved to their lower end alone.
    """

    page: Page
    small: Query = field(default_factory=dict)
    contexts: tuple[Query, ...] = ({},)
    typed: Mapping[str, str] = field(default_factory=dict)
    slow: frozenset[str] = frozenset()

    @property
    def module(self) -> Any:
        return import_module(f"pages.{self.page.module}")

    @property
    def settings(self) -> Mapping[str, Setting]:
        found: Mapping[str, Setting] = self.module.SETTINGS
        return found

    @property
    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        return getattr(self.module, "PRESETS", {})

    @property
    def quick_presets(self) -> list[str]:
        """All but those of the papers' simulations, which take seconds each."""
        kinds = {"kind", "sets_kind", "share_kind"}
        slow = [name for name, values in self.presets.items() if kinds & values.keys() and not self._is_quick(values)]
        return [name for name in self.presets if name not in slow]

    def _is_quick(self, values: Mapping[str, Any]) -> bool:
        is_simulated = {"gaussian", "gaussian_known_variance", "mixed"} & {*map(str, values.values())}
        return values["n"] <= (10 if is_simulated else 200)

    @property
    def sections(self) -> list[str]:
        key = f"{self.page.prefix}look"
        return options_of(self.settings[key]) if key in self.settings else []

    def others(self) -> Iterator[tuple[str, str]]:
        """Every setting with a text in a URL that it takes beside its default."""
        for key, setting in self.settings.items():
            if key in self.typed:
                yield from ((key, setting.format(setting.parse(text)) or "") for text in [self.typed[key]] if text)
            elif setting.parameter is not None:
                yield key, near(setting, self.small.get(key))
            elif isinstance(setting.fresh, bool):
                yield key, str(not setting.fresh).lower()
            elif isinstance(setting.fresh, list):
                yield key, ".".join(options_of(setting)[-2:])
            elif not is_valid(setting, NO_OPTION):
                options = [option for option in options_of(setting) if option != as_text(setting)]
                yield from ((key, option) for option in options[-1:])


def as_text(setting: Setting) -> str | None:
    """The default as a URL would have it; None where nothing says it."""
    return None if setting.fresh is None else setting.format(setting.fresh)


def near(setting: Setting, base: str | None) -> str:
    """A value of the domain near `base` or the default, and not the default."""
    parameter = setting.parameter
    assert parameter is not None
    start = float(parameter.default if base is None else base)
    middle = (parameter.minimum + parameter.maximum) / 2
    shifted = [start + 1, start - 1] if parameter.integer else [0.9 * start, 1.1 * start, start + 0.5, middle]
    for value in shifted:
        if is_valid(setting, text := setting.format(value) or "") and text != as_text(setting):
            return text
    raise AssertionError(f"no other value of {parameter.name}")


def is_valid(setting: Setting, text: str) -> bool:
    try:
        setting.parse(text)
    except ValueError:
        return False
    return True


def options_of(setting: Setting) -> list[str]:
    """Keys of a choice, which the refusal of another one names; some have a comma of their own."""
    try:
        setting.parse(NO_OPTION)
    except ValueError as refusal:
        words = re.sub(r"^.* must be one of (.*)\.$", r"\1", refusal.args[0]).split(", ")
    options = []
    while words:
        size = next(size for size in range(1, len(words) + 1) if is_valid(setting, ", ".join(words[:size])))
        options.append(", ".join(words[:size]))
        words = words[size:]
    return options


def _case(page: Page, small: str = "", contexts: Sequence[str] = (), slow: str = "", **typed: str) -> Case:
    """A case, its queries by names without the prefix, as ``name=value`` with blanks between them."""

    def query(words: str) -> Query:
        return {
            page.prefix + name: text.replace("+", " ") for name, text in (word.split("=") for word in words.split())
        }

    typed = {page.prefix + name: text for name, text in typed.items()}
    slow_keys = frozenset(page.prefix + name for name in slow.split())
    return Case(page, query(small), tuple(map(query, ["", *contexts])), typed, slow_keys)


CASES = {
    case.page.module: case
    for case in (
        _case(nav.START, n="20"),
        *map(Case, (nav.LESSONS, nav.EXPERIMENT, nav.GAME, nav.TEACHERS)),
        _case(
            nav.MATRICES, "n=6 alpha=2",
            [
                "synthesizer=beta_binomial m_is_n=false beta_is_alpha=false",
                "synthesizer=laplace noise_is_promise=false",
                "synthesizer=dirichlet_multinomial cells=3 look=Draw+a+release",
                "synthesizer=poisson_gamma guess_is_truth=false",
                "look=The+attacker+in+four+languages worst=false",
                "look=Draw+a+release",
            ],
            paste=MATRIX, x="2", seed="7",
        ),
        _case(
            nav.COVERAGE, "n=30 sets=3 repetitions=2000",
            ["prior=exact m_is_n=false", "prior=own", "synthesizer=poisson_gamma"],
        ),
        _case(
            nav.POSTERIOR, "n=20 x=6 sets=2 counts=4",
            [
                "prior=exact m_is_n=false", "prior=own look=If+n+is+secret around=false size_prior=around+a+guess",
                "synthesizer=given_matrix", "synthesizer=poisson_gamma",
            ],
            paste=MATRIX, counts="4, 6", tables="5, 3, 2", matrix_x="0",
        ),
        Case(nav.PUBLISHED, typed={"cell": ""}),  # cells have names that a test of the page knows
        _case(
            nav.PRIORS, "n=12 epsilon=1.5 delta=0.0001",
            [
                "m_is_n=false look=The+inverse", "family=k+categories", "family=Gaussian look=The+inverse",
                "look=Average+case", "look=Subsampling", "look=Uneven+priors",
            ],
        ),
        _case(
            nav.COMPARE, "n=10 sets=2 repetitions=10",
            [
                "terms=privacy", "kind=count count_methods=original.beta_binomial m_is_n=false",
                "binary_methods=original.poisson_gamma guess_is_truth=false",
                "kind=gaussian gaussian_methods=original.modips_split n=9",
                "kind=mixed mixed_methods=modips_sums n=9 cells=2",
            ],
            slow="n repetitions cells delta", kind="count",
        ),
        _case(
            nav.BUDGET, "n=5 repetitions=10",
            [
                "sets_kind=count sets_count_method=beta_binomial m_is_n=false",
                "sets_binary_method=poisson_gamma guess_is_truth=false",
                "spending=share sets=2", "sets_kind=mixed cells=2",
            ],
            slow="n repetitions cells correlation public_share", measure="coverage", sets_kind="count", share_kind="",
        ),
        _case(
            nav.CURATOR, "n=10 values=2 repetitions=20 tried=1",
            [
                "m_is_n=false protect=loss.guess.odds.risk", "over=average accuracy=bias.coverage.mean_width",
                "kind=categories", "kind=gaussian accuracy=mean_width gaussian_methods=modips_split n=9",
            ],
            slow="n values repetitions", pins="laplace~1~as_if_real", report_of="", tried="1.2",
        ),
        _case(
            nav.PLAN, "n=500", ["protect=guess", "protect=odds", "protect=risk"],
            statistics=STATISTIC, groups="A = 7; B = 5", which="2",
        ),
    )
}  # fmt: skip
"""By the names of the pages' modules."""
