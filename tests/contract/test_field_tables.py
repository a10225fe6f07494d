"""Every table of fields in the specification agrees with the schema of its body."""

from __future__ import annotations

import re

import pytest

from tests.contract.interface_schemas import (
    TYPE,
    Schema,
    find_schema,
    list_alternatives,
    list_lengths,
    list_types,
    list_values,
)
from tests.contract.specification import find_section, parse_tables, read_specification

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
    "Legacy agent configuration": ["AgentConfiguration"],  # version 3
    "Legacy container": ["Container"],  # version 3
    "Legacy stack": ["Stack"],  # version 3
    "Legacy template version item": ["TemplateVersion"],  # version 3
    "Legacy token response": ["LegacyTokenAnswer"],  # version 3
    "Payment of an invoice": ["PaymentRequest"],
    "Permission listing item": ["PermissionListing"],
    "Recalculation": ["RecalculationApply"],
    "Request of a credit note": ["CreditNoteRequest"],
    "Reseller account": ["ResellerRecord"],
    "Sending of invoices": ["SendInvoicesRequest"],
    "Subuser creation body": ["SubuserCreate"],
    "Token response": ["TokenResponse"],
}
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
