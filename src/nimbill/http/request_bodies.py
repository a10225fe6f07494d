"""What every request and response body shares, and the check that names every violation at once."""

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import inspect

from nimbill.foundation import calendar_month
from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Invalid, Violation

basis = chosen("unknown-fields-and-null")


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """A body, row by row as specified. Unknown fields are ignored, null means absent."""

    @classmethod
    def broken_rules(cls, _sent: Mapping[str, Any]) -> Iterator[Violation]:
        """Rules over several fields or tables; asked with what was sent, sound or not."""
        return iter(())


class Success(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Conventions")

    status: str = "success"


lengths_basis = chosen("lengths-in-code-points")


def text(least: int, most: int) -> msgspec.Meta:
    """A text of so many characters; counted in code points."""
    return msgspec.Meta(min_length=least, max_length=most)


def clearable(least: int, most: int) -> msgspec.Meta:
    """A text of so many characters, or an empty one, which clears what is stored."""
    either = [{"maxLength": 0}, {"minLength": least, "maxLength": most}]
    return msgspec.Meta(extra={"least": least, "most": most}, extra_json_schema={"anyOf": either})


T = TypeVar("T")

required_basis = chosen("required-text")
NOT_EMPTY = msgspec.Meta(min_length=1)


def sound(kind: type[T], sent: Any) -> T:
    """The body of this kind, or Invalid with everything that is wrong with it."""
    shape = _shape_of(kind)
    if isinstance(shape, inspect.StructType) and not isinstance(sent, dict):
        raise Invalid("rule_broken", "the request breaks a rule", [Violation("body", "an object")])
    broken = list(_violations(shape, sent, ""))
    fields_named = {violation.field for violation in broken}
    if isinstance(sent, dict) and issubclass(kind, Body):
        broken += [v for v in kind.broken_rules(sent) if v.field not in fields_named]
    if broken:
        raise Invalid("rule_broken", "the request breaks a rule", broken)
    return msgspec.convert(sent, kind)


_shapes: dict[Any, inspect.Type] = {}


def _shape_of(kind: Any) -> inspect.Type:
    if kind not in _shapes:
        _shapes[kind] = inspect.type_info(kind)
    return _shapes[kind]


def _violations(shape: inspect.Type, value: Any, at: str) -> Iterator[Violation]:
    check = _CHECKS.get(type(shape))
    if check is None:
        raise TypeError(f"bodies do not use {type(shape).__name__}")
    yield from check(shape, value, at)


def _in_text(shape: inspect.StrType, value: Any, at: str) -> Iterator[Violation]:
    least, most = shape.min_length or 0, shape.max_length
    fits = isinstance(value, str) and len(value) >= least and not (most and len(value) > most)
    if not fits or (shape.pattern and re.search(shape.pattern, value) is None):
        yield Violation(at, rule_of(shape))


def _in_struct(shape: inspect.StructType, value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield Violation(at, "an object")
        return
    for field in shape.fields:
        place = f"{at}.{field.encode_name}" if at else field.encode_name
        given = value.get(field.encode_name)
        if field.required and given is None and not _null_said(field, value):
            yield Violation(place, "required")
        elif field.encode_name in value:
            yield from _violations(field.type, value[field.encode_name], place)


def _null_said(field: inspect.Field, value: dict[str, Any]) -> bool:
    """Of a required field that may be null, null is a value and must be sent."""
    nullable = isinstance(field.type, inspect.UnionType) and field.type.includes_none
    return nullable and field.encode_name in value


def _in_dict(shape: inspect.DictType, value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, dict):
        yield Violation(at, "an object")
        return
    for key, item in value.items():
        if list(_violations(shape.key_type, key, at)):
            yield Violation(at, f"keys: {rule_of(shape.key_type)}")
        else:
            yield from _violations(shape.value_type, item, f"{at}.{key}" if _plain(shape) else at)


def _plain(shape: inspect.DictType) -> bool:
    """Whether a key is one of our own words and may be named; others are the caller's text."""
    return isinstance(shape.key_type, inspect.EnumType | inspect.LiteralType)


def _in_list(shape: inspect.ListType, value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, list):
        yield Violation(at, "a list")
        return
    for index, item in enumerate(value):
        yield from _violations(shape.item_type, item, f"{at}[{index}]")


def _in_union(shape: inspect.UnionType, value: Any, at: str) -> Iterator[Violation]:
    """`T | None`: null is absent, else the rules of T hold. An object or a list: of what it is."""
    kinds = [one for one in shape.types if not isinstance(one, inspect.NoneType)]
    if value is not None:
        listed = isinstance(value, list)
        fitting = [one for one in kinds if isinstance(one, inspect.ListType) is listed]
        yield from _violations((fitting or kinds)[0], value, at)


def _in_clearable(shape: inspect.Metadata, value: Any, at: str) -> Iterator[Violation]:
    least, most = _lengths(shape)
    if not isinstance(value, str) or (value and not least <= len(value) <= most):
        yield Violation(at, rule_of(shape))


def _lengths(shape: inspect.Metadata) -> tuple[int, int]:
    assert shape.extra is not None, "the only metadata used is that of `clearable`"
    return shape.extra["least"], shape.extra["most"]


def _of_type(*kinds: type, never: tuple[type, ...] = ()) -> Callable[..., Iterator[Violation]]:
    def check(shape: inspect.Type, value: Any, at: str) -> Iterator[Violation]:
        if not isinstance(value, kinds) or isinstance(value, never):
            yield Violation(at, rule_of(shape))

    return check


def _in_enum(shape: inspect.EnumType, value: Any, at: str) -> Iterator[Violation]:
    if not isinstance(value, str) or value not in [member.value for member in shape.cls]:
        yield Violation(at, rule_of(shape))


def _in_literal(shape: inspect.LiteralType, value: Any, at: str) -> Iterator[Violation]:
    if value not in shape.values:
        yield Violation(at, rule_of(shape))


def _anything(_shape: inspect.Type, _value: Any, _at: str) -> Iterator[Violation]:
    return iter(())


_CHECKS: Mapping[type, Callable[..., Iterator[Violation]]] = {
    inspect.StrType: _in_text,
    inspect.BoolType: _of_type(bool),
    inspect.IntType: _of_type(int, never=(bool,)),
    inspect.DecimalType: _of_type(int, Decimal, never=(bool,)),
    inspect.EnumType: _in_enum,
    inspect.LiteralType: _in_literal,
    inspect.StructType: _in_struct,
    inspect.DictType: _in_dict,
    inspect.ListType: _in_list,
    inspect.UnionType: _in_union,
    inspect.AnyType: _anything,
    inspect.Metadata: _in_clearable,
}


def rule_of(shape: inspect.Type) -> str:
    """The rule of a type in words, for answers that must not repeat what was sent."""
    match shape:
        case inspect.StrType(pattern=calendar_month.PATTERN):
            return calendar_month.RULE
        case inspect.StrType(min_length=None, max_length=None):
            return "a text"
        case inspect.StrType(min_length=least, max_length=None):
            return "a text that is not empty" if least == 1 else f"a text of {least} or more"
        case inspect.StrType(min_length=least, max_length=most):
            return f"length {least or 0} to {most}"
        case inspect.Metadata():
            least, most = _lengths(shape)
            return f"length {least} to {most}"
        case inspect.EnumType(cls=words):
            return f"one of {', '.join(str(member.value) for member in words)}"
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(str(value) for value in values)}"
        case inspect.UnionType(types=kinds):
            return " or ".join(rule_of(k) for k in kinds if not isinstance(k, inspect.NoneType))
    return _NAMES.get(type(shape), "of another type")


_NAMES: Mapping[type, str] = {
    inspect.BoolType: "true or false",
    inspect.IntType: "a whole number",
    inspect.DecimalType: "a number",
    inspect.StructType: "an object",
    inspect.DictType: "an object",
    inspect.ListType: "a list",
    inspect.DateTimeType: "an RFC 3339 timestamp",
}
