"""A refusal tells the place, is fit to be shown, and passes from process to process."""

import pickle

from nimbill.costs.cost_file_error import SHOWN_MAX, CostFileError, shown
from nimbill.costs.ingestion.delivery_errors import RULES, refused


def test_it_tells_the_place() -> None:
    broken = CostFileError("a.csv", "number", "a cost is a number", line=7, column="Cost")

    assert (broken.file, broken.line, broken.column) == ("a.csv", 7, "Cost")
    assert str(broken) == "a.csv, line 7, column Cost: a cost is a number (number)"
    assert str(CostFileError("a.csv", "empty", "it is empty")) == "a.csv: it is empty (empty)"


def test_it_passes_from_process_to_process() -> None:
    broken = CostFileError("a.csv", "number", "a cost is a number", line=7, column="Cost")

    again = pickle.loads(pickle.dumps(broken))

    assert type(again) is CostFileError
    assert str(again) == str(broken)
    assert (again.rule, again.line, again.column) == ("number", 7, "Cost")


def test_what_a_file_says_is_cut_and_made_printable() -> None:
    assert shown("short") == "short"
    assert shown("a\x1b[31m\nb\u202ec") == "a\ufffd[31m\ufffdb\ufffdc"
    assert len(shown("x" * 10_000)) == SHOWN_MAX
    assert len(refused("f", "part_missing", "k" * 10_000).detail) < 150
    assert CostFileError("f\n" * 500, "r", "d", column="c" * 500).file.isprintable()


def test_every_rule_of_a_delivery_is_a_sentence_without_a_stop() -> None:
    assert all(text[0].islower() and not text.endswith(".") for text in RULES.values())
    assert all("/" not in text and "_" not in text for text in RULES.values())
