"""The scopes of a user's roles, asked before every route of version 3."""

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

OF_USERS = [r for r in protected_routes() if LEGACY_USER in r.handler.opt["audiences"]]
NEEDING = [
    route for route in OF_USERS if isinstance(route.handler.opt.get("requires"), ScopeRequirement)
]
MASTER_ALONE = [route for route in OF_USERS if route.master_account_only]
each_needing = pytest.mark.parametrize("route", NEEDING, ids=lambda one: one.operation)
each_master_alone = pytest.mark.parametrize("route", MASTER_ALONE, ids=lambda one: one.operation)

STACK_ROUTE = "/v3/alm/stack"


def knock(service: Service, route: Route, headers: dict[str, str]) -> HttpResponse:
    return service.http.request(route.method, route.fill_path(), headers=headers)


def needs_of(route: Route) -> ScopeRequirement:
    needs: ScopeRequirement = route.handler.opt["requires"]
    return needs


# ── what each route needs ────────────────────────────────────────────────────────────────────────


def test_the_actions_are_those_we_chose_and_each_is_needed_somewhere() -> None:
    assert {needs_of(route).action for route in NEEDING} == set(ACTIONS)


def test_the_routes_of_roles_are_the_master_accounts_alone() -> None:
    assert {route.operation for route in MASTER_ALONE} == {
        "create_legacy_role",
        "update_legacy_role",
        "delete_legacy_role",
        "list_legacy_roles",
        "list_legacy_roles_of_user",
        "attach_legacy_role",
        "reattach_legacy_role",
        "detach_legacy_role",
    }


@each_needing
def test_a_scope_that_allows_nothing_closes_it(service: Service, route: Route) -> None:
    person = create_subuser(service)
    grant_scope(service, person)

    assert_refused(knock(service, route, person.headers), 403, "scope_denied")


@each_needing
def test_its_own_action_opens_it_and_all_the_others_do_not(service: Service, route: Route) -> None:
    action = needs_of(route).action
    with_it, without_it = create_subuser(service), create_subuser(service)
    grant_scope(service, with_it, build_statement(action=[action]))
    grant_scope(service, without_it, build_statement(), build_statement("Deny", action=[action]))
    grant_scope(
        service, without_it, build_statement(action=[one for one in ACTIONS if one != action])
    )

    assert knock(service, route, with_it.headers).status_code not in (401, 403)
    if needs_of(route).resource is not None:
        assert_refused(knock(service, route, without_it.headers), 403, "scope_denied")


@each_needing
def test_without_a_role_a_user_may_do_it(service: Service, route: Route) -> None:
    person = create_subuser(service)

    assert knock(service, route, person.headers).status_code not in (401, 403)


@each_needing
def test_the_master_account_may_do_it(service: Service, route: Route) -> None:
    assert knock(service, route, master_headers(service)).status_code not in (401, 403)


def test_what_is_denied_looks_the_same_whether_or_not_it_exists(service: Service) -> None:
    person, there = create_subuser(service), create_agent(service).stack_id
    grant_scope(service, person, build_statement(resource=["mrn:alm:stack:other"]))

    answers = [
        service.http.get(f"{STACK_ROUTE}/{stack_id}", headers=person.headers)
        for stack_id in (there, new_id("stk"))
    ]

    for answer in answers:
        assert_refused(answer, 403, "scope_denied")
    known, unknown = (answer.json() | {"instance": ""} for answer in answers)
    assert known == unknown


def test_a_resource_opens_that_record_alone(service: Service) -> None:
    person, mine, other = create_subuser(service), new_id("stk"), new_id("stk")
    grant_scope(service, person, build_statement(resource=[f"mrn:alm:stack:{mine}"]))

    opened = service.http.get(f"{STACK_ROUTE}/{mine}", headers=person.headers)

    assert_refused(opened, 404, "not_found")  # asked for, and not there
    assert_refused(
        service.http.get(f"{STACK_ROUTE}/{other}", headers=person.headers), 403, "scope_denied"
    )


def test_a_star_in_the_address_is_no_wildcard(service: Service) -> None:
    person = create_subuser(service)
    grant_scope(service, person, build_statement(resource=["mrn:alm:stack:stk_1"]))

    for text in ("*", "stk_%3F", "stk_1%0A"):
        answer = service.http.get(f"{STACK_ROUTE}/{text}", headers=person.headers)
        assert_refused(answer, 403, "scope_denied")


