"""Every operation is allowed for exactly the callers that the table of role actions names.

In this process: every set of the specified actions × the specified operations, and every set of
added actions × the added operations; in the quick size, of the latter sets only the smallest and
the largest. Over HTTP: every operation with each of its products × all kinds of callers, from a
caller without a token to the root user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.identity.users import records as users
from nimbill.legacy.token_product import LEGACY  # version 3
from tests.contract.declared_routes import Route, protected_routes
from tests.contract.operations import ADDED, OPEN_TO_OWN_USER, OPERATIONS, SESSION_ONLY, SPECIFIED
from tests.proof.asgi_calls import Request, as_headers, json_request, send_all
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import NO_PASSWORD, Service
from tests.subusers import SubuserAccount, create_subuser

TARGET = "every decision as the table says, both ways, in this process and over HTTP"
SHORT = 12
QUICK = 26  # kinds of callers that call every operation
FULL = 46
SECONDS_MAX = 240

SPECIFIED_ACTIONS = tuple(sorted({action for row in SPECIFIED for action in row.actions}))
ADDED_ACTIONS = tuple(
    sorted({action for actions in ADDED.values() for action in actions} - set(SPECIFIED_ACTIONS))
)
# routes that are one operation without a body and another one with a body
WITH_AND_WITHOUT_BODY = {"create_or_list_resellers": ("list_resellers", "create_reseller")}
ALLOWED, REFUSED, UNAUTHENTICATED = "allowed", "refused", "unauthenticated"


def measure(environment: RowEnvironment, size: int) -> Measurement:
    decisions, without_route, wrong = _check_this_process(every_set=size >= FULL)
    callers, requests, misses = _check_over_http(environment.service, size)
    if wrong:
        misses.append(f"{len(wrong)} decisions differ in this process, such as {wrong[0]}")
    figures = (
        f"{decisions} decisions in this process ({without_route} operations of the table have no "
        f"route yet and are not counted), {requests} requests by {callers} kinds of callers"
    )
    return Measurement(f"{figures}: {len(wrong) + len(misses)} not as the table says", misses)


# ── in this process ──────────────────────────────────────────────────────────────────────────────


def _check_this_process(*, every_set: bool) -> tuple[int, int, list[str]]:
    """Compare declarations with the table for the sets of actions that a caller may have.

    Operations that declare the same actions, and have the same in the table, are decided once.
    """
    declared: dict[str, list[RoleAction]] = {}
    for route in protected_routes():
        without, with_body = WITH_AND_WITHOUT_BODY.get(route.operation, (route.operation, ""))
        declared[without] = list(route.role_actions)
        if with_body:
            declared[with_body] = list(route.handler.opt["role_actions_with_body"])
    decisions, wrong = 0, []
    specified = [name for row in SPECIFIED for name in row.operations]
    specified += [name for name, actions in ADDED.items() if set(actions) & set(SPECIFIED_ACTIONS)]
    added = [name for name in ADDED if name not in specified]
    for operations, sets in (
        (specified, _subsets(SPECIFIED_ACTIONS)),
        (added, _subsets(ADDED_ACTIONS) if every_set else _extreme_subsets(ADDED_ACTIONS)),
    ):
        alike: dict[tuple[tuple[RoleAction, ...], frozenset[str]], list[str]] = {}
        for name in operations:
            if name in declared:
                key = tuple(declared[name]), frozenset(OPERATIONS[name])
                alike.setdefault(key, []).append(name)
        for permissions in sets:
            caller = _caller_with(permissions)
            for (needed, listed), names in alike.items():
                decisions += len(names)
                if caller.may(needed) is not (not listed or not listed.isdisjoint(permissions)):
                    held = ", ".join(sorted(permissions)) or "nothing"
                    wrong += [f"{name} with {held}" for name in names]
    without_route = [name for name in (*specified, *added) if name not in declared]
    return decisions, len(without_route), wrong


def _subsets(actions: tuple[str, ...]) -> Iterator[frozenset[str]]:
    sizes = range(len(actions) + 1)
    return map(frozenset, chain.from_iterable(combinations(actions, size) for size in sizes))


def _extreme_subsets(actions: tuple[str, ...]) -> Iterator[frozenset[str]]:
    """At most two of the actions, and all but at most two."""
    few = [frozenset(held) for size in range(3) for held in combinations(actions, size)]
    return chain(few, (frozenset(actions) - held for held in few))


def _caller_with(permissions: frozenset[str]) -> Caller:
    return Caller(
        user_id="usr_x",
        username="x",
        kind=UserKind.subuser,
        root_user="usr_y",
        client_id="cl_z",
        subject_type="client",
        product=Product.core,
        permissions=permissions,
        scope=TenantScope("org_x"),
        epoch=1,
    )


# ── over HTTP ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class ProtectedOperation:
    """A route for one product, and its operation in the table."""

    route: Route
    product: Product
    name: str
    body: dict[str, str] | None = None

    def __str__(self) -> str:
        return f"{self.name}, {self.product} token"


@dataclass(frozen=True)
class KindOfCaller:
    """A kind of caller: its headers and the result that the table requires."""

    description: str
    headers: Callable[[Product], dict[str, str]]
    expected: Callable[[ProtectedOperation], str]
    own_user_id: str = ""  # for calls about the caller itself


def _check_over_http(service: Service, size: int) -> tuple[int, int, list[str]]:
    organisation = service.new_organisation()
    routes = protected_routes()
    misses = [
        f"{route.operation} has no row in the table"
        for route in routes
        if route.operation not in OPERATIONS
    ]
    callers = _kinds_of_callers(service, organisation)[:size]
    operations = list(_operations(routes))
    calls = [(operation, caller) for caller in callers for operation in operations]
    answers = send_all(service, [_build_request(operation, caller) for operation, caller in calls])
    for (operation, caller), answer in zip(calls, answers, strict=True):
        verdict = {401: UNAUTHENTICATED, 403: REFUSED}.get(answer.status, ALLOWED)
        expected = caller.expected(operation)
        if expected == ALLOWED and operation.name in SESSION_ONLY:
            expected = REFUSED  # all callers of this row have tokens of API clients
        if verdict != expected:
            misses.append(f"{operation}: {caller.description} was {verdict}")
    return len(callers), len(calls), misses


def _operations(routes: list[Route]) -> Iterator[ProtectedOperation]:
    """A route that reads without a body and changes with one is two operations."""
    for route in routes:
        if route.operation not in OPERATIONS:
            continue
        for product in route.products:
            if product == LEGACY:  # version 3
                continue
            if route.operation in WITH_AND_WITHOUT_BODY:
                without, with_body = WITH_AND_WITHOUT_BODY[route.operation]
                yield ProtectedOperation(route, product, without)
                yield ProtectedOperation(route, product, with_body, {})
            else:
                yield ProtectedOperation(route, product, route.operation)


def _build_request(operation: ProtectedOperation, caller: KindOfCaller) -> Request:
    """An invalid request: an allowed caller gets another error, or nothing is found."""
    own_parameter = operation.route.handler.opt.get("own_user_parameter")
    own_path = {own_parameter: caller.own_user_id} if own_parameter and caller.own_user_id else {}
    method, path = operation.route.method, operation.route.fill_path(**own_path)
    headers = caller.headers(operation.product)
    if operation.body is not None:
        return json_request(method, path, operation.body, headers)
    return Request(method, path.encode(), headers=as_headers(headers))


def _kinds_of_callers(service: Service, organisation: NewOrganisation) -> list[KindOfCaller]:
    """Most important first, because a smaller run leaves out the last."""
    return [
        *_invalid_callers(service, organisation),
        *_extreme_callers(service, organisation),
        *(
            _caller_with_actions(service, organisation, action, (action,))
            for action in SPECIFIED_ACTIONS
        ),
        *_callers_with_added_actions(service, organisation),
    ]


def _invalid_callers(service: Service, organisation: NewOrganisation) -> list[KindOfCaller]:
    """Callers without valid credentials."""
    deleted, without_client, changed = (
        _create_subuser(service, organisation, ["Admin"], ["Admin"]) for _ in range(3)
    )
    scope = TenantScope(organisation.organisation_id)

    async def end() -> None:
        async with transaction(service.resources.engine, organisation.organisation_id) as db:
            await users.delete_user(db, scope, deleted.user_id)
            client = {"user_id": without_client.user_id, "client_id": without_client.client_id}
            await users.delete_api_client(db, scope, **client)
            await users.set_password(db, scope, changed.user_id, NO_PASSWORD)

    service.run(end)
    headers: Mapping[str, Callable[[Product], dict[str, str]]] = {
        "a caller without a token": lambda _: {},
        "a caller with a malformed token": lambda _: {"Authorization": "Bearer e30.e30.e30"},
        "a caller with a legacy token": lambda _: service.root(organisation, LEGACY),  # version 3
        "an Admin who was deleted": deleted.headers,
        "an Admin whose client was deleted": without_client.headers,
        "an Admin whose password was changed": changed.headers,
    }
    return [
        KindOfCaller(description, headers_of, lambda _: UNAUTHENTICATED)
        for description, headers_of in headers.items()
    ]


def _extreme_callers(service: Service, organisation: NewOrganisation) -> list[KindOfCaller]:
    """Callers with all permissions, and callers with none for various reasons."""
    all_but_admin = [action.value for action in RoleAction if action is not RoleAction.Admin]
    without_role = _create_subuser(service, organisation, None, None)
    return [
        KindOfCaller(
            "the root user", lambda product: service.root(organisation, product), lambda _: ALLOWED
        ),
        _caller_with_actions(service, organisation, "an Admin", ("Admin",)),
        _caller_with_actions(
            service, organisation, "a user with all actions but Admin", tuple(all_but_admin)
        ),
        _caller_with_actions(service, organisation, "a user with an empty role", ()),
        _caller_without_role("a user without a role", without_role),
        _other_namespace(service, organisation, "an Admin of the other namespace", ["Admin"]),
        _other_namespace(
            service, organisation, "a user with all actions in the other namespace", all_but_admin
        ),
        KindOfCaller(
            "a user without a role about itself",
            without_role.headers,
            lambda operation: (
                ALLOWED
                if operation.name in OPEN_TO_OWN_USER
                else _expected_result(operation, frozenset())
            ),
            own_user_id=without_role.user_id,
        ),
    ]


def _callers_with_added_actions(
    service: Service, organisation: NewOrganisation
) -> Iterator[KindOfCaller]:
    added_actions = [
        action.value for action in RoleAction if action.value not in {*SPECIFIED_ACTIONS, "Admin"}
    ]
    for added in added_actions:
        yield _caller_with_actions(service, organisation, added, (added,))


def _expected_result(operation: ProtectedOperation, permissions: frozenset[str]) -> str:
    """The result that the table requires; any one of the actions suffices."""
    needed = OPERATIONS[operation.name]
    allowed = (
        not needed or "Admin" in permissions or any(action in permissions for action in needed)
    )
    return ALLOWED if allowed else REFUSED


def _caller_with_actions(
    service: Service, organisation: NewOrganisation, description: str, actions: tuple[str, ...]
) -> KindOfCaller:
    """Two users, each with the actions in the namespace of one product."""
    accounts = {
        Product.core: _create_subuser(service, organisation, list(actions), None),
        Product.portal: _create_subuser(service, organisation, None, list(actions)),
    }
    return KindOfCaller(
        description,
        lambda product: accounts[product].headers(product),
        lambda operation: _expected_result(operation, frozenset(actions)),
    )


def _other_namespace(
    service: Service, organisation: NewOrganisation, description: str, actions: list[str]
) -> KindOfCaller:
    accounts = {
        Product.core: _create_subuser(service, organisation, None, actions),
        Product.portal: _create_subuser(service, organisation, actions, None),
    }
    return KindOfCaller(
        description,
        lambda product: accounts[product].headers(product),
        lambda operation: _expected_result(operation, frozenset()),
    )


def _caller_without_role(description: str, account: SubuserAccount) -> KindOfCaller:
    return KindOfCaller(
        description, account.headers, lambda operation: _expected_result(operation, frozenset())
    )


def _create_subuser(
    service: Service,
    organisation: NewOrganisation,
    core: list[str] | None,
    portal: list[str] | None,
) -> SubuserAccount:
    return create_subuser(service, core, portal, organisation=organisation)


VARIANTS = [
    BrokenVariant(
        "admin-not-special",
        "The Admin action opens only routes that list it, and no route does.",
        "the root user was refused",
        "access/caller.py",
        "or RoleAction.Admin in self.permissions",
        "",
    ),
    BrokenVariant(
        "all-actions-required",
        "A caller needs all listed actions instead of one of them.",
        "ModifyBillingGroup was refused",
        "access/caller.py",
        "or not self.permissions.isdisjoint(role_actions)",
        "or self.permissions.issuperset(role_actions)",
    ),
    BrokenVariant(
        "namespace-ignored",
        "A role of one namespace opens the routes of the other product.",
        "an Admin of the other namespace was allowed",
        "database/migrations/functions/load_caller.sql",
        "AND m.namespace = audience",
        "",
    ),
    BrokenVariant(
        "own-user-routes-public",
        "Routes for the caller's own user are open to everybody.",
        "a user with an empty role was allowed",
        "access/gate.py",
        "== caller.user_id or value.lower() == caller.username.lower()",
        '!= ""',
    ),
    BrokenVariant(
        "read-action-missing",
        "Listing subusers requires the permission to change them.",
        "list_subusers with ReadUsers",
        "identity/users/routes.py",
        "role_actions=[RoleAction.ReadUsers, RoleAction.ModifyUsers],",
        "role_actions=[RoleAction.ModifyUsers],",
    ),
]
