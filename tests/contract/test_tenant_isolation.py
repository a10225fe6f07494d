"""Nobody else's records: every place of every request that names one, with ids of every kind."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import httpx
import pytest
import structlog

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.logs import configure_logs
from nimbill.foundation.product import Product
from tests.contract import resource_factories, valid_bodies
from tests.contract.declared_routes import Route, protected_routes
from tests.contract.route_requests import (
    MANUALLY_PARSED,
    RequestField,
    RouteRequest,
    send_request,
    make_unknown_id,
    list_reference_fields,
    root_headers,
    references_at,
    build_valid_request,
    comparable_response,
    unexplained_fields,
)
from tests.contract.superuser import Superuser, connect_superuser
from tests.contract.tenants import Tenant, make_billing_group, new_tenant
from tests.running_service import PASSWORD, Service

OURS, THEIRS, HIDDEN, HIDDEN_GROUP = "kanaria", "kanarib", "kanaric", "kanarid"


@dataclass(frozen=True)
class Case:
    """A route and the places in which it is given somebody else's ids."""

    route: Route
    places: tuple[RequestField, ...]
    product: Product

    def __str__(self) -> str:
        named = " and ".join(str(place) for place in self.places)
        return f"{self.route.operation}, {named}, {self.product}"


def cases() -> list[Case]:
    """Each place by itself, and all places of a request together."""
    found = []
    for route in protected_routes():
        places = list_reference_fields(route)
        alone = [(place,) for place in places]
        together = [tuple(places)] if len(places) > 1 else []
        found += [
            Case(route, which, product)
            for which, product in product_of(alone + together, route.products)
        ]
    return found


def product_of(
    which: list[tuple[RequestField, ...]], products: list[Product]
) -> list[tuple[tuple[RequestField, ...], Product]]:
    return list(product(which, products))


CASES = cases()
ROUTES = [(route, product) for route in protected_routes() for product in route.products]
each_case = pytest.mark.parametrize("case", CASES, ids=str)
each_route = pytest.mark.parametrize(
    ("route", "token"), ROUTES, ids=[f"{route.operation}, {token}" for route, token in ROUTES]
)


@pytest.fixture(scope="module")
def behind(running: Service, superuser: Address) -> Iterator[Superuser]:
    with connect_superuser(running, superuser) as found:
        yield found


@pytest.fixture(scope="module")
def ours(running: Service, behind: Superuser) -> Tenant:
    return new_tenant(running, behind, OURS)


@pytest.fixture(scope="module")
def theirs(running: Service, behind: Superuser) -> Tenant:
    tenant = new_tenant(running, behind, THEIRS)
    for slot in set(resource_factories.REFERENCES.values()):
        slot.make(tenant)
    return tenant


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the service logs as it would when it serves."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    before = structlog.get_config()
    configure_logs()
    yield written
    structlog.configure(**before)


@dataclass
class Watch:
    """Asks, and sees to it that nothing of anybody else's moved or was shown."""

    behind: Superuser
    logs: io.StringIO
    canaries: tuple[str, ...]
    unchanged: tuple[Tenant, ...]

    def ask(
        self, asking: Tenant, route: Route, sent: RouteRequest, headers: dict[str, str], *ids: str
    ) -> httpx.Response:
        before = [self.behind.digest(tenant.organisation_id) for tenant in self.unchanged]
        own = self.behind.digest(asking.organisation_id)
        answer = send_request(asking, route, sent, headers)
        after = [self.behind.digest(tenant.organisation_id) for tenant in self.unchanged]

        assert after == before, f"{route} changed rows of another organisation"
        assert answer.status_code < 500, route
        if answer.status_code >= 400:
            assert self.behind.digest(asking.organisation_id) == own, f"{route} left something"
        self.look(answer, *(ids if answer.status_code >= 400 else ()))
        return answer

    def look(self, answer: httpx.Response, *ids: str) -> None:
        shown = answer.text + repr(answer.headers) + self.logs.getvalue()
        for word in (*self.canaries, *ids):
            assert word not in shown, f"{word} was shown"


