"""The differences between two templates, by path."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nimbill.legacy.templates.secrets import escape_key, wrap_secrets
from nimbill.legacy.templates.template_rules import MASK

# See docs/choices.md, compare-paths.


@dataclass(frozen=True, slots=True, repr=False)
class HiddenValue:
    """A secret: it can be compared, and is shown as a mask."""

    value: Any


class EditedValue(NamedTuple):
    oldvalue: Any
    newvalue: Any


@dataclass(frozen=True, slots=True)
class Differences:
    new: dict[str, Any] = field(default_factory=dict)
    removed: dict[str, Any] = field(default_factory=dict)
    edited: dict[str, EditedValue] = field(default_factory=dict)


def find_differences(source: dict[str, Any], target: dict[str, Any]) -> Differences:
    """Both templates contain their secrets; the result contains none."""
    found = Differences()
    _compare(None, wrap_secrets(source, HiddenValue), wrap_secrets(target, HiddenValue), found)
    return found


def _compare(at: str | None, old: Any, new: Any, found: Differences) -> None:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            path = escape_key(key) if at is None else f"{at}/{escape_key(key)}"
            if key not in old:
                found.new[path] = _mask(new[key])
            elif key not in new:
                found.removed[path] = _mask(old[key])
            else:
                _compare(path, old[key], new[key], found)
    elif isinstance(old, list) and isinstance(new, list):
        _compare(at, dict(_enumerate(old)), dict(_enumerate(new)), found)
    elif not _is_equal(old, new):
        assert at is not None, "templates are objects"
        found.edited[at] = EditedValue(_mask(old), _mask(new))


def _enumerate(items: list[Any]) -> Iterator[tuple[str, Any]]:
    return ((str(index), item) for index, item in enumerate(items))


def _is_equal(old: Any, new: Any) -> bool:
    """Unlike Python, do not treat True as equal to 1."""
    return isinstance(old, bool) is isinstance(new, bool) and bool(old == new)


def _mask(value: Any) -> Any:
    if isinstance(value, HiddenValue):
        return MASK
    if isinstance(value, dict):
        return {key: _mask(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mask(item) for item in value]
    return value
