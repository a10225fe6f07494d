"""A body is parsed, or every violation is reported at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Invalid, Violation
from nimbill.foundation.language import Language
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import (
    NOT_EMPTY,
    Body,
    Success,
    describe_rule,
    described,
    mentions_vendor,
    parse_body,
    text_length,
)


class SamplePart(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("test")

    rate: Decimal
    word: str


class SampleBody(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("test")

    name: Annotated[str, NOT_EMPTY]
    short: Annotated[str, text_length(2, 4)] | None = None
    note: str | None = None
    yes: bool
    count: int | None = None
    language: Language | None = None
    parts: dict[BilledVendor, SamplePart] | None = None
    by_name: dict[str, int] | None = None
    many: list[SamplePart] | None = None
    whatever: Any = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if sent.get("note") == "refused":
            yield Violation("note", "another note")


VALID: dict[str, Any] = {"name": "a", "yes": True}


def find_violations(sent: Any) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refusal:
        parse_body(SampleBody, sent)
    return [(violation.field, violation.rule) for violation in refusal.value.violations]


def test_a_body_of_required_fields_is_valid() -> None:
    assert parse_body(SampleBody, VALID) == SampleBody(name="a", yes=True)


def test_unknown_fields_are_ignored() -> None:
    assert parse_body(SampleBody, VALID | {"unknown": {"name": 7}}) == SampleBody(
        name="a", yes=True
    )


@pytest.mark.parametrize("field", ["short", "note", "count", "language", "parts", "many"])
def test_null_for_an_optional_field_means_absent(field: str) -> None:
    assert parse_body(SampleBody, VALID | {field: None}) == SampleBody(name="a", yes=True)


@pytest.mark.parametrize("field", ["name", "yes"])
def test_null_for_a_required_field_means_missing(field: str) -> None:
    assert find_violations(VALID | {field: None}) == [(field, "required")]


def test_every_violation_is_reported_in_field_order() -> None:
    sent = {
        "short": "12345",
        "note": 7,
        "yes": "true",
        "count": 1.5,
        "language": "fr",
        "parts": {"aws": {"rate": "0.1"}, "gcp": {}, "azure": []},
        "by_name": {"x": "1"},
        "many": [{"rate": 1, "word": "w"}, {"rate": True, "word": None}],
    }

    assert find_violations(sent) == [
        ("name", "required"),
        ("short", "length 2 to 4"),
        ("note", "a text"),
        ("yes", "true or false"),
        ("count", "a whole number"),
        ("language", "one of ja, en"),
        ("parts.aws.rate", "a number"),
        ("parts.aws.word", "required"),
        ("parts", "keys: one of aws, azure"),
        ("parts.azure", "an object"),
        ("by_name", "a whole number"),
        ("many[1].rate", "a number"),
        ("many[1].word", "required"),
    ]


def test_rules_across_fields_are_reported_with_the_others() -> None:
    assert find_violations({"name": "a", "note": "refused"}) == [
        ("yes", "required"),
        ("note", "another note"),
    ]


def test_a_field_is_reported_once() -> None:
    class StricterBody(SampleBody, frozen=True, kw_only=True):
        @classmethod
        def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
            yield Violation("note", "another note")

    with pytest.raises(Invalid) as refusal:
        parse_body(StricterBody, VALID | {"note": 7})

    assert refusal.value.violations == (Violation("note", "a text"),)


@pytest.mark.parametrize("sent", [None, [], [VALID], "text", 7, Decimal("0.5"), True])
def test_a_body_must_be_an_object(sent: object) -> None:
    assert find_violations(sent) == [("body", "an object")]


@pytest.mark.parametrize("value", [True, "5", Decimal(5), [5], {}])
def test_an_integer_field_accepts_only_integers(value: object) -> None:
    assert find_violations(VALID | {"count": value}) == [("count", "a whole number")]


@pytest.mark.parametrize("value", ["12", "1234", "名前", "🌸🌸"])
def test_lengths_count_code_points_and_include_both_limits(value: str) -> None:
    assert parse_body(SampleBody, VALID | {"short": value}).short == value


@pytest.mark.parametrize("value", ["", "1", "12345", "🌸" * 5])
def test_a_text_outside_its_length_is_refused(value: str) -> None:
    assert find_violations(VALID | {"short": value}) == [("short", "length 2 to 4")]


def test_an_empty_required_text_is_refused() -> None:
    assert find_violations(VALID | {"name": ""}) == [("name", "a text that is not empty")]


@pytest.mark.parametrize("field", ["parts", "by_name", "many"])
@pytest.mark.parametrize("value", ["text", 7, True])
def test_an_object_or_list_of_another_type_is_refused(field: str, value: object) -> None:
    rule = "a list" if field == "many" else "an object"

    assert find_violations(VALID | {field: value}) == [(field, rule)]


def test_decimals_keep_all_digits() -> None:
    part = {"rate": Decimal("0.10"), "word": "w"}

    body = parse_body(SampleBody, VALID | {"parts": {"aws": part}})

    assert body.parts is not None
    assert str(body.parts["aws"].rate) == "0.10"


def test_unknown_keys_are_not_repeated() -> None:
    violations = find_violations(VALID | {"by_name": {"canary": "x"}, "parts": {"canary": 1}})

    assert violations
    assert "canary" not in repr(violations)


TEXTS = st.sampled_from(["", "a", "ja", "aws", "azure", "rate", "word", "refused", "🌸" * 5])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([Decimal("0.10")]) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(SampleBody.__struct_fields__, VALUES)))
def test_any_input_is_a_valid_body_or_has_violations(sent: dict[str, Any]) -> None:
    outcome: SampleBody | Invalid
    try:
        outcome = parse_body(SampleBody, sent)
    except Invalid as refusal:
        outcome = refusal

    if isinstance(outcome, SampleBody):
        assert outcome.name
        assert isinstance(outcome.yes, bool)
    else:
        assert outcome.violations


def test_an_unsupported_field_type_is_a_programming_error() -> None:
    class UnsupportedBody(Body, frozen=True, kw_only=True):
        basis: ClassVar[Basis] = chosen("test")

        raw: bytes

    with pytest.raises(TypeError, match="bodies do not support BytesType"):
        parse_body(UnsupportedBody, {"raw": "x"})


class DescribedBody(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("test")

    colour: Annotated[Literal["red", "blue"], described("of the border")]
    size: Annotated[int | None, described("null is the usual size")]
    vendor: Annotated[BilledVendor | None, described("null is every vendor")] = None


def test_a_description_changes_no_rule_of_a_field() -> None:
    parsed = parse_body(DescribedBody, {"colour": "red", "size": None, "vendor": "aws"})

    assert parsed == DescribedBody(colour="red", size=None, vendor="aws")
    assert mentions_vendor(DescribedBody)


@pytest.mark.parametrize(
    ("sent", "violation"),
    [
        ({"colour": "green", "size": 1}, Violation("colour", "one of blue, red")),
        ({"colour": ["red"], "size": 1}, Violation("colour", "one of blue, red")),
        ({"colour": None, "size": 1}, Violation("colour", "required")),
        ({"colour": "red"}, Violation("size", "required")),
        ({"colour": "red", "size": "1"}, Violation("size", "a whole number")),
        (
            {"colour": "red", "size": 1, "vendor": "other"},
            Violation("vendor", "one of aws, azure"),
        ),
    ],
)
def test_a_described_field_is_checked(sent: Any, violation: Violation) -> None:
    with pytest.raises(Invalid) as refusal:
        parse_body(DescribedBody, sent)

    assert list(refusal.value.violations) == [violation]


def test_success_is_a_status() -> None:
    assert msgspec.json.encode(Success()) == b'{"status":"success"}'


@pytest.mark.parametrize(
    ("annotation", "rule"),
    [
        (Annotated[str, msgspec.Meta(min_length=3)], "a text of 3 or more"),
        (Annotated[str, msgspec.Meta(max_length=3)], "length 0 to 3"),
        (str | None, "a text"),
        (int | None, "a whole number"),
        (Annotated[int | None, described("a size")], "a whole number"),
        (dict[str, int], "an object"),
        (bytes, "of another type"),
    ],
)
def test_a_rule_is_described(annotation: Any, rule: str) -> None:
    assert describe_rule(inspect.type_info(annotation)) == rule
