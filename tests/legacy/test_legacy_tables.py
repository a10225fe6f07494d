"""Bodies and statuses of version 3 agree with the tables of the specification."""

from __future__ import annotations

import re

import msgspec
import pytest

from nimbill.legacy.containers.bodies import Container
from nimbill.legacy.stacks.bodies import Stack
from nimbill.legacy.stacks.stack_transitions import LayerStatus
from nimbill.legacy.templates.bodies import (
    TemplateApplied,
    TemplateBody,
    TemplatesCompared,
    TemplateVersion,
)
from nimbill.legacy.templates.template_rules import AWS, CONTAINER_FIELD_ALIASES, LAYER, PROVISION
from tests.contract.declared_routes import Route, all_routes
from tests.contract.interface_schemas import (
    TYPE,
    Schema,
    find_schema,
    list_alternatives,
    list_types,
)
from tests.contract.specification import (
    collapse_whitespace,
    find_section,
    read_specification,
    read_table,
)

# fields that are not specified: why a stack failed, and the stack's name beside its template
ADDED = {Stack: ["reason"], TemplateBody: ["nickname"]}
RECORDS = {
    "Role": "LegacyRole",
    "User role (current user listing)": "LegacyUserRole",
    "Role template": "LegacyRoleTemplate",
}


def list_fields(body: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(body)]


@pytest.mark.parametrize(
    ("heading", "body"),
    [
        ("Legacy stack", Stack),
        ("Legacy template version item", TemplateVersion),
        ("Legacy container", Container),
    ],
    ids=["stack", "version", "container"],
)
def test_a_body_has_the_fields_of_its_table_in_order(
    heading: str, body: type[msgspec.Struct]
) -> None:
    assert list_fields(body) == [row[0] for row in read_table(heading)] + ADDED.get(body, [])


def test_a_template_has_the_fields_of_its_table_in_order() -> None:
    rows = [row[0] for row in read_table("Legacy template body")]

    assert rows[-1] == "provision"  # a field of each configuration
    assert list_fields(TemplateBody) == rows[:-1] + ADDED[TemplateBody]


def test_template_rules_have_the_specified_fields() -> None:
    notes = {row[0]: re.findall(r"`(\w+)`", row[2]) for row in read_table("Legacy template body")}

    assert notes["vendor"] == ["aws", *AWS]
    assert notes["configurations"] == [*LAYER, "provision"]
    assert notes["provision"] == list(PROVISION)


def test_a_container_has_the_fields_of_the_agent_configuration() -> None:
    rows = [row[0] for row in read_table("Legacy agent configuration")]

    assert [*CONTAINER_FIELD_ALIASES, "updated"] == rows


@pytest.mark.parametrize("body", [TemplateApplied, TemplatesCompared])
def test_a_response_has_the_fields_of_its_row(body: type[msgspec.Struct]) -> None:
    rows = read_table("Legacy lifecycle API", "Method")
    responses = [row[3] for row in rows if row[0] != "GET" and "/alm/template" in row[1]]
    specified = [
        re.findall(r"\w+", re.sub(r"\(.*?\)| with .*", "", response.partition(": ")[2]))
        for response in responses
    ]

    assert list_fields(body) in specified


def legacy_routes() -> dict[tuple[str, str], Route]:
    return {(route.method, route.path): route for route in all_routes()}


def test_every_row_of_the_table_is_a_route_with_its_status() -> None:
    routes = legacy_routes()

    for method, path, _, response in read_table("Legacy lifecycle API", "Method"):
        status = int(response[:3])
        assert routes[method, path.partition("?")[0]].handler.status_code == status, path


def test_the_described_statuses_are_those_of_the_routes() -> None:
    (sentence,) = re.findall(
        r"Applying a template responds .*?202\.|Applying.*?\.",
        collapse_whitespace(find_section(read_specification(), "Errors")),
    )
    applied, accepted = (int(status) for status in re.findall(r"\d+", sentence))
    (notified,) = re.findall(r"status (\d+)\.", find_section(read_specification(), "Events"))
    statuses = {key: route.handler.status_code for key, route in legacy_routes().items()}

    assert statuses["POST", "/v3/alm/template"] == applied
    assert statuses["PUT", "/v3/alm/template/{stack_id}"] == accepted
    assert statuses["POST", "/v3/alm/template/compare"] == accepted
    for _, endpoint, _ in read_table("Events", "Notification"):
        method, path = endpoint.split()
        assert statuses[method, path] == accepted == int(notified)


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
