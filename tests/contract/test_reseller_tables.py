"""The reseller account's flags, record and bodies, against the specification's own tables."""

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
from nimbill.customers.resellers.meta_flags import FLAGS, HIDDEN_AT_FIRST, SHOWN_AT_FIRST
from tests.contract.specification import section, specification, table

FLAGS_SECTION = (
    "meta flags (all boolean; each controls whether a page or function is displayed to "
    "the reseller)"
)


def flag_tables() -> tuple[list[str], list[str]]:
    """The flags that are true at first, and those that are false, in the order they stand."""
    text = section(specification(), FLAGS_SECTION)
    shown, separator, hidden = text.partition("Default `false`:")
    assert separator, "there are two tables"
    assert shown.strip().startswith("Default `true` when a reseller account is created:")
    return tuple([row[0] for row in table(part, "Flag")] for part in (shown, hidden))  # type: ignore[return-value]


def requests() -> dict[tuple[str, str], str]:
    """Method and path to the request cell of the reseller endpoints."""
    rows = table(section(specification(), "Reseller accounts"), "Method")
    return {(method, path): request for method, path, request, _ in rows}


def fields_of(request: str) -> dict[str, str]:
    """Field to what its brackets say."""
    return dict(re.findall(r"(\w+) \(([^()]*)\)", request))


def required(struct: Any) -> set[str]:
    return {field.name for field in msgspec.structs.fields(struct) if field.required}


def test_the_flags_shown_at_first_are_the_specified_ones() -> None:
    shown, _ = flag_tables()

    assert list(SHOWN_AT_FIRST) == shown
    assert len(shown) == 11


def test_the_flags_hidden_at_first_are_the_specified_ones() -> None:
    _, hidden = flag_tables()

    assert list(HIDDEN_AT_FIRST) == hidden
    assert len(hidden) == 23


def test_every_flag_has_its_default_and_aq_link_is_the_only_one_more() -> None:
    shown, hidden = flag_tables()

    assert dict(FLAGS) == {
        **dict.fromkeys(shown, True),
        **dict.fromkeys(hidden, False),
        "aq_link": False,
    }
    assert len(shown) + len(hidden) == 34
    assert "A flag named `aq_link` appears in a sample create request only" in specification()


def test_the_record_has_the_fields_of_the_specification_in_their_order() -> None:
    rows = table(section(specification(), "Reseller account"), "Field")

    assert list(ResellerRecord.__struct_fields__) == [row[0] for row in rows]
    hints = ResellerRecord.__annotations__
    kinds = {"string": str, "string or null": str | None, "object": dict[str, bool]}
    assert {row[0]: kinds[row[1]] for row in rows} == {
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
def test_a_body_has_the_fields_of_the_specification_required_as_it_says(
    struct: Any, method: str, path: str
) -> None:
    fields = fields_of(requests()[method, path])

    assert list(struct.__struct_fields__) == list(fields)
    assert required(struct) == {name for name, said in fields.items() if "required" in said}


def test_the_input_types_are_the_specified_ones() -> None:
    for method, path in (("POST", "{core_url}/reseller"), ("PUT", "/reseller/{user_id}/password")):
        said = fields_of(requests()[method, path])["input_type"]
        assert re.findall(r"`(\w+)`", said)[:2] == [kind.value for kind in InputType]
