"""Records of other organisations, deleted records and hidden records look like unknown ids.

Every field of every request that refers to a record is tested with ids of each kind.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import httpx
import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.product import Product
from tests.contract import resource_factories, valid_bodies
from tests.contract.declared_routes import Route, protected_routes
from tests.contract.full_groups import make_full_group
from tests.contract.opened_responses import open_response
from tests.contract.resource_factories import find_reference
from tests.contract.route_requests import (
    MANUALLY_PARSED,
    RequestField,
    RouteRequest,
    build_valid_request,
    comparable_response,
    list_reference_fields,
    make_unknown_id,
    references_at,
    root_headers,
    send_request,
    unexplained_fields,
)
from tests.contract.superuser import Superuser, connect_superuser
from tests.contract.tenants import PLAIN_VALUES, Tenant, make_billing_group, new_tenant
from tests.running_service import Service

OURS, THEIRS, HIDDEN = "kanaria", "kanarib", "kanaric"

# operations that are refused without a record in the query
SELECTED_BY_QUERY = {
    "change_budget_alerts",
    "change_budgets",
    "detach_legacy_role",  # version 3
    "download_discount_csv",
    "download_merged_csv",
    "issue_log_credentials",  # version 3
    "issue_stack_credentials",  # version 3
    "list_anomalies",
    "list_containers",  # version 3
    "list_template_versions",  # version 3
    "print_customer_invoice",
    "read_agent_configuration",  # version 3
    "read_budget_alerts",
    "read_budgets",
    "read_dashboard",
    "read_forecast",
    "read_customer_invoice",
}


# operations that find the stack and refuse it to an API client  # version 3
FOR_THE_AGENT_ALONE = {"issue_log_credentials", "issue_stack_credentials"}  # version 3


def is_found(route: Route, response: httpx.Response) -> bool:
    if route.operation in FOR_THE_AGENT_ALONE:  # version 3
        return bool(response.status_code == 403 and response.json()["code"] == "agent_alone")
    return response.is_success


@dataclass(frozen=True)
class ReferenceCase:
    """A route and the fields that are given ids of other records."""

    route: Route
    fields: tuple[RequestField, ...]
    product: Product

    def __str__(self) -> str:
        fields = " and ".join(str(field) for field in self.fields)
        return f"{self.route.operation}, {fields}, {self.product}"


def list_cases() -> list[ReferenceCase]:
    """Each field alone, and all fields of a request together."""
    cases = []
    for route in protected_routes():
        fields = list_reference_fields(route)
        combinations: list[tuple[RequestField, ...]] = [(field,) for field in fields]
        if len(fields) > 1:
            combinations.append(tuple(fields))
        cases += [
            ReferenceCase(route, combination, product)
            for combination in combinations
            for product in route.products
        ]
    return cases


CASES = list_cases()
ROUTES = [(route, product) for route in protected_routes() for product in route.products]
each_case = pytest.mark.parametrize("case", CASES, ids=str)


def each_route(routes: list[tuple[Route, Product]]) -> pytest.MarkDecorator:
    names = [f"{route.operation}, {token}" for route, token in routes]
    return pytest.mark.parametrize(("route", "token"), routes, ids=names)


def has_selecting_query(route: Route) -> bool:
    """Whether optional parameters of its query select some of the records."""
    return route.operation not in SELECTED_BY_QUERY and any(
        find_reference(route.operation, name) for name in route.query_names
    )


@pytest.fixture(scope="module")
def db(running: Service, superuser: Address) -> Iterator[Superuser]:
    with connect_superuser(running, superuser) as connection:
        yield connection


@pytest.fixture(scope="module")
def theirs(running: Service, db: Superuser) -> Tenant:
    tenant = new_tenant(running, db, THEIRS)
    for reference in set(resource_factories.REFERENCES.values()):
        reference.make(tenant)
    make_full_group(tenant, THEIRS)
    return tenant


@pytest.fixture(scope="module")
def ours(running: Service, db: Superuser, theirs: Tenant) -> Tenant:
    """Created last: where nothing separates tenants, requests fail as soon as there are two."""
    return new_tenant(running, db, OURS)


@dataclass
class IsolationWatch:
    """Sends requests of one tenant and fails if another tenant's data is changed or shown."""

    db: Superuser
    logs: io.StringIO
    unseen: tuple[Tenant, ...] = ()  # their texts and account numbers must not be shown
    others: tuple[Tenant, ...] = ()  # their rows must not change

    def send(
        self, tenant: Tenant, route: Route, headers: dict[str, str], *requests: RouteRequest
    ) -> list[httpx.Response]:
        """Responses to the requests; after a change, no further request is sent."""
        own, others = tenant.organisation_id, [other.organisation_id for other in self.others]
        before = self.db.digest(own, *others)
        responses = []
        for request in requests:
            response = send_request(tenant, route, request, headers)
            after = self.db.digest(own, *others)

            for other in others:
                assert after[other] == before[other], f"{route} changed rows of another tenant"
            assert response.status_code < 500, route
            self.refuse_leak(tenant, response)
            responses.append(response)
            if response.is_error:
                assert after[own] == before[own], f"{route} was refused and changed rows"
            elif route.is_mutating:
                break
            before = after
        return responses

    def refuse_leak(self, tenant: Tenant, response: httpx.Response, *ids: str) -> None:
        text = open_response(tenant.service, response)
        shown = text + repr(response.headers) + self.logs.getvalue()
        leaks = [word for unseen in self.unseen for word in unseen.find_canaries(shown)]
        leaks += [record_id for record_id in ids if record_id in shown]
        assert leaks == [], f"{leaks[:3]} was shown"


