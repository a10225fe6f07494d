"""Every operation opens to exactly those whom the table of role actions names.

In this process: every set of the actions named in the table × its operations, and every set of
those we added × the operations we added. Over HTTP: every operation with each product it takes ×
people of every kind, from no token at all to the root user. Both ways: nobody more, nobody less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.vocabulary import Product, UserKind
from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.identity.users import records as users
from nimbill.legacy.audiences import LEGACY
from tests.contract.declared_routes import Route, guarded_routes
from tests.contract.operations import ADDED, OPEN_TO_ONESELF, OPERATIONS, SPECIFIED
from tests.proof.row import Measurement
from tests.proof.stage import Stage
from tests.running_service import NO_PASSWORD, Service
from tests.subusers import SubuserAccount, create_subuser

TARGET = "every decision as the table says, both ways, in this process and over HTTP"
QUICK = 26  # people who knock at every operation
FULL = 46
SECONDS_MAX = 240

NAMED = tuple(sorted({action for row in SPECIFIED for action in row.actions}))
OURS = tuple(sorted({action for actions in ADDED.values() for action in actions} - set(NAMED)))
# what one route does without a body, and what it does with one
WITH_AND_WITHOUT_BODY = {"create_or_list_resellers": ("list_resellers", "create_reseller")}
LET_IN, REFUSED, UNKNOWN = "let in", "refused", "not known"


def measure(stage: Stage, size: int) -> Measurement:
    decisions, without_route, wrong = _in_this_process()
    people, asked, misses = _over_http(stage.service, size)
    if wrong:
        misses.append(f"{len(wrong)} decisions differ in this process, as {wrong[0]}")
    said = (
        f"{decisions} decisions in this process ({without_route} operations of the table have no "
        f"route yet and are not counted), {asked} requests of {people} kinds of people"
    )
    return Measurement(f"{said}: {len(wrong) + len(misses)} not as the table says", misses)


# ── in this process ──────────────────────────────────────────────────────────────────────────────


def _in_this_process() -> tuple[int, int, list[str]]:
    """What routes declare against the table, for every set of actions somebody may hold."""
    declared: dict[str, list[RoleAction]] = {}
    for route in guarded_routes():
        without, with_one = WITH_AND_WITHOUT_BODY.get(route.operation, (route.operation, ""))
        declared[without] = list(route.role_actions)
        if with_one:
            declared[with_one] = list(route.handler.opt["role_actions_with_body"])
    decisions, wrong = 0, []
    named = [name for row in SPECIFIED for name in row.operations]
    named += [name for name, actions in ADDED.items() if set(actions) & set(NAMED)]
    ours = [name for name in ADDED if name not in named]
    for operations, actions in ((named, NAMED), (ours, OURS)):
        asked = [(name, declared[name]) for name in operations if name in declared]
        for held in _subsets(actions):
            caller = _holder(held)
            for name, needed in asked:
                decisions += 1
                expected = not OPERATIONS[name] or any(one in held for one in OPERATIONS[name])
                if caller.may(needed) is not expected:
                    wrong.append(f"{name} with {', '.join(sorted(held)) or 'nothing'}")
    without_route = [name for name in (*named, *ours) if name not in declared]
    return decisions, len(without_route), wrong


def _subsets(actions: tuple[str, ...]) -> Iterator[frozenset[str]]:
    sizes = range(len(actions) + 1)
    return map(frozenset, chain.from_iterable(combinations(actions, size) for size in sizes))


def _holder(held: frozenset[str]) -> Caller:
    return Caller(
        user_id="usr_x",
        username="x",
        kind=UserKind.subuser,
        root_user="usr_y",
        client_id="cl_z",
        subject_type="client",
        product=Product.core,
        permissions=held,
        scope=TenantScope("org_x"),
        epoch=1,
    )


# ── over HTTP ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Door:
    """A route for one product, and its row in the table."""

    route: Route
    product: Product
    operation: str
    body: dict[str, str] | None = None

    def __str__(self) -> str:
        return f"{self.operation}, {self.product} token"


@dataclass(frozen=True)
class Knocking:
    """Somebody at the door: how he shows himself, and what the table says of him."""

    who: str
    headers: Callable[[Product], dict[str, str]]
    expected: Callable[[Door], str]
    himself: str = ""  # his own id, where he asks about himself


def _over_http(service: Service, size: int) -> tuple[int, int, list[str]]:
    organisation = service.new_organisation()
    routes = guarded_routes()
    misses = [
        f"{route.operation} has no row in the table"
        for route in routes
        if route.operation not in OPERATIONS
    ]
    asked = 0
    people = _people(service, organisation)[:size]
    for person in people:
        for door in _doors(routes):
            asked += 1
            verdict = _knock(service, door, person)
            if verdict != person.expected(door):
                misses.append(f"{door}: {person.who} was {verdict}")
    return len(people), asked, misses


def _doors(routes: list[Route]) -> Iterator[Door]:
    """A route that reads without a body and changes with one is two doors."""
    for route in routes:
        if route.operation not in OPERATIONS:
            continue
        for product in [one for one in route.products if one != LEGACY]:
            if route.operation in WITH_AND_WITHOUT_BODY:
                without, with_one = WITH_AND_WITHOUT_BODY[route.operation]
                yield Door(route, product, without)
                yield Door(route, product, with_one, {})
            else:
                yield Door(route, product, route.operation)


def _knock(service: Service, door: Door, person: Knocking) -> str:
    """With nothing in hand: who is let in is refused for something else, or finds nothing."""
    oneself = door.route.handler.opt.get("oneself")
    path = {oneself: person.himself} if oneself and person.himself else {}
    answer = service.http.request(
        door.route.method,
        door.route.address(**path),
        headers=person.headers(door.product),
        json=door.body,
    )
    return {401: UNKNOWN, 403: REFUSED}.get(answer.status_code, LET_IN)


def _people(service: Service, organisation: NewOrganisation) -> list[Knocking]:
    """In the order of their importance: a smaller run leaves out the last."""
    return [
        *_strangers(service, organisation),
        *_extremes(service, organisation),
        *(_with_actions(service, organisation, one, (one,)) for one in NAMED),
        *_people_with_our_actions(service, organisation),
    ]


def _strangers(service: Service, organisation: NewOrganisation) -> list[Knocking]:
    """Whom the service does not know, or knows no more."""
    deleted, without_client, changed = (
        _both(service, organisation, ["Admin"], ["Admin"]) for _ in range(3)
    )
    scope = TenantScope(organisation.organisation_id)

    async def end() -> None:
        async with transaction(service.resources.engine, organisation.organisation_id) as db:
            await users.delete_user(db, scope, deleted.user_id)
            mine = {"user_id": without_client.user_id, "client_id": without_client.client_id}
            await users.delete_api_client(db, scope, **mine)
            await users.set_password(db, scope, changed.user_id, NO_PASSWORD)

    service.run(end)
    headers: Mapping[str, Callable[[Product], dict[str, str]]] = {
        "somebody without a token": lambda _: {},
        "somebody with a token that is none": lambda _: {"Authorization": "Bearer e30.e30.e30"},
        "somebody with a legacy token": lambda _: service.root(organisation, LEGACY),
        "an Admin who was deleted": deleted.headers,
        "an Admin whose client was deleted": without_client.headers,
        "an Admin whose password was changed": changed.headers,
    }
    return [Knocking(who, shown, lambda _: UNKNOWN) for who, shown in headers.items()]


def _extremes(service: Service, organisation: NewOrganisation) -> list[Knocking]:
    """Those who may everything, and those who may nothing for this reason or that."""
    every = [action.value for action in RoleAction if action is not RoleAction.Admin]
    nobody = _both(service, organisation, None, None)
    return [
        Knocking("the root user", lambda one: service.root(organisation, one), lambda _: LET_IN),
        _with_actions(service, organisation, "an Admin", ("Admin",)),
        _with_actions(service, organisation, "who holds all but Admin", tuple(every)),
        _with_actions(service, organisation, "who has a role that permits nothing", ()),
        _anybody("who has no role", nobody),
        _elsewhere(service, organisation, "an Admin of the other namespace", ["Admin"]),
        _elsewhere(service, organisation, "who holds all in the other namespace", every),
        Knocking(
            "who has no role and asks about himself",
            nobody.headers,
            lambda door: LET_IN if door.operation in OPEN_TO_ONESELF else _said(door, frozenset()),
            himself=nobody.user_id,
        ),
    ]


def _people_with_our_actions(service: Service, organisation: NewOrganisation) -> Iterator[Knocking]:
    others = [one.value for one in RoleAction if one.value not in {*NAMED, "Admin"}]
    for action in others:
        yield _with_actions(service, organisation, action, (action,))


def _said(door: Door, held: frozenset[str]) -> str:
    """What the table says of somebody who holds these; any one action suffices."""
    needed = OPERATIONS[door.operation]
    allowed = not needed or "Admin" in held or any(one in held for one in needed)
    return LET_IN if allowed else REFUSED


def _with_actions(
    service: Service, organisation: NewOrganisation, who: str, actions: tuple[str, ...]
) -> Knocking:
    """Two people, each with the actions in the namespace of one product alone."""
    people = {
        Product.core: _both(service, organisation, list(actions), None),
        Product.portal: _both(service, organisation, None, list(actions)),
    }
    return Knocking(
        who,
        lambda product: people[product].headers(product),
        lambda door: _said(door, frozenset(actions)),
    )


def _elsewhere(
    service: Service, organisation: NewOrganisation, who: str, actions: list[str]
) -> Knocking:
    people = {
        Product.core: _both(service, organisation, None, actions),
        Product.portal: _both(service, organisation, actions, None),
    }
    return Knocking(
        who,
        lambda product: people[product].headers(product),
        lambda door: _said(door, frozenset()),
    )


def _anybody(who: str, person: SubuserAccount) -> Knocking:
    return Knocking(who, person.headers, lambda door: _said(door, frozenset()))


def _both(
    service: Service,
    organisation: NewOrganisation,
    core: list[str] | None,
    portal: list[str] | None,
) -> SubuserAccount:
    return create_subuser(service, core, portal, organisation=organisation)
