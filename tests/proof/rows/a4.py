"""A role scope decides as its words say, whatever stands in it, and in milliseconds.

Invented scopes, of our own words and of four letters, are asked about requests that nearly fit,
and compared with a slow reading of the same words. Of every tenth: order does not matter, one more
Deny allows nothing more, one more Allow nothing less, and many roles decide as one would. Then the
largest scopes there may be, of shapes that make careless ones slow, prepared and asked, by the
processor's own clock.
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

from nimbill.legacy.roles.role_scope_rules import violations
from nimbill.legacy.roles.scope import TEXT_MAX, RoleScope, allows
from tests.legacy.roles.slow_scopes import glob_matches, slowly_allowed
from tests.proof.random_scopes import largest_scopes, random_scope, with_one_more
from tests.proof.row import Measurement
from tests.proof.stage import Stage

TARGET = (
    "10,000,000 scopes and requests decided as the slow reading does; order never matters, a Deny "
    "never widens, an Allow never narrows; a scope of 64 KiB takes at most 5 ms"
)
QUICK = 20_000  # pairs of a scope and a request
FULL = 10_000_000
SECONDS_MAX = 120
CHUNK = 10_000

MILLISECONDS_MAX = 5
WATCHDOG_TIMES = 10  # at the quick size, which asserts no speed
ASKED_TIMES = 7

EVERYTHING = {"Effect": "Allow", "Action": ["*"], "Resource": ["*"]}
# as long as a resource may be, of as many characters as there are
LONGEST = "".join(chr(33 + at * 7 % 94) for at in range(TEXT_MAX))
USUAL = "mrn:alm:stack:stk_abcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class Found:
    misses: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)


def measure(stage: Stage, size: int) -> Measurement:
    random = stage.random("A4")
    seeds = [random.randrange(10**12) for _ in range(0, size, CHUNK)]
    found = Found()
    for part in _parts(seeds, min(size, CHUNK)):
        found.misses += part.misses
        found.seen += part.seen
    seen = found.seen
    if not seen["pairs"] // 20 < seen["allowed"] < seen["pairs"] * 19 // 20:
        found.misses.append(f"{seen['allowed']} of {seen['pairs']} allowed: no test of much")
    slowest, shape = max(_times(found.misses))
    times = 1 if size >= FULL else WATCHDOG_TIMES
    if slowest > MILLISECONDS_MAX * times:
        found.misses.append(f"the largest scope takes {slowest:.1f} ms ({shape})")
    said = (
        f"{seen['pairs']} pairs of which {seen['allowed']} allowed, {seen['changed']} scopes "
        f"changed: {len(found.misses)} wrong; the dearest of the largest takes {slowest:.1f} ms "
        f"({shape})"
    )
    return Measurement(said, found.misses)


def _parts(seeds: list[int], size: int) -> Iterator[Found]:
    """Long runs on every core that this process may use."""
    if len(seeds) * CHUNK <= QUICK:
        yield from (look_at(seed, size) for seed in seeds)
        return
    with ProcessPoolExecutor(
        len(os.sched_getaffinity(0)), mp_context=get_context("spawn")
    ) as processes:
        yield from processes.map(look_at, seeds, [size] * len(seeds))


def look_at(seed: int, size: int) -> Found:
    random, found = Random(seed), Found()
    number = 0
    while found.seen["pairs"] < size:
        number += 1
        statements, actions, resources = random_scope(random)
        wrong = _different(statements, actions, resources, found)
        if number % 10 == 0:
            wrong = wrong or _changed(random, statements, actions, resources, found)
        if wrong:
            found.misses.append(f"seed {seed}, scope {number}: {wrong}")
        if number % 1_000 == 0:
            glob_matches.cache_clear()
    return found


def _scope(statements: list[Any]) -> RoleScope:
    return RoleScope(json.dumps({"version": "1", "Statement": statements}))


def _different(
    statements: list[Any], actions: list[str], resources: list[str], found: Found
) -> str:
    scope = _scope(statements)
    for action in actions:
        for resource in resources:
            decided = allows([scope], action, resource)
            found.seen["pairs"] += 1
            found.seen["allowed"] += decided
            if decided is not slowly_allowed(statements, action, resource):
                said = "allowed" if decided else "denied"
                return f"wrongly {said} {action!r} on {resource!r} by {statements}"
    return ""


def _changed(
    random: Random, statements: list[Any], actions: list[str], resources: list[str], found: Found
) -> str:
    """The same scope in another order or in many roles, and with one statement more."""
    found.seen["changed"] += 1
    asked = [(action, resource) for action in actions for resource in resources]

    def decided(*scopes: list[Any]) -> list[bool]:
        prepared = [_scope(one) for one in scopes]
        return [allows(prepared, action, resource) for action, resource in asked]

    before = decided(statements)
    one_more = next(iter(random_scope(random)[0]), EVERYTHING)
    shuffled = random.sample([_shuffled(random, one) for one in statements], len(statements))
    narrower = decided([*statements, one_more | {"Effect": "Deny"}])
    wider = decided([one_more | {"Effect": "Allow"}, *statements])
    if decided(shuffled) != before:
        return f"another order decides otherwise: {statements}"
    if decided(*([one] for one in statements), []) != before:
        return f"many roles decide otherwise than one: {statements}"
    if any(after and not was for was, after in zip(before, narrower, strict=True)):
        return f"a Deny allowed something: {statements} and {one_more}"
    if any(was and not after for was, after in zip(before, wider, strict=True)):
        return f"an Allow denied something: {statements} and {one_more}"
    return ""


def _shuffled(random: Random, statement: Any) -> Any:
    return {
        name: random.sample(said, len(said)) if isinstance(said, list) else said
        for name, said in statement.items()
    }


def _times(misses: list[str]) -> Iterator[tuple[float, str]]:
    """Milliseconds to prepare and ask each of the largest, which must decide rightly too."""
    for resource in (USUAL, LONGEST):
        for shape, document in largest_scopes(resource).items():
            broken = violations(json.loads(document))
            assert not broken, f"{shape} is no sound scope: {broken[0]}"
            yield _milliseconds(document, resource), shape
            named = EVERYTHING | {"Resource": [resource]}
            smaller = json.loads(document)["Statement"][:99]
            opened = with_one_more(json.dumps({"version": "1", "Statement": smaller}), named)
            if allows([RoleScope(document)], "stack:describeStack", resource):
                misses.append(f"{shape}: allowed what no pattern matches")
            if not allows([RoleScope(opened)], "stack:describeStack", resource):
                misses.append(f"{shape}: denied what is named")


def _milliseconds(document: str, resource: str) -> float:
    taken = []
    for _ in range(ASKED_TIMES):
        began = time.process_time()
        allows([RoleScope(document)], "stack:describeStack", resource)
        taken.append(time.process_time() - began)
    return 1000 * median(taken)