def compare_with_unknown_ids(
    case: ReferenceCase,
    watch: IsolationWatch,
    tenant: Tenant,
    headers: dict[str, str],
    values: dict[RequestField, str],
) -> None:
    """Responses to these ids and to ids that never existed are the same."""
    unknown_values = {field: make_unknown_id(value) for field, value in values.items()}
    valid = build_valid_request(case.route, tenant)
    unknown, request = valid.with_values(unknown_values), valid.with_values(values)

    expected, *responses = watch.send(tenant, case.route, headers, unknown, request)
    if not responses:  # the first request used up the records of the second
        request = build_valid_request(case.route, tenant).with_values(values)
        responses = watch.send(tenant, case.route, headers, request)
    (response,) = responses

    assert comparable_response(response, request) == comparable_response(expected, unknown)
    if expected.is_error:
        watch.refuse_leak(tenant, expected, *unknown_values.values())
    if response.is_error:
        watch.refuse_leak(tenant, response, *values.values())


def reference_values(case: ReferenceCase, request: RouteRequest) -> dict[RequestField, str]:
    """Records of a tenant that belong together, one for each field."""
    return {field: request.value_at(field) for field in case.fields}


BuildRequest = Callable[[Route], RouteRequest]


@pytest.fixture(scope="module")
def their_request(theirs: Tenant) -> BuildRequest:
    """One request for each route is enough, because no test changes the records of others."""
    return cache(lambda route: build_valid_request(route, theirs))


@pytest.fixture(scope="module")
def hidden_request(ours: Tenant) -> BuildRequest:
    """One request for each route is enough, because no test changes the hidden records."""
    return cache(lambda route: build_valid_request(route, replace(ours, canary=HIDDEN)))


@each_case
def test_a_record_of_another_organisation_looks_unknown(
    case: ReferenceCase,
    ours: Tenant,
    theirs: Tenant,
    their_request: BuildRequest,
    db: Superuser,
    logs: io.StringIO,
) -> None:
    watch = IsolationWatch(db, logs, (theirs,), (theirs,))
    headers = root_headers(ours, case.route, case.product)
    values = reference_values(case, their_request(case.route))

    compare_with_unknown_ids(case, watch, ours, headers, values)

    for field, reference in references_at(case.route, case.fields).items():
        if reference.alternative is not None:
            other_name = values | {field: reference.alternative.create(theirs)}
            compare_with_unknown_ids(case, watch, ours, headers, other_name)


@each_case
def test_a_deleted_record_looks_unknown(
    case: ReferenceCase, ours: Tenant, db: Superuser, logs: io.StringIO
) -> None:
    headers = root_headers(ours, case.route, case.product)
    values = reference_values(case, build_valid_request(case.route, ours))
    for field, reference in references_at(case.route, case.fields).items():
        reference.delete(ours, values[field])

    compare_with_unknown_ids(case, IsolationWatch(db, logs), ours, headers, values)


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if all(reference.filtered for reference in references_at(case.route, case.fields).values())
    ],
    ids=str,
)
def test_a_record_hidden_by_a_filter_looks_unknown(
    case: ReferenceCase,
    ours: Tenant,
    hidden_request: BuildRequest,
    db: Superuser,
    logs: io.StringIO,
) -> None:
    visible = replace(ours, group=make_billing_group(ours))
    headers = restricted_headers(visible, case.product)
    watch = IsolationWatch(db, logs, (replace(ours, canary=HIDDEN),))
    values = reference_values(case, hidden_request(case.route))

    compare_with_unknown_ids(case, watch, visible, headers, values)


