"""JSON is read exactly as written, written exactly as held, and refused where it would harm."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.foundation import exact_json
from nimbill.foundation.errors import Invalid
from nimbill.foundation.exact_json import DEPTH_MAX, DIGITS_MAX, EXPONENT_MAX


def refused(body: bytes) -> Invalid:
    with pytest.raises(Invalid) as refusal:
        exact_json.read(body)
    assert refusal.value.status == 400
    return refusal.value


def nested(levels: int, opening: bytes = b"[", closing: bytes = b"]") -> bytes:
    return opening * levels + closing * levels


@pytest.mark.parametrize("written", ["0.10", "0.0755", "1.00", "-0.5", "1E-12", "123456.7890"])
def test_a_number_with_a_point_keeps_every_digit(written: str) -> None:
    value = exact_json.read(written.encode())

    assert value == Decimal(written)
    assert str(value) == written
    assert exact_json.write(value) == written.encode()


def test_a_whole_number_stays_whole() -> None:
    assert exact_json.read(b"[0, 7, -12]") == [0, 7, -12]
    assert all(type(value) is int for value in exact_json.read(b"[0, 7, -12]"))


@pytest.mark.parametrize("constant", [b"NaN", b"Infinity", b"-Infinity", b'{"a": [NaN]}'])
def test_what_is_no_number_is_refused(constant: bytes) -> None:
    assert refused(constant).code == "malformed_body"


@pytest.mark.parametrize(
    "number",
    [
        b"1e400",
        b"1e1000000",
        b"-1E+99999999999999999999",
        b"1e13",
        b"1e-13",
        b"1" + b"0" * DIGITS_MAX,
        b"-1" + b"0" * DIGITS_MAX,
        b"0." + b"1" * DIGITS_MAX,
        b"9" * 100_000,
        b"0." + b"9" * 100_000,
    ],
)
def test_a_number_out_of_range_is_refused(number: bytes) -> None:
    assert refused(number).code == "number_out_of_range"


def test_the_longest_number_is_still_read() -> None:
    assert exact_json.read(b"9" * DIGITS_MAX) == 10**DIGITS_MAX - 1
    assert exact_json.read(b"-" + b"9" * DIGITS_MAX) == 1 - 10**DIGITS_MAX
    assert exact_json.read(b"0." + b"1" * (DIGITS_MAX - 1)) == Decimal("0." + "1" * 29)
    assert exact_json.read(b"1e%d" % EXPONENT_MAX) == Decimal(10**EXPONENT_MAX)
    assert exact_json.read(b"1e-%d" % EXPONENT_MAX) == Decimal("1e-12")


@pytest.mark.parametrize("body", [b'{"a":1,"a":1}', b'[{"b":{"a":1,"c":2,"a":3}}]'])
def test_a_key_may_stand_once_in_an_object(body: bytes) -> None:
    assert refused(body).detail == "a key stands twice in one object"


def test_a_key_written_in_two_ways_is_still_one_key() -> None:
    assert refused(b'{"a":1,"\\u0061":2}').detail == "a key stands twice in one object"


@pytest.mark.parametrize(
    "body",
    [
        nested(DEPTH_MAX + 1),
        nested(DEPTH_MAX + 1, b'{"a":', b"}").replace(b":}", b":1}", 1),
        nested(100_000),
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 100_000,
    ],
    ids=["lists", "objects", "very deep lists", "very deep objects", "never closed"],
)
def test_what_is_nested_too_deep_is_refused(body: bytes) -> None:
    assert refused(body).code == "malformed_body"


def test_the_deepest_allowed_nesting_is_read() -> None:
    value = exact_json.read(nested(DEPTH_MAX))

    for _ in range(DEPTH_MAX - 1):
        (value,) = value
    assert value == []


def test_a_wide_body_is_not_a_deep_one() -> None:
    assert exact_json.read(b"[" + b",".join([b"[]"] * 10_000) + b"]") == [[]] * 10_000


@pytest.mark.parametrize(
    "body",
    [
        b'"\\u0000"',
        b'{"a\\u0000": 1}',
        b'{"a": ["\\u0000"]}',
        b'"a\x00b"',
        b'"\\ud800"',
        b'["\\udfff and more"]',
        b'{"\\ud83d": 1}',
        b'"\\udc00\\ud800"',
    ],
)
def test_nul_and_half_a_surrogate_pair_are_refused_in_texts_and_keys(body: bytes) -> None:
    assert refused(body).code == "malformed_body"


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert exact_json.read(b'"\\ud83c\\udf38"') == "🌸"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"\xff\xfe{}",
        b'"\xed\xa0\x80"',
        b'"\xc0\x80"',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-32"),
        b"{'a':1}",
        b'{"a":1,}',
        b'{"a":01}',
        b"{} {}",
        b'"\t"',
        b"nul",
    ],
)
def test_what_is_not_json_in_utf8_is_refused(body: bytes) -> None:
    assert refused(body).code == "malformed_body"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_and_never_surprise(body: bytes) -> None:
    code = "none"
    try:
        exact_json.read(body)
    except Invalid as refusal:
        code = refusal.code

    assert code in ("none", "malformed_body", "number_out_of_range")


def test_a_refusal_repeats_nothing_that_was_sent() -> None:
    refusal = refused(b'{"canary-key": "canary-value", "canary-key": 1}')

    assert "canary" not in refusal.detail + refusal.code + str(refusal)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12)))
def test_a_decimal_written_is_the_decimal_read(value: Decimal) -> None:
    assert exact_json.read_own(exact_json.write(value).decode()) == value


def test_text_is_written_as_utf8() -> None:
    assert exact_json.write({"name": "株式会社さくら"}) == '{"name":"株式会社さくら"}'.encode()


def test_our_own_text_is_read_back_whatever_the_limits_for_others() -> None:
    deep = {"sent": exact_json.read(nested(DEPTH_MAX))}
    small = Decimal("0.00000000000000000000000000001")

    assert exact_json.read_own(exact_json.write(deep).decode()) == deep
    assert exact_json.read_own(exact_json.write([small]).decode()) == [small]


def canonical(body: bytes) -> bytes:
    return exact_json.canonical(exact_json.read(body))


def test_order_space_and_idle_zeros_make_no_difference_to_the_canonical_text() -> None:
    assert canonical(b'{"b": 1.50, "a": ["x"]}') == canonical(b'{"a":["x"],"b":1.5}')


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a":1.5}', b'{"a":1.6}'),
        (b'{"a":1.5}', b'{"a":"1.5"}'),
        (b'{"a":1.5}', b'{"a":"number:1.5"}'),
        (b"[1,2]", b"[2,1]"),
        (b'{"a":null}', b"{}"),
        (b'{"a":true}', b'{"a":1}'),
        (b"1.00000000000000000000000000001", b"1.00000000000000000000000000002"),
    ],
)
def test_other_values_have_another_canonical_text(one: bytes, other: bytes) -> None:
    assert canonical(one) != canonical(other)


def test_the_canonical_text_is_plain_ascii_json() -> None:
    assert json.loads(canonical('{"名": 1}'.encode()).decode("ascii")) == {"名": 1}


def test_there_is_no_canonical_text_for_what_no_json_holds() -> None:
    with pytest.raises(TypeError):
        exact_json.canonical({"a": b"bytes"})
