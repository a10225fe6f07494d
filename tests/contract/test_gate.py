"""Every route accepts and refuses callers as it declares: token, product and role actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import httpx
import jwt
import pytest

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.application.installed import PRODUCTS
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations.operations import NewOrganisation
from tests.contract.declared_routes import Route, all_routes, protected_routes
from tests.contract.operations import OPERATIONS, SPECIFIED
from tests.contract.route_requests import comparable_response
from tests.proof.asgi_calls import Answer, Request, as_headers, send_all
from tests.running_service import Service

Headers = Mapping[str, str]

PROTECTED = [(route, token) for route in protected_routes() for token in route.products]
each_protected = pytest.mark.parametrize(
    ("route", "token"), PROTECTED, ids=[f"{route.operation}, {token}" for route, token in PROTECTED]
)
PUBLIC = [route for route in all_routes() if route.is_public]
NAMED_ACTIONS = sorted({RoleAction(action) for row in SPECIFIED for action in row.actions})


@pytest.fixture(scope="module")
def organisation(running: Service) -> NewOrganisation:
    return running.new_organisation()


@pytest.fixture
def service(running: Service, organisation: NewOrganisation) -> Service:
    """One organisation for all tests, because refused requests change nothing."""
    running.organisation = organisation
    return running


@pytest.fixture(scope="module")
def callers(running: Service, organisation: NewOrganisation) -> Callable[..., Headers]:
    """Headers by product and actions; each caller is created once."""
    created: dict[tuple[Product, bool, frozenset[RoleAction]], Headers] = {}

    def find_caller(token: Product, *actions: RoleAction, agent: bool = False) -> Headers:
        key = (token, agent, frozenset(actions))
        if key not in created:
            created[key] = running.caller(
                *actions, product=token, organisation=organisation, agent=agent
            )
        return created[key]

    return find_caller


def bare_request(route: Route, headers: Headers, **path: str) -> Request:
    """A request without a body: a caller who passes the gate is refused for another reason."""
    return Request(route.method, route.fill_path(**path).encode(), headers=as_headers(headers))


def send_bare(service: Service, route: Route, headers: Headers, **path: str) -> Answer:
    (response,) = send_all(service, [bare_request(route, headers, **path)])
    return response


def refused_token(response: Answer) -> bool:
    challenge = response.headers.get("www-authenticate")
    return response.status == 401 and challenge == "Bearer" and "code" in response.json()


# ── missing and invalid tokens ───────────────────────────────────────────────────────────────────


@each_protected
def test_a_missing_token_is_refused(service: Service, route: Route, token: Product) -> None:
    response = send_bare(service, route, {})

    assert refused_token(response)
    assert response.json()["code"] == "token_missing"


@each_protected
def test_a_token_of_another_product_is_refused(
    service: Service, route: Route, token: Product
) -> None:
    for other in set(PRODUCTS) - set(route.products):
        response = send_bare(service, route, service.root(product=other))

        assert refused_token(response), other
        assert response.json()["code"] == "token_of_other_product"


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        "Bearer a.b.c",
        "Bearer eyJhbGciOiJub25lIn0.e30.",
        "Basic cm9vdDpyb290",
        "nonsense",
        "",
    ],
)
def test_an_invalid_token_is_refused_by_every_route(service: Service, authorization: str) -> None:
    headers = {"Authorization": authorization}

    responses = send_all(service, [bare_request(route, headers) for route, _ in PROTECTED])

    for (route, _), response in zip(PROTECTED, responses, strict=True):
        assert refused_token(response), route


def test_two_tokens_are_refused_by_every_route(service: Service) -> None:
    twice = as_headers(service.root()) * 2

    responses = send_all(
        service,
        [
            Request(route.method, route.fill_path().encode(), headers=twice)
            for route, _ in PROTECTED
        ],
    )

    for (route, _), response in zip(PROTECTED, responses, strict=True):
        assert refused_token(response), route


# ── role actions ─────────────────────────────────────────────────────────────────────────────────


def passed_gate(route: Route, response: Answer) -> bool:
    """The caller has neither the master account nor a session: their routes stay closed."""
    if route.session_only:
        return (response.status, response.json()["code"]) == (403, "session_required")
    if route.master_account_only:
        return (response.status, response.json()["code"]) == (403, "master_account_alone")
    return response.status not in (401, 403)


@each_protected
def test_other_role_actions_are_refused(
    running: Service, callers: Callable[..., Headers], route: Route, token: Product
) -> None:
    if not route.role_actions:
        response = send_bare(running, route, callers(token, agent=route.for_agents))
        assert passed_gate(route, response)
        return
    listed = {*route.role_actions, RoleAction.Admin}
    others = tuple(action for action in RoleAction if action not in listed)

    for held in ((), others):
        response = send_bare(running, route, callers(token, *held))

        assert response.status == 403, held
        assert response.json()["code"] == "role_action_missing", held


def test_each_action_alone_opens_exactly_the_routes_that_list_it() -> None:
    for action in set(RoleAction) - {RoleAction.Admin}:
        caller = caller_with(frozenset({action}))
        for route in protected_routes():
            if route.role_actions:
                assert caller.may(route.role_actions) is (action in route.role_actions), route


@each_protected
def test_each_listed_role_action_is_sufficient_and_so_is_admin(
    service: Service, callers: Callable[..., Headers], route: Route, token: Product
) -> None:
    for action in [*route.role_actions, RoleAction.Admin]:
        headers = callers(token, action, agent=route.for_agents)
        assert passed_gate(route, send_bare(service, route, headers)), action
    root = service.root(product=token, agent=route.for_agents)
    assert route.session_only or send_bare(service, route, root).status not in (401, 403)


@each_protected
def test_role_actions_of_another_namespace_are_refused(
    service: Service, callers: Callable[..., Headers], route: Route, token: Product
) -> None:
    if not route.role_actions:
        return
    for other in {Product.core, Product.portal} - {token}:
        admin_claims = decode_claims(callers(other, RoleAction.Admin))

        response = send_bare(service, route, issue_headers(service, admin_claims, token))
        assert response.status == 403


def decode_claims(headers: Headers) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(
        headers["Authorization"].removeprefix("Bearer "), options={"verify_signature": False}
    )
    return claims


def issue_headers(service: Service, claims: dict[str, Any], product: Product) -> Headers:
    """A valid token of one product for a caller who has a token of another."""
    token, _ = service.resources.tokens.issue(
        product,
        organisation_id=claims["tid"],
        user_id=claims["sub"],
        client_id=claims["client_id"],
        epoch=claims["ep"],
        subject_type="client",
    )
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize(
    ("route", "token"),
    [pair for pair in PROTECTED if "own_user_parameter" in pair[0].handler.opt],
    ids=lambda value: getattr(value, "operation", value),
)
def test_a_route_open_to_its_own_user_is_closed_to_others(
    service: Service, route: Route, token: Product
) -> None:
    name = route.handler.opt["own_user_parameter"]
    headers = service.caller(product=token)
    own_id = decode_claims(headers)["sub"]
    other_id = decode_claims(service.caller(product=token))["sub"]

    assert name in route.path_names
    for user_id in (other_id, service.organisation.root_user_id, new_id("usr")):
        assert send_bare(service, route, headers, **{name: user_id}).status == 403
    assert send_bare(service, route, headers, **{name: own_id}).status not in (401, 403)


# ── all sets of role actions ─────────────────────────────────────────────────────────────────────


def subsets(actions: Sequence[RoleAction]) -> list[frozenset[RoleAction]]:
    return [
        frozenset(subset)
        for size in range(len(actions) + 1)
        for subset in combinations(actions, size)
    ]


def caller_with(permissions: frozenset[RoleAction]) -> Caller:
    return Caller(
        user_id="usr_x",
        username="x",
        kind=UserKind.subuser,
        root_user="usr_y",
        client_id="cl_z",
        subject_type="client",
        product=Product.core,
        permissions=frozenset(str(action) for action in permissions),
        scope=TenantScope("org_x"),
        epoch=1,
    )


def test_every_set_of_actions_decides_as_specified() -> None:
    """2^12 sets of the named actions for each of the 38 operations."""
    declared = {route.operation: route.role_actions for route in protected_routes()}
    operations = [name for row in SPECIFIED for name in row.operations]
    decisions = 0
    for held in subsets(NAMED_ACTIONS):
        caller, names = caller_with(held), {str(action) for action in held}
        for operation in operations:
            listed = OPERATIONS[operation]
            actions = declared.get(operation, [RoleAction(name) for name in listed])
            assert caller.may(actions) is any(name in names for name in listed), (operation, held)
            decisions += 1

    assert decisions == 155_648


def test_admin_may_call_every_route() -> None:
    for held in subsets(NAMED_ACTIONS)[::64]:
        caller = caller_with(held | {RoleAction.Admin})
        assert all(caller.may(route.role_actions) for route in protected_routes())


# ── public routes ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("route", PUBLIC, ids=str)
def test_public_routes_need_no_token(service: Service, route: Route) -> None:
    without_token, with_invalid_token = (
        service.http.request(route.method, route.fill_path(), headers=headers)
        for headers in ({}, {"Authorization": "Bearer nonsense"})
    )

    assert without_token.status_code != 403
    assert without_token.status_code == with_invalid_token.status_code
    if without_token.is_client_error:
        assert comparable_response(without_token) == comparable_response(with_invalid_token)
        assert not without_token.json().get("code", "").startswith("token_")


def test_public_routes_have_a_reason_and_are_outside_the_products() -> None:
    reasons = [route.handler.opt["audiences"].reason for route in PUBLIC]

    assert all(len(reason.split()) > 2 for reason in reasons)
    assert not [route for route in PUBLIC if route.path.startswith("/m/")]


# ── other methods ────────────────────────────────────────────────────────────────────────────────


def test_options_returns_the_methods_of_a_path_only(service: Service) -> None:
    paths = sorted({route.fill_path() for route in all_routes()})
    origin = as_headers({"Origin": "https://elsewhere.example"})

    responses = send_all(
        service, [Request("OPTIONS", path.encode(), headers=origin) for path in paths]
    )

    for path, response in zip(paths, responses, strict=True):
        assert response.status == 204, path
        assert response.body == b""
        allowed = set(response.headers["allow"].replace(" ", "").split(","))
        assert allowed - {"OPTIONS"} == {
            route.method for route in all_routes() if route.fill_path() == path
        }
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_options_does_not_reveal_which_records_exist(service: Service) -> None:
    body = {
        "billinggroup_id": "BG-1",
        "billinggroup_name": "a",
        "company_name": "b",
        "inv_aggregate": True,
    }
    created = service.http.post("/m/core/billinggroup", json=body, headers=service.root())
    company_id = created.json()["company_id"]

    existing, unknown = (
        service.http.options(f"/m/core/billinggroup/{record_id}/resource")
        for record_id in (company_id, new_id("cmp"))
    )

    assert response_headers(existing) == response_headers(unknown)
    assert existing.content == unknown.content


def response_headers(response: httpx.Response) -> dict[str, str]:
    return dict(response.headers) | {"x-request-id": ""}


def test_undeclared_methods_are_refused(service: Service) -> None:
    """HEAD, TRACE and invented methods reach no handler."""
    headers = as_headers(service.root())
    requests = [
        Request(method, route.fill_path().encode(), headers=headers)
        for route, _ in PROTECTED
        for method in ("HEAD", "TRACE", "GETT")
    ]

    for request, response in zip(requests, send_all(service, requests), strict=True):
        assert response.status == 405, request