def compare(
    case: Case,
    watch: Watch,
    asking: Tenant,
    headers: dict[str, str],
    values: dict[RequestField, str],
) -> httpx.Response:
    """Ask with these ids and with ids that never were: the two answers tell the same."""
    nobodys = {place: make_unknown_id(value) for place, value in values.items()}
    unknown = build_valid_request(case.route, asking).with_values(nobodys)
    known = build_valid_request(case.route, asking).with_values(values)

    baseline = watch.ask(asking, case.route, unknown, headers, *nobodys.values())
    answer = watch.ask(asking, case.route, known, headers, *values.values())

    assert comparable_response(answer, known) == comparable_response(baseline, unknown)
    return answer


def values_of(case: Case, tenant: Tenant) -> dict[RequestField, str]:
    """Records of a tenant that belong together, one for each place."""
    sent = build_valid_request(case.route, tenant)
    return {place: sent.value_at(place) for place in case.places}


@each_case
def test_another_organisations_record_is_answered_as_one_that_never_was(
    case: Case, ours: Tenant, theirs: Tenant, behind: Superuser, logs: io.StringIO
) -> None:
    watch = Watch(behind, logs, (THEIRS,), (theirs,))
    headers = root_headers(ours, case.route, case.product)
    values = values_of(case, theirs)

    compare(case, watch, ours, headers, values)

    for place, slot in references_at(case.route, case.places).items():
        if slot.alternative is not None:
            compare(case, watch, ours, headers, values | {place: slot.alternative.create(theirs)})


@each_case
def test_a_deleted_record_is_answered_as_one_that_never_was(
    case: Case, ours: Tenant, behind: Superuser, logs: io.StringIO
) -> None:
    watch = Watch(behind, logs, (), ())
    headers = root_headers(ours, case.route, case.product)
    values = values_of(case, ours)
    for place, slot in references_at(case.route, case.places).items():
        slot.delete(ours, values[place])

    compare(case, watch, ours, headers, values)


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if all(slot.filtered for slot in references_at(case.route, case.places).values())
    ],
    ids=str,
)
def test_a_record_hidden_by_a_filter_is_answered_as_one_that_never_was(
    case: Case, ours: Tenant, behind: Superuser, logs: io.StringIO
) -> None:
    hidden = replace(ours, canary=HIDDEN)
    visible = replace(ours, group=make_billing_group(ours))
    headers = narrowed(visible, case.product)

    compare(case, Watch(behind, logs, (HIDDEN,), ()), visible, headers, values_of(case, hidden))


def narrowed(tenant: Tenant, product: Product) -> dict[str, str]:
    """Who may do everything, within one billing group."""
    assert tenant.group is not None
    return tenant.service.caller(
        RoleAction.Admin,
        product=product,
        organisation=tenant.organisation,
        billing_groups=[tenant.group],
    )


@each_route
def test_ones_own_records_are_found(route: Route, token: Product, ours: Tenant) -> None:
    """Otherwise the tests above would be kept by a service that finds nothing."""
    sent = build_valid_request(route, ours)

    answer = send_request(ours, route, sent, root_headers(ours, route, token))

    assert answer.is_success, answer.text


@each_route
def test_answers_show_nothing_of_others(
    route: Route, token: Product, ours: Tenant, theirs: Tenant, behind: Superuser, logs: io.StringIO
) -> None:
    sent = replace(build_valid_request(route, ours), query={})
    watch = Watch(behind, logs, (THEIRS,), (theirs,))

    watch.ask(ours, route, sent, root_headers(ours, route, token))


@pytest.mark.parametrize(
    ("route", "token"),
    [pair for pair in ROUTES if pair[0].method == "GET"],
    ids=[f"{route.operation}, {token}" for route, token in ROUTES if route.method == "GET"],
)
def test_lists_show_nothing_a_filter_hides(
    route: Route, token: Product, ours: Tenant, logs: io.StringIO
) -> None:
    company_id = hidden_group(ours)
    visible = replace(ours, group=make_billing_group(ours))

    sent = replace(build_valid_request(route, visible), query={})
    answer = send_request(visible, route, sent, narrowed(visible, token))

    assert HIDDEN_GROUP not in answer.text + repr(answer.headers) + logs.getvalue()
    assert company_id not in answer.text


def hidden_group(tenant: Tenant) -> str:
    """Made by a call, so that the audit log has something to hide; what it names is not hidden."""
    body = valid_bodies.billing_group_body(replace(tenant, canary=HIDDEN_GROUP), tenant)
    headers = tenant.service.root(tenant.organisation)
    answer = tenant.service.http.post("/m/core/billinggroup", json=body, headers=headers)
    return str(answer.json()["company_id"])


