"""What is new, removed and edited from one template to another, by path."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nimbill.foundation.basis import chosen
from nimbill.legacy.templates.secrets import step, with_hidden_secrets
from nimbill.legacy.templates.template_rules import MASK

basis = chosen("compare-paths")


@dataclass(frozen=True, slots=True, repr=False)
class Hidden:
    """A secret: another one is another, and that is all that can be seen of it."""

    value: Any


class Edit(NamedTuple):
    oldvalue: Any
    newvalue: Any


@dataclass(frozen=True, slots=True)
class Difference:
    new: dict[str, Any] = field(default_factory=dict)
    removed: dict[str, Any] = field(default_factory=dict)
    edited: dict[str, Edit] = field(default_factory=dict)


def difference(source: dict[str, Any], target: dict[str, Any]) -> Difference:
    """Of two templates with their secrets in clear; none of them stands in the answer."""
    found = Difference()
    _walk(None, with_hidden_secrets(source, Hidden), with_hidden_secrets(target, Hidden), found)
    return found


def _walk(at: str | None, old: Any, new: Any, found: Difference) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            place = step(key) if at is None else f"{at}/{step(key)}"
            if key not in old:
                found.new[place] = _shown(new[key])
            elif key not in new:
                found.removed[place] = _shown(old[key])
            else:
                _walk(place, old[key], new[key], found)
    elif isinstance(old, list) and isinstance(new, list):
        _walk(at, dict(_numbered(old)), dict(_numbered(new)), found)
    elif not _same(old, new):
        assert at is not None, "two templates are two objects"
        found.edited[at] = Edit(_shown(old), _shown(new))


def _numbered(items: list[Any]) -> Iterator[tuple[str, Any]]:
    return ((str(index), item) for index, item in enumerate(items))


def _same(old: Any, new: Any) -> bool:
    """True is not 1 here, as it would be in Python."""
    return isinstance(old, bool) is isinstance(new, bool) and bool(old == new)


def _shown(value: Any) -> Any:
    if isinstance(value, Hidden):
        return MASK
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return value
