"""Request bodies of billing administration agree with the tables of the specification."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from nimbill.customers.billing_groups.bodies import BillingGroupUpdate, FreeFormatItem
from nimbill.customers.cloud_accounts.bodies import CloudAccountCreate, CloudAccountUpdate
from nimbill.customers.projects.bodies import ProjectBody
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Invalid
from nimbill.foundation.language import Language
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.http.request_bodies import parse_body
from tests.contract.specification import read_table
from tests.customers.billing_groups.sample_bodies import FREE_FORMAT_ITEM
from tests.customers.cloud_accounts.accounts import AWS, AZURE
from tests.customers.projects.projects import PROJECT

Body = type[msgspec.Struct]

UPDATE = "Billing group update body"
ITEMS = "Free format item"
ACCOUNT = "Customer cloud account"
PROJECTS = "Project"

GROUP = {"billinggroup_id": "BG", "billinggroup_name": "name", "company_name": "company"}
ACCOUNTS = {
    "aws": AWS | {"company_id": "cmp_x"},
    "azure": AZURE | {"company_id": "cmp_x"},
}
# heading of the table: the body, and a valid request
TABLES: dict[str, tuple[Body, dict[str, Any]]] = {
    UPDATE: (BillingGroupUpdate, GROUP),
    ITEMS: (FreeFormatItem, FREE_FORMAT_ITEM),
    ACCOUNT: (CloudAccountCreate, ACCOUNTS["aws"]),
    PROJECTS: (ProjectBody, PROJECT),
}
VALID_AND_INVALID = {"string": ("text text text", 7), "boolean": (True, "true"), "double": (1, "1")}


def specified_fields(heading: str) -> dict[str, list[str]]:
    """Type, requiredness and rule of each field."""
    return {field: rest for field, *rest in read_table(heading)}


def is_valid(body: Body, request: dict[str, Any]) -> bool:
    try:
        parse_body(body, request)
    except Invalid:
        return False
    return True


@pytest.mark.parametrize("heading", TABLES)
def test_a_body_has_the_fields_of_its_table_in_order(heading: str) -> None:
    body, _ = TABLES[heading]

    assert list(body.__struct_fields__) == list(specified_fields(heading))


def test_an_account_update_has_all_fields_but_customer_id() -> None:
    fields = [field for field in specified_fields(ACCOUNT) if field != "customer_id"]
    (request,) = (
        request
        for method, path, request, _ in read_table("Customer accounts", "Method")
        if (method, path) == ("update", "addressed by `{customer_id}`")
    )

    assert list(CloudAccountUpdate.__struct_fields__) == fields
    assert set(request.split(", ")) == set(fields)


@pytest.mark.parametrize("heading", TABLES)
def test_exactly_the_required_fields_are_required(heading: str) -> None:
    body, request = TABLES[heading]

    assert is_valid(body, request)
    for field, (_, required, _) in specified_fields(heading).items():
        others = {name: value for name, value in request.items() if name != field}
        assert is_valid(body, others) is not required.startswith("Yes"), field
        assert is_valid(body, others | {field: None}) is not required.startswith("Yes"), field


@pytest.mark.parametrize("heading", TABLES)
def test_a_field_accepts_only_its_type(heading: str) -> None:
    body, request = TABLES[heading]

    for field, (type_, _, rule) in specified_fields(heading).items():
        valid, invalid = VALID_AND_INVALID[type_]
        assert not is_valid(body, request | {field: invalid}), field
        if not rule or rule in ("remarks", "internal billing group id"):
            assert is_valid(body, request | {field: valid}), field


@pytest.mark.parametrize(
    ("heading", "count"), [(UPDATE, 8), (ITEMS, 1), (ACCOUNT, 1), (PROJECTS, 2)]
)
def test_lengths_are_the_specified_ones(heading: str, count: int) -> None:
    body, request = TABLES[heading]
    lengths = {
        field: (int(bounds[1]), int(bounds[2]))
        for field, (_, _, rule) in specified_fields(heading).items()
        if (bounds := re.fullmatch(r"length (\d+) to (\d+)", rule))
    }

    assert len(lengths) == count
    for field, (least, most) in lengths.items():
        for length in (least, most):
            assert is_valid(body, request | {field: "長" * length}), field
        assert not is_valid(body, request | {field: "長" * (most + 1)}), field
        if least > 1:
            assert not is_valid(body, request | {field: "長" * (least - 1)}), field


@pytest.mark.parametrize(
    ("heading", "field", "enum"),
    [
        (UPDATE, "language", Language),
        (ACCOUNT, "vendor", BILLED_VENDORS),
        (PROJECTS, "project_currency", Currency),
    ],
)
def test_enum_values_are_the_specified_ones(heading: str, field: str, enum: Any) -> None:
    _, _, rule = specified_fields(heading)[field]

    assert re.findall(r"`(\w+)`", rule) == [str(member) for member in enum]


@pytest.mark.parametrize("field", ["customer_id", "account_id"])
def test_account_numbers_have_the_specified_form(field: str) -> None:
    """A number of digits, or a number of any characters, depending on the vendor."""
    _, _, rule = specified_fields(ACCOUNT)[field]
    forms = re.findall(r"vendor (\w+): .*? of (\d+)(?: to (\d+))? (digits|characters)", rule)

    assert [vendor for vendor, *_ in forms] == ["aws", "azure"]
    for vendor, least, most, unit in forms:
        request = ACCOUNTS[vendor]

        def allowed(text: str, request: dict[str, Any] = request) -> bool:
            return is_valid(CloudAccountCreate, request | {field: text})

        bounds = (int(least), int(most or least))
        assert all(allowed("0" * length) for length in bounds)
        assert not allowed("0" * (bounds[0] - 1))
        assert not allowed("0" * (bounds[1] + 1))
        assert allowed("x" * bounds[0]) is (unit == "characters")


@pytest.mark.parametrize(
    ("limit", "applies_to", "heading", "fields"),
    [
        ("Free format label", "free format item", ITEMS, ["label"]),
        ("Customer account name", "create, update", ACCOUNT, ["name"]),
        ("project_code, project_label", "project", PROJECTS, ["project_code", "project_label"]),
    ],
)
def test_the_table_of_limits_agrees_with_the_field_tables(
    limit: str, applies_to: str, heading: str, fields: list[str]
) -> None:
    limits = {(row[0], row[1]): row[2] for row in read_table("Limits", "Limit")}

    for field in fields:
        length = specified_fields(heading)[field][2]
        assert f"{length} characters" == f"length {limits[limit, applies_to]}"
