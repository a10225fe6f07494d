"""Exact JSON: numbers keep every digit; malformed and oversized bodies are refused."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.foundation import exact_json
from nimbill.foundation.errors import Invalid
from nimbill.foundation.exact_json import DEPTH_MAX, DIGITS_MAX, EXPONENT_MAX


def decode_error(body: bytes) -> Invalid:
    with pytest.raises(Invalid) as refused:
        exact_json.decode(body)
    assert refused.value.status == 400
    return refused.value


def nest(levels: int, opening: bytes = b"[", closing: bytes = b"]") -> bytes:
    return opening * levels + closing * levels


@pytest.mark.parametrize("text", ["0.10", "0.0755", "1.00", "-0.5", "1E-12", "123456.7890"])
def test_a_decimal_number_keeps_every_digit(text: str) -> None:
    value = exact_json.decode(text.encode())

    assert value == Decimal(text)
    assert str(value) == text
    assert exact_json.encode(value) == text.encode()


def test_a_whole_number_stays_an_integer() -> None:
    assert exact_json.decode(b"[0, 7, -12]") == [0, 7, -12]
    assert all(type(value) is int for value in exact_json.decode(b"[0, 7, -12]"))


@pytest.mark.parametrize("constant", [b"NaN", b"Infinity", b"-Infinity", b'{"a": [NaN]}'])
def test_nan_and_infinities_are_refused(constant: bytes) -> None:
    assert decode_error(constant).code == "malformed_body"


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
    assert decode_error(number).code == "number_out_of_range"


def test_numbers_at_the_limits_are_accepted() -> None:
    assert exact_json.decode(b"9" * DIGITS_MAX) == 10**DIGITS_MAX - 1
    assert exact_json.decode(b"-" + b"9" * DIGITS_MAX) == 1 - 10**DIGITS_MAX
    assert exact_json.decode(b"0." + b"1" * (DIGITS_MAX - 1)) == Decimal("0." + "1" * 29)
    assert exact_json.decode(b"1e%d" % EXPONENT_MAX) == Decimal(10**EXPONENT_MAX)
    assert exact_json.decode(b"1e-%d" % EXPONENT_MAX) == Decimal("1e-12")
    assert exact_json.decode(b"1e+012") == Decimal("1e12")
    assert exact_json.decode(b"0.%s1" % (b"0" * 28)) == Decimal("1e-29")


def test_the_limits_are_30_digits_an_exponent_of_12_and_32_levels() -> None:
    assert (DIGITS_MAX, EXPONENT_MAX, DEPTH_MAX) == (30, 12, 32)


@pytest.mark.parametrize("body", [b'{"a":1,"a":1}', b'[{"b":{"a":1,"c":2,"a":3}}]'])
def test_duplicate_keys_are_refused(body: bytes) -> None:
    assert decode_error(body).detail == "An object has a duplicate key."


def test_an_escaped_duplicate_key_is_refused() -> None:
    assert decode_error(b'{"a":1,"\\u0061":2}').detail == "An object has a duplicate key."


@pytest.mark.parametrize(
    "body",
    [
        nest(DEPTH_MAX + 1),
        nest(DEPTH_MAX + 1, b'{"a":', b"}").replace(b":}", b":1}", 1),
        nest(100_000),
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b"[" * 100_000,
    ],
    ids=["lists", "objects", "very deep lists", "very deep objects", "never closed"],
)
def test_nesting_beyond_the_limit_is_refused(body: bytes) -> None:
    assert decode_error(body).code == "malformed_body"


def test_nesting_at_the_limit_is_accepted() -> None:
    value = exact_json.decode(nest(DEPTH_MAX))

    for _ in range(DEPTH_MAX - 1):
        (value,) = value
    assert value == []


def test_the_levels_of_a_body_with_escapes_are_counted_one_by_one() -> None:
    """A body with escapes is searched level by level, however few brackets it has."""
    value = exact_json.decode(b"[" * DEPTH_MAX + b'"\\u0041"' + b"]" * DEPTH_MAX)

    for _ in range(DEPTH_MAX):
        (value,) = value
    assert value == "A"


def test_many_brackets_on_one_level_are_accepted() -> None:
    assert exact_json.decode(b"[" + b",".join([b"[]"] * 10_000) + b"]") == [[]] * 10_000


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
def test_nul_and_lone_surrogates_are_refused_in_texts_and_keys(body: bytes) -> None:
    assert decode_error(body).code == "malformed_body"


def test_an_escaped_surrogate_pair_is_one_character() -> None:
    assert exact_json.decode(b'"\\ud83c\\udf38"') == "🌸"


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
def test_bodies_that_are_not_utf8_json_are_refused(body: bytes) -> None:
    assert decode_error(body).code == "malformed_body"


@given(st.binary(max_size=200))
def test_random_bytes_are_decoded_or_refused(body: bytes) -> None:
    code = "none"
    try:
        exact_json.decode(body)
    except Invalid as error:
        code = error.code

    assert code in ("none", "malformed_body", "number_out_of_range")


def test_an_error_does_not_repeat_the_body() -> None:
    error = decode_error(b'{"canary-key": "canary-value", "canary-key": 1}')

    assert "canary" not in error.detail + error.code + str(error)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**12)))
def test_an_encoded_decimal_is_decoded_to_the_same_value(value: Decimal) -> None:
    assert exact_json.decode_stored(exact_json.encode(value).decode()) == value


def test_text_is_encoded_as_utf8() -> None:
    assert exact_json.encode({"name": "株式会社さくら"}) == '{"name":"株式会社さくら"}'.encode()


def test_stored_json_may_exceed_the_limits_of_request_bodies() -> None:
    deep = {"sent": exact_json.decode(nest(DEPTH_MAX))}
    small = Decimal("0.00000000000000000000000000001")

    assert exact_json.decode_stored(exact_json.encode(deep).decode()) == deep
    assert exact_json.decode_stored(exact_json.encode([small]).decode()) == [small]


def encode_canonical(body: bytes) -> bytes:
    return exact_json.encode_canonical(exact_json.decode(body))


def test_order_spaces_and_trailing_zeros_do_not_change_the_canonical_text() -> None:
    assert encode_canonical(b'{"b": 1.50, "a": ["x"]}') == encode_canonical(b'{"a":["x"],"b":1.5}')


@pytest.mark.parametrize(
    ("first", "second"),
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
def test_different_values_have_different_canonical_texts(first: bytes, second: bytes) -> None:
    assert encode_canonical(first) != encode_canonical(second)


def test_the_canonical_text_is_ascii_json() -> None:
    assert json.loads(encode_canonical('{"名": 1}'.encode()).decode("ascii")) == {"名": 1}


def test_values_that_json_cannot_express_have_no_canonical_text() -> None:
    with pytest.raises(TypeError):
        exact_json.encode_canonical({"a": b"bytes"})
