"""JSON with exact numbers: decimals are decoded and encoded without binary floats."""

import json
from decimal import Decimal
from typing import Any, NoReturn

import msgspec

from nimbill.foundation.errors import Invalid
from nimbill.foundation.money import normalize_decimal

# See docs/choices.md, exact-numbers.

DEPTH_MAX = 32
DIGITS_MAX = 30
EXPONENT_MAX = 12

_encoder = msgspec.json.Encoder(decimal_format="number")


def decode(body: bytes) -> Any:
    """Decode a request body, numbers with a point or exponent as Decimal.

    Raises Invalid for malformed JSON, duplicate keys, deep nesting and oversized numbers.
    """
    try:
        value = json.loads(
            body.decode("utf-8"),
            parse_float=_parse_decimal,
            parse_int=_parse_integer,
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_duplicate_keys,
        )
    except UnicodeDecodeError:
        raise _malformed("The body is not UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise _malformed("The body is not valid JSON.") from None
    # NUL and lone surrogates pass the decoders above only as escapes, so others need no check.
    if b"\\u" in body or body.count(b"[") + body.count(b"{") > DEPTH_MAX:
        _refuse_invalid_text_and_depth(value)
    return value


def decode_stored(text: str) -> Any:
    """Decode a text that `encode` wrote. The checks of `decode` were made when it was received."""
    return json.loads(text, parse_float=Decimal)


def encode(value: object) -> bytes:
    """Encode as JSON; a Decimal becomes a number with all its digits."""
    return _encoder.encode(value)


def encode_canonical(value: object) -> bytes:
    """Encode equal values to equal bytes: sorted keys, no spaces, no trailing zeros."""
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=True,
        default=_canonical_number,
    ).encode()


def _canonical_number(value: object) -> str:
    if isinstance(value, Decimal):
        # `decode` refuses NUL in texts, so no text equals an encoded number.
        return f"\0{normalize_decimal(value)}"
    raise TypeError(f"no canonical form for {type(value).__name__}")


def _parse_decimal(text: str) -> Decimal:
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.replace("-", "").replace(".", ""))
    if digits > DIGITS_MAX or len(exponent) > 4 or abs(int(exponent or "0")) > EXPONENT_MAX:
        raise _out_of_range()
    return Decimal(text)


def _parse_integer(text: str) -> int:
    if len(text.lstrip("-")) > DIGITS_MAX:
        raise _out_of_range()
    return int(text)


def _refuse_constant(_: str) -> NoReturn:
    raise _malformed("NaN and infinities are not allowed.")


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _malformed("An object has a duplicate key.")
    return value


def _refuse_invalid_text_and_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        next_level: list[Any] = []
        for item in level:
            if isinstance(item, str):
                _refuse_invalid_text(item)
            elif isinstance(item, dict | list) and depth == DEPTH_MAX:
                raise _too_deep()
            elif isinstance(item, dict):
                for key in item:
                    _refuse_invalid_text(key)
                next_level.extend(item.values())
            elif isinstance(item, list):
                next_level.extend(item)
        level, depth = next_level, depth + 1


def _refuse_invalid_text(text: str) -> None:
    if "\0" in text:
        raise _malformed("A text contains a NUL character.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _malformed("A text contains a lone surrogate.") from None


def _malformed(detail: str) -> Invalid:
    return Invalid("malformed_body", detail)


def _too_deep() -> Invalid:
    return Invalid("malformed_body", f"The body is nested deeper than {DEPTH_MAX} levels.")


def _out_of_range() -> Invalid:
    return Invalid(
        "number_out_of_range",
        f"A number must have at most {DIGITS_MAX} digits and an exponent from "
        f"-{EXPONENT_MAX} to {EXPONENT_MAX}.",
    )
