"""Who passes the gate and who does not, for every route, from what the routes declare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from string import Formatter
from typing import Any, get_args

import httpx
import jwt
import pytest

from nimbill.access.caller import Caller
from nimbill.access.gate import Audience, Public, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.application.installed import PRODUCTS
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import Basis
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations.operations import NewOrganisation
from tests.contract.declared_routes import Route, all_routes, protected_routes
from tests.contract.operations import OPERATIONS, SPECIFIED
from tests.contract.route_requests import comparable_response
from tests.running_service import Service

GUARDED = [(route, token) for route in protected_routes() for token in route.products]
each_guarded = pytest.mark.parametrize(
    ("route", "token"), GUARDED, ids=[f"{route.operation}, {token}" for route, token in GUARDED]
)
OPEN = [route for route in all_routes() if route.is_public]
NAMED_ACTIONS = sorted({RoleAction(action) for row in SPECIFIED for action in row.actions})


@pytest.fixture(scope="module")
def organisation(running: Service) -> NewOrganisation:
    return running.new_organisation()


@pytest.fixture
def service(running: Service, organisation: NewOrganisation) -> Service:
    """One organisation for the whole file: what is refused at the gate leaves nothing behind."""
    running.organisation = organisation
    return running


def knock(service: Service, route: Route, headers: dict[str, str], **path: str) -> httpx.Response:
    """Ask with nothing but headers: who passes the gate is refused for something else."""
    return service.http.request(route.method, route.fill_path(**path), headers=headers)


def refused_at_the_door(answer: httpx.Response) -> bool:
    challenge = answer.headers.get("WWW-Authenticate")
    return answer.status_code == 401 and challenge == "Bearer" and "code" in answer.json()


# ── without a token, or with a wrong one ─────────────────────────────────────────────────────────


@each_guarded
def test_nobody_passes_without_a_token(service: Service, route: Route, token: Product) -> None:
    answer = knock(service, route, {})

    assert refused_at_the_door(answer)
    assert answer.json()["code"] == "token_missing"


@each_guarded
def test_a_token_of_another_product_is_refused(
    service: Service, route: Route, token: Product
) -> None:
    for other in set(PRODUCTS) - set(route.products):
        answer = knock(service, route, service.root(product=other))

        assert refused_at_the_door(answer), other
        assert answer.json()["code"] == "token_of_other_product"


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
def test_a_token_that_is_none_is_refused_everywhere(service: Service, authorization: str) -> None:
    for route, _ in GUARDED:
        answer = knock(service, route, {"Authorization": authorization})

        assert refused_at_the_door(answer), route


def test_two_tokens_are_as_good_as_none(service: Service) -> None:
    token = service.root()["Authorization"]
    twice = [("Authorization", token), ("Authorization", token)]
    for route, _ in GUARDED:
        answer = service.http.request(route.method, route.fill_path(), headers=twice)

        assert refused_at_the_door(answer), route


# ── role actions, one by one and together ────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def callers(running: Service, organisation: NewOrganisation) -> Any:
    """Headers by product and actions; refused calls change nothing, so they can be used again."""
    made: dict[tuple[Product, bool, frozenset[RoleAction]], dict[str, str]] = {}

    def caller(token: Product, *actions: RoleAction, agent: bool = False) -> dict[str, str]:
        key = (token, agent, frozenset(actions))
        if key not in made:
            made[key] = running.caller(
                *actions, product=token, organisation=organisation, agent=agent
            )
        return made[key]

    return caller


def passed(route: Route, answer: httpx.Response) -> bool:
    """The gate, by somebody who is not the master account; that one's own routes stay closed."""
    if route.master_alone:
        refusal = (answer.status_code, answer.json()["code"])
        return refusal == (403, "master_account_alone")
    return answer.status_code not in (401, 403)


@each_guarded
def test_an_unlisted_action_does_not_open_the_gate(
    running: Service, callers: Any, route: Route, token: Product
) -> None:
    if not route.role_actions:
        anybody = knock(running, route, callers(token, agent=route.for_agents))
        assert passed(route, anybody)
        return
    others = [one for one in RoleAction if one not in {*route.role_actions, RoleAction.Admin}]

    for actions in [(), *((one,) for one in others), tuple(others)]:
        answer = knock(running, route, callers(token, *actions))

        assert answer.status_code == 403, actions
        assert answer.json()["code"] == "role_action_missing", actions


@each_guarded
def test_each_listed_action_opens_the_gate_alone_and_so_does_admin(
    service: Service, route: Route, token: Product
) -> None:
    for action in [*route.role_actions, RoleAction.Admin]:
        headers = service.caller(action, product=token, agent=route.for_agents)
        assert passed(route, knock(service, route, headers)), action
    root = service.root(product=token, agent=route.for_agents)
    assert knock(service, route, root).status_code not in (401, 403)


@each_guarded
def test_actions_of_another_namespace_open_nothing(
    service: Service, route: Route, token: Product
) -> None:
    """A role of one product says nothing about the other."""
    if not route.role_actions:
        return
    for other in {Product.core, Product.portal} - {token}:
        admin_there = claims_of(service.caller(RoleAction.Admin, product=other))

        assert knock(service, route, headers_for(service, admin_there, token)).status_code == 403


def claims_of(headers: dict[str, str]) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(
        headers["Authorization"].removeprefix("Bearer "), options={"verify_signature": False}
    )
    return claims


