"""What a reader has set in real Chromium: on another page and back, with Back, after a preset, on a small screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.components.navigation import PAGES
from tests.browser import settle
from tests.look import TELEPHONE
from tests.visit import answer, choose_law, control, pick, small, toggle, told, type_number, unfold, visiting

pytestmark = pytest.mark.browser

TITLES = {page.path: page.title for page in PAGES}
HOME = TITLES[""]
HEADINGS = {page.title: page.heading or page.title for page in PAGES}

CHANGED = {
    "every number of the first page":
    "transition_matrices?tm_law=posterior_mode&tm_n=7&tm_m_is_n=false&tm_m=6&tm_alpha=3&tm_beta_is_alpha=false"
    "&tm_beta=4&tm_epsilon=1&tm_delta=0.01&tm_show=pictures&tm_picture=log-odds&tm_sign=signed"
    "&tm_look=The+attacker&tm_worst=false&tm_pair=2&tm_column=3&tm_prior_odds=2",
    "noise of its own":
    "transition_matrices?tm_law=geometric&tm_noise_is_promise=false&tm_noise_epsilon=1.5&tm_look=As+published"
    "&tm_figure=Fig.+3",
    "the start": "?home_epsilon=2&home_n=20&home_seed=3",
    "drawn releases": "transition_matrices?tm_look=Draw+a+release&tm_secret=2&tm_drawn_releases=7&tm_draw_seed=3",
    "a truth that is handed on": "transition_matrices?tm_n=30&tm_p=0.3&tm_x=8",
    "risks": "transition_matrices?tm_look=The+attacker+in+four+languages&tm_prior_risk=0.2&tm_risk_ratio=3",
    "a pasted matrix":
    "transition_matrices?tm_law=given_matrix&tm_paste=0.75%2C0.25%0A0.25%2C0.75&tm_look=Why%2C+and+sources",
    "a comparison": "transition_matrices?tm_look=Plug-in+or+posterior+draw%3F&tm_own_alpha=true",
    "a better mechanism":
    "transition_matrices?tm_n=7&tm_look=Is+there+a+better+mechanism%3F&tm_with_delta=true",
    "normal rows":
    "minimum_priors?mp_family=Gaussian&mp_n=50&mp_sigma=2&mp_sigma0=3&mp_axis=against+n"
    "&mp_look=The+inverse&mp_reach=1",
    "categories":
    "minimum_priors?mp_family=k+categories&mp_n=30&mp_m_is_n=false&mp_m=20&mp_cells=4&mp_epsilon=2"
    "&mp_delta=0.001"
    "&mp_proportion=0.2&mp_look=The+inverse&mp_alpha=3",
    "uneven priors": "minimum_priors?mp_n=40&mp_look=Uneven+priors&mp_ratio=3&mp_beta=30",
    "coverage":
    "coverage?cv_law=posterior_mean&cv_prior=exact&cv_p=0.3&cv_epsilon=1&cv_delta=0.001&cv_sets=2"
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
    "&cu_epsilon=2&cu_delta=0.001&cu_known_before=0.4&cu_most_success=0.9&cu_believed_before=0.2&cu_most_after=0.6"
    "&cu_risk_before=0.2&cu_most_ratio=3&cu_accuracy=bias.root_mean_squared_error.coverage.mean_width&cu_most_bias=0.1"
    "&cu_most_error=0.2&cu_least_coverage=0.8&cu_most_length=0.5&cu_count_rules=as_if_real&cu_tried=1.2&cu_goal=bias"
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


def go_to(page: Page, title: str) -> None:
    page.get_by_role("link", name=title, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(HEADINGS[title])
    settle(page)


def parted(url: str) -> set[str]:
    """The settings in an address; their order is that of the controls."""
    return set(url.partition("?")[2].split("&")) - {""}


@pytest.mark.parametrize("case", CHANGED)
def test_every_control_is_as_it_was_after_another_page(chromium: Browser, server: str, case: str) -> None:
    path = CHANGED[case].partition("?")[0]
    with visiting(chromium, f"{server}/{CHANGED[case]}") as page:
        assert parted(page.url) == parted(CHANGED[case])
        assert page.locator(".dpviz-problem").count() == 0
        before, address = told(page), page.url
        go_to(page, HOME if path else "Posterior")
        assert not parted(page.url) & parted(address)
        go_to(page, TITLES[path])
        expect(page).to_have_url(address)
        assert told(page) == before


def test_a_preset_is_one_state_and_back_leads_to_the_page_before(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/transition_matrices") as page:
        go_to(page, "Minimum priors")
        went = page.evaluate("history.length")
        go_to(page, "Transition matrices")
        page.get_by_role("radio", name="100 rows").or_(page.get_by_role("button", name="100 rows")).first.click()
        expect(page.locator(".dpviz-mark").first).to_contain_text("kept")
        settle(page)
        choose_law(page, "posterior_mean")
        choose_law(page, "beta_binomial")
        said, address = answer(page), page.url
        assert parted(address) == {"tm_law=beta_binomial", "tm_n=100", "tm_alpha=58.19767068693265", "tm_epsilon=1"}
        assert page.evaluate("history.length") == went + 1
        go_to(page, "Coverage")
        assert page.evaluate("history.length") == went + 2
        page.go_back()
        expect(page).to_have_url(address)
        settle(page)
        assert answer(page) == said
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Minimum priors")
        settle(page)
        assert parted(page.url) == set()
        page.go_forward()
        expect(page).to_have_url(address)
        settle(page)
        assert answer(page) == said


def test_choices_made_by_hand_outlast_another_page(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/minimum_priors?mp_n=50") as page:
        pick(page, "family", "Gaussian")
        toggle(page, "m_is_n")
        type_number(page, "m", "40")
        before, address = told(page), page.url
        assert {"mp_family=Gaussian", "mp_m_is_n=false", "mp_m=40"} <= parted(address)
        go_to(page, "Posterior")
        pick(page, "source", "typed in")
        control(page, "prior").get_by_text("choose α myself").click()
        settle(page)
        there, typed = told(page), page.url
        go_to(page, "Minimum priors")
        expect(page).to_have_url(address)
        assert told(page) == before
        go_to(page, "Posterior")
        expect(page).to_have_url(typed)
        assert told(page) == there


def test_what_a_box_refuses_is_said_and_the_answer_stays(chromium: Browser, server: str) -> None:
    with visiting(chromium, f"{server}/transition_matrices?tm_n=7") as page:
        before = answer(page)
        for text, got in (("5.5", "got 5.5."), ("", "its box is empty"), ("-3", "got −3."), ("1e300", "got 10³⁰⁰.")):
            type_number(page, "n", text)
            expect(page.locator(".dpviz-problem")).to_contain_text(got)
            expect(page.locator(".dpviz-note").first).to_contain_text(
                "What follows is the answer for the last settings"
            )
            assert answer(page) == before
        type_number(page, "n", "7")
        expect(page.locator(".dpviz-problem")).to_have_count(0)


BROKEN = """() => {
  const broken = [];
  for (const label of document.querySelectorAll('.st-key-controls label, .st-key-controls button')) {
    const walker = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (const word of node.textContent.matchAll(/[\\p{L}\\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
  }
  return broken;
}"""
"""Words of labels that stand on more than one line."""


def test_labels_have_room_for_their_words(chromium: Browser, server: str) -> None:
    for path in TITLES:
        with visiting(chromium, f"{server}/{small(path)}", {"width": 1024, "height": 1000}) as page:
            unfold(page)
            assert page.locator(".st-key-controls label").count() > 5 or not path
            for width in (1024, 700):
                page.set_viewport_size({"width": width, "height": 1000})
                settle(page)
                assert page.evaluate(BROKEN) == [], (path, width)
                assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_drawer_of_a_telephone_closes_behind_the_page_that_was_chosen(chromium: Browser, server: str) -> None:
    with visiting(chromium, server, viewport=TELEPHONE, has_touch=True, is_mobile=True) as page:
        drawer = page.get_by_test_id("stSidebarNavLink").filter(has_text="Coverage")
        page.get_by_test_id("stExpandSidebarButton").click()
        drawer.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Coverage")
        expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
        expect(drawer).not_to_be_in_viewport()
        settle(page)


TABLES = """() => [...document.querySelectorAll('.dpviz-table')].map((table) =>
  [table.scrollWidth > table.clientWidth + 1, table.querySelector('caption em').offsetHeight > 5])"""
"""Whether each table is wider than its place, and whether it says that it may be."""


def test_a_table_fits_or_says_that_it_goes_on(chromium: Browser, server: str) -> None:
    for n in (9, 11):
        with visiting(chromium, f"{server}/transition_matrices?tm_n={n}") as page:
            for width in (1400, 1160, 390):
                page.set_viewport_size({"width": width, "height": 1000})
                settle(page)
                for wider, says in page.evaluate(TABLES):
                    assert says or not wider, (width, n)
                    assert width < 1400 or not (wider or says), n
