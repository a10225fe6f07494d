"""Every list that counts its records can be paged, sorted and searched by the caller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import httpx
import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.http.list_parameters import TOTAL_HEADER
from tests.contract.declared_routes import Route, protected_routes
from tests.contract.full_groups import make_full_group
from tests.contract.month_factories import make_import
from tests.contract.superuser import connect_superuser
from tests.contract.tenants import PLAIN_VALUES, Tenant, make_project, make_user, new_tenant
from tests.problem_responses import read_problem
from tests.running_service import Service

COUNTED = [
    route
    for route in protected_routes()
    if "counted" in route.handler.opt
    # they have no other order; tests of these operations read their pages
    and route.operation not in ("list_unassigned_accounts", "list_webhook_deliveries")
]
each_list = pytest.mark.parametrize("route", COUNTED, ids=lambda route: route.operation)
EXPECTED = {
    "list_accounts",
    "list_approvals",
    "list_archived_documents",
    "list_audit_entries",
    "list_billing_groups",
    "list_deliveries",
    "list_imports",
    "list_invoices",
    "list_payments",
    "list_projects",
    "list_recalculation",
    "list_receivables",
    "list_resellers",
    "list_reserved_instances",
    "list_subusers",
}
REQUIRED = {"list_accounts", "list_recalculation", "list_reserved_instances"}  # need a vendor
# Words that are part of one record or more, but not of all.
WORDS = {"list_audit_entries": "create_project"}


@pytest.fixture(scope="module")
def tenant(running: Service, superuser: Address) -> Iterator[Tenant]:
    """An organisation with two records or more in every list."""
    with connect_superuser(running, superuser) as db:
        tenant = new_tenant(running, db, "kanari")
        for canary in ("kanaric", "kanarid"):
            make_full_group(tenant, canary)
            make_user(tenant)
            make_import(tenant)
            make_project(tenant)
        for code in ("one", "two"):
            project = {"project_code": code, "project_label": code, "project_currency": "jpy"}
            headers = running.root(tenant.organisation)
            assert running.http.post("/m/core/project", json=project, headers=headers).is_success
        yield tenant


def send(tenant: Tenant, route: Route, **query: Any) -> httpx.Response:
    vendor = {"vendor": "aws"} if route.operation in REQUIRED else {}
    return tenant.service.http.get(
        route.fill_path(month=PLAIN_VALUES["month"]),
        params={**vendor, **query},
        headers=tenant.service.root(tenant.organisation),
    )


def read(tenant: Tenant, route: Route, **query: Any) -> tuple[list[Any], int]:
    """The records of a page, and the total that the header names."""
    response = send(tenant, route, **query)
    assert response.status_code == 200, response.text
    body = response.json()
    records = body["billinggroup"] if isinstance(body, dict) else body
    if route.operation == "list_reserved_instances":  # pages count reservations, not moves
        records = [record for record in records if not record["remove"]]
    return records, int(response.headers[TOTAL_HEADER])


def sort_values(route: Route) -> list[str]:
    annotation = route.handler.parsed_fn_signature.parameters["sort"].annotation
    (literal,) = [member for member in get_args(annotation) if get_args(member)] or [annotation]
    return [value for value in get_args(literal) if value is not None]


def test_these_lists_are_counted() -> None:
    assert {route.operation for route in COUNTED} == EXPECTED


@each_list
def test_pages_together_are_the_list_and_each_names_the_total(tenant: Tenant, route: Route) -> None:
    everything, total = read(tenant, route, limit=1000)

    pages = [read(tenant, route, limit=1, offset=offset) for offset in range(total)]

    assert total == len(everything) >= 2
    assert [record for records, _ in pages for record in records] == everything
    assert {counted for _, counted in pages} == {total}
    assert read(tenant, route, limit=1, offset=total) == ([], total)


@each_list
def test_every_column_sorts_in_both_directions(tenant: Tenant, route: Route) -> None:
    everything, total = read(tenant, route, limit=1000)
    columns = [value for value in sort_values(route) if not value.startswith("-")]

    assert columns
    for column in columns:
        up, down = (read(tenant, route, sort=sign + column, limit=1000)[0] for sign in ("", "-"))
        assert len(up) == len(down) == total
        assert all(record in everything for record in up)
        if column in everything[0]:
            values = [record[column] for record in up if record[column] is not None]
            reverse = [record[column] for record in down if record[column] is not None]
            assert values == list(reversed(reverse)) == sorted_as_stored(column, values)


def sorted_as_stored(column: str, values: list[Any]) -> list[Any]:
    """Amounts that are texts in a response are numbers in the database."""
    return sorted(values, key=float) if column == "unblended_cost" else sorted(values)


@each_list
def test_a_column_that_is_not_listed_is_refused(tenant: Tenant, route: Route) -> None:
    problem = read_problem(send(tenant, route, sort="password_hash"), 400)

    assert [violation["field"] for violation in problem["violations"]] == ["sort"]


@each_list
def test_search_finds_in_any_letter_case_and_knows_no_wildcards(
    tenant: Tenant, route: Route
) -> None:
    everything, total = read(tenant, route, limit=1000)
    word = WORDS.get(route.operation) or find_word(everything[0])

    found, count = read(tenant, route, search=word.upper(), limit=1000)

    assert found
    assert len(found) == count
    assert all(record in everything for record in found)
    assert read(tenant, route, search="%", limit=1000) == ([], 0)
    assert read(tenant, route, search="no such record", limit=1000) == ([], 0)
    assert count < total


def find_word(record: dict[str, Any]) -> str:
    names = (
        "comment",
        "customer_id",
        "billinggroup_name",
        "project_code",
        "email",
        "username",
        "import_id",
        "number",
    )
    return next(str(record[name]) for name in names if record.get(name))


def test_the_totals_of_the_invoice_list_cover_all_pages_of_the_selection(tenant: Tenant) -> None:
    (route,) = [route for route in COUNTED if route.operation == "list_invoices"]
    complete = send(tenant, route).json()
    first = send(tenant, route, limit=1, sort="-sales").json()
    name = first["billinggroup"][0]["billinggroup_name"]
    found = send(tenant, route, search=name).json()
    number = first["billinggroup"][0]["invoice_no"]

    assert first["total"] == complete["total"]
    assert 0 < found["total"]["sales"] < complete["total"]["sales"]
    assert send(tenant, route, search=number).json()["billinggroup"] == found["billinggroup"]
    assert send(tenant, route, invoiced=False).json()["total"]["sales"] == 0
    invoiced = send(tenant, route, invoiced=True).json()
    assert invoiced["total"] == complete["total"]
    assert all(record["invoice_no"] for record in invoiced["billinggroup"])


def test_accounts_of_one_group(tenant: Tenant) -> None:
    (route,) = [route for route in COUNTED if route.operation == "list_accounts"]
    everything, _ = read(tenant, route)
    company_id = everything[0]["company_id"]

    found, total = read(tenant, route, company_id=company_id)

    assert found == [record for record in everything if record["company_id"] == company_id]
    assert total == len(found) < len(everything)
