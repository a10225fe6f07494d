"""What a role scope allows: denied by default, Deny wins over Allow, order does not matter.

All patterns of a scope are matched at once by a bit-parallel simulation of one automaton. The
patterns are concatenated, and each of their characters except stars has one bit; a set bit means
that the pattern has matched the text before that character. A star in front of a character lets its
bit stay set. Each character of the text advances all bits with four operations on large integers.
The time depends only on the lengths of text and scope, never on their contents; see
docs/decisions/0015-scope-matcher.md.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import compress
from operator import and_

import msgspec

# no stored resource has a longer name; longer texts are denied without matching
TEXT_MAX = 160
_CACHED_SCOPES_MAX = 128  # the largest possible scope takes about 220 kB

_END = ord("\n")  # ends each pattern; matches no character
_NEVER_LITERAL = frozenset(b"*?\n")
_STAR_BITS = bytes(ord("0") + (byte == ord("*")) for byte in range(256))
# one translation table per bit of ASCII: maps a byte to "1" if it has the bit, else to "0"
_BIT_OF_BYTE = [bytes(ord("0") + (byte >> bit & 1) for byte in range(256)) for bit in range(7)]


class _Statement(msgspec.Struct, frozen=True):
    Effect: str
    Action: list[str] | str
    Resource: list[str] | str


class _Document(msgspec.Struct, frozen=True):
    Statement: list[_Statement]


class WildcardPatterns:
    """Groups of patterns that are matched together; `*` is any text, `?` any one character."""

    def __init__(self, groups: Iterable[Sequence[str]]) -> None:
        encoded = [_encode(group) for group in groups]
        joined = b"".join(encoded)
        characters = joined.translate(None, b"*")
        self._all_bits = (1 << len(characters)) - 1
        planes = [_to_bits(characters.translate(table)) for table in _BIT_OF_BYTE]
        self._low, self._high = self._intersect(planes[:4]), self._intersect(planes[4:])
        # a star and the character behind it become one digit
        self._loops = _to_bits(joined.translate(_STAR_BITS).replace(b"10", b"1"))
        self._any = self._positions_of(ord("?"))
        self._ends = self._positions_of(_END)
        self._starts = ((self._ends << 1) | 1) & self._all_bits
        self._sizes = [len(group) - group.count(b"*") for group in encoded]

    def _intersect(self, planes: Sequence[int]) -> list[int]:
        """For each number, the positions at which the planes hold its bits."""
        positions = [self._all_bits]
        for plane in planes:
            without_bit = self._all_bits ^ plane
            positions = [each & without_bit for each in positions] + [
                each & plane for each in positions
            ]
        return positions

    def match(self, text: str) -> list[bool]:
        """For each group, whether one of its patterns matches the whole text."""
        ends, matches = self._reach_ends(text), []
        for size in self._sizes:
            matches.append(ends & ((1 << size) - 1) != 0)
            ends >>= size
        return matches

    def _reach_ends(self, text: str) -> int:
        # patterns are ASCII: other characters become "?", which only wildcards match
        characters = text.encode("ascii", "replace")
        accepting = {character: self._accepting(character) for character in set(characters)}
        reached, loops = self._starts, self._loops
        for character in characters:
            reached = (reached & accepting[character]) << 1 | reached & loops
        return reached & self._ends

    def _accepting(self, character: int) -> int:
        """The positions whose pattern character accepts this character."""
        if character in _NEVER_LITERAL:
            return self._any
        return self._positions_of(character) | self._any

    def _positions_of(self, character: int) -> int:
        """The positions at which all seven bits equal those of the character."""
        return self._high[character >> 4] & self._low[character & 15]


def _encode(patterns: Sequence[str]) -> bytes:
    """Each pattern with its end; adjacent stars are one."""
    encoded = ("\n".join(patterns) + "\n").encode("ascii")
    while b"**" in encoded:  # halves every run of stars
        encoded = encoded.replace(b"**", b"*")
    return encoded


def _to_bits(digits: bytes) -> int:
    return int(digits[::-1] or b"0", 2)  # int() reads the highest bit first


class RoleScope:
    """A valid scope document, compiled for matching."""

    def __init__(self, document: str) -> None:
        statements = msgspec.json.decode(document, type=_Document).Statement
        self._effects = [statement.Effect for statement in statements]
        self._resource_lists = [_to_list(statement.Resource) for statement in statements]
        self._actions = WildcardPatterns(_to_list(statement.Action) for statement in statements)
        self._resources = WildcardPatterns(self._resource_lists)

    def find_effects(self, action: str, resource: str) -> frozenset[str]:
        """The effects of the statements that match both the action and the resource."""
        if len(action) > TEXT_MAX or len(resource) > TEXT_MAX:
            return frozenset()
        both = map(and_, self._actions.match(action), self._resources.match(resource))
        return frozenset(compress(self._effects, both))

    def allows_anywhere(self, action: str) -> bool:
        """Whether an Allow statement matches the action for any resource."""
        return "Allow" in compress(self._effects, self._actions.match(action))

    def find_resources(self, action: str, effect: str) -> frozenset[str]:
        """The resource patterns of the statements with this effect that match the action."""
        statements = zip(self._effects, self._resource_lists, strict=True)
        matching = compress(statements, self._actions.match(action))
        return frozenset[str]().union(*(each for found, each in matching if found == effect))


def _to_list(patterns: list[str] | str) -> Sequence[str]:
    return [patterns] if isinstance(patterns, str) else patterns


@lru_cache(maxsize=_CACHED_SCOPES_MAX)
def parse_scope(document: str) -> RoleScope:
    """Expects a stored document, which was validated before it was stored."""
    return RoleScope(document)


def allows(scopes: Sequence[RoleScope], action: str, resource: str) -> bool:
    """True if one of a user's scopes allows it and none denies it."""
    effects = frozenset[str]().union(*(scope.find_effects(action, resource) for scope in scopes))
    return "Allow" in effects and "Deny" not in effects
