"""The guard of version 3 checks the scopes of a user's roles before every route."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.foundation.ids import new_id
from nimbill.legacy.audiences import LEGACY_USER
from nimbill.legacy.roles.permissions import ScopeRequirement
from nimbill.legacy.roles.role_scope import RoleScope, allows
from nimbill.legacy.roles.role_templates import DEFAULT_SCOPE, ROLE_TEMPLATES
from tests.contract.declared_routes import Route, protected_routes
from tests.legacy.agents import agent_headers, create_agent
from tests.legacy.roles.role_requests import (
    ACTIONS,
    ROLE,
    TEMPLATES,
    USER_ROLE,
    LegacyUser,
    assert_refused,
    build_statement,
    client_headers,
    create_role,
    create_subuser,
    grant_scope,
    list_own_roles,
    list_roles_of,
    master_headers,
)
from tests.problem_responses import HttpResponse
from tests.running_service import Service

USER_ROUTES = [
    route for route in protected_routes() if LEGACY_USER in route.handler.opt["audiences"]
]
SCOPED_ROUTES = [
    route
    for route in USER_ROUTES
    if isinstance(route.handler.opt.get("requires"), ScopeRequirement)
]
MASTER_ACCOUNT_ROUTES = [route for route in USER_ROUTES if route.master_account_only]
each_scoped_route = pytest.mark.parametrize(
    "route", SCOPED_ROUTES, ids=lambda route: route.operation
)
each_master_account_route = pytest.mark.parametrize(
    "route", MASTER_ACCOUNT_ROUTES, ids=lambda route: route.operation
)

STACK_ROUTE = "/v3/alm/stack"


def request(service: Service, route: Route, headers: dict[str, str]) -> HttpResponse:
    return service.http.request(route.method, route.fill_path(), headers=headers)


def read_requirement(route: Route) -> ScopeRequirement:
    requirement: ScopeRequirement = route.handler.opt["requires"]
    return requirement


# ── what each route requires ─────────────────────────────────────────────────────────────────────


def test_every_action_is_required_by_a_route() -> None:
    assert {read_requirement(route).action for route in SCOPED_ROUTES} == set(ACTIONS)


def test_routes_of_roles_are_for_the_master_account_only() -> None:
    assert {route.operation for route in MASTER_ACCOUNT_ROUTES} == {
        "create_legacy_role",
        "update_legacy_role",
        "delete_legacy_role",
        "list_legacy_roles",
        "list_legacy_roles_of_user",
        "attach_legacy_role",
        "reattach_legacy_role",
        "detach_legacy_role",
    }


@each_scoped_route
def test_an_empty_scope_denies_it(service: Service, route: Route) -> None:
    person = create_subuser(service)
    grant_scope(service, person)

    assert_refused(request(service, route, person.headers), 403, "scope_denied")


@each_scoped_route
def test_only_its_own_action_allows_it(service: Service, route: Route) -> None:
    action = read_requirement(route).action
    allowed, denied = create_subuser(service), create_subuser(service)
    grant_scope(service, allowed, build_statement(action=[action]))
    grant_scope(service, denied, build_statement(), build_statement("Deny", action=[action]))
    grant_scope(
        service, denied, build_statement(action=[other for other in ACTIONS if other != action])
    )

    assert request(service, route, allowed.headers).status_code not in (401, 403)
    if read_requirement(route).resource is not None:
        assert_refused(request(service, route, denied.headers), 403, "scope_denied")


@each_scoped_route
def test_a_user_without_a_role_may_do_it(service: Service, route: Route) -> None:
    person = create_subuser(service)

    assert request(service, route, person.headers).status_code not in (401, 403)


@each_scoped_route
def test_the_master_account_may_do_it(service: Service, route: Route) -> None:
    assert request(service, route, master_headers(service)).status_code not in (401, 403)


def test_the_denial_is_the_same_whether_or_not_the_stack_exists(service: Service) -> None:
    person, existing = create_subuser(service), create_agent(service).stack_id
    grant_scope(service, person, build_statement(resource=["mrn:alm:stack:other"]))

    responses = [
        service.http.get(f"{STACK_ROUTE}/{stack_id}", headers=person.headers)
        for stack_id in (existing, new_id("stk"))
    ]

    for response in responses:
        assert_refused(response, 403, "scope_denied")
    known, unknown = (response.json() | {"instance": ""} for response in responses)
    assert known == unknown


def test_a_resource_pattern_allows_only_matching_records(service: Service) -> None:
    person, own, other = create_subuser(service), new_id("stk"), new_id("stk")
    grant_scope(service, person, build_statement(resource=[f"mrn:alm:stack:{own}"]))

    allowed = service.http.get(f"{STACK_ROUTE}/{own}", headers=person.headers)

    assert_refused(allowed, 404, "not_found")
    assert_refused(
        service.http.get(f"{STACK_ROUTE}/{other}", headers=person.headers), 403, "scope_denied"
    )


def test_wildcards_in_the_path_have_no_meaning(service: Service) -> None:
    person = create_subuser(service)
    grant_scope(service, person, build_statement(resource=["mrn:alm:stack:stk_1"]))

    for text in ("*", "stk_%3F", "stk_1%0A"):
        response = service.http.get(f"{STACK_ROUTE}/{text}", headers=person.headers)
        assert_refused(response, 403, "scope_denied")


def test_roles_are_combined_and_deny_wins(service: Service) -> None:
    person = create_subuser(service)
    grant_scope(service, person, build_statement(action=["stack:*"]))
    grant_scope(service, person, build_statement(action=["template:*"]))
    responses = [
        service.http.get(path, headers=person.headers).status_code
        for path in (STACK_ROUTE, "/v3/alm/template/stk_1", "/v3/alm/container?stack_id=x")
    ]
    assert responses == [200, 404, 403]

    grant_scope(service, person, build_statement("Deny", action=["template:*"]))

    denied = service.http.get("/v3/alm/template/stk_1", headers=person.headers)
    assert_refused(denied, 403, "scope_denied")


def test_a_detached_role_no_longer_applies_to_the_next_request(service: Service) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement("Deny"))
    assert_refused(service.http.get(STACK_ROUTE, headers=person.headers), 403, "scope_denied")

    service.http.delete(
        f"{USER_ROLE}/{role_id}",
        params={"username": person.username},
        headers=master_headers(service),
    )

    assert service.http.get(STACK_ROUTE, headers=person.headers).status_code == 200


# ── the master account ───────────────────────────────────────────────────────────────────────────


@each_master_account_route
def test_no_scope_allows_role_operations(service: Service, route: Route) -> None:
    """Specified: this default scope cannot be overwritten."""
    person = create_subuser(service)
    grant_scope(
        service, person, build_statement(action=["*", "role:*", "userrole:*"], resource=["*"])
    )

    assert_refused(request(service, route, person.headers), 403, "master_account_alone")


@each_master_account_route
def test_clients_and_agents_cannot_use_role_operations(service: Service, route: Route) -> None:
    for headers in (client_headers(service), agent_headers(service, create_agent(service))):
        assert_refused(request(service, route, headers), 403, "grant_not_admitted")


def test_a_user_cannot_escalate_permissions(service: Service) -> None:
    """Every role operation, with valid data, by a user whose scope allows everything."""
    person = create_subuser(service)
    own, other = grant_scope(service, person, build_statement()), create_role(service)
    fields = {"name": "mine", "scope": "{}", "username": person.username, "role_id": other}
    before = read_all_roles(service, person)

    for method, path in (
        ("POST", ROLE),
        ("PUT", f"{ROLE}/{own}"),
        ("DELETE", f"{ROLE}/{own}"),
        ("GET", ROLE),
        ("GET", f"/v3/user/{person.username}/role"),
        ("POST", USER_ROLE),
        ("PUT", f"{USER_ROLE}/{other}"),
        ("DELETE", f"{USER_ROLE}/{own}"),
    ):
        sent: dict[str, Any] = {} if method == "GET" else {"data": fields}
        response = service.http.request(method, path, headers=person.headers, **sent)
        assert_refused(response, 403, "master_account_alone")

    assert read_all_roles(service, person) == before


def read_all_roles(service: Service, person: LegacyUser) -> Any:
    roles = service.http.get(ROLE, headers=master_headers(service)).json()
    return roles, list_roles_of(service, person.username)


# ── open to every user ───────────────────────────────────────────────────────────────────────────


def test_users_may_always_read_their_own_roles(service: Service) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement("Deny"))

    assert [role["role_id"] for role in list_own_roles(service, person)] == [role_id]


def test_every_user_reads_the_predefined_scopes_with_all_specified_fields(service: Service) -> None:
    restricted = create_subuser(service)
    grant_scope(service, restricted, build_statement("Deny"))

    for headers in (master_headers(service), restricted.headers, create_subuser(service).headers):
        response = service.http.get(TEMPLATES, headers=headers)
        assert response.status_code == 200
        assert [list(template) for template in response.json()] == [["id", "name", "scope"]] * 3
        assert [template["id"] for template in response.json()] == ["read-only", "operator", "full"]


@pytest.mark.parametrize("path", [TEMPLATES, USER_ROLE])
def test_clients_and_agents_can_read_neither(service: Service, path: str) -> None:
    for headers in (client_headers(service), agent_headers(service, create_agent(service))):
        assert_refused(service.http.get(path, headers=headers), 403, "grant_not_admitted")


def test_a_role_can_be_created_from_a_predefined_scope(service: Service) -> None:
    for template in service.http.get(TEMPLATES, headers=master_headers(service)).json():
        assert create_role(service, template["scope"], template["name"])


def list_allowed_actions(scope: str) -> set[str]:
    return {
        action
        for action in ACTIONS
        if allows([RoleScope(scope)], action, f"mrn:alm:{action.partition(':')[0]}:x")
    }


def test_what_each_predefined_scope_allows() -> None:
    by_id = {template.id: list_allowed_actions(template.scope) for template in ROLE_TEMPLATES}

    reading = {action for action in ACTIONS if ":describe" in action or ":compare" in action}
    assert by_id["read-only"] == reading
    assert by_id["operator"] == reading | {"template:updateAlmTemplate"}
    assert by_id["full"] == set(ACTIONS)


def test_the_default_scope_allows_stacks_templates_and_containers() -> None:
    assert list_allowed_actions(DEFAULT_SCOPE) == set(ACTIONS)
    for action in ("role:createRole", "userrole:attach", "anything:else"):
        assert not allows([RoleScope(DEFAULT_SCOPE)], action, "mrn:alm:stack:x")
