"""Request and response bodies, and the validation that reports every violation at once."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import inspect

from nimbill.foundation import calendar_month
from nimbill.foundation.basis import Basis, stated
from nimbill.foundation.errors import Violation, rule_violations_error
from nimbill.foundation.vendor_names import BILLED_VENDORS, NAME_PATTERN, NAME_RULE
from nimbill.foundation.vendors import get_vendor_rule


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """A body as specified, one field per row. Unknown fields are ignored, null means absent."""

    @classmethod
    def rule_violations(cls, _sent: Mapping[str, Any]) -> Iterator[Violation]:
        """Check rules across fields. `_sent` may contain invalid fields."""
        return iter(())

    @classmethod
    def vendor_violations(
        cls, _sent: Mapping[str, Any], _vendors: Sequence[str]
    ) -> Iterator[Violation]:
        """Check rules that depend on a vendor. `_vendors` are those that the organisation bills."""
        return iter(())


class Success(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Conventions")

    status: str = "success"


# See docs/choices.md, lengths-in-code-points.


def text_length(min_length: int, max_length: int) -> msgspec.Meta:
    """Limit a string to this many code points."""
    return msgspec.Meta(min_length=min_length, max_length=max_length)


def clearable_text(min_length: int, max_length: int) -> msgspec.Meta:
    """Limit a string to this many code points; an empty string clears the stored value."""
    either = [{"maxLength": 0}, {"minLength": min_length, "maxLength": max_length}]
    return msgspec.Meta(
        extra={"min_length": min_length, "max_length": max_length},
        extra_json_schema={"anyOf": either},
    )


def described(text: str) -> msgspec.Meta:
    """Explain a field in the OpenAPI document."""
    return msgspec.Meta(description=text)


EMPTY_TEXT = "empty text"

T = TypeVar("T")

# See docs/choices.md, required-text.
NOT_EMPTY = msgspec.Meta(min_length=1)


def parse_body(body_type: type[T], sent: Any, vendors: Sequence[str] = BILLED_VENDORS) -> T:
    """Convert decoded JSON to a body. Raise Invalid with every violation.

    `vendors` are those that the organisation bills.
    """
    type_info = _get_type_info(body_type)
    if isinstance(type_info, inspect.StructType) and not isinstance(sent, dict):
        raise rule_violations_error([Violation("body", "an object")])
    violations = list(_validate(type_info, sent, "", vendors))
    invalid_fields = {violation.field for violation in violations}
    if isinstance(sent, dict) and issubclass(body_type, Body):
        by_rule = (body_type.vendor_violations(sent, vendors), body_type.rule_violations(sent))
        violations += [
            violation for violation in chain(*by_rule) if violation.field not in invalid_fields
        ]
    if violations:
        raise rule_violations_error(violations)
    return msgspec.convert(sent, body_type)


_type_infos: dict[Any, inspect.Type] = {}


def _get_type_info(body_type: Any) -> inspect.Type:
    if body_type not in _type_infos:
        _type_infos[body_type] = inspect.type_info(body_type)
    return _type_infos[body_type]


def mentions_vendor(body_type: Any) -> bool:
    """Return whether a field of the body, or a field inside it, is a vendor."""
    if body_type not in _vendor_mentions:
        _vendor_mentions[body_type] = _has_vendor(_get_type_info(body_type))
    return _vendor_mentions[body_type]


_vendor_mentions: dict[Any, bool] = {}


def _has_vendor(type_info: inspect.Type) -> bool:
    match type_info:
        case inspect.Metadata(type=described_type, extra=None):
            return _has_vendor(described_type)
        case inspect.Metadata(extra=extra):
            return get_vendor_rule(extra) is not None
        case inspect.StructType(fields=fields):
            return any(_has_vendor(field.type) for field in fields)
        case inspect.DictType(key_type=key_type, value_type=value_type):
            return _has_vendor(key_type) or _has_vendor(value_type)
        case inspect.ListType(item_type=item_type):
            return _has_vendor(item_type)
        case inspect.UnionType(types=types):
            return any(map(_has_vendor, types))
    return False


# Which vendors the organisation bills is passed to every validator.
def _validate(
    type_info: inspect.Type, value: Any, path: str, vendors: Sequence[str]
) -> Iterator[Violation]:
    validator = _VALIDATORS.get(type(type_info))
    if validator is None:
        raise TypeError(f"bodies do not support {type(type_info).__name__}")
    yield from validator(type_info, value, path, vendors)


def _validate_text(
    type_info: inspect.StrType, value: Any, path: str, _vendors: Sequence[str]
) -> Iterator[Violation]:
    min_length, max_length = type_info.min_length or 0, type_info.max_length
    has_length = (
        isinstance(value, str)
        and len(value) >= min_length
        and not (max_length and len(value) > max_length)
    )
    if not has_length or (type_info.pattern and re.search(type_info.pattern, value) is None):
        yield Violation(path, describe_rule(type_info))


def _validate_struct(
    type_info: inspect.StructType, value: Any, path: str, vendors: Sequence[str]
) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield Violation(path, "an object")
        return
    for field in type_info.fields:
        name = field.encode_name
        field_path = f"{path}.{name}" if path else name
        if field.required and value.get(name) is None and not _is_explicit_null(field, value):
            yield Violation(field_path, "required")
        elif name in value:
            yield from _validate(field.type, value[name], field_path, vendors)


def _is_explicit_null(field: inspect.Field, value: dict[str, Any]) -> bool:
    """A required field that may be null must be present, and null is a value."""
    match field.type:
        case (
            inspect.UnionType(includes_none=True)
            | inspect.Metadata(type=inspect.UnionType(includes_none=True), extra=None)
        ):
            return field.encode_name in value
    return False


def _validate_dict(
    type_info: inspect.DictType, value: Any, path: str, vendors: Sequence[str]
) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield Violation(path, "an object")
        return
    # Keys that the caller chose are not repeated in the path.
    has_known_keys = isinstance(
        type_info.key_type, inspect.EnumType | inspect.LiteralType
    ) or _has_vendor(type_info.key_type)
    for key, item in value.items():
        if list(_validate(type_info.key_type, key, path, vendors)):
            yield Violation(path, f"keys: {describe_rule(type_info.key_type, vendors)}")
        else:
            item_path = f"{path}.{key}" if has_known_keys else path
            yield from _validate(type_info.value_type, item, item_path, vendors)


def _validate_list(
    type_info: inspect.ListType, value: Any, path: str, vendors: Sequence[str]
) -> Iterator[Violation]:
    if not isinstance(value, list):
        yield Violation(path, "a list")
        return
    for index, item in enumerate(value):
        yield from _validate(type_info.item_type, item, f"{path}[{index}]", vendors)


def _validate_union(
    type_info: inspect.UnionType, value: Any, path: str, vendors: Sequence[str]
) -> Iterator[Violation]:
    """Accept null as absent; check a list against the list type, others against the first."""
    if value is None:
        return
    members = [member for member in type_info.types if not isinstance(member, inspect.NoneType)]
    is_list = isinstance(value, list)
    matching = [member for member in members if isinstance(member, inspect.ListType) is is_list]
    yield from _validate((matching or members)[0], value, path, vendors)


def _validate_metadata(
    type_info: inspect.Metadata, value: Any, path: str, vendors: Sequence[str]
) -> Iterator[Violation]:
    if type_info.extra is None:  # only a description
        yield from _validate(type_info.type, value, path, vendors)
        return
    vendor_rule = get_vendor_rule(type_info.extra)
    if vendor_rule is not None:
        is_valid = value in vendor_rule.list_names(vendors)
    else:
        min_length, max_length = _clearable_lengths(type_info)
        is_valid = isinstance(value, str) and (not value or min_length <= len(value) <= max_length)
    if not is_valid:
        yield Violation(path, describe_rule(type_info, vendors))


def _clearable_lengths(type_info: inspect.Metadata) -> tuple[int, int]:
    assert type_info.extra is not None, "only `clearable_text` and vendors have extra data"
    return type_info.extra["min_length"], type_info.extra["max_length"]


def _require_type(
    *types: type, exclude: tuple[type, ...] = ()
) -> Callable[..., Iterator[Violation]]:
    def validate(
        type_info: inspect.Type, value: Any, path: str, _vendors: Sequence[str]
    ) -> Iterator[Violation]:
        if not isinstance(value, types) or isinstance(value, exclude):
            yield Violation(path, describe_rule(type_info))

    return validate


def _validate_enum(
    type_info: inspect.EnumType, value: Any, path: str, _vendors: Sequence[str]
) -> Iterator[Violation]:
    if not isinstance(value, str) or value not in [member.value for member in type_info.cls]:
        yield Violation(path, describe_rule(type_info))


def _validate_literal(
    type_info: inspect.LiteralType, value: Any, path: str, _vendors: Sequence[str]
) -> Iterator[Violation]:
    if value not in type_info.values:
        yield Violation(path, describe_rule(type_info))


def _accept_anything(
    _type_info: inspect.Type, _value: Any, _path: str, _vendors: Sequence[str]
) -> Iterator[Violation]:
    return iter(())


def _validate_whole_number(
    type_info: inspect.IntType, value: Any, path: str, _vendors: Sequence[str]
) -> Iterator[Violation]:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    is_below = is_number and type_info.ge is not None and value < type_info.ge
    is_above = is_number and type_info.le is not None and value > type_info.le
    if not is_number or is_below or is_above:
        yield Violation(path, describe_rule(type_info))


_VALIDATORS: Mapping[type, Callable[..., Iterator[Violation]]] = {
    inspect.StrType: _validate_text,
    inspect.BoolType: _require_type(bool),
    inspect.IntType: _validate_whole_number,
    inspect.DecimalType: _require_type(int, Decimal, exclude=(bool,)),
    inspect.EnumType: _validate_enum,
    inspect.LiteralType: _validate_literal,
    inspect.StructType: _validate_struct,
    inspect.DictType: _validate_dict,
    inspect.ListType: _validate_list,
    inspect.UnionType: _validate_union,
    inspect.AnyType: _accept_anything,
    inspect.Metadata: _validate_metadata,
}


def describe_rule(type_info: inspect.Type, vendors: Sequence[str] = BILLED_VENDORS) -> str:
    """Describe the rule of a type without the value that was sent."""
    match type_info:
        case inspect.StrType(pattern=pattern) if pattern == NAME_PATTERN:
            return NAME_RULE
        case inspect.StrType(pattern=calendar_month.PATTERN):
            return calendar_month.RULE
        case inspect.StrType(min_length=None, max_length=None):
            return "a text"
        case inspect.StrType(min_length=min_length, max_length=None):
            return (
                "a text that is not empty" if min_length == 1 else f"a text of {min_length} or more"
            )
        case inspect.StrType(min_length=min_length, max_length=max_length):
            return f"length {min_length or 0} to {max_length}"
        case inspect.Metadata(type=described_type, extra=None):
            return describe_rule(described_type, vendors)
        case inspect.Metadata(extra=extra) if (vendor_rule := get_vendor_rule(extra)) is not None:
            return vendor_rule.describe(vendors)
        case inspect.Metadata():
            min_length, max_length = _clearable_lengths(type_info)
            return f"length {min_length} to {max_length}"
        case inspect.EnumType(cls=members):
            return f"one of {', '.join(member.value or EMPTY_TEXT for member in members)}"
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(str(value) for value in values)}"
        case inspect.IntType(ge=int(least), le=int(most)):
            return f"a whole number from {least} to {most}"
        case inspect.UnionType(types=members):
            return " or ".join(
                describe_rule(member, vendors)
                for member in members
                if not isinstance(member, inspect.NoneType)
            )
    return _TYPE_RULES.get(type(type_info), "of another type")


_TYPE_RULES: Mapping[type, str] = {
    inspect.BoolType: "true or false",
    inspect.IntType: "a whole number",
    inspect.DecimalType: "a number",
    inspect.StructType: "an object",
    inspect.DictType: "an object",
    inspect.ListType: "a list",
    inspect.DateTimeType: "an RFC 3339 timestamp",
}