def headers_for(service: Service, claims: dict[str, Any], product: Product) -> dict[str, str]:
    """A sound token of a product for somebody who has one of another."""
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
    [pair for pair in GUARDED if "own_user_parameter" in pair[0].handler.opt],
    ids=lambda one: getattr(one, "operation", one),
)
def test_what_is_open_to_oneself_is_open_to_nobody_else(
    service: Service, route: Route, token: Product
) -> None:
    name = route.handler.opt["own_user_parameter"]
    headers = service.caller(product=token)
    mine, others = claims_of(headers)["sub"], claims_of(service.caller(product=token))["sub"]

    assert name in route.path_names
    for user_id in (others, service.organisation.root_user_id, new_id("usr")):
        assert knock(service, route, headers, **{name: user_id}).status_code == 403
    assert knock(service, route, headers, **{name: mine}).status_code not in (401, 403)


# ── the exhaustive matrix ────────────────────────────────────────────────────────────────────────


def subsets(actions: Sequence[RoleAction]) -> list[frozenset[RoleAction]]:
    return [
        frozenset(chosen)
        for size in range(len(actions) + 1)
        for chosen in combinations(actions, size)
    ]


def holder(permissions: frozenset[RoleAction]) -> Caller:
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


def test_every_set_of_actions_decides_as_the_table_says() -> None:
    """2^12 sets of the named actions for each of the 38 operations, both ways."""
    declared = {route.operation: route.role_actions for route in protected_routes()}
    operations = [name for row in SPECIFIED for name in row.operations]
    decisions = 0
    for held in subsets(NAMED_ACTIONS):
        caller, names = holder(held), {str(action) for action in held}
        for operation in operations:
            listed = OPERATIONS[operation]
            actions = declared.get(operation, [RoleAction(name) for name in listed])
            assert caller.may(actions) is any(name in names for name in listed), (operation, held)
            decisions += 1

    assert decisions == 155_648


def test_admin_decides_everything_with_whatever_else_is_held() -> None:
    for held in subsets(NAMED_ACTIONS)[::64]:
        caller = holder(held | {RoleAction.Admin})
        assert all(caller.may(route.role_actions) for route in protected_routes())


# ── routes without a gate ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("route", OPEN, ids=str)
def test_public_routes_ask_for_no_token(service: Service, route: Route) -> None:
    without, with_one = (
        knock(service, route, headers) for headers in ({}, {"Authorization": "Bearer nonsense"})
    )

    assert without.status_code != 403
    assert without.status_code == with_one.status_code
    if without.is_client_error:
        assert comparable_response(without) == comparable_response(with_one)
        assert not without.json().get("code", "").startswith("token_")


def test_public_routes_are_few_and_say_why() -> None:
    reasons = [route.handler.opt["audiences"].reason for route in OPEN]

    assert all(len(reason.split()) > 2 for reason in reasons)
    assert not [route for route in OPEN if route.path.startswith("/m/")]


# ── OPTIONS and HEAD ─────────────────────────────────────────────────────────────────────────────


def test_options_tells_methods_and_nothing_else(service: Service) -> None:
    for path in {route.fill_path() for route in all_routes()}:
        answer = service.http.options(path, headers={"Origin": "https://elsewhere.example"})

        assert answer.status_code == 204, path
        assert answer.content == b""
        allowed = set(answer.headers["Allow"].replace(" ", "").split(","))
        assert allowed - {"OPTIONS"} == {
            route.method for route in all_routes() if route.fill_path() == path
        }
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_options_does_not_tell_which_records_exist(service: Service) -> None:
    body = {
        "billinggroup_id": "BG-1",
        "billinggroup_name": "a",
        "company_name": "b",
        "inv_aggregate": True,
    }
    made = service.http.post("/m/core/billinggroup", json=body, headers=service.root())
    company_id = made.json()["company_id"]

    there, not_there = (
        service.http.options(f"/m/core/billinggroup/{one}/resource")
        for one in (company_id, new_id("cmp"))
    )

    assert dict(there.headers) | {"x-request-id": ""} == dict(not_there.headers) | {
        "x-request-id": ""
    }
    assert there.content == not_there.content


def test_no_other_method_passes_the_gate(service: Service) -> None:
    """HEAD, TRACE and invented methods reach no handler."""
    for route, _ in GUARDED:
        for method in ("HEAD", "TRACE", "GETT"):
            answer = service.http.request(method, route.fill_path(), headers=service.root())

            assert answer.status_code == 405, route


# ── declarations ─────────────────────────────────────────────────────────────────────────────────


def test_what_routes_declare_is_of_the_right_kind() -> None:
    for route in all_routes():
        facts = route.handler.opt
        assert isinstance(facts["basis"], Basis), route
        assert all(isinstance(action, RoleAction) for action in facts["role_actions"]), route
        if route.is_public:
            assert isinstance(facts["audiences"], Public)
            assert not facts["role_actions"], f"{route} asks nobody who comes, but for an action"
        else:
            assert facts["audiences"], f"{route} is open to nobody"
            assert all(isinstance(one, Audience) for one in facts["audiences"]), route
            assert RoleAction.Admin not in facts["role_actions"], f"{route}: Admin goes unsaid"


def test_what_is_audited_can_be_spelled() -> None:
    """Each name in the braces is a path parameter or a field of the answer or the body."""
    for route in all_routes():
        if not route.is_mutating or isinstance(route.handler.opt["audited"], Unaudited):
            continue
        names = {name for _, name, _, _ in Formatter().parse(route.handler.opt["audited"]) if name}
        answer = route.handler.parsed_fn_signature.return_type.annotation
        known = set(route.path_names) | set(getattr(route.body, "__struct_fields__", ()))
        for kind in get_args(answer) or (answer,):
            known |= set(getattr(kind, "__struct_fields__", ()))

        assert names <= known, route


def test_reading_changes_nothing_and_says_so() -> None:
    assert not [
        route for route in all_routes() if not route.is_mutating and "audited" in route.handler.opt
    ]
