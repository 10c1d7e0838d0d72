"""What a reader has set on a page is there again after another page, by the navigation."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest

import pages.components.address
from dpviz.core.settings import ControlSetting
from dpviz.desk.addresses import SETTINGS
from pages.components.navigation import PAGES
from pages.components.spec import PageSpec
from tests.pages import address, problems
from tests.test_carried import settled

CHANGED = {
    "every number of the first page":
    "transition_matrices?tm_synthesizer=posterior_mode&tm_n=7&tm_m_is_n=false&tm_m=6&tm_alpha=3&tm_beta_is_alpha=false"
    "&tm_beta=4&tm_epsilon=1&tm_delta=0.01&tm_show=pictures&tm_picture=log-odds&tm_sign=signed"
    "&tm_look=The+attacker&tm_worst=false&tm_pair=2&tm_column=3&tm_prior_odds=2",
    "noise of its own":
    "transition_matrices?tm_synthesizer=geometric&tm_noise_is_promise=false&tm_noise_epsilon=1.5&tm_look=As+published"
    "&tm_figure=Fig.+3",
    "the start": "?home_epsilon=2&home_n=20&home_seed=3",
    "drawn releases": "transition_matrices?tm_look=Draw+a+release&tm_x=2&tm_drawn_releases=7&tm_seed=3",
    "a truth that is handed on": "transition_matrices?tm_n=30&tm_p=0.3&tm_x=8",
    "risks": "transition_matrices?tm_look=The+attacker+in+four+languages&tm_prior_risk=0.2&tm_risk_ratio=3",
    "a pasted matrix":
    "transition_matrices?tm_synthesizer=given_matrix&tm_paste=0.75%2C0.25%0A0.25%2C0.75&tm_look=Why%2C+and+sources",
    "a comparison": "transition_matrices?tm_look=Plug-in+or+posterior+draw%3F&tm_own_alpha=true",
    "a better mechanism":
    "transition_matrices?tm_n=7&tm_look=Is+there+a+better+mechanism%3F&tm_with_delta=true",
    "normal rows":
    "minimum_priors?mp_family=Gaussian&mp_n=50&mp_sigma=2&mp_sigma0=3&mp_axis=against+n"
    "&mp_look=The+inverse&mp_reach=1",
    "categories":
    "minimum_priors?mp_family=k+categories&mp_n=30&mp_m_is_n=false&mp_m=20&mp_cells=4&mp_epsilon=2"
    "&mp_delta=0.001"
    "&mp_p=0.2&mp_look=The+inverse&mp_alpha=3",
    "uneven priors": "minimum_priors?mp_n=40&mp_look=Uneven+priors&mp_ratio=3&mp_beta=30",
    "coverage":
    "coverage?cv_synthesizer=posterior_mean&cv_prior=exact&cv_p=0.3&cv_epsilon=1&cv_delta=0.001&cv_sets=2"
    "&cv_n=20&cv_m_is_n=false"
    "&cv_m=15&cv_level=0.9&cv_rules=rubin_1987.as_if_real&cv_repetitions=500&cv_seed=3&cv_axis=against+%CE%B5",
    "a prior of one's own": "coverage?cv_prior=own&cv_alpha=4&cv_n=20&cv_look=Download",
    "typed counts":
    "posterior?po_source=typed&po_prior=own&po_alpha=5&po_n=30&po_m_is_n=false&po_m=20&po_knows=true"
    "&po_x=8&po_counts=7"
    "&po_gamma1=2&po_gamma2=3&po_level=0.8&po_look=k+categories&po_tables=5%2C+3%2C+2",
    "drawn counts":
    "posterior?po_n=30&po_x=8&po_prior=exact&po_epsilon=1&po_delta=0.001&po_sets=2&po_seed=4"
    "&po_look=If+n+is+secret"
    "&po_size_prior=around+a+guess&po_around=false&po_low=20&po_high=40&po_guess=25",
    "a comparison of methods":
    "compare_synthesizers?cs_binary_methods=laplace.beta_binomial&cs_epsilon=2&cs_terms=privacy&cs_delta=0.001&cs_n=20"
    "&cs_sets=3&cs_p=0.3&cs_level=0.9&cs_rule=rubin_1987&cs_first=0.1&cs_last=10&cs_repetitions=500&cs_seed=3"
    "&cs_look=One+release",
    "a comparison on mixed data":
    "compare_synthesizers?cs_kind=mixed&cs_mixed_methods=modips_sums&cs_mixed_estimand=cell_mean&cs_n=30&cs_cells=4"
    "&cs_correlation=-0.2&cs_mean=0.5&cs_low=-5&cs_high=6&cs_sets=2&cs_repetitions=60&cs_look=One+release",
    "a division of mixed data":
    "budget?bu_sets_kind=mixed&bu_sets_mixed_method=perturbed_cells&bu_n=9&bu_cells=3&bu_correlation=0.1"
    "&bu_repetitions=60",
    "a division over the statistics of mixed data":
    "budget?bu_spending=share&bu_sets=3&bu_share_kind=mixed&bu_share_mixed_method=perturbed_cells_safe&bu_n=9"
    "&bu_cells=3&bu_repetitions=60",
    "a division over sets":
    "budget?bu_sets_kind=gaussian&bu_sets_gaussian_method=modips_communal&bu_n=9&bu_mean=1&bu_sigma=2&bu_low=-3&bu_high=5"
    "&bu_epsilon=2&bu_level=0.9&bu_rule=rubin_1987&bu_repetitions=60&bu_seed=3&bu_look=Are+several+sets+worth+it%3F",
    "a division over statistics":
    "budget?bu_spending=share&bu_sets=3&bu_share_gaussian_method=modips_split_truncated&bu_n=9&bu_repetitions=60",
    "a division of yes-or-no data": "budget?bu_sets_binary_method=beta_binomial&bu_n=9&bu_p=0.3&bu_repetitions=60",
    "a division with the variance public":
    "budget?bu_sets_kind=gaussian_known_variance&bu_sets_gaussian_known_variance_method=modips_truncated&bu_n=9"
    "&bu_repetitions=60",
    "a curator's question":
    "curator?cu_n=30&cu_m_is_n=false&cu_m=20&cu_lowest_p=0.2&cu_highest_p=0.3&cu_protect=loss.guess.odds.risk"
    "&cu_epsilon=2&cu_delta=0.001&cu_known_before=0.4&cu_guesses=90&cu_believed_before=0.2&cu_most_after=0.6"
    "&cu_risk_before=0.2&cu_most_ratio=3&cu_accuracy=bias.root_mean_squared_error.coverage.mean_width&cu_most_bias=0.1"
    "&cu_most_error=0.2&cu_least_coverage=0.8&cu_points=25&cu_count_rules=as_if_real&cu_tried=1.2&cu_goal=bias"
    "&cu_over=average&cu_believed_ones=2&cu_believed_zeros=8&cu_count_methods=laplace.beta_binomial&cu_values=3&cu_level=0.9&cu_repetitions=60&cu_seed=3"
    "&cu_pins=laplace~1~as_if_real&cu_look=Side+by+side",
    "a curator's bounded mean":
    "curator?cu_kind=gaussian&cu_n=9&cu_sigma=2&cu_low=-3&cu_high=5&cu_lowest_mean=0.5&cu_highest_mean=2"
    "&cu_most_error=3&cu_gaussian_rules=rubin_1987.as_if_real&cu_tried=2.5&cu_values=2&cu_repetitions=60&cu_every=true"
    "&cu_gaussian_methods=modips_split.modips_communal.perturbed_histogram_safe.perturbed_histogram",
    "a curator's categories":
    "curator?cu_kind=categories&cu_n=9&cu_cells=4&cu_categories_rules=as_if_real"
    "&cu_categories_methods=dirichlet_multinomial.laplace_cells&cu_values=2&cu_repetitions=60&cu_look=Pilot+data",
    "a curator's frontier":
    "curator?cu_n=20&cu_values=2&cu_repetitions=60&cu_look=The+frontier&cu_along=bias&cu_across=guesses",
    "what changes a curator's choice":
    "curator?cu_n=20&cu_values=2&cu_repetitions=60&cu_look=How+the+choice+changes&cu_changed=sets",
    "its own coverage": "posterior?po_n=20&po_x=8&po_look=Its+own+coverage&po_kind=highest+density",
}  # fmt: skip
"""Addresses in which, together, every control of every page is other than on a fresh page."""


def paged(path: str) -> PageSpec:
    return next(page for page in PAGES if page.path == path)


def words(query: str) -> dict[str, str]:
    """Settings by key; where an address says one twice, as Streamlit does, the last."""
    return dict(parse_qsl(query))


@pytest.mark.parametrize("case", CHANGED)
def test_every_control_is_as_it_was_after_another_page(case: str) -> None:
    path, _, query = CHANGED[case].partition("?")
    here = settled(paged(path), words(query))
    assert problems(here) == []
    assert address(here) == words(query)
    there = settled(paged("" if path else "posterior"), before=here)
    again = settled(paged(path), before=there)
    assert address(again) == words(query)
    shown = paged(path).prefix
    assert again.session_state[shown].valid == here.session_state[shown].valid


def test_a_kind_of_data_stays_while_the_mechanism_does_and_the_rows_go_along() -> None:
    mixed = settled(paged("compare_synthesizers"), words(CHANGED["a comparison on mixed data"].partition("?")[2]))
    fewer = settled(paged("transition_matrices"), before=mixed)
    fewer.session_state["tm_n"] = 12
    fewer.run()
    again = settled(paged("compare_synthesizers"), before=fewer)
    assert {"cs_kind": "mixed", "cs_n": "12", "cs_correlation": "-0.2"}.items() <= address(again).items()
    fewer = settled(paged("transition_matrices"), before=again)
    fewer.session_state["tm_synthesizer"] = "geometric"
    fewer.run()
    last = settled(paged("compare_synthesizers"), before=fewer)
    assert "cs_kind" not in address(last)  # which is yes-or-no data, for the geometric sanitizer
    assert "geometric" in last.session_state["cs_binary_methods"]


def test_start_does_not_replace_what_has_been_set_before_it_was_seen() -> None:
    pasted = settled(paged("transition_matrices"), words(CHANGED["a pasted matrix"].partition("?")[2]))
    start = settled(paged(""), before=pasted)
    assert start.session_state["home_n"] == "100"
    coverage = settled(paged("coverage"), before=start)
    assert "cv_n" not in address(coverage)  # nothing was set that other pages have


class EnteredMeanwhile(dict[str, ControlSetting]):
    """Settings to which one is added whenever they are gone through, as where a page is entered for the first time."""

    def items(self) -> Any:
        return self._growing(super().items())

    def __iter__(self) -> Any:
        return self._growing(super().__iter__())

    def _growing(self, all_of_them: Iterable[object]) -> Iterator[object]:
        for one in all_of_them:
            self[f"zz_{len(self)}"] = SETTINGS["home_n"]
            yield one


def test_a_page_is_drawn_while_another_reader_is_the_first_on_another_page(monkeypatch: pytest.MonkeyPatch) -> None:
    settled(PAGES[1])  # whose own settings are there then
    monkeypatch.setattr(pages.components.address, "SETTINGS", EnteredMeanwhile(SETTINGS))
    assert not problems(settled(PAGES[1]))
