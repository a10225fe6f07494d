"""The reader of the specification pages, and the links within the pages."""

import re
from pathlib import Path

import pytest

from tests.contract.specification import (
    PAGES,
    find_section,
    list_headings,
    parse_table,
    parse_tables,
    read_specification,
    split_row,
)

PAGE = """# Page
## Sizes
| Field | Rule |
|---|---|
| a | 1 to 2 |
| b | `x|y` or `z\\|w` |

| Word |
|---|
| c |
## Sizes of parts
# not read
"""


def anchor(heading: str) -> str:
    """The fragment under which Markdown pages publish a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_a_section_ends_at_the_next_heading() -> None:
    section = find_section(PAGE, "Sizes")

    assert "1 to 2" in section
    assert "Sizes of parts" not in section


def test_an_unknown_heading_fails() -> None:
    with pytest.raises(AssertionError, match="no heading Size"):
        find_section(PAGE, "Size")


def test_a_table_is_found_by_its_first_column() -> None:
    assert parse_table(PAGE, "Word") == [["c"]]
    with pytest.raises(AssertionError, match="no table with the first column Words"):
        parse_table(PAGE, "Words")


def test_every_table_of_a_text_is_read() -> None:
    assert [header for header, _ in parse_tables(PAGE)] == [["Field", "Rule"], ["Word"]]


def test_a_quoted_bar_does_not_end_a_cell() -> None:
    assert split_row("| b | `x|y` or `z\\|w` | |") == ["b", "`x|y` or `z|w`", ""]


def test_a_heading_occurs_once_in_all_pages() -> None:
    headings = list_headings(read_specification())

    assert len(headings) > 50
    assert sorted(headings) == sorted(set(headings))


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.name)
def test_links_lead_to_headings(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]*)(?:#([^)]+))?\)", page.read_text())

    for path, fragment in links:
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), path
        if fragment:
            assert fragment in {anchor(heading) for heading in list_headings(target.read_text())}


def test_every_row_has_the_cells_of_its_header() -> None:
    for header, rows in parse_tables(read_specification()):
        assert {len(row) for row in rows} == {len(header)}, header
