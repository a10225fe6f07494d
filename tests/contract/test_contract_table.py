"""docs/contract.md names the tests that hold each stated fact, and the tests exist."""

from __future__ import annotations

import json

import pytest

from tests.contract import contract_table
from tests.contract.comparing_tests import change_text, holds
from tests.contract.contract_table import digest_of_section, is_named, occurs
from tests.contract.named_tests import is_test, read_source
from tests.contract.specification import list_headings, read_pages, read_specification
from tests.contract.stated_facts import Fact, FactPart, list_facts

COMPARED = json.loads(contract_table.COMPARED.read_text())
SAMPLE = 25

TEXT = """# Sizes
A size is `small` or 12. It has no
default. Choices: [sizes](sizes.md).

- a point, as [told](told.md)

| Field | Type | Notes |
|---|---|---|
| name | string | 1 to 9 |
| name | string | open |

**Open:** the colour:

- whether it is red
"""


def test_the_page_is_up_to_date() -> None:
    page = contract_table.format_page(contract_table.list_held_facts())

    assert contract_table.PAGE.read_text() == page, "run: make contract-table"


def test_every_fact_is_held_by_a_test() -> None:
    assert [str(each.fact) for each in contract_table.list_held_facts() if not each.is_held] == []


def test_the_sections_were_compared_as_they_are() -> None:
    facts = list_facts(read_pages())
    outdated = [
        heading
        for heading in dict.fromkeys(fact.heading for fact in facts)
        if COMPARED.get(heading, {}).get("digest") != digest_of_section(heading)
    ]

    assert outdated == [], "run: make contract-table"
    assert set(COMPARED) <= set(list_headings(read_specification()))


def test_named_and_compared_tests_exist() -> None:
    named = [
        test
        for facts in contract_table.read_named().values()
        for tests in facts.values()
        for test in tests
    ]
    compared = [
        test
        for section in COMPARED.values()
        for group in section["groups"]
        for test in group["tests"]
    ]

    assert [test for test in [*named, *compared] if not is_test(test)] == []
    assert len(named) > 200


def test_every_name_in_the_files_of_facts_is_that_of_a_fact() -> None:
    facts = list_facts(read_pages())
    names = [
        (heading, name)
        for sections in (contract_table.read_named(), contract_table.read_remarks())
        for heading, below in sections.items()
        for name in below
    ]
    unknown = [
        (heading, name)
        for heading, name in names
        if not any(fact.heading == heading and is_named(fact, name) for fact in facts)
    ]

    assert unknown == []


def test_a_remark_has_no_test() -> None:
    named, remarks = contract_table.read_named(), contract_table.read_remarks()

    assert [
        (heading, name)
        for heading, names in remarks.items()
        for name in names
        if name in named.get(heading, {})
    ] == []


def list_sample() -> list[tuple[str, Fact, FactPart]]:
    """Parts of facts from all pages, each with the tests that are said to notice a change."""
    facts = {(fact.heading, fact.text): fact for fact in list_facts(read_pages())}
    found = [
        (test, fact, part)
        for heading, section in COMPARED.items()
        for group in section["groups"]
        for text in group["facts"]
        if len(group["tests"]) == 1 and (fact := facts.get((heading, text)))
        for test in group["tests"]
        for part in fact.parts
        if part.text not in section["unnoticed"].get(text, ())
    ]
    return found[:: len(found) // SAMPLE]


def test_compared_tests_notice_changes_of_a_sample() -> None:
    unnoticed = [
        (test, str(fact), part.text)
        for test, fact, part in list_sample()
        if not holds(test, fact, part)
    ]

    assert unnoticed == []


def test_rows_and_sentences_are_facts_and_open_points_are_none() -> None:
    facts = list_facts({"sizes.md": TEXT})

    assert [fact.text for fact in facts] == [
        "A size is `small` or 12.",
        "It has no default.",
        "a point, as told",
        "name",
        "name (2)",
    ]
    assert [part.text for part in facts[0].parts] == ["`small`", "12"]
    assert [part.text for part in facts[3].parts] == ["name", "string", "1", "9"]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("12", "13"),
        ("0.10", "0.11"),
        ("`small`", "`smallx`"),
        ("/a/{b}?c={c}", "/a/{b}x?c={c}"),
        ("{core_url}", "{core_urlx}"),
        ("required", "optional"),
        ("M?", "M"),
        ("state", "statex"),
    ],
)
def test_a_part_is_changed_into_another_of_its_kind(text: str, other: str) -> None:
    assert change_text(text) == other


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("1,000", 'refuse("x" * 1_001)', True),
        ("1,000", 'refuse("x" * 10_000)', False),
        ("5", "def test_a_user_has_five_roles", True),
        ("`not_sent`", 'assert code == "not_sent"', True),
        ("`not_sent`", 'assert code == "sent"', False),
        ("409", "", False),
    ],
)
def test_names_and_numbers_are_found_in_the_source(text: str, source: str, expected: bool) -> None:
    assert occurs(text, source) is expected


def test_the_source_of_a_test_has_what_it_uses_of_its_file() -> None:
    name = "tests/contract/test_contract_table.py::test_compared_tests_notice_changes_of_a_sample"
    source = read_source(name)

    assert "SAMPLE = 25" in source
    assert "test_the_page_is_up_to_date" not in source
    assert not is_test(f"{name}_that_does_not_exist")
