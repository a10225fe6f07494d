"""Cost file errors: location, printable texts, pickling."""

import pickle

import pytest

from nimbill.costs.cost_file_error import EXCERPT_LENGTH_MAX, CostFileError, printable_excerpt
from nimbill.costs.formats.line_rules import RULES as LINE_RULES
from nimbill.costs.ingestion.delivery_errors import RULES as DELIVERY_RULES
from nimbill.costs.ingestion.delivery_errors import delivery_error


def test_the_message_contains_the_location() -> None:
    error = CostFileError("a.csv", "number", "Not a number.", line=7, column="Cost")

    assert (error.file, error.line, error.column) == ("a.csv", 7, "Cost")
    assert str(error) == "a.csv, line 7, column Cost: Not a number. (number)"
    assert str(CostFileError("a.csv", "empty", "Empty.")) == "a.csv: Empty. (empty)"
    assert str(CostFileError("", "empty", "Empty.")) == "Empty. (empty)"


def test_an_error_can_be_pickled() -> None:
    error = CostFileError("a.csv", "number", "Not a number.", line=7, column="Cost")

    unpickled = pickle.loads(pickle.dumps(error))

    assert type(unpickled) is CostFileError
    assert str(unpickled) == str(error)
    assert (unpickled.rule, unpickled.line, unpickled.column) == ("number", 7, "Cost")


def test_texts_from_files_are_shortened_and_made_printable() -> None:
    assert printable_excerpt("short") == "short"
    assert printable_excerpt("a\x1b[31m\nb\u202ec") == "a\ufffd[31m\ufffdb\ufffdc"
    assert len(printable_excerpt("x" * 10_000)) == EXCERPT_LENGTH_MAX
    assert len(delivery_error("f", "part_missing", "k" * 10_000).detail) < 150
    assert CostFileError("f\n" * 500, "r", "d", column="c" * 500).file.isprintable()


@pytest.mark.parametrize("rules", [DELIVERY_RULES, LINE_RULES])
def test_every_rule_has_a_complete_sentence(rules: dict[str, str]) -> None:
    assert all(text[0].isupper() and text.endswith(".") for text in rules.values())
    assert all("_" not in text for text in rules.values())


def test_rules_of_deliveries_name_no_paths() -> None:
    assert all("/" not in text for text in DELIVERY_RULES.values())
