"""Random role scopes, requests that nearly match, and the largest allowed scopes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count, islice
from random import Random
from typing import Any

from nimbill.legacy.roles.role_scope_rules import PATTERN_LENGTH_MAX, SCOPE_BYTES_MAX

ACTIONS = (
    "stack:describeStacks",
    "stack:deleteStack",
    "template:updateAlmTemplate",
    "container:describeContainers",
    "role:createRole",
)
RESOURCES = (
    "mrn:alm:stack:stk_a",
    "mrn:alm:stack:stk_ab",
    "mrn:alm:template:stk_a",
    "mrn:alm:container:a",
    "mrn:alm:container:i-0a1b",
)
LETTERS = "ab*?"
ODD = "ab*?\né日"  # a text may contain characters that patterns may not


def random_scope(random: Random) -> tuple[list[Any], list[str], list[str]]:
    """Statements, and actions and resources to evaluate; of random letters or real words."""
    words = random.random() < 0.5
    of_actions, of_resources = (ACTIONS, RESOURCES) if words else ((), ())
    statements = [
        {
            "Effect": random.choice(("Allow", "Allow", "Deny")),
            "Action": _patterns(random, of_actions),
            "Resource": _patterns(random, of_resources),
        }
        for _ in range(random.randint(0, 5))
    ]
    return (
        statements,
        [_text(random, of_actions) for _ in range(4)],
        [_text(random, of_resources) for _ in range(6)],
    )


def _patterns(random: Random, words: tuple[str, ...]) -> list[str] | str:
    if random.random() < 0.2:
        return _pattern(random, words)
    return [_pattern(random, words) for _ in range(random.randint(1, 3))]


def _pattern(random: Random, words: tuple[str, ...]) -> str:
    if not words:
        return "".join(random.choices(LETTERS, k=random.randint(1, 6)))
    word = random.choice(words)
    begin, end = sorted(random.choices(range(len(word) + 1), k=2))
    middle = random.choice(("*", "?", "**", "?*", "", word[begin:end]))
    return (word[:begin] + middle + word[end:]) or "*"


def _text(random: Random, words: tuple[str, ...]) -> str:
    if words and random.random() < 0.9:
        return random.choice(words)
    return "".join(random.choices(ODD, k=random.randint(0, 7)))


# ── the largest ──────────────────────────────────────────────────────────────────────────────────


def largest_scopes(resource: str) -> dict[str, str]:
    """Each slightly below the limit and slow to match; none of them allows the resource."""
    long = PATTERN_LENGTH_MAX
    stuttering = "".join(f"*{letter}" for letter in resource)[: long - 2] + "*\x7e"
    shapes: dict[str, Iterator[str]] = {
        "stars": (f"{'*a' * (long // 2 - 4)}{n}" for n in count(10**6)),
        "question marks": (f"{'*?' * (long // 2 - 4)}{n}" for n in count(10**6)),
        "nearly the resource": (f"{stuttering[:-8]}~{n}" for n in count(10**6)),
        "many short ones": (f"*~{n}" for n in count()),
        "many of one letter": (f"?{letter}" for _ in count() for letter in "xyz"),
        "one character each": ("~" for _ in count()),
    }
    documents = {
        name: _filled(list(islice(patterns, 20_000)), 1) for name, patterns in shapes.items()
    }
    hundred = (f"*{'?a' * 20}~{n}" for n in count(10**6))
    documents["a hundred statements"] = _filled(list(islice(hundred, 2_000)), 100)
    return documents


def _filled(patterns: list[str], statements: int) -> str:
    """As many patterns as fit, distributed over the statements."""
    least, most = 1, len(patterns)
    while least < most:
        middle = (least + most + 1) // 2
        if len(_document(patterns[:middle], statements)) <= SCOPE_BYTES_MAX:
            least = middle
        else:
            most = middle - 1
    return _document(patterns[:least], statements)


def _document(patterns: list[str], statements: int) -> str:
    shares = [patterns[start::statements] or ["~"] for start in range(statements)]
    statement_list = [{"Effect": "Allow", "Action": ["*"], "Resource": share} for share in shares]
    return json.dumps({"version": "1", "Statement": statement_list}, separators=(",", ":"))


def with_one_more(document: str, statement: Any) -> str:
    content = json.loads(document)
    content["Statement"].append(statement)
    return json.dumps(content)
