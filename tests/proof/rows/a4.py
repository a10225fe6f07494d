"""A role scope decides as specified for any content, within milliseconds.

Random scopes are evaluated for requests that nearly match and compared with a slow reference
implementation. For every tenth scope: order does not matter, a further Deny allows nothing more, a
further Allow denies nothing more, and several roles decide like one. Then the largest allowed
scopes, in shapes that make naive matchers slow, are prepared and evaluated; CPU time is measured.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from random import Random
from statistics import median
from typing import Any

from nimbill.legacy.roles.role_scope import TEXT_MAX, RoleScope, allows
from nimbill.legacy.roles.role_scope_rules import find_scope_violations
from tests.legacy.roles.reference_scope import is_allowed_by_reference, matches_wildcard
from tests.proof.broken_variants import BrokenVariant
from tests.proof.random_scopes import largest_scopes, random_scope, with_one_more
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = (
    "10,000,000 scopes and requests decided like the reference; order never matters, a Deny never "
    "widens, an Allow never narrows; a scope of 64 KiB takes at most 5 ms"
)
QUICK = 20_000  # pairs of a scope and a request
FULL = 10_000_000
SECONDS_MAX = 120
CHUNK = 10_000

MILLISECONDS_MAX = 5
WATCHDOG_TIMES = 10  # in quick size, which asserts no speed
REPETITIONS = 7

EVERYTHING = {"Effect": "Allow", "Action": ["*"], "Resource": ["*"]}
# the longest resource, with as many different characters as possible
LONGEST = "".join(chr(33 + at * 7 % 94) for at in range(TEXT_MAX))
USUAL = "mrn:alm:stack:stk_abcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class ScopeFindings:
    misses: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    random = environment.random("A4")
    seeds = [random.randrange(10**12) for _ in range(0, size, CHUNK)]
    found = ScopeFindings()
    for part in _check_in_parallel(seeds, min(size, CHUNK)):
        found.misses += part.misses
        found.counts += part.counts
    counts = found.counts
    if not counts["pairs"] // 20 < counts["allowed"] < counts["pairs"] * 19 // 20:
        found.misses.append(f"{counts['allowed']} of {counts['pairs']} allowed: too one-sided")
    slowest, shape = max(_measure_largest_scopes(found.misses))
    times = 1 if size >= FULL else WATCHDOG_TIMES
    if slowest > MILLISECONDS_MAX * times:
        found.misses.append(f"the largest scope takes {slowest:.1f} ms ({shape})")
    figures = (
        f"{counts['pairs']} pairs of which {counts['allowed']} allowed, {counts['changed']} scopes "
        f"changed: {len(found.misses)} wrong; the slowest of the largest takes {slowest:.1f} ms "
        f"({shape})"
    )
    return Measurement(figures, found.misses)


def _check_in_parallel(seeds: list[int], size: int) -> Iterator[ScopeFindings]:
    """Long runs use every available core."""
    if len(seeds) * CHUNK <= QUICK:
        yield from (check_scopes(seed, size) for seed in seeds)
        return
    with ProcessPoolExecutor(
        len(os.sched_getaffinity(0)), mp_context=get_context("spawn")
    ) as processes:
        yield from processes.map(check_scopes, seeds, [size] * len(seeds))


def check_scopes(seed: int, size: int) -> ScopeFindings:
    random, found = Random(seed), ScopeFindings()
    number = 0
    while found.counts["pairs"] < size:
        number += 1
        statements, actions, resources = random_scope(random)
        wrong = _find_difference(statements, actions, resources, found)
        if number % 10 == 0:
            wrong = wrong or _find_order_dependence(random, statements, actions, resources, found)
        if wrong:
            found.misses.append(f"seed {seed}, scope {number}: {wrong}")
        if number % 1_000 == 0:
            matches_wildcard.cache_clear()
    return found


def _role_scope(statements: list[Any]) -> RoleScope:
    return RoleScope(json.dumps({"version": "1", "Statement": statements}))


def _find_difference(
    statements: list[Any], actions: list[str], resources: list[str], found: ScopeFindings
) -> str:
    scope = _role_scope(statements)
    for action in actions:
        for resource in resources:
            decided = allows([scope], action, resource)
            found.counts["pairs"] += 1
            found.counts["allowed"] += decided
            if decided is not is_allowed_by_reference(statements, action, resource):
                result = "allowed" if decided else "denied"
                return f"wrongly {result} {action!r} on {resource!r} by {statements}"
    return ""


def _find_order_dependence(
    random: Random,
    statements: list[Any],
    actions: list[str],
    resources: list[str],
    found: ScopeFindings,
) -> str:
    """Evaluate the scope in another order, as several roles, and with a further statement."""
    found.counts["changed"] += 1
    pairs = [(action, resource) for action in actions for resource in resources]

    def decided(*scopes: list[Any]) -> list[bool]:
        prepared = [_role_scope(scope) for scope in scopes]
        return [allows(prepared, action, resource) for action, resource in pairs]

    before = decided(statements)
    added = next(iter(random_scope(random)[0]), EVERYTHING)
    shuffled = random.sample(
        [_shuffled(random, statement) for statement in statements], len(statements)
    )
    narrower = decided([*statements, added | {"Effect": "Deny"}])
    wider = decided([added | {"Effect": "Allow"}, *statements])
    if decided(shuffled) != before:
        return f"another order decides differently: {statements}"
    if decided(*([statement] for statement in statements), []) != before:
        return f"several roles decide differently from one: {statements}"
    if any(
        allowed_after and not allowed_before
        for allowed_before, allowed_after in zip(before, narrower, strict=True)
    ):
        return f"a Deny allowed something: {statements} and {added}"
    if any(
        allowed_before and not allowed_after
        for allowed_before, allowed_after in zip(before, wider, strict=True)
    ):
        return f"an Allow denied something: {statements} and {added}"
    return ""


def _shuffled(random: Random, statement: Any) -> Any:
    return {
        name: random.sample(value, len(value)) if isinstance(value, list) else value
        for name, value in statement.items()
    }


def _measure_largest_scopes(misses: list[str]) -> Iterator[tuple[float, str]]:
    """Milliseconds to prepare and evaluate each of the largest scopes; also check the result."""
    for resource in (USUAL, LONGEST):
        for shape, document in largest_scopes(resource).items():
            broken = find_scope_violations(json.loads(document))
            assert not broken, f"{shape} is not a valid scope: {broken[0]}"
            yield _measure_milliseconds(document, resource), shape
            named = EVERYTHING | {"Resource": [resource]}
            smaller = json.loads(document)["Statement"][:99]
            opened = with_one_more(json.dumps({"version": "1", "Statement": smaller}), named)
            if allows([RoleScope(document)], "stack:describeStack", resource):
                misses.append(f"{shape}: allowed what no pattern matches")
            if not allows([RoleScope(opened)], "stack:describeStack", resource):
                misses.append(f"{shape}: denied what is named")


def _measure_milliseconds(document: str, resource: str) -> float:
    durations = []
    for _ in range(REPETITIONS):
        began = time.process_time()
        allows([RoleScope(document)], "stack:describeStack", resource)
        durations.append(time.process_time() - began)
    return 1000 * median(durations)


VARIANTS = [
    BrokenVariant(
        "deny-only-in-its-role",
        "A Deny in one role does not affect other roles.",
        "several roles decide differently from one",
        "legacy/roles/role_scope.py",
        "frozenset[str]().union(*(scope.find_effects(action, resource) for scope in scopes))",
        "[scope.find_effects(action, resource) for scope in scopes]",
        also=[
            (
                "legacy/roles/role_scope.py",
                '"Allow" in effects and "Deny" not in effects',
                'frozenset({"Allow"}) in effects',
            )
        ],
    ),
    BrokenVariant(
        "last-statement-decides",
        "The last statement that matches a request decides it.",
        "wrongly allowed",
        "legacy/roles/role_scope.py",
        "return frozenset(compress(self._effects, both))",
        "return frozenset(list(compress(self._effects, both))[-1:])",
    ),
    BrokenVariant(
        "line-break-ends-pattern",
        "A line break in a request matches the end of a pattern, and the next pattern continues.",
        "wrongly allowed",
        "legacy/roles/role_scope.py",
        '_NEVER_LITERAL = frozenset(b"*?\\n")',
        '_NEVER_LITERAL = frozenset(b"*?")',
    ),
    BrokenVariant(
        "patterns-one-by-one",
        "Patterns are matched one after the other.",
        "the largest scope takes",
        "legacy/roles/role_scope.py",
        "encoded = [_encode(group) for group in groups]",
        """self._groups = [list(group) for group in groups]
        encoded = [_encode(group) for group in self._groups]""",
        also=[
            (
                "legacy/roles/role_scope.py",
                """ends, matches = self._reach_ends(text), []
        for size in self._sizes:
            matches.append(ends & ((1 << size) - 1) != 0)
            ends >>= size
        return matches""",
                "return [any([_matches(one, text) for one in group]) for group in self._groups]",
            ),
            (
                "legacy/roles/role_scope.py",
                "return self._high[character >> 4] & self._low[character & 15]",
                """return self._high[character >> 4] & self._low[character & 15]


def _matches(pattern: str, text: str) -> bool:
    reached = {0}
    for character in pattern:
        if character == "*":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        else:
            reached = {
                one + 1 for one in reached if one < len(text) and character in ("?", text[one])
            }
    return len(text) in reached""",
            ),
        ],
    ),
    BrokenVariant(
        "star-not-empty",
        "A star does not match the empty text.",
        "wrongly denied",
        "legacy/roles/role_scope.py",
        "for character in characters:",
        """entered = reached & loops
        for character in characters:""",
        also=[
            (
                "legacy/roles/role_scope.py",
                "reached = (reached & accepting[character]) << 1 | reached & loops",
                """after = (reached & ~entered & accepting[character]) << 1
            kept = reached & loops
            reached, entered = after | kept, after & loops & ~kept""",
            ),
            (
                "legacy/roles/role_scope.py",
                "return reached & self._ends",
                "return reached & ~entered & self._ends",
            ),
        ],
    ),
]
