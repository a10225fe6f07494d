"""Every route, body and rule table names its basis, and the basis exists."""

import re
from functools import cache
from pathlib import Path
from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body, Success
from tests.contract import basis_marks
from tests.contract.basis_marks import RULE_TABLES, Choice, Mark
from tests.contract.declared_routes import all_routes
from tests.contract.specification import CHOICES, ROOT, list_headings, read_specification

SOURCE = ROOT / "src" / "nimbill"
PAGE = CHOICES.read_text()
LISTED = basis_marks.parse_choices(PAGE)
HEADINGS = list_headings(read_specification())
TABLES = basis_marks.rule_tables(SOURCE, RULE_TABLES)


@cache
def all_marks() -> list[Mark]:
    """Not read at import, because every test process imports this module."""
    return basis_marks.list_marks(SOURCE)


def test_stated_marks_name_headings_of_the_specification() -> None:
    assert basis_marks.marks_without_heading(all_marks(), HEADINGS) == []


def test_chosen_marks_name_choices() -> None:
    assert basis_marks.marks_without_choice(all_marks(), LISTED) == []


def test_every_choice_is_used() -> None:
    assert basis_marks.unused_choices(all_marks(), LISTED) == []


def test_choices_refer_to_headings_of_the_specification() -> None:
    assert basis_marks.choices_without_heading(LISTED, HEADINGS) == []


def test_every_choice_has_an_open_point_an_answer_and_a_reason() -> None:
    assert basis_marks.incomplete_choices(LISTED) == []


def test_every_heading_a_choice_refers_to_is_linked() -> None:
    links = dict(re.findall(r"^\[([^]]+)\]: (\S+)$", PAGE, re.MULTILINE))

    assert set(links) == {heading for choice in LISTED for heading in choice.open_headings}
    for heading, link in links.items():
        path, _, fragment = link.partition("#")
        assert heading in list_headings((CHOICES.parent / path).read_text())
        assert fragment == re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_route_has_a_basis() -> None:
    assert basis_marks.routes_without_basis(all_routes()) == []


def test_every_body_has_a_basis() -> None:
    assert basis_marks.bodies_without_basis(basis_marks.all_bodies()) == []


def test_every_rule_table_has_a_basis() -> None:
    assert basis_marks.rule_tables_without_basis(TABLES) == []


def test_the_checks_have_something_to_check() -> None:
    assert len(all_marks()) > 20
    assert len(LISTED) > 20
    assert len(basis_marks.all_bodies()) > 5
    assert "customers/billing_groups/invoice_setting_rules.py" in TABLES
    assert len(all_routes()) > 5


def test_an_unknown_heading_is_found() -> None:
    known = Mark("stated", "Invoice setting", "a.py", 1)
    unknown = Mark("stated", "Invoice", "b.py", 2)

    complaints = basis_marks.marks_without_heading([known, unknown], ["Whole", "Invoice setting"])

    assert complaints == ["b.py:2: the specification has no heading Invoice"]


def test_a_choice_of_an_unknown_heading_is_found() -> None:
    page = "### sum\n\n**Not specified.** [Limits] and [Lengths],\n[Size]: how\n\n**Answer.** [A]\n"

    complaints = basis_marks.choices_without_heading(
        basis_marks.parse_choices(page), ["Limits", "Size"]
    )

    assert complaints == ["sum refers to Lengths, which is no heading of the specification"]


def test_a_mark_without_choice_and_a_choice_without_mark_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text('basis = chosen("unheard-of")\nother = chosen("a" + "b")\n')
    marks = basis_marks.list_marks(tmp_path)
    choices = [Choice("idle", ("Limits",), "")]

    assert basis_marks.marks_without_choice(marks, choices) == [
        "a.py:1: docs/choices.md has no heading unheard-of",
        "a.py:2: docs/choices.md has no heading (not a string literal)",
    ]
    assert basis_marks.unused_choices(marks, choices) == ["no mark names the choice idle"]


def test_an_incomplete_choice_is_found() -> None:
    page = (
        "### Big Words\n\n**Answer.** yes\n\n"
        "### plain\n\n**Not specified.** [Limits]: all.\n\n**Answer.** a\n\n**Reason.** b\n"
    )

    assert basis_marks.incomplete_choices(basis_marks.parse_choices(page)) == [
        "Big Words refers to no heading of the specification",
        "Big Words has no reason",
        "Big Words is not a unique name in lower case",
    ]


def test_a_body_that_only_inherits_its_basis_is_found() -> None:
    class Borrowed(Success, frozen=True, kw_only=True):
        pass

    class Bare(Body, frozen=True, kw_only=True):
        pass

    class Owned(Success, frozen=True, kw_only=True):
        basis: ClassVar[Basis] = chosen("organisations")

    complaints = basis_marks.bodies_without_basis([Borrowed, Bare, Owned])

    assert [line.split()[0].rpartition(".")[2] for line in complaints] == ["Borrowed", "Bare"]


def test_a_rule_table_without_basis_is_found(tmp_path: Path) -> None:
    (tmp_path / "fee_rules.py").write_text("def f() -> None:\n    basis = stated('x')\n")
    (tmp_path / "role_rules.py").write_text("role_basis = stated('x')\n")

    assert basis_marks.rule_tables_without_basis(basis_marks.rule_tables(tmp_path)) == [
        "fee_rules.py does not state its basis"
    ]
