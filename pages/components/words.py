"""HTML pieces of the pages: the answer in a sentence, numbers with their meaning, notes and problems."""

from __future__ import annotations

import re
from html import escape

import streamlit as st

from dpviz.charts.count_table import STYLE as TABLE_STYLE
from dpviz.parameters import readable

STYLE = (
    TABLE_STYLE
    + """
.dpviz-title {font-size: 2rem; padding: 0 !important; margin: 0; line-height: 1.2}
.dpviz-title small {font-weight: 400; opacity: .7; margin-right: .4rem; font-size: 1.25rem}
.dpviz-heading {font-size: 1.25rem !important; padding: .6rem 0 .1rem !important; margin: 0}
.dpviz-question {margin: .2rem 0 .4rem; opacity: .85}
.dpviz-answer {font-size: 1.2rem; line-height: 1.45; margin: 0 0 .8rem; text-wrap: pretty}
.dpviz-answer b {font-weight: 650}
.dpviz-mark {display: inline-block; font-weight: 650; padding: 0 .5rem; border-radius: .4rem; margin-right: .35rem;
  border: 2px solid currentColor; margin-bottom: .1rem}
.dpviz-numbers {display: grid; grid-template-columns: repeat(auto-fit, minmax(11.5rem, 1fr)); gap: .7rem;
  margin: 0 !important; padding: 0 !important}
.dpviz-numbers > div {border: 1px solid rgba(128,128,128,.3); border-radius: .4rem; padding: .55rem .75rem}
.dpviz-numbers dt {font-size: .84rem; opacity: .85}
.dpviz-numbers dd {margin: 0}
.dpviz-numbers dd:nth-of-type(1) {font-size: 1.45rem; font-weight: 600; font-variant-numeric: tabular-nums}
.dpviz-numbers dd:nth-of-type(2) {font-size: .8rem; opacity: .85; line-height: 1.35}
.dpviz-note {border-left: 3px solid #0072B2; padding: .15rem 0 .15rem .8rem; margin: .4rem 0 .8rem; line-height: 1.45}
.dpviz-problem {border-left: 3px solid #D55E00; padding: .15rem 0 .15rem .8rem; margin: .4rem 0 .8rem}
.dpviz-list {border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; width: 100%}
.dpviz-list th, .dpviz-list td {text-align: left; padding: .3rem .6rem .3rem 0; vertical-align: top;
  border-bottom: 1px solid rgba(128,128,128,.25)}
.dpviz-list td.num, .dpviz-list th.num {text-align: right; white-space: nowrap}
.dpviz-list th.num {white-space: normal; vertical-align: bottom}
.dpviz-scroll {overflow-x: auto}
.stMain [data-testid="stCaptionContainer"] {opacity: .8}
.stMultiSelect [data-tag] * {color: #FFFFFF; color: light-dark(#FFFFFF, #11161C)}
.stMain [data-testid="stCheckbox"] [data-testid="stMarkdownContainer"],
.stMain [data-testid="stCheckbox"] [data-testid="stMarkdownContainer"] p {white-space: normal; overflow: visible}
@media (max-width: 1150px) {
  [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"] .st-key-controls) {flex-direction: column}
  [data-testid="stHorizontalBlock"] > [data-testid="stColumn"]:has(.st-key-controls),
  [data-testid="stColumn"]:has(.st-key-controls) + [data-testid="stColumn"] {width: 100%; min-width: 100%; flex: none}
  .st-key-controls {display: grid !important; align-items: start; column-gap: 2rem;
    grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr))}
}
@media (min-width: 1151px) {
  [data-testid="stColumn"]:has(.st-key-controls) {position: sticky; top: 3.5rem; align-self: flex-start;
    max-height: calc(100vh - 4rem); overflow-y: auto; scrollbar-width: thin; padding-right: .6rem}
}
.stMainBlockContainer {padding: 3.6rem 2rem 4rem}
@media (max-width: 640px) {
  .dpviz-stack, .dpviz-stack tbody {display: block}
  .dpviz-stack thead {display: none}
  .dpviz-stack tr {display: grid; grid-template-columns: repeat(3, 1fr); column-gap: .6rem;
    border-bottom: 1px solid rgba(128,128,128,.3); padding: .25rem 0}
  .dpviz-list.dpviz-stack td {display: block; border: none; padding: .1rem 0; grid-column: 1 / -1}
  .dpviz-list.dpviz-stack td.num {grid-column: auto; text-align: left; white-space: normal; overflow-wrap: anywhere}
  .dpviz-stack td.num:empty {display: none}
  .dpviz-stack td.num::before {content: attr(data-label); display: block; font-size: .72rem; opacity: .85;
    overflow-wrap: normal}
}
@media (max-width: 640px) {.dpviz-list {font-size: .8rem} .dpviz-list th, .dpviz-list td {padding-right: .4rem}}
.dpviz-now {display: none}
@media (max-width: 640px) {.stMainBlockContainer {padding: 3.6rem 1rem 4.5rem}}
@media (max-width: 1150px) {
  .dpviz-now {display: block; position: fixed; inset: auto 0 0; z-index: 5; padding: .45rem 1rem; font-size: .9rem;
    background: #F2F5F8; background: light-dark(#F2F5F8, #1B232C); border-top: 1px solid rgba(128,128,128,.5);
    white-space: nowrap; overflow: hidden;
    text-overflow: ellipsis}
}
"""
)


