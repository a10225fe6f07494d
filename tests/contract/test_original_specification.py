"""The pages of docs/specification agree with the original specification, where that is present."""

import re

import pytest

from tests.contract.original_specification import (
    differing_cells,
    list_cells,
    list_names_and_numbers,
    missing_names_and_numbers,
    read_original,
)
from tests.contract.specification import (
    PAGES,
    collapse_whitespace,
    read_choice,
    read_specification,
    read_table,
)
from tests.contract.test_role_actions import list_offered_actions

ORIGINAL = """# Service
### Clients (base {users_url})
| Field | Type | Required | Notes |
|---|---|---|---|
| name | string | Yes | length in `bytes`, 4 to 18 |

| Method | Path | Request |
|---|---|---|
| GET | /list | not shown |
| GET | /one/{id} | data (string, required), note (string, optional, a remark) |

Method of `delete`: not shown.
"""
PAGE = """# Customers
## Clients
| Method | Path | Request |
|---|---|---|
| GET | /one/{id} | data (string, required), note (string, optional) |
| GET | /list | open |

| Field | Type | Required | Notes |
|---|---|---|---|
| name | string | Yes | counts `bytes`: 4 to 18 |

### More
`delete` is open.
"""


def test_every_cell_of_the_original_tables_is_in_our_pages() -> None:
    original = read_original("service.md")

    assert len(list(list_cells(original, deepest=4))) > 900
    assert differing_cells(original, read_specification()) == []


def test_every_name_and_number_of_the_original_is_under_its_heading() -> None:
    assert missing_names_and_numbers(read_original("service.md"), read_specification()) == []


def test_every_name_and_number_of_the_calculation_is_in_our_page() -> None:
    original = list_names_and_numbers(read_original("calculation.md"))

    assert len(original) > 90
    assert original - list_names_and_numbers((PAGES / "calculation.md").read_text()) == set()


def test_the_focus_columns_are_those_of_the_original() -> None:
    original = re.findall(
        r"^\| (\w+) \| (\S+) \| (\S+) \| ([MCR]\??) \| (\S+) \|$",
        read_original("../formats.md"),
        re.MULTILINE,
    )

    assert len(original) == 57
    assert [list(row) for row in original] == read_table("FOCUS 1.2 columns", "Column")


ADDED_ACTIONS = {"ApproveRequests"}  # since the choices were agreed


def test_the_agreed_choices_offer_the_same_actions() -> None:
    agreed = list_offered_actions(read_original("choices.md"))

    both, core, portal = list_offered_actions(read_choice("offered-permissions"))
    assert agreed == [both, core - ADDED_ACTIONS, portal]


def test_the_agreed_choices_have_the_same_csv_headers() -> None:
    agreed = collapse_whitespace(read_original("choices.md"))
    documented = re.findall(r"^請求グループID, .*", read_choice("csv-headers"), re.MULTILINE)

    for label, header in zip(
        ("billing group: ", "billing group setting: "), documented, strict=True
    ):
        line = agreed.partition(f" {label}")[2].partition(". ")[0]
        assert re.sub(r" \([^)]*\)", "", line).strip(" .") == header


def test_reordered_tables_and_other_words_are_no_difference() -> None:
    assert differing_cells(ORIGINAL, PAGE) == []
    assert missing_names_and_numbers(ORIGINAL, PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("name | string", "title | string", "missing: Clients, name, Field"),
        ("| string | Yes", "| integer | Yes", "different: Clients, name, Type"),
        ("| Yes |", "| No |", "different: Clients, name, Required"),
        ("4 to 18", "4 to 16", "different: Clients, name, Notes"),
        ("`bytes`", "`words`", "different: Clients, name, Notes"),
        ("/one/", "/two/", "missing: Clients, GET /one/{id}, Method"),
        ("data (string, required)", "data (string)", "different: Clients, GET /one/{id}, Request"),
        ("note (string, optional)", "note", "different: Clients, GET /one/{id}, Request"),
        ("| open |", "| none |", "different: Clients, GET /list, Request"),
        ("## Clients", "## Users", "missing: Clients, name, Field"),
    ],
)
def test_a_differing_cell_is_found(old: str, new: str, complaint: str) -> None:
    complaints = differing_cells(ORIGINAL, PAGE.replace(old, new, 1))

    assert any(line.startswith(f"{complaint}: ") for line in complaints)


def test_a_missing_name_is_found() -> None:
    complaints = missing_names_and_numbers(ORIGINAL, PAGE.replace("`delete`", "deleting"))

    assert complaints == ["Clients lacks delete"]