# ── what strangers may name: the token endpoints ─────────────────────────────────────────────────


def grant(service: Service, **form: str) -> httpx.Response:
    return service.http.post("/core/access_token", data={"scope": "openid", **form})


def test_another_organisations_username_is_as_unknown_as_any(ours: Tenant, theirs: Tenant) -> None:
    """Its right password, through a client of ours."""
    client = {
        "grant_type": "password",
        "client_id": ours.organisation.client_id,
        "client_secret": ours.organisation.client_secret,
    }

    answer = grant(ours.service, **client, username=f"{THEIRS}-root", password=PASSWORD)
    nobody = grant(ours.service, **client, username="kanarix-root", password=PASSWORD)

    assert comparable_response(answer) == comparable_response(nobody)
    assert answer.status_code == 400
    assert grant(ours.service, **client, username=f"{OURS}-root", password=PASSWORD).is_success


def test_another_organisations_client_is_as_unknown_as_any(ours: Tenant, theirs: Tenant) -> None:
    """With a secret that is ours."""
    secret = ours.organisation.client_secret
    form = {"grant_type": "client_credentials", "client_secret": secret}

    answer = grant(ours.service, **form, client_id=theirs.organisation.client_id)
    nobody = grant(ours.service, **form, client_id=make_unknown_id(theirs.organisation.client_id))

    assert comparable_response(answer) == comparable_response(nobody)
    assert answer.status_code == 401


# ── every later route is covered the day it is added ─────────────────────────────────────────────


def uncovered(routes: list[Route]) -> list[str]:
    """Places without a maker, bodies without an example, bodies that nobody can know."""
    complaints = [line for route in routes for line in unexplained_fields(route)]
    complaints += [
        f"{route.operation} has no body in tests/contract/resource_factories.py"
        for route in routes
        if route.body is not None and route.operation not in valid_bodies.BODIES
    ]
    return complaints + [
        f"{route.operation} reads its body by hand and is not in BY_HAND"
        for route in routes
        if route.is_mutating
        and route.body is None
        and route.parses_request
        and route.operation not in MANUALLY_PARSED
    ]


def test_every_place_that_names_a_record_has_a_maker() -> None:
    assert uncovered(protected_routes()) == []


def test_what_is_explained_still_exists() -> None:
    operations = {route.operation for route in protected_routes()}

    assert set(valid_bodies.BODIES) - operations == set()
    assert {
        name.partition(".")[0] for name in resource_factories.REFERENCES if "." in name
    } - operations == set()


def test_a_place_without_a_maker_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    some = {"list_billing_group_details", "create_billing_group"}
    routes = [route for route in protected_routes() if route.operation in some]
    without = {
        name: resource_factories.REFERENCES[name]
        for name in resource_factories.REFERENCES
        if name != "project_id"
    }
    without.pop("company_id")
    monkeypatch.setattr(resource_factories, "SLOTS", without)
    monkeypatch.setattr(valid_bodies, "BODIES", {})

    assert sorted(uncovered(routes)) == [
        "create_billing_group has no body in tests/contract/resource_factories.py",
        "create_billing_group: body project_id has no maker in tests/contract/resource_factories.py",
        "list_billing_group_details: path company_id has no maker in tests/contract/resource_factories.py",
    ]


def test_a_leak_is_found(
    ours: Tenant, theirs: Tenant, behind: Superuser, logs: io.StringIO
) -> None:
    """A watch over rows, words and ids that did not notice a change would prove nothing."""
    watch = Watch(behind, logs, (THEIRS,), (theirs,))
    listing = next(route for route in protected_routes() if route.operation == "list_billing_groups")
    creating = next(
        route for route in protected_routes() if route.operation == "create_billing_group"
    )
    as_them = ours.service.root(theirs.organisation)

    with pytest.raises(AssertionError, match="was shown"):
        watch.ask(ours, listing, RouteRequest(), as_them)
    with pytest.raises(AssertionError, match="changed rows of another organisation"):
        watch.ask(ours, creating, build_valid_request(creating, theirs), as_them)
    print(THEIRS, file=logs)
    with pytest.raises(AssertionError, match="was shown"):
        watch.ask(ours, listing, RouteRequest(), ours.service.root(ours.organisation))
