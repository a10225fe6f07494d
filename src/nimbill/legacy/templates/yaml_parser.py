"""YAML restricted to what JSON can express: no anchors, no tags, exact numbers."""

import re
from typing import Any

import yaml

from nimbill.foundation import exact_json
from nimbill.foundation.errors import Invalid

# See docs/choices.md, template-yaml.

VALUES_MAX = 10_000  # parsing takes a tenth of a second

# libyaml if it is available: ten times as fast
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
# the spellings of YAML and of JSON libraries
_NOT_A_NUMBER = re.compile(r"\.?(nan|NaN|NAN)|[-+]?(\.(inf|Inf|INF)|Infinity)")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def parse_yaml(text: str) -> Any:
    """Parse a single document; Invalid if JSON could not express it."""
    try:
        value = _build(yaml.parse(text, Loader=_Parser))
        # the JSON parser then applies its limits on strings and depth
        return exact_json.decode(exact_json.encode(value))
    except (yaml.YAMLError, UnicodeError, RecursionError):
        raise _malformed("The template is neither valid JSON nor valid YAML.") from None


class _Collection:
    """A mapping or list that is still open."""

    def __init__(self, value: dict[str, Any] | list[Any]) -> None:
        self.value = value
        self.key: str | None = None

    def add(self, item: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(item)
        elif self.key is None:
            self.key = self._check_key(item)
        else:
            self.value[self.key], self.key = item, None

    @property
    def awaits_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None

    def _check_key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise _malformed("A key of the template is not a string.")
        if key == "<<":
            raise _malformed("The template must not use merge keys.")
        if key in self.value:
            raise _malformed("An object of the template has a duplicate key.")
        return key


def _build(events: Any) -> Any:
    """Build the value event by event, so that limits apply before memory is used."""
    top = _Collection([])
    stack = [top]
    documents = values = 0
    for event in events:
        _refuse_references(event)
        if isinstance(event, yaml.NodeEvent) and not stack[-1].awaits_key:
            values += 1
            if values > VALUES_MAX:
                raise _malformed(f"The template has more than {VALUES_MAX} values.")
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _malformed("The template contains more than one YAML document.")
        elif isinstance(event, yaml.ScalarEvent):
            stack[-1].add(_read_scalar(event, as_key=stack[-1].awaits_key))
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(stack) > exact_json.DEPTH_MAX:
                raise _malformed(
                    f"The template is nested deeper than {exact_json.DEPTH_MAX} levels."
                )
            mapping = isinstance(event, yaml.MappingStartEvent)
            collection = _Collection({} if mapping else [])
            stack[-1].add(collection.value)
            stack.append(collection)
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
    return top.value[0] if top.value else None  # type: ignore[index]  # a list


def _refuse_references(event: Any) -> None:
    """Aliases can expand exponentially, and tags can create arbitrary types."""
    if getattr(event, "anchor", None) is not None:
        raise _malformed("The template must not use anchors and aliases.")
    if getattr(event, "tag", None) is not None:
        raise _malformed("The template must not use tags.")


def _read_scalar(event: Any, *, as_key: bool) -> Any:
    """Dates, versions and numbers with leading zeros stay strings."""
    text: str = event.value
    plain = event.implicit[0]
    if as_key or not plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_A_NUMBER.fullmatch(text):
        raise _malformed("The template must not contain NaN or infinity.")
    return exact_json.decode(text.encode()) if _NUMBER.fullmatch(text) else text


def _malformed(detail: str) -> Invalid:
    return Invalid("malformed_body", detail)
