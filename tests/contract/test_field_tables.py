"""Every table of fields in the specification agrees with the schema of its body."""

from __future__ import annotations

import re

import pytest

from nimbill.legacy.stacks.stack_transitions import LayerStatus
from tests.contract.interface_schemas import (
    Schema,
    find_schema,
    list_alternatives,
    list_lengths,
    list_types,
    list_values,
)
from tests.contract.specification import find_section, parse_tables, read_specification, read_table

# headings of tables of fields, and the schema of each table below them
SCHEMAS = {
    "Account total list": ["AccountTotalRecord", "BillingGroupTotal"],
    "API client": ["ApiClientRecord"],
    "Approval request": ["ApprovalRequestBody"],
    "Billing group create body": ["BillingGroupCreate"],
    "Billing group update body": ["BillingGroupUpdate"],
    "Console session list": ["ConsoleSession"],
    "Contact of a billing group": ["ContactBody"],
    "Customer cloud account": ["CloudAccountCreate"],
    "Decision about late costs": ["DriftDecisionRequest"],
    "Endpoint for events": ["WebhookEndpointBody"],
    "Free format item": ["FreeFormatItem"],
    "Legacy agent configuration": ["AgentConfiguration"],
    "Legacy container": ["Container"],
    "Legacy stack": ["Stack"],
    "Legacy template version item": ["TemplateVersion"],
    "Legacy token response": ["LegacyTokenAnswer"],
    "Payment of an invoice": ["PaymentRequest"],
    "Permission listing item": ["PermissionListing"],
    "Recalculation": ["RecalculationApply"],
    "Request of a credit note": ["CreditNoteRequest"],
    "Reseller account": ["ResellerRecord"],
    "Sending of invoices": ["SendInvoicesRequest"],
    "Subuser creation body": ["SubuserCreate"],
    "Token response": ["TokenResponse"],
}
RECORDS = {
    "Role": "LegacyRole",
    "User role (current user listing)": "LegacyUserRole",
    "Role template": "LegacyRoleTemplate",
}
TYPE = r"(string|boolean|integer|number|double|object|array)s?\b"
# a value as text, which the body calls something else
OTHER_TYPES = {"template body": "object"}


def list_rows(heading: str) -> list[tuple[str, dict[str, str]]]:
    """The schema of each row, and its cells by column."""
    section = find_section(read_specification(), heading)
    tables = [table for table in parse_tables(section) if table[0][0] == "Field"]
    return [
        (schema, dict(zip(header, row, strict=True)))
        for schema, (header, rows) in zip(SCHEMAS[heading], tables, strict=True)
        for row in rows
    ]


def find_field(schema: Schema, name: str) -> tuple[Schema, bool]:
    """The schema of a field, also of an inner object, and whether it is required."""
    first, _, rest = name.partition(".")
    field, required = schema["properties"][first], first in schema.get("required", ())
    if not rest:
        return field, required
    (inner,) = list_alternatives(field)
    return find_field(inner, rest)


@pytest.mark.parametrize("heading", SCHEMAS)
def test_a_field_has_the_specified_type(heading: str) -> None:
    for schema, row in list_rows(heading):
        field, required = find_field(find_schema(schema), row["Field"])
        stated = re.findall(TYPE, OTHER_TYPES.get(row["Type"], row["Type"]).partition(" keyed")[0])
        types = ["number" if type_ == "double" else type_ for type_ in stated]
        assert set(types[:1]) == list_types(field) - {"null"}, row
        if types[1:] and types[0] in ("array", "object"):
            (inner,) = (each for each in list_alternatives(field) if each["type"] == types[0])
            elements = inner["items"] if types[0] == "array" else inner["additionalProperties"]
            assert set(types[1:]) == list_types(elements), row
        if required:
            assert ("null" in list_types(field)) is ("or null" in row["Type"]), row


@pytest.mark.parametrize("heading", SCHEMAS)
def test_a_field_is_required_as_specified(heading: str) -> None:
    for schema, row in list_rows(heading):
        _, required = find_field(find_schema(schema), row["Field"])
        if "Required" in row:
            assert required is row["Required"].startswith("Yes"), row
        elif schema.endswith(("Body", "Request")):
            assert required is row["Type"].endswith(", required"), row


@pytest.mark.parametrize("heading", SCHEMAS)
def test_a_field_has_the_specified_length_and_values(heading: str) -> None:
    for schema, row in list_rows(heading):
        field, _ = find_field(find_schema(schema), row["Field"])
        rule = row.get("Rule", row.get("Notes", row["Type"]))
        if length := re.match(r"(?:https, )?(at most|\d+ to) ([\d,]+) characters", rule):
            least = 0 if length[1] == "at most" else int(length[1].removesuffix(" to"))
            ((shortest, longest),) = list_lengths(field)
            assert longest == int(length[2].replace(",", "")), row
            assert least in (0, shortest), row
        values = re.findall(r"`(\w+)`", rule)
        if list_values(field) and values and "vendor" not in row["Field"]:
            assert sorted(values) == sorted(filter(None, list_values(field))), row


@pytest.mark.parametrize("record", RECORDS)
def test_a_role_record_of_version_3_has_the_specified_fields(record: str) -> None:
    fields = dict(read_table("Legacy role records", "Record"))[record]
    names = re.findall(r"\w+", re.sub(r"\([^)]*\)", "", fields))
    texts = re.findall(r"(\w+) \((?:JSON )?(\w+)", fields)
    properties = find_schema(RECORDS[record])["properties"]

    assert names == list(properties)
    assert all(list_types(properties[name]) == {type_} for name, type_ in texts)


def list_deployment_fields() -> dict[str, Schema]:
    """The fields of a deployment under the names that the table gives them."""
    fields = {}
    for prefix, schema in (
        ("", "Deployment"),
        ("stacks[].", "DeployedStack"),
        ("items[].", "DeploymentItem"),
    ):
        for name, field in find_schema(schema)["properties"].items():
            fields[prefix + name] = field
    return fields


def test_a_deployment_has_the_specified_fields() -> None:
    rows, fields = read_table("Deployment"), list_deployment_fields()

    assert [name for name, _ in rows] == list(fields)
    for name, type_ in rows:
        assert list_types(fields[name]) == set(re.findall(TYPE, type_)[:1]), name
    types = dict(rows)
    assert re.findall(r"`(\w+)`", types["items[].status"]) == list(LayerStatus)
    (resource,) = list_alternatives(fields["items[].resources"]["items"])
    named = re.findall(r"`(\w+)` \([^)]*?(\w+)\)", types["items[].resources"])
    assert named == [(name, *list_types(field)) for name, field in resource["properties"].items()]
