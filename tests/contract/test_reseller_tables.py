"""Flags, record and bodies of a reseller account agree with the tables of the specification."""

import re
from typing import Any

import msgspec
import pytest

from nimbill.customers.resellers.bodies import (
    InputType,
    ResellerCreate,
    ResellerMeta,
    ResellerPassword,
    ResellerRecord,
)
from nimbill.customers.resellers.meta_flags import FLAGS, HIDDEN_BY_DEFAULT, VISIBLE_BY_DEFAULT
from tests.contract.specification import (
    find_section,
    parse_tables,
    read_specification,
    read_table,
)


def specified_flags() -> tuple[list[str], list[str]]:
    """The flags that are true by default and those that are false, in the order of the tables."""
    section = find_section(read_specification(), "meta flags")
    (_, visible), (_, hidden) = parse_tables(section)
    first, second = section.index("Flags that are `true`"), section.index("Flags that are `false`")
    assert first < section.index("| dashboard_graph |") < second
    return [flag for flag, _ in visible], [flag for flag, _ in hidden]


def specified_requests() -> dict[tuple[str, str], str]:
    """The request cell of each reseller endpoint, by method and path."""
    rows = read_table("Reseller accounts", "Method")
    return {(method, path): request for method, path, request, _ in rows}


def parse_request(cell: str) -> dict[str, str]:
    """The rules of each field in a request cell."""
    return dict(re.findall(r"(\w+) \(([^()]*)\)", cell))


def required_fields(struct: Any) -> set[str]:
    return {field.name for field in msgspec.structs.fields(struct) if field.required}


def test_flags_visible_by_default_are_the_specified_ones() -> None:
    visible, _ = specified_flags()

    assert list(VISIBLE_BY_DEFAULT) == visible
    assert len(visible) == 11


def test_flags_hidden_by_default_are_the_specified_ones() -> None:
    _, hidden = specified_flags()

    assert list(HIDDEN_BY_DEFAULT) == hidden
    assert len(hidden) == 23


def test_every_flag_has_its_default_and_aq_link_is_the_only_other_flag() -> None:
    visible, hidden = specified_flags()

    assert dict(FLAGS) == {
        **dict.fromkeys(visible, True),
        **dict.fromkeys(hidden, False),
        "aq_link": False,
    }
    assert len(visible) + len(hidden) == 34
    assert "a flag `aq_link` that is in neither table" in find_section(
        read_specification(), "meta flags"
    )


def test_the_record_has_the_specified_fields_in_order() -> None:
    rows = read_table("Reseller account")

    assert list(ResellerRecord.__struct_fields__) == [row[0] for row in rows]
    hints = ResellerRecord.__annotations__
    types = {"string": str, "string or null": str | None, "object": dict[str, bool]}
    assert {row[0]: types[row[1]] for row in rows} == {
        name: hint for name, hint in hints.items() if name != "basis"
    }


@pytest.mark.parametrize(
    ("struct", "method", "path"),
    [
        (ResellerCreate, "POST", "{core_url}/reseller"),
        (ResellerPassword, "PUT", "/reseller/{user_id}/password"),
        (ResellerMeta, "PUT", "/reseller/{user_id}/meta"),
    ],
)
def test_a_body_has_the_specified_fields_and_required_fields(
    struct: Any, method: str, path: str
) -> None:
    fields = parse_request(specified_requests()[method, path])

    assert list(struct.__struct_fields__) == list(fields)
    assert required_fields(struct) == {name for name, rule in fields.items() if "required" in rule}


def test_the_input_types_are_the_specified_ones() -> None:
    for method, path in (("POST", "{core_url}/reseller"), ("PUT", "/reseller/{user_id}/password")):
        rule = parse_request(specified_requests()[method, path])["input_type"]
        assert re.findall(r"`(\w+)`", rule)[:2] == [kind.value for kind in InputType]
