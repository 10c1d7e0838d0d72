"""What a declared parameter accepts and says, and how numbers are written for people."""

import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core.declarations import DELTA, EPSILON, LEVEL
from dpviz.core.formatting import SUPERSCRIPTS, describe_value, format_distinct, format_number
from dpviz.core.parameters import Parameter
from dpviz.export.stored import json_number
from dpviz.mechanisms import SYNTHESIZERS

BY_NAME = {f"{cls.key}.{one.name}": one for cls in SYNTHESIZERS.values() for one in cls.parameters()}
DECLARED = {one: name for name, one in ({"epsilon": EPSILON, "delta": DELTA} | BY_NAME).items()}
"""Every declaration once, with the name of the last that has it."""

every_declaration = pytest.mark.parametrize("declaration", DECLARED, ids=DECLARED.values())
finite = st.floats(allow_nan=False, allow_infinity=False)
laws = settings(deadline=None, derandomize=True, max_examples=200)
PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
NOT_NUMBERS = ["abc", "", "1e", "nan", "inf", "-inf", "1;2", "0x10", "٣؟"]


def read_back(text: str) -> float:
    """The number that `format_number` wrote."""
    match = re.fullmatch(r"(−?)(?:([\d.,]+)×)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    if match is None:
        return float(text.replace(",", "").translate(PLAIN))
    sign, mantissa, power = match.groups()
    return float(f"{'-' if sign else ''}{mantissa or 1}e{power.translate(PLAIN)}")


@pytest.mark.parametrize(("number", "digits", "text"), [
    (0.0, 6, "0"), (-0.0, 6, "0"), (5, 6, "5"), (5000, 6, "5,000"), (0.5, 6, "0.5"), (-0.5, 6, "−0.5"),
    (5.493061443340549, 7, "5.493061"), (1234.5678, 6, "1,234.57"), (999999.5, 6, "1,000,000"), (1e7, 6, "10⁷"),
    (9_999_999.9, 6, "10⁷"), (9_999_999.9, 8, "9,999,999.9"), (1e-4, 6, "0.0001"), (0.00009999999, 6, "0.0001"),
    (9.99e-5, 6, "9.99×10⁻⁵"), (1e-5, 6, "10⁻⁵"), (-1e-5, 6, "−10⁻⁵"), (1e12, 6, "10¹²"), (1e-300, 6, "10⁻³⁰⁰"),
    (2.5e-300, 6, "2.5×10⁻³⁰⁰"), (5e-324, 3, "4.94×10⁻³²⁴"), (0.12345678, 3, "0.123"), (math.inf, 6, "∞"),
    (-math.inf, 6, "−∞"),
])  # fmt: skip
def test_a_number_is_written_as_a_person_writes_it(number: float, digits: int, text: str) -> None:
    assert format_number(number, digits) == text


def test_nan_has_no_readable_form() -> None:
    with pytest.raises(ValueError, match="NaN"):
        format_number(math.nan)


@laws
@given(finite, st.integers(1, 12))
def test_what_is_written_is_the_number_to_as_many_digits(number: float, digits: int) -> None:
    assert read_back(format_number(number, digits)) == pytest.approx(float(f"{number:.{digits}g}"), rel=1e-14)


@laws
@given(finite)
def test_the_sign_of_a_number_is_all_that_its_negative_changes(number: float) -> None:
    assert format_number(-number).removeprefix("−") == format_number(number).removeprefix("−")


@laws
@given(finite, finite)
def test_larger_numbers_are_never_written_as_smaller_ones(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert read_back(format_number(low)) <= read_back(format_number(high))


@pytest.mark.parametrize("pair", [(1.0, 1.00001), (100.0, 99.9995), (2e-7, 2.0000000001e-7), (1e9, 1e9 + 1)])
def test_two_different_numbers_are_not_written_alike(pair: tuple[float, float]) -> None:
    first, second = pair
    assert format_number(first, 4) == format_number(second, 4)
    assert format_distinct(first, second, 4) != format_distinct(second, first, 4)
    assert format_distinct(first, first, 4) == format_number(first, 4)


def test_superscripts_cover_every_exponent() -> None:
    assert "-0123456789".translate(SUPERSCRIPTS) == "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"


@every_declaration
def test_the_default_and_the_ends_of_the_slider_belong_to_the_domain(declaration: Parameter) -> None:
    assert declaration.validate(declaration.default) == declaration.default
    for end in (declaration.slider_minimum, declaration.slider_maximum, declaration.maximum):
        if end is not None:
            assert declaration.validate(end) == end


@every_declaration
def test_the_minimum_belongs_to_the_domain_unless_it_is_open(declaration: Parameter) -> None:
    if declaration.open_minimum:
        with pytest.raises(ValueError, match="above"):
            declaration.validate(declaration.minimum)
        above = math.nextafter(declaration.minimum, math.inf)
        assert declaration.validate(above) == above
    else:
        assert declaration.validate(declaration.minimum) == declaration.minimum


@every_declaration
def test_what_lies_outside_is_refused_with_the_name_and_the_domain(declaration: Parameter) -> None:
    below, above = math.nextafter(declaration.minimum, -math.inf), math.nextafter(declaration.maximum, math.inf)
    for value in (below, above, math.inf, -math.inf, math.nan):
        with pytest.raises(ValueError, match="must be") as refusal:
            declaration.validate(value)
        sentence = str(refusal.value)
        title = declaration.title.lower()
        told = declaration.name if title == declaration.name else f"{declaration.name} ({title})"
        assert sentence.startswith(f"{told} must be ")
        assert declaration.domain in sentence


@every_declaration
def test_what_is_no_number_is_refused(declaration: Parameter) -> None:
    for value in ("1", b"1", True, None, [1], object(), 1j, np.array([1.0, 2.0])):
        with pytest.raises(ValueError, match="must be"):
            declaration.validate(value)


@every_declaration
def test_text_that_is_no_number_is_refused_and_quoted(declaration: Parameter) -> None:
    for text in NOT_NUMBERS:
        with pytest.raises(ValueError, match="must be") as refusal:
            declaration.parse(text)
        got = text if text == "nan" else describe_value(float(text)) if "inf" in text else repr(text)
        assert str(refusal.value).endswith(f" must be {declaration.domain}; got {got}."), text


def test_what_came_is_shown_with_its_digits() -> None:
    with pytest.raises(ValueError, match=r"got 0\.9999999"):
        LEVEL.validate(0.9999999)


@every_declaration
def test_an_array_is_checked_number_by_number(declaration: Parameter) -> None:
    ends = [math.nextafter(declaration.minimum, math.inf), declaration.maximum]
    inside = [declaration.default, *([declaration.minimum + 1] if declaration.integer else ends)]
    assert declaration.validate_array(inside).tolist() == inside
    below = declaration.minimum if declaration.open_minimum else math.nextafter(declaration.minimum, -math.inf)
    for outside in (below, math.nextafter(declaration.maximum, math.inf), math.nan):
        for values in ([outside, *inside], [*inside, outside]):
            with pytest.raises(ValueError, match="must be") as refusal:
                declaration.validate_array(np.array(values))
            assert declaration.domain in str(refusal.value), values


@every_declaration
@settings(laws, max_examples=40)
@given(data=st.data())
def test_every_value_of_the_domain_is_read_back_from_its_text(declaration: Parameter, data: st.DataObject) -> None:
    kinds = st.integers if declaration.integer else st.floats
    value = data.draw(kinds(declaration.minimum, declaration.maximum))
    if declaration.open_minimum and value == declaration.minimum:
        return
    checked = declaration.validate(value)
    assert checked == value
    assert type(checked) is (int if declaration.integer else float)
    assert declaration.parse(repr(value)) == value
    assert declaration.parse(f"  {value!r}\n") == value
    assert declaration.validate(np.float64(value)) == value


def test_fractions_are_refused_where_whole_numbers_are_asked_for() -> None:
    whole = dataclasses.replace(EPSILON, integer=True, minimum=1, maximum=9)
    with pytest.raises(ValueError, match=r"must be a whole number from 1 to 9; got 2\.5"):
        whole.validate(2.5)
    assert whole.validate(2.0) == 2
    assert whole.domain == "a whole number from 1 to 9"


def test_a_zero_has_no_sign() -> None:
    assert [math.copysign(1.0, value) for value in (DELTA.validate(-0.0), DELTA.parse("-0"), json_number(-0.0))] == [
        1,
        1,
        1,
    ]
