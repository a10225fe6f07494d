"""YAML that templates may use, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import yaml

from nimbill.foundation.errors import Invalid
from nimbill.legacy.templates.yaml_parser import VALUES_MAX, parse_yaml


def refusal(text: str) -> str:
    with pytest.raises(Invalid) as refused:
        parse_yaml(text)
    return refused.value.detail


def test_values_have_the_types_of_json() -> None:
    text = """
    whole: 12
    negative: -3
    exact: 1.10
    scientific: 1e3
    yes_word: yes
    truth: true
    nothing: null
    tilde: ~
    empty:
    quoted: "12"
    """

    assert parse_yaml(text) == {
        "whole": 12,
        "negative": -3,
        "exact": Decimal("1.10"),
        "scientific": Decimal("1e3"),
        "yes_word": "yes",
        "truth": True,
        "nothing": None,
        "tilde": None,
        "empty": None,
        "quoted": "12",
    }


@pytest.mark.parametrize(
    "text", ["2026-11-15", "2026-11-15T10:00:00Z", "012345678901", "0x1f", "1_000", "12:30", "1."]
)
def test_dates_and_unusual_numbers_are_strings(text: str) -> None:
    assert parse_yaml(f"version: {text}") == {"version": text}


def test_keys_are_strings() -> None:
    assert parse_yaml("1: a\ntrue: b\nnull: c\n") == {"1": "a", "true": "b", "null": "c"}


def test_block_and_flow_styles_are_supported() -> None:
    text = 'key: |\n  -----BEGIN-----\n  abc\nfolded: >\n  one\n  two\nflow: {a: [1, "x"]}\n'

    assert parse_yaml(text) == {
        "key": "-----BEGIN-----\nabc\n",
        "folded": "one two\n",
        "flow": {"a": [1, "x"]},
    }


def test_an_empty_document_is_null() -> None:
    assert parse_yaml("") is None
    assert parse_yaml("# a comment\n") is None
    assert parse_yaml("--- \n...\n") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x 1\nb: *x", "anchors and aliases"),
        ("a: *x", "anchors and aliases"),
        ("a: !!python/object/apply:os.system [ls]", "tags"),
        ("a: !!int '3'", "tags"),
        ("!custom\na: 1", "tags"),
        ("<<: {a: 1}", "merge keys"),
        ("a: 1\na: 2", "duplicate key"),
        ("a: 1\n---\nb: 2", "more than one YAML document"),
        ("? [a]\n: b", "not a string"),
        ("{[a]: b}", "not a string"),
        ("a: .nan", "NaN"),
        ("a: -.inf", "NaN"),
        ("a: NaN", "NaN"),
        ("a: -Infinity", "NaN"),
        ("a: " + "9" * 31, "at most 30 digits"),
        ("a: 1e99", "exponent"),
        ('a: "\\0"', "NUL"),
        ('a: "\\ud800"', "neither valid JSON nor valid YAML"),
        ("\ta: b", "neither valid JSON nor valid YAML"),
        ("a: [1", "neither valid JSON nor valid YAML"),
        ("a: 'b", "neither valid JSON nor valid YAML"),
        ("%YAML 9.9\n---\na: 1", "neither valid JSON nor valid YAML"),
        ("[" * 33 + "]" * 33, "nested deeper than 32 levels"),
    ],
)
def test_what_json_cannot_express_is_refused(text: str, reason: str) -> None:
    assert reason in refusal(text)


def test_32_levels_are_accepted() -> None:
    assert parse_yaml("[" * 32 + "]" * 32)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 250_000,
        "{" * 250_000,
        "- " * 125_000,
        "? " * 125_000,
        ": " * 125_000,
        "&" * 250_000,
        "!" * 250_000,
        "a: [" + "1," * 125_000 + "]",
        "\n".join(f"k{number}: v" for number in range(25_000)),
        "\n".join(" " * depth + "a:" for depth in range(700)),
        "[? " * 80_000,
        "a: &a [x]\n" + "b: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n" * 5_000,
    ],
    ids=lambda text: text[:8].replace("\n", " "),
)
def test_expensive_documents_are_refused_before_they_are_read_to_the_end(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys are not counted as values, and the end of a collection is an event too."""
    events: list[object] = []
    parse = yaml.parse

    def parse_and_count(text: str, **options: Any) -> Iterator[Any]:
        for event in parse(text, **options):
            events.append(event)
            yield event

    monkeypatch.setattr(yaml, "parse", parse_and_count)

    assert refusal(text)
    assert len(events) <= 3 * VALUES_MAX


def test_the_maximum_number_of_values_is_accepted() -> None:
    """A list counts as a value, as do its items; keys do not."""
    pairs = ", ".join(f"k{number}: 1" for number in range(VALUES_MAX - 1))

    assert len(parse_yaml("[" + "1," * (VALUES_MAX - 1) + "]")) == VALUES_MAX - 1
    assert len(parse_yaml(f"{{{pairs}}}")) == VALUES_MAX - 1
    assert str(VALUES_MAX) in refusal("[" + "1," * VALUES_MAX + "]")
