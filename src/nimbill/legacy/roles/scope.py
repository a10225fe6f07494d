"""What a role scope allows: default deny, an explicit Deny wins, and order never matters.

Every pattern of a scope is asked at once. The patterns stand one behind the other in one row of
bits, a bit for each of their characters; the bits that are set say how far each has matched, and
each character of the text moves them all in a handful of operations on whole numbers. So the time
grows with the length of the text and of the scope, never with what stands in them.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress
from operator import and_

import msgspec

from nimbill.foundation.basis import chosen

basis = chosen("role-scopes")

# nothing we store has a longer name, and what has is not asked about: it is denied
TEXT_MAX = 160
_PREPARED_MAX = 128  # of the largest scopes; each takes some 200 kB

_END = ord("\n")  # stands behind each pattern; nothing matches it
_NEVER_LITERAL = frozenset(b"*?\n")
_STARS = re.compile(rb"\*\*+")
# a table for each of the seven bits of ASCII: a byte becomes 1 where it has that bit, else 0
_BIT_OF_BYTE = [bytes(ord("0") + (byte >> bit & 1) for byte in range(256)) for bit in range(7)]


class _Statement(msgspec.Struct, frozen=True):
    Effect: str
    Action: list[str] | str
    Resource: list[str] | str


class _Document(msgspec.Struct, frozen=True):
    Statement: list[_Statement]


class Patterns:
    """Groups of patterns, asked all at once; `*` is any text, `?` any one character."""

    def __init__(self, groups: Iterable[Sequence[str]]) -> None:
        written = [_row(group) for group in groups]
        row = b"".join(written)
        self._whole = (1 << len(row)) - 1
        backwards = row[::-1]  # a number is written from its highest bit
        planes = [int(backwards.translate(table) or b"0", 2) for table in _BIT_OF_BYTE]
        self._planes = [(self._whole ^ plane, plane) for plane in planes]
        self._stars = self._places_of(ord("*"))
        self._any = self._places_of(ord("?"))
        self._ends = self._places_of(_END)
        self._starts = ((self._ends << 1) | 1) & self._whole
        self._sizes = [len(part) for part in written]

    def matching(self, text: str) -> list[bool]:
        """Of each group, whether one of its patterns matches the whole text."""
        ends, found = self._ends_reached(text), []
        for size in self._sizes:
            found.append(ends & ((1 << size) - 1) != 0)
            ends >>= size
        return found

    def _ends_reached(self, text: str) -> int:
        # what is not ASCII stands in no pattern: like the question mark, only wildcards match it
        characters = text.encode("ascii", "replace")
        matched = {one: self._matched_by(one) for one in set(characters)}
        reached = self._past_stars(self._starts)
        for character in characters:
            moved = (reached & matched[character]) << 1
            reached = self._past_stars(moved | (reached & self._stars))
        return reached & self._ends

    def _past_stars(self, reached: int) -> int:
        """A star may match nothing; no two stand side by side."""
        return reached | ((reached & self._stars) << 1)

    def _matched_by(self, character: int) -> int:
        return self._any if character in _NEVER_LITERAL else self._places_of(character) | self._any

    def _places_of(self, character: int) -> int:
        """Where in the row it stands: there, every one of its bits is as it should be."""
        places = self._whole
        for number, without_and_with in enumerate(self._planes):
            places &= without_and_with[character >> number & 1]
        return places


def _row(patterns: Sequence[str]) -> bytes:
    row = ("\n".join(patterns) + "\n").encode("ascii")
    return _STARS.sub(b"*", row) if b"**" in row else row


class RoleScope:
    """A sound scope document, ready to be asked."""

    def __init__(self, document: str) -> None:
        statements = msgspec.json.decode(document, type=_Document).Statement
        self._effects = [one.Effect for one in statements]
        self._actions = Patterns(_listed(one.Action) for one in statements)
        self._resources = Patterns(_listed(one.Resource) for one in statements)

    def effects(self, action: str, resource: str) -> frozenset[str]:
        """Of the statements that speak of both; none of them: nothing is said."""
        if len(action) > TEXT_MAX or len(resource) > TEXT_MAX:
            return frozenset()
        both = map(and_, self._actions.matching(action), self._resources.matching(resource))
        return frozenset(compress(self._effects, both))

    def allows_somewhere(self, action: str) -> bool:
        """Whether an Allow names the action, whatever for."""
        return "Allow" in compress(self._effects, self._actions.matching(action))


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