def test_roles_count_together_and_a_deny_in_one_wins(service: Service) -> None:
    person = create_subuser(service)
    grant_scope(service, person, build_statement(action=["stack:*"]))
    grant_scope(service, person, build_statement(action=["template:*"]))
    answers = [
        service.http.get(path, headers=person.headers).status_code
        for path in (STACK_ROUTE, "/v3/alm/template/stk_1", "/v3/alm/container?stack_id=x")
    ]
    assert answers == [200, 404, 403]

    grant_scope(service, person, build_statement("Deny", action=["template:*"]))

    denied = service.http.get("/v3/alm/template/stk_1", headers=person.headers)
    assert_refused(denied, 403, "scope_denied")


def test_what_a_role_says_ends_with_it_on_the_very_next_request(service: Service) -> None:
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


@each_master_alone
def test_a_scope_that_allows_everything_opens_no_role_operation(
    service: Service, route: Route
) -> None:
    """Stated: this default scope cannot be overwritten."""
    person = create_subuser(service)
    grant_scope(
        service, person, build_statement(action=["*", "role:*", "userrole:*"], resource=["*"])
    )

    assert_refused(knock(service, route, person.headers), 403, "master_account_alone")


@each_master_alone
def test_clients_and_agents_reach_no_role_operation(service: Service, route: Route) -> None:
    for headers in (client_headers(service), agent_headers(service, create_agent(service))):
        assert_refused(knock(service, route, headers), 403, "grant_not_admitted")


def test_an_escalating_user_changes_nothing(service: Service) -> None:
    """Every role operation, in earnest, by somebody whose scope allows everything."""
    person = create_subuser(service)
    own, other = grant_scope(service, person, build_statement()), create_role(service)
    fields = {"name": "mine", "scope": "{}", "username": person.username, "role_id": other}
    before = everything(service, person)

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
        answer = service.http.request(method, path, headers=person.headers, **sent)
        assert_refused(answer, 403, "master_account_alone")

    assert everything(service, person) == before


def everything(service: Service, person: LegacyUser) -> Any:
    roles = service.http.get(ROLE, headers=master_headers(service)).json()
    return roles, list_roles_of(service, person.username)


# ── what every user may see ──────────────────────────────────────────────────────────────────────


def test_a_user_always_sees_what_binds_him(service: Service) -> None:
    person = create_subuser(service)
    role_id = grant_scope(service, person, build_statement("Deny"))

    assert [role["role_id"] for role in list_own_roles(service, person)] == [role_id]


def test_the_templates_are_shown_to_every_user_with_every_stated_field(service: Service) -> None:
    bound = create_subuser(service)
    grant_scope(service, bound, build_statement("Deny"))

    for headers in (master_headers(service), bound.headers, create_subuser(service).headers):
        answer = service.http.get(TEMPLATES, headers=headers)
        assert answer.status_code == 200
        assert [list(one) for one in answer.json()] == [["id", "name", "scope"]] * 3
        assert [one["id"] for one in answer.json()] == ["read-only", "operator", "full"]


@pytest.mark.parametrize("path", [TEMPLATES, USER_ROLE])
def test_clients_and_agents_see_neither(service: Service, path: str) -> None:
    for headers in (client_headers(service), agent_headers(service, create_agent(service))):
        assert_refused(service.http.get(path, headers=headers), 403, "grant_not_admitted")


def test_a_role_made_from_a_template_is_taken(service: Service) -> None:
    for template in service.http.get(TEMPLATES, headers=master_headers(service)).json():
        assert create_role(service, template["scope"], template["name"])


def allowed_by(scope: str) -> set[str]:
    return {
        action
        for action in ACTIONS
        if allows([RoleScope(scope)], action, f"mrn:alm:{action.partition(':')[0]}:x")
    }


def test_what_each_template_allows() -> None:
    by_id = {template.id: allowed_by(template.scope) for template in ROLE_TEMPLATES}

    reading = {one for one in ACTIONS if ":describe" in one or ":compare" in one}
    assert by_id["read-only"] == reading
    assert by_id["operator"] == reading | {"template:updateAlmTemplate"}
    assert by_id["full"] == set(ACTIONS)


def test_without_a_role_all_of_stacks_templates_and_containers_is_allowed() -> None:
    assert allowed_by(DEFAULT_SCOPE) == set(ACTIONS)
    for action in ("role:createRole", "userrole:attach", "anything:else"):
        assert not allows([RoleScope(DEFAULT_SCOPE)], action, "mrn:alm:stack:x")
