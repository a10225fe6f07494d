"""Every fact says where it comes from, and what it says is true."""

from pathlib import Path
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body, Success
from tests.contract import marks
from tests.contract.marks import Choice, Mark
from tests.contract.routes_of import all_routes
from tests.contract.specification import ROOT, specification

SOURCE = ROOT / "src" / "nimbill"
PAGE = (ROOT / "docs" / "choices.md").read_text()


def test_stated_headings_stand_in_the_specification() -> None:
    assert marks.headings_that_are_not_there(marks.marks(SOURCE), specification()) == []


def test_choices_quote_the_specification_word_for_word() -> None:
    assert marks.words_that_are_not_there(marks.choices(PAGE), specification()) == []


def test_every_chosen_mark_names_a_choice_of_the_page() -> None:
    assert marks.marks_without_a_choice(marks.marks(SOURCE), marks.choices(PAGE)) == []


def test_every_choice_of_the_page_is_used() -> None:
    assert marks.choices_nobody_uses(marks.marks(SOURCE), marks.choices(PAGE)) == []


def test_every_choice_quotes_the_gap_and_gives_answer_and_reason() -> None:
    assert marks.unexplained_choices(marks.choices(PAGE)) == []


def test_every_route_carries_a_basis() -> None:
    assert marks.routes_without_basis(all_routes()) == []


def test_every_body_carries_a_basis() -> None:
    assert marks.bodies_without_basis(marks.all_bodies()) == []


def test_every_rule_table_carries_a_basis() -> None:
    assert marks.rule_tables_without_basis(SOURCE) == []


def test_there_is_something_to_look_at() -> None:
    """A rule over nothing would be kept by anything."""
    assert len(marks.marks(SOURCE)) > 20
    assert len(marks.choices(PAGE)) > 20
    assert len(marks.all_bodies()) > 5
    assert "billing_groups/invoice_setting_rules.py" in marks.rule_tables(SOURCE)
    assert len(all_routes()) > 5


def test_a_heading_that_is_not_there_is_found() -> None:
    text = "# Whole\n## Invoice setting (create)\n"
    sound, unsound = (
        Mark("stated", "Invoice setting", "a.py", 1),
        Mark("stated", "Invoice", "b.py", 2),
    )

    assert marks.headings_that_are_not_there([sound, unsound], text) == [
        "b.py:2: the specification has no heading Invoice"
    ]


def test_changed_words_are_found() -> None:
    page = "## rounding\n\n> How amounts\n> are rounded: not shown.\n\n> Half up.\n"

    complaints = marks.words_that_are_not_there(
        marks.choices(page), "… How amounts are\nrounded: not shown. …"
    )

    assert complaints == ["rounding quotes what the specification does not say: Half up."]


def test_a_mark_without_choice_and_a_choice_without_mark_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('basis = chosen("unheard-of")\nother = chosen("a" + "b")\n')
    found, listed = marks.marks(tmp_path), [Choice("idle", ("x",), "")]

    assert marks.marks_without_a_choice(found, listed) == [
        "a.py:1: docs/choices.md has no heading unheard-of",
        "a.py:2: docs/choices.md has no heading (not a plain text)",
    ]
    assert marks.choices_nobody_uses(found, listed) == ["no code names the choice idle"]


def test_an_unexplained_choice_is_found() -> None:
    page = (
        "## Big Words\n\n**Answer.** yes\n\n## plain\n\n> gap\n\n**Answer.** a\n\n**Reason.** b\n"
    )

    assert marks.unexplained_choices(marks.choices(page)) == [
        "Big Words quotes nothing of the specification",
        "Big Words has no reason",
        "Big Words is not a name of its own in plain words",
    ]


def test_a_body_that_only_inherits_its_basis_is_found() -> None:
    class Borrowed(Success, frozen=True, kw_only=True):
        pass

    class Bare(Body, frozen=True, kw_only=True):
        pass

    class Owned(Success, frozen=True, kw_only=True):
        basis: ClassVar[Basis] = chosen("organisations")

    complaints = marks.bodies_without_basis([Borrowed, Bare, Owned])

    assert [line.split()[0].rpartition(".")[2] for line in complaints] == ["Borrowed", "Bare"]


def test_a_rule_table_without_basis_is_found(tmp_path: Path) -> None:
    (tmp_path / "fee_rules.py").write_text("def f() -> None:\n    basis = stated('x')\n")
    (tmp_path / "role_rules.py").write_text("role_basis = stated('x')\n")

    assert marks.rule_tables_without_basis(tmp_path) == [
        "fee_rules.py says nowhere what it is based on"
    ]