def answer(mark: str, sentence: str) -> str:
    """The page's answer: a word in a frame, then the sentence; `sentence` may hold ``<b>``."""
    return f'<p class="dpviz-answer"><span class="dpviz-mark">{escape(mark)}</span> {sentence}</p>'


def page_answer(mark: str, sentence: str, brief: str) -> str:
    """The answer of the whole page. A phone shows the controls first: there `mark` and `brief` stay at the lower edge.

    Parameters
    ----------
    mark, sentence
        As in `answer`.
    brief
        A few words that say what `mark` is, plain text.
    """
    return (
        f'{answer(mark, sentence)}<div class="dpviz-now" aria-hidden="true"><b>{escape(mark)}</b> {escape(brief)}</div>'
    )


def numbers(*entries: tuple[str, str, str]) -> str:
    """Numbers side by side, each with its name above and its meaning below."""
    parts = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd>{escape(meaning)}</dd></div>"
        for name, value, meaning in entries
    )
    return f'<dl class="dpviz-numbers">{"".join(parts)}</dl>'


def percent(share: float, digits: int = 5) -> str:
    """A share in per cent, to no more decimals than a bound of 10⁻⁸ on its error leaves; 100 only where it is all.

    Examples
    --------
    >>> percent(0.754419995), percent(3e-12), percent(0.9999851, 4)
    ('75.442 %', '0 %', '99.999 %')
    """
    rounded = round(100 * share, 6)
    while rounded < 100 and float(f"{rounded:.{digits}g}") == 100:
        digits += 1
    return f"{readable(rounded, digits)} %"


def raised(formula: str) -> str:
    """A formula whose exponents, written after ^, stand above the line.

    Examples
    --------
    >>> raised("1/(e^{ε/m} − 1) + e^ε")
    '1/(e<sup>ε/m</sup> − 1) + e<sup>ε</sup>'
    """
    return re.sub(r"\^(?:\{([^}]*)\}|(\w))", lambda found: f"<sup>{found[1] or found[2]}</sup>", formula)


def heading(text: str) -> None:
    """A heading inside the page."""
    st.html(f'<h2 class="dpviz-heading">{escape(text)}</h2>')


def note(sentence: str) -> None:
    """An aside in the flow of the page; `sentence` may hold inline HTML."""
    st.html(f'<p class="dpviz-note">{sentence}</p>')


def problem(sentence: str) -> None:
    """What is wrong with an input and what is allowed, as plain text."""
    st.html(f'<p class="dpviz-problem" role="alert">{escape(sentence)}</p>')


def listing(head: list[str], rows: list[list[str]], caption: str, numeric: frozenset[int] = frozenset()) -> None:
    """A small table of words and numbers; `numeric` columns are set to the right. Cells may hold inline HTML.

    On a phone a table with numbers becomes a list: each row's first cell, below it the numbers under their names.
    """

    def cells(tag: str, values: list[str]) -> str:
        parts = []
        for place, value in enumerate(values):
            named = f' data-label="{escape(re.sub("<[^>]+>", "", head[place]))}"' if tag == "td" else ""
            parts.append(f"<{tag}{f' class=num{named}' if place in numeric else ''}>{value}</{tag}>")
        return "".join(parts)

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    kind = "dpviz-list dpviz-stack" if numeric else "dpviz-list"
    st.html(
        f'<div class="dpviz-scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table class="{kind}"><thead><tr>{cells("th", head)}</tr></thead><tbody>{body}</tbody></table></div>'
    )
