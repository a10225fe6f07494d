"""JSON with exact numbers: no amount ever becomes a binary float."""

from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_encoder = msgspec.json.Encoder(decimal_format="number")


@cache
def _decoder(result: Any) -> msgspec.json.Decoder[Any]:
    # The hook is for values without a declared type; declared decimals are exact already.
    return msgspec.json.Decoder(result, float_hook=Decimal)


def decode(content: bytes, result: type[T]) -> T:
    """Raise `msgspec.MsgspecError` if the content is not what the type describes."""
    kind: Any = result
    value: T = _decoder(kind).decode(content)
    return value


def encode(body: object) -> bytes:
    """Write a decimal as a number with all its digits, and leave out absent fields."""
    return _encoder.encode(body)
