"""A body is sound, or every single thing that is wrong with it is named at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Invalid, Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.foundation.vocabulary import Language
from nimbill.http.request_bodies import NOT_EMPTY, Body, Success, rule_of, sound, text


class Part(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("test")

    rate: Decimal
    word: str


class Whole(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("test")

    name: Annotated[str, NOT_EMPTY]
    short: Annotated[str, text(2, 4)] | None = None
    note: str | None = None
    yes: bool
    count: int | None = None
    language: Language | None = None
    parts: dict[BilledVendor, Part] | None = None
    by_name: dict[str, int] | None = None
    many: list[Part] | None = None
    whatever: Any = None

    @classmethod
    def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if sent.get("note") == "refused":
            yield Violation("note", "another note")


SENT: dict[str, Any] = {"name": "a", "yes": True}


def broken(sent: Any) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as refusal:
        sound(Whole, sent)
    return [(violation.field, violation.rule) for violation in refusal.value.violations]


def test_required_fields_are_enough() -> None:
    assert sound(Whole, SENT) == Whole(name="a", yes=True)


def test_unknown_fields_are_ignored() -> None:
    assert sound(Whole, SENT | {"unknown": {"name": 7}}) == Whole(name="a", yes=True)


@pytest.mark.parametrize("field", ["short", "note", "count", "language", "parts", "many"])
def test_null_for_an_optional_field_means_absent(field: str) -> None:
    assert sound(Whole, SENT | {field: None}) == Whole(name="a", yes=True)


@pytest.mark.parametrize("field", ["name", "yes"])
def test_null_for_a_required_field_means_missing(field: str) -> None:
    assert broken(SENT | {field: None}) == [(field, "required")]


def test_everything_wrong_is_named_at_once_in_the_order_of_the_fields() -> None:
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

    assert broken(sent) == [
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


def test_rules_over_several_fields_are_named_with_the_rest() -> None:
    assert broken({"name": "a", "note": "refused"}) == [
        ("yes", "required"),
        ("note", "another note"),
    ]


def test_a_field_of_the_wrong_type_is_named_once() -> None:
    class Stricter(Whole, frozen=True, kw_only=True):
        @classmethod
        def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
            yield Violation("note", "another note")

    with pytest.raises(Invalid) as refusal:
        sound(Stricter, SENT | {"note": 7})

    assert refusal.value.violations == (Violation("note", "a text"),)


@pytest.mark.parametrize("sent", [None, [], [SENT], "text", 7, Decimal("0.5"), True])
def test_what_is_no_object_is_no_body(sent: object) -> None:
    assert broken(sent) == [("body", "an object")]


@pytest.mark.parametrize("value", [True, "5", Decimal(5), [5], {}])
def test_a_whole_number_is_written_as_one(value: object) -> None:
    assert broken(SENT | {"count": value}) == [("count", "a whole number")]


@pytest.mark.parametrize("value", ["12", "1234", "名前", "🌸🌸"])
def test_lengths_count_characters_and_both_ends_are_allowed(value: str) -> None:
    assert sound(Whole, SENT | {"short": value}).short == value


@pytest.mark.parametrize("value", ["", "1", "12345", "🌸" * 5])
def test_a_text_outside_its_lengths_is_refused(value: str) -> None:
    assert broken(SENT | {"short": value}) == [("short", "length 2 to 4")]


def test_an_empty_text_is_no_required_text() -> None:
    assert broken(SENT | {"name": ""}) == [("name", "a text that is not empty")]


@pytest.mark.parametrize("field", ["parts", "by_name", "many"])
@pytest.mark.parametrize("value", ["text", 7, True])
def test_objects_and_lists_are_asked_for_by_name(field: str, value: object) -> None:
    kind = "a list" if field == "many" else "an object"

    assert broken(SENT | {field: value}) == [(field, kind)]


def test_decimals_are_kept_digit_for_digit() -> None:
    part = {"rate": Decimal("0.10"), "word": "w"}

    body = sound(Whole, SENT | {"parts": {"aws": part}})

    assert body.parts is not None
    assert str(body.parts["aws"].rate) == "0.10"


def test_keys_of_the_callers_own_are_not_repeated() -> None:
    named = broken(SENT | {"by_name": {"canary": "x"}, "parts": {"canary": 1}})

    assert named
    assert "canary" not in repr(named)


WORDS = st.sampled_from(["", "a", "ja", "aws", "azure", "rate", "word", "refused", "🌸" * 5])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([Decimal("0.10")]) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(Whole.__struct_fields__, VALUES)))
def test_whatever_is_sent_is_a_sound_body_or_named_violations(sent: dict[str, Any]) -> None:
    outcome: Whole | Invalid
    try:
        outcome = sound(Whole, sent)
    except Invalid as refusal:
        outcome = refusal

    if isinstance(outcome, Whole):
        assert outcome.name
        assert isinstance(outcome.yes, bool)
    else:
        assert outcome.violations


def test_a_body_of_a_kind_we_do_not_check_is_a_mistake_of_ours() -> None:
    class Odd(Body, frozen=True, kw_only=True):
        basis: ClassVar[Basis] = chosen("test")

        raw: bytes

    with pytest.raises(TypeError, match="bodies do not use BytesType"):
        sound(Odd, {"raw": "x"})


def test_success_says_so() -> None:
    assert msgspec.json.encode(Success()) == b'{"status":"success"}'


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Annotated[str, msgspec.Meta(min_length=3)], "a text of 3 or more"),
        (Annotated[str, msgspec.Meta(max_length=3)], "length 0 to 3"),
        (str | None, "a text"),
        (int | None, "a whole number"),
        (dict[str, int], "an object"),
        (bytes, "of another type"),
    ],
)
def test_a_rule_is_said_in_words(kind: Any, words: str) -> None:
    assert rule_of(inspect.type_info(kind)) == words
