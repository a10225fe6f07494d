"""Bodies and statuses of version 3, against the specification's own tables."""

from __future__ import annotations

import re

import msgspec
import pytest

from nimbill.legacy.containers.bodies import Container
from nimbill.legacy.stacks.bodies import Stack
from nimbill.legacy.templates.bodies import (
    TemplateApplied,
    TemplateBody,
    TemplatesCompared,
    TemplateVersion,
)
from nimbill.legacy.templates.template_rules import AWS, LAYER, PROVISION, SPELLINGS
from tests.contract.routes_of import Route, all_routes
from tests.contract.specification import section, specification, table

# beyond what the table names: why a stack failed, and the stack's name beside its template
ADDED = {Stack: ["reason"], TemplateBody: ["nickname"]}


def specified(heading: str, first_column: str = "Field") -> list[list[str]]:
    return table(section(specification(), heading), first_column)


def fields_of(body: type[msgspec.Struct]) -> list[str]:
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
def test_a_body_has_the_rows_of_its_table_in_order(
    heading: str, body: type[msgspec.Struct]
) -> None:
    assert fields_of(body) == [row[0] for row in specified(heading)] + ADDED.get(body, [])


def test_a_template_has_the_rows_of_its_table_in_order() -> None:
    rows = [row[0] for row in specified("Legacy template body")]

    assert rows[-1] == "provision"  # of each configuration
    assert fields_of(TemplateBody) == rows[:-1] + ADDED[TemplateBody]


def test_the_rules_of_a_template_name_the_specified_fields() -> None:
    notes = {row[0]: re.findall(r"`(\w+)`", row[2]) for row in specified("Legacy template body")}

    assert notes["vendor"] == ["aws", *AWS]
    assert notes["configurations"] == [*LAYER, "provision"]
    assert notes["provision"] == list(PROVISION)


def test_a_container_carries_what_an_agent_is_told() -> None:
    rows = [row[0] for row in specified("Legacy agent configuration")]

    assert [*SPELLINGS, "updated"] == rows


@pytest.mark.parametrize("body", [TemplateApplied, TemplatesCompared])
def test_an_answer_has_the_fields_of_its_row(body: type[msgspec.Struct]) -> None:
    rows = specified("Legacy lifecycle API", "Method")
    answers = [row[3] for row in rows if row[0] != "GET" and "/alm/template" in row[1]]
    named = [
        re.findall(r"\w+", re.sub(r"\(.*?\)| with .*", "", said.partition(": ")[2]))
        for said in answers
    ]

    assert fields_of(body) in named


def legacy_routes() -> dict[tuple[str, str], Route]:
    return {(route.method, route.path): route for route in all_routes()}


def test_every_row_of_the_table_is_a_route_with_its_status() -> None:
    routes = legacy_routes()

    for method, path, _, said in specified("Legacy lifecycle API", "Method"):
        status = int(said[:3])
        assert routes[method, path.partition("?")[0]].handler.status_code == status, path
