"""JSON read exactly as written and written exactly as held: decimals are never binary floats."""

import json
from decimal import Context, Decimal
from typing import Any, NoReturn

import msgspec

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Invalid

basis = chosen("exact-numbers")

DEPTH_MAX = 32
DIGITS_MAX = 30
EXPONENT_MAX = 12

_encoder = msgspec.json.Encoder(decimal_format="number")
_every_digit = Context(prec=DIGITS_MAX)


def read(body: bytes) -> Any:
    """The value of a JSON text, numbers with a point or exponent as Decimal; Invalid otherwise."""
    try:
        value = json.loads(
            body.decode("utf-8"),
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=_no_constant,
            object_pairs_hook=_without_duplicates,
        )
    except UnicodeDecodeError:
        raise _malformed("the body is not UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise _malformed("the body is not JSON") from None
    # only an escape can smuggle NUL or half a surrogate pair past the two decoders above
    if b"\\u" in body or body.count(b"[") + body.count(b"{") > DEPTH_MAX:
        _refuse_bad_text_and_depth(value)
    return value


def read_own(text: str) -> Any:
    """What `write` wrote, read back exactly: it was checked when it came in, deeper now or not."""
    return json.loads(text, parse_float=Decimal)


def write(value: object) -> bytes:
    """The value as JSON, Decimal as a number with the digits it has."""
    return _encoder.encode(value)


def canonical(value: object) -> bytes:
    """One text for equal values: keys sorted, no spaces, numbers without idle zeros."""
    return json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=True,
        default=_canonical_number,
    ).encode()


def _canonical_number(value: object) -> str:
    if isinstance(value, Decimal):
        # no text that `read` lets in holds a NUL, so none can pass for a number
        return f"\0{value.normalize(_every_digit)}"
    raise TypeError(f"no canonical form for {type(value).__name__}")


def _decimal(text: str) -> Decimal:
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.replace("-", "").replace(".", ""))
    if digits > DIGITS_MAX or len(exponent) > 4 or abs(int(exponent or "0")) > EXPONENT_MAX:
        raise _out_of_range()
    return Decimal(text)


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > DIGITS_MAX:
        raise _out_of_range()
    return int(text)


def _no_constant(_: str) -> NoReturn:
    raise _malformed("NaN and infinities are not numbers here")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _malformed("a key stands twice in one object")
    return value


def _refuse_bad_text_and_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        below: list[Any] = []
        for item in level:
            if isinstance(item, str):
                _refuse_bad_text(item)
            elif isinstance(item, dict | list) and depth == DEPTH_MAX:
                raise _too_deep()
            elif isinstance(item, dict):
                for key in item:
                    _refuse_bad_text(key)
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level, depth = below, depth + 1


def _refuse_bad_text(text: str) -> None:
    if "\0" in text:
        raise _malformed("a NUL character stands in a text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _malformed("half a surrogate pair stands in a text") from None


def _malformed(detail: str) -> Invalid:
    return Invalid("malformed_body", detail)


def _too_deep() -> Invalid:
    return Invalid("malformed_body", f"the body is nested deeper than {DEPTH_MAX} levels")


def _out_of_range() -> Invalid:
    return Invalid(
        "number_out_of_range",
        f"numbers have at most {DIGITS_MAX} digits and exponents from "
        f"-{EXPONENT_MAX} to {EXPONENT_MAX}",
    )
