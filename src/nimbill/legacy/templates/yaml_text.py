"""YAML read as plainly as JSON: no anchors, tags or guesses, and numbers exactly as written."""

import re
from typing import Any

import yaml

from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Invalid

basis = chosen("template-yaml")

VALUES_MAX = 10_000  # reading as many takes a tenth of a second

# libyaml where the library brings it along: ten times as fast
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
# as YAML spells them, and as programs that write JSON do
_NOT_A_NUMBER = re.compile(r"\.?(nan|NaN|NAN)|[-+]?(\.(inf|Inf|INF)|Infinity)")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def read_yaml(text: str) -> Any:
    """The one document of a text; Invalid for what JSON could not say either."""
    try:
        value = _built(yaml.parse(text, Loader=_Parser))
        # once through the reader of JSON, whose limits on texts and depth then hold here too
        return exact_json.read(exact_json.write(value))
    except (yaml.YAMLError, UnicodeError, RecursionError):
        raise _malformed("the template is neither JSON nor YAML") from None


class _Open:
    """A mapping or list whose end has not come yet."""

    def __init__(self, value: dict[str, Any] | list[Any]) -> None:
        self.value = value
        self.key: str | None = None

    def take(self, item: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(item)
        elif self.key is None:
            self.key = self._fresh_key(item)
        else:
            self.value[self.key], self.key = item, None

    @property
    def awaits_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None

    def _fresh_key(self, key: Any) -> str:
        if not isinstance(key, str):
            raise _malformed("a key of the template is not a text")
        if key == "<<":
            raise _malformed("the template may not use merge keys")
        if key in self.value:
            raise _malformed("a key stands twice in one object")
        return key


def _built(events: Any) -> Any:
    """Event by event, so that nothing is built beyond what is allowed."""
    top = _Open([])
    open_ones = [top]
    documents = values = 0
    for event in events:
        _refuse_references(event)
        if isinstance(event, yaml.NodeEvent) and not open_ones[-1].awaits_key:
            values += 1
            if values > VALUES_MAX:
                raise _malformed(f"the template has more than {VALUES_MAX} values")
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _malformed("the template is more than one YAML document")
        elif isinstance(event, yaml.ScalarEvent):
            open_ones[-1].take(_scalar(event, as_key=open_ones[-1].awaits_key))
        elif isinstance(event, yaml.CollectionStartEvent):
            if len(open_ones) > exact_json.DEPTH_MAX:
                raise _malformed(f"nested deeper than {exact_json.DEPTH_MAX} levels")
            mapping = isinstance(event, yaml.MappingStartEvent)
            begun = _Open({} if mapping else [])
            open_ones[-1].take(begun.value)
            open_ones.append(begun)
        elif isinstance(event, yaml.CollectionEndEvent):
            open_ones.pop()
    return top.value[0] if top.value else None  # type: ignore[index]  # the list made above


def _refuse_references(event: Any) -> None:
    """Anchors make bombs, tags make types; neither has a place in a template."""
    if getattr(event, "anchor", None) is not None:
        raise _malformed("the template may not use anchors and aliases")
    if getattr(event, "tag", None) is not None:
        raise _malformed("the template may not use tags")


def _scalar(event: Any, *, as_key: bool) -> Any:
    """Dates, versions and numbers with leading zeros stay the texts they are."""
    text: str = event.value
    plain = event.implicit[0]
    if as_key or not plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_A_NUMBER.fullmatch(text):
        raise _malformed("NaN and infinities are not numbers here")
    return exact_json.read(text.encode()) if _NUMBER.fullmatch(text) else text


def _malformed(detail: str) -> Invalid:
    return Invalid("malformed_body", detail)
