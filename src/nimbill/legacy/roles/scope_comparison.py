"""Compares role scopes: whether the scopes of one user allow everything that another's allow.

The comparison may answer no although the answer is yes, but never the other way round.
"""

from collections.abc import Collection, Sequence

from nimbill.legacy.roles.role_scope import parse_scope

# See docs/choices.md, no-privilege-escalation.

# every action that a route of version 3 requires; operations on roles need no scope
ACTIONS = (
    "stack:describeStacks",
    "stack:describeStack",
    "stack:deleteStack",
    "template:createAlmTemplate",
    "template:updateAlmTemplate",
    "template:compareTemplate",
    "template:describeTemplate",
    "container:describeContainers",
)
WORK_MAX = 1_000_000  # characters to compare; larger scopes count as not covered


def scopes_cover(own: Sequence[str], other: Sequence[str]) -> bool:
    """Both are scope documents of all roles of a user."""
    if set(own) == set(other):
        return True
    budget = _Budget(WORK_MAX)
    return all(_cover_action(action, own, other, budget) for action in ACTIONS)


def _cover_action(action: str, own: Sequence[str], other: Sequence[str], budget: "_Budget") -> bool:
    """For one action: each Allow of the other is allowed, and each own Deny is denied to both."""
    other_denied = _find_resources(action, "Deny", other)
    other_allowed = {
        pattern
        for pattern in _find_resources(action, "Allow", other)
        if not budget.is_covered(pattern, other_denied)
    }
    if not other_allowed:
        return True
    own_allowed = _find_resources(action, "Allow", own)
    own_denied = _find_resources(action, "Deny", own)
    return all(budget.is_covered(pattern, own_allowed) for pattern in other_allowed) and all(
        budget.is_covered(pattern, other_denied) for pattern in own_denied
    )


def _find_resources(action: str, effect: str, documents: Sequence[str]) -> frozenset[str]:
    scopes = map(parse_scope, documents)
    return frozenset[str]().union(*(scope.find_resources(action, effect) for scope in scopes))


class _Budget:
    """Limits the time of a comparison; scopes may contain thousands of patterns."""

    def __init__(self, work_max: int) -> None:
        self._left = work_max

    def is_covered(self, pattern: str, by: Collection[str]) -> bool:
        if pattern in by:
            return True
        self._left -= sum(map(len, by)) * len(pattern)
        return self._left > 0 and any(pattern_covers(wide, pattern) for wide in by)


def pattern_covers(wide: str, narrow: str) -> bool:
    """Whether `wide` matches every text that `narrow` matches.

    `narrow` is read as a text in which only `*` matches `*`, and only `*` or `?` match `?`. After
    a mismatch the last star takes one character more.
    """
    at = position = taken = 0
    last_star = -1
    while at < len(narrow):
        symbol = wide[position] if position < len(wide) else ""
        if symbol == "*":
            last_star, taken = position, at
            position += 1
        elif narrow[at] != "*" and symbol in ("?", narrow[at]):
            at, position = at + 1, position + 1
        elif last_star >= 0:
            taken += 1
            at, position = taken, last_star + 1
        else:
            return False
    return set(wide[position:]) <= {"*"}
