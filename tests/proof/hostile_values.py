"""Values that a hostile or careless client sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

CANARY = "kanarifuzz"  # part of many requests; no error response may repeat it


class Raw(NamedTuple):
    """JSON text that a normal writer does not produce."""

    text: str


NUMBERS: tuple[Any, ...] = (
    0,
    -1,
    1,
    1.5,
    -0.0,
    2**31,
    2**63,
    -(2**63) - 1,
    10**29,
    10**30,
    Raw("1e400"),
    Raw("-1e400"),
    Raw("1e1000000"),
    Raw("1e-1000000"),
    Raw("1E+12"),
    Raw("1e13"),
    Raw("0.1000000000000000000000000000001"),
    Raw("0.10000000000000000000000000"),
    Raw("1" * 31),
    Raw("9" * 5000),
    Raw("-0"),
    Raw("1.0"),
    Raw("NaN"),
    Raw("Infinity"),
    Raw("-Infinity"),
    Raw("01"),
    Raw("+1"),
    Raw(".5"),
    Raw("0x10"),
)

TEXTS: tuple[Any, ...] = (
    "",
    " ",
    CANARY,
    "x" * 101,
    "x" * 20_000,
    "é" * 300,
    "😀" * 50,
    "\u202e\u200b\ufeff",
    "\ufffe\uffff",
    "e\u0301",
    "\r\nSet-Cookie: a=b",
    "\x01\x02\x1b[31m",
    "\x7f\x85\u2028",
    "null",
    "true",
    "0",
    "'; DROP TABLE users; --",
    "\\",
    '"',
    "{0}{company_id}{__class__}",
    "%s%n%(x)s",
    "${jndi:x}",
    "../../../../etc/passwd",
    "=1+1",
    "<script>",
    "https://example.com/?a=b#c",
    "1_000",
    "１２３",
    "٣",
    "9999-12-31T23:59:59Z",
    "0000-00-00",
    "jpy",
    "aws",
    "Admin",
    "core",
    Raw(r'"\u0000"'),
    Raw(r'"a\u0000b"'),
    Raw(r'"\ud800"'),
    Raw(r'"\udc00\ud800"'),
    Raw(r'"\ud83d\ude00"'),
    Raw(r'"\x"'),
    Raw(r'"\u12"'),
    Raw('"\t"'),
)

SHAPES: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"": None},
    {CANARY: CANARY},
    [CANARY] * 300,
    [{}] * 40,
    {f"{CANARY}{number}": number for number in range(200)},
    Raw("[" * 33 + "]" * 33),
    Raw("[" * 32 + "]" * 32),
    Raw('{"a":' * 40 + "1" + "}" * 40),
    Raw("[" * 5000 + "]" * 5000),
    Raw("[" * 100_000),
    Raw('{"a": 1, "a": 2}'),
    Raw('{"a": 1, "\\u0061": 2}'),
    Raw('{"\\ud800": 1}'),
    Raw('{"\\u0000": 1}'),
    Raw("undefined"),
    Raw("'a'"),
    Raw("[1,]"),
    Raw("{,}"),
    Raw("/**/1"),
)


def any_value(random: Random) -> Any:
    return random.choice(random.choice((NUMBERS, TEXTS, SHAPES)))


def any_text(random: Random) -> str:
    """For places where only text is possible."""
    text = random.choice(TEXTS)
    return text if isinstance(text, str) and random.random() < 0.7 else f"{CANARY} {text}"


def mutate(value: Any, random: Random) -> Any:
    """The value with one thing changed; every place in it is equally likely."""
    place = random.choice(list(_places(value)))
    return _mutate_at(value, place, random)


Place = tuple[str | int, ...]


def _places(value: Any) -> Iterator[Place]:
    yield ()
    inside = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else inside:
        yield from ((key, *rest) for rest in _places(item))


def _mutate_at(value: Any, place: Place, random: Random) -> Any:
    if place:
        key, *rest = place
        changed = value.copy()
        changed[key] = _mutate_at(value[key], tuple(rest), random)
        return changed
    if isinstance(value, dict) and value and random.random() < 0.8:
        return _mutate_object(value, random)
    likely = TEXTS if isinstance(value, str) else NUMBERS if _is_number(value) else SHAPES
    if isinstance(value, str) and value and random.random() < 0.2:
        return random.choice((value * 40, value[:-1], value + any_text(random), [value]))
    return random.choice(likely) if random.random() < 0.5 else any_value(random)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mutate_object(value: dict[str, Any], random: Random) -> Any:
    changed = dict(value)
    name = random.choice(list(changed))
    match random.randrange(4):
        case 0:
            del changed[name]
        case 1:
            changed[any_text(random)] = any_value(random)
        case 2:
            changed[name.upper()] = changed.pop(name)
        case _:
            other = random.choice(list(changed))
            changed[name], changed[other] = changed[other], changed[name]
    return changed


def to_json(value: Any) -> bytes:
    """The value as JSON text with raw parts unchanged; lone surrogates stay escaped."""
    raw: list[str] = []

    def with_placeholders(item: Any) -> Any:
        if isinstance(item, Raw):
            raw.append(item.text)
            return f"@raw:{len(raw) - 1}@"
        if isinstance(item, dict):
            return {key: with_placeholders(inside) for key, inside in item.items()}
        return [with_placeholders(inside) for inside in item] if isinstance(item, list) else item

    text = json.dumps(with_placeholders(value))
    for number, part in enumerate(raw):
        text = text.replace(f'"@raw:{number}@"', part)
    return text.encode()
