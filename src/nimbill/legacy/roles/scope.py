"""What a role scope allows: default deny, an explicit Deny wins, and order never matters.

Every pattern of a scope is asked at once. The patterns stand one behind the other in one row of
bits, a bit for each of their characters; the bits that are set say how far each has matched, and
each character of the text moves them all in a handful of operations on whole numbers. So the time
grows with the length of the text and of the scope, never with what stands in them.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from nimbill.basis import chosen

basis = chosen("role-scopes")

# nothing we store has a longer name, and what has is not asked about: it is denied
TEXT_MAX = 256
_PREPARED_MAX = 32  # of the largest scopes, at most 1 MB each

_END = b"\n"  # stands behind each pattern; neither a pattern nor a text matches it
_STARS = re.compile(rb"\*+")


class _Statement(msgspec.Struct, frozen=True):
    Effect: str
    Action: list[str] | str
    Resource: list[str] | str


class _Document(msgspec.Struct, frozen=True):
    Statement: list[_Statement]


class Patterns:
    """Many patterns, told apart by where they stand; `*` is any text, `?` any one character."""

    def __init__(self, groups: Iterable[Sequence[str]]) -> None:
        written = [_row(group) for group in groups]
        row = b"".join(written)
        self._backwards = row[::-1]  # a number is written from its highest bit
        self._stars = self._bits(b"*")
        self._any = self._bits(b"?")
        self._ends = self._bits(_END)
        self._starts = ((self._ends << 1) | 1) & ((1 << len(row)) - 1)
        self._by_character: dict[int, int] = {}
        self.groups: list[int] = []  # the bits of each
        at = 0
        for part in written:
            self.groups.append(((1 << len(part)) - 1) << at)
            at += len(part)

    def matching(self, text: str) -> int:
        """The bits at the ends of those that match the whole text."""
        reached = self._past_stars(self._starts)
        # what is not ASCII stands in no pattern: like the question mark, only wildcards match it
        for character in text.encode("ascii", "replace"):
            moved = (reached & self._matched_by(character)) << 1
            reached = self._past_stars(moved | (reached & self._stars))
        return reached & self._ends

    def _past_stars(self, reached: int) -> int:
        """A star may match nothing; no two stand side by side."""
        return reached | ((reached & self._stars) << 1)

    def _matched_by(self, character: int) -> int:
        bits = self._by_character.get(character)
        if bits is None:
            literal = chr(character).isprintable() and character not in b"*?"
            bits = self._bits(bytes([character])) | self._any if literal else self._any
            self._by_character[character] = bits
        return bits

    def _bits(self, character: bytes) -> int:
        """Where in the row it stands."""
        table = bytearray(b"0" * 256)
        table[character[0]] = ord("1")
        return int(self._backwards.translate(table) or b"0", 2)


def _row(patterns: Sequence[str]) -> bytes:
    joined = "".join(f"{pattern}\n" for pattern in patterns)
    return _STARS.sub(b"*", joined.encode("ascii"))


class RoleScope:
    """A sound scope document, ready to be asked."""

    def __init__(self, document: str) -> None:
        statements = msgspec.json.decode(document, type=_Document).Statement
        self._denies = [one.Effect == "Deny" for one in statements]
        self._actions = Patterns([_listed(one.Action) for one in statements])
        self._resources = Patterns([_listed(one.Resource) for one in statements])

    def effects(self, action: str, resource: str) -> frozenset[str]:
        """Of the statements that speak of both; none of them: nothing is said."""
        if len(action) > TEXT_MAX or len(resource) > TEXT_MAX:
            return frozenset({"Deny"})
        actions, resources = self._actions.matching(action), self._resources.matching(resource)
        return frozenset(
            "Deny" if denies else "Allow"
            for denies, of_actions, of_resources in zip(
                self._denies, self._actions.groups, self._resources.groups, strict=True
            )
            if actions & of_actions and resources & of_resources
        )

    def allows_somewhere(self, action: str) -> bool:
        """Whether an Allow names the action, whatever for."""
        actions = self._actions.matching(action[: TEXT_MAX + 1])
        return any(
            bool(actions & of_actions)
            for denies, of_actions in zip(self._denies, self._actions.groups, strict=True)
            if not denies
        )


def _listed(patterns: list[str] | str) -> Sequence[str]:
    return [patterns] if isinstance(patterns, str) else patterns


@lru_cache(maxsize=_PREPARED_MAX)
def prepared(document: str) -> RoleScope:
    """Of what is stored: it was checked before it was."""
    return RoleScope(document)


def allows(scopes: Sequence[RoleScope], action: str, resource: str) -> bool:
    """All the scopes of a user together: one Allow, and no Deny in any of them."""
    said = frozenset[str]().union(*(scope.effects(action, resource) for scope in scopes))
    return "Allow" in said and "Deny" not in said
