"""Two people cannot overwrite each other on any route that declares a version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from nimbill.database.embedded_postgres import Address
from tests.contract.declared_routes import Route, protected_routes
from tests.contract.route_requests import (
    RouteRequest,
    build_valid_request,
    root_headers,
    send_request,
)
from tests.contract.superuser import connect_superuser
from tests.contract.tenants import Tenant, new_tenant
from tests.problem_responses import read_problem
from tests.running_service import Service

VERSIONED = [route for route in protected_routes() if "versioned" in route.handler.opt]
CHANGING = [route for route in VERSIONED if route.is_mutating]
EDITING = [route for route in CHANGING if route.method != "DELETE"]
EXPECTED = {
    "change_budgets",
    "change_invoice_template",
    "change_settings",
    "delete_account",
    "delete_billing_group",
    "delete_free_format",
    "delete_free_format_of_vendor",
    "delete_invoice_template",
    "delete_project",
    "delete_role",
    "edit_project",
    "update_account",
    "update_billing_group",
    "update_free_format",
    "update_invoice_setting",
    "update_invoice_template_of_group",
    "update_role",
}
LISTS = {
    "list_accounts": {"vendor": "aws"},
    "list_billing_groups": {},
    "list_invoice_templates": {},
    "list_projects": {},
    "list_roles": {},
}


@pytest.fixture(scope="module")
def tenant(running: Service, superuser: Address) -> Iterator[Tenant]:
    with connect_superuser(running, superuser) as connection:
        yield new_tenant(running, connection, "kanari")


def send(tenant: Tenant, route: Route, request: RouteRequest, version: str | None) -> Any:
    headers = root_headers(tenant, route, route.products[0])
    if version is not None:
        headers["If-Match"] = version
    return send_request(tenant, route, request, headers)


def read_version(tenant: Tenant, route: Route, request: RouteRequest) -> str:
    """The current version, which a refusal names."""
    refusal = send(tenant, route, request, '"another"')
    assert read_problem(refusal, 412)["etag"] == refusal.headers["etag"]
    return str(refusal.headers["etag"])


def each(routes: list[Route]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("route", routes, ids=lambda route: route.operation)


def test_these_routes_take_a_version() -> None:
    assert {route.operation for route in CHANGING} == EXPECTED
    assert {route.operation for route in VERSIONED} - EXPECTED == {
        "list_billing_group_details",
        "read_budgets",
        "read_settings",
    }


@each(CHANGING)
def test_a_change_of_another_version_is_refused_and_changes_nothing(
    tenant: Tenant, route: Route
) -> None:
    request = build_valid_request(route, tenant)
    before = tenant.superuser.digest(tenant.organisation_id)

    problem = read_problem(send(tenant, route, request, '"another"'), 412)

    assert problem["code"] == "version_conflict"
    assert problem.keys() >= {"etag", "changed_by", "changed_at"}
    assert tenant.superuser.digest(tenant.organisation_id) == before


@each(CHANGING)
def test_a_change_of_the_current_version_is_accepted(tenant: Tenant, route: Route) -> None:
    request = build_valid_request(route, tenant)
    version = read_version(tenant, route, request)

    response = send(tenant, route, request, version)

    assert response.is_success, response.text


def build_edit(route: Route, tenant: Tenant, action: str) -> RouteRequest:
    """A request after which the path still names the record: a role keeps its name."""
    request = build_valid_request(route, tenant)
    if route.operation == "update_role":
        request.body = {"permissions": [action]}
    return request


@each(EDITING)
def test_of_two_editors_the_second_is_refused_and_told_who_was_first(
    tenant: Tenant, route: Route
) -> None:
    first, second = (build_edit(route, tenant, action) for action in ("ReadCost", "ReadAudit"))
    second.path, second.query = first.path, first.query
    version = read_version(tenant, route, first)

    assert send(tenant, route, first, version).is_success
    problem = read_problem(send(tenant, route, second, version), 412)

    assert problem["changed_by"] == tenant.organisation.username
    assert problem["changed_at"].endswith("Z")
    assert send(tenant, route, second, problem["etag"]).is_success


@each(EDITING)
def test_a_response_names_the_version_after_the_change(tenant: Tenant, route: Route) -> None:
    request = build_edit(route, tenant, "ReadCost")

    changed = send(tenant, route, request, None)

    assert changed.is_success, changed.text
    assert changed.headers["etag"] == read_version(tenant, route, request)


@pytest.mark.parametrize("operation", LISTS)
def test_a_list_names_versions_when_asked(tenant: Tenant, operation: str) -> None:
    routes = {route.operation: route for route in protected_routes()}
    route = routes[operation]
    for editing in EDITING:
        build_valid_request(editing, tenant)  # makes a record
    query: dict[str, str] = LISTS[operation]

    plain, versions = (
        send(tenant, route, RouteRequest(query={**query, **asked}), None).json()
        for asked in ({}, {"etags": "true"})
    )

    assert plain
    assert "etag" not in plain[0]
    assert [{k: v for k, v in each.items() if k != "etag"} for each in versions] == plain
    assert len({each["etag"] for each in versions}) == len(versions)


def test_the_version_of_a_list_is_that_of_the_details(tenant: Tenant) -> None:
    routes = {route.operation: route for route in protected_routes()}
    build_valid_request(routes["update_billing_group"], tenant)
    listed = send(
        tenant, routes["list_billing_groups"], RouteRequest(query={"etags": "true"}), None
    ).json()[0]

    details = send(
        tenant,
        routes["list_billing_group_details"],
        RouteRequest(path={"company_id": listed["company_id"]}),
        None,
    )

    assert details.headers["etag"] == listed["etag"]
    assert "etag" not in details.json()


def test_any_version_and_a_version_without_quotes_are_accepted(tenant: Tenant) -> None:
    (route,) = [route for route in EDITING if route.operation == "edit_project"]
    request = build_valid_request(route, tenant)
    version = read_version(tenant, route, request)

    assert send(tenant, route, request, version.strip('"')).is_success
    assert send(tenant, route, request, "*").is_success
    assert read_problem(send(tenant, route, request, f"W/{version}"), 412)