def restricted_headers(tenant: Tenant, product: Product) -> dict[str, str]:
    """Headers of an administrator who is restricted to one billing group."""
    assert tenant.group is not None
    return tenant.service.caller(
        RoleAction.Admin,
        product=product,
        organisation=tenant.organisation,
        billing_groups=[tenant.group],
    )


@each_route([pair for pair in ROUTES if has_selecting_query(pair[0])])
def test_own_records_are_found_by_a_query(route: Route, token: Product, ours: Tenant) -> None:
    request = build_valid_request(route, ours)

    response = send_request(ours, route, request, root_headers(ours, route, token))

    assert is_found(route, response), response.text


@pytest.fixture(scope="module")
def finder(running: Service, db: Superuser, theirs: Tenant) -> Tenant:
    """A tenant with few records, because some routes print every invoice."""
    return new_tenant(running, db, OURS)


@each_route(ROUTES)
def test_own_records_are_found_and_nothing_of_other_organisations(
    route: Route, token: Product, finder: Tenant, theirs: Tenant, db: Superuser, logs: io.StringIO
) -> None:
    """Without this, a service that finds nothing would pass the tests above.

    Lists are requested without the optional parameters that select some of the records.
    """
    request = build_valid_request(route, finder)
    if has_selecting_query(route):
        request.query = {name: PLAIN_VALUES[name] for name in request.query if name in PLAIN_VALUES}
    watch = IsolationWatch(db, logs, (theirs,), (theirs,))

    (response,) = watch.send(finder, route, root_headers(finder, route, token), request)

    assert is_found(route, response), response.text


# ── new routes must be covered ───────────────────────────────────────────────────────────────────


def uncovered_routes(routes: list[Route]) -> list[str]:
    """Fields that nothing explains, bodies without an example, bodies parsed by the handler."""
    complaints = [line for route in routes for line in unexplained_fields(route)]
    complaints += [
        f"{route.operation} has no body in tests/contract/valid_bodies.py"
        for route in routes
        if route.body is not None and route.operation not in valid_bodies.BODIES
    ]
    return complaints + [
        f"{route.operation} parses its body and is not in MANUALLY_PARSED"
        for route in routes
        if route.is_mutating
        and route.body is None
        and route.parses_request
        and route.operation not in MANUALLY_PARSED
    ]


def test_every_reference_of_every_route_is_covered() -> None:
    assert uncovered_routes(protected_routes()) == []


def test_bodies_and_references_belong_to_existing_operations() -> None:
    operations = {route.operation for route in protected_routes()}

    assert set(valid_bodies.BODIES) - operations == set()
    assert {
        name.partition(".")[0] for name in resource_factories.REFERENCES if "." in name
    } - operations == set()


def test_an_uncovered_route_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    operations = {"list_billing_group_details", "create_billing_group"}
    routes = [route for route in protected_routes() if route.operation in operations]
    references = {
        name: reference
        for name, reference in resource_factories.REFERENCES.items()
        if name not in ("project_id", "company_id")
    }
    monkeypatch.setattr(resource_factories, "REFERENCES", references)
    monkeypatch.setattr(valid_bodies, "BODIES", {})

    assert sorted(uncovered_routes(routes)) == [
        "create_billing_group has no body in tests/contract/valid_bodies.py",
        "create_billing_group: body project_id is neither in REFERENCES nor in NOT_A_RECORD",
        "list_billing_group_details: path company_id is neither in REFERENCES nor in NOT_A_RECORD",
    ]


def test_the_watch_finds_leaks_and_changes(
    ours: Tenant, theirs: Tenant, db: Superuser, logs: io.StringIO
) -> None:
    watch = IsolationWatch(db, logs, (theirs,), (theirs,))
    routes = {route.operation: route for route in protected_routes()}
    listing, creating = routes["list_billing_groups"], routes["create_billing_group"]
    their_headers = ours.service.root(theirs.organisation)
    our_headers = ours.service.root(ours.organisation)

    with pytest.raises(AssertionError, match="was shown"):
        watch.send(ours, listing, their_headers, RouteRequest())
    with pytest.raises(AssertionError, match="changed rows of another tenant"):
        watch.send(ours, creating, their_headers, build_valid_request(creating, theirs))
    print(THEIRS, file=logs)
    with pytest.raises(AssertionError, match="was shown"):
        watch.send(ours, listing, our_headers, RouteRequest())
