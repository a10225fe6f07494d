"""GET /m/core/search"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.closing.search.records import begins_with
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import APP_ROLE
from tests.contract.month_factories import make_invoiced_group
from tests.contract.superuser import connect_superuser
from tests.contract.tenants import PLAIN_VALUES, Tenant, make_account, new_tenant
from tests.problem_responses import read_problem
from tests.running_service import Service

NUMBER = PLAIN_VALUES["month"].replace("-", "") + "-0001"


@pytest.fixture(scope="module")
def tenant(running: Service, superuser: Address) -> Iterator[Tenant]:
    with connect_superuser(running, superuser) as db:
        tenant = new_tenant(running, db, "kanari")
        make_invoiced_group(tenant)
        make_account(tenant)
        yield tenant


def find(tenant: Tenant, text: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    service = tenant.service
    response = service.http.get(
        "/m/core/search",
        params={"q": text},
        headers=headers or service.root(tenant.organisation),
    )
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()
    return result


def read_account(tenant: Tenant) -> dict[str, Any]:
    rows = tenant.superuser.sql(
        "SELECT customer_id, name, company_id FROM cloud_accounts WHERE organisation_id = $1"
        " ORDER BY create_time DESC, customer_id DESC LIMIT 1",
        tenant.organisation_id,
    )
    return dict(rows[0])


@pytest.mark.parametrize("part", [slice(None), slice(0, 8), slice(2, None)])
def test_an_account_is_found_by_name_and_number_or_a_part_of_it(
    tenant: Tenant, part: slice
) -> None:
    account = read_account(tenant)

    for text in (account["name"], account["name"].upper(), account["customer_id"]):
        found = find(tenant, text[part])["accounts"]
        assert account["customer_id"] in [each["customer_id"] for each in found]


def test_a_group_is_found_by_each_of_its_ids_and_names(tenant: Tenant) -> None:
    (group,) = tenant.superuser.sql(
        "SELECT company_id, billinggroup_id, billinggroup_name, company_name FROM billing_groups"
        " WHERE organisation_id = $1 AND company_id = $2",
        tenant.organisation_id,
        read_account(tenant)["company_id"],
    )

    for text in group.values():
        (found,) = find(tenant, text)["billing_groups"]
        assert found["company_id"] == group["company_id"]


@pytest.mark.parametrize("text", [NUMBER, NUMBER[:6], "1"])
def test_an_invoice_is_found_by_its_number(tenant: Tenant, text: str) -> None:
    found = find(tenant, text)["invoices"]

    assert {each["invoice_no"] for each in found} == {NUMBER}
    assert found[0].keys() == {
        "invoice_no",
        "month",
        "vendor",
        "company_id",
        "billinggroup_name",
    }


def test_a_caller_finds_only_the_kinds_that_it_may_read(tenant: Tenant) -> None:
    service, organisation = tenant.service, tenant.organisation
    name = read_account(tenant)["name"][:6]

    accounts = find(tenant, name, service.caller(RoleAction.ReadAccount, organisation=organisation))
    invoices = find(
        tenant, NUMBER, service.caller(RoleAction.ModifyInvoice, organisation=organisation)
    )

    assert [kind for kind, found in accounts.items() if found] == ["accounts"]
    assert [kind for kind, found in invoices.items() if found] == ["invoices"]


def test_an_empty_text_is_refused(tenant: Tenant) -> None:
    headers = tenant.service.root(tenant.organisation)

    response = tenant.service.http.get("/m/core/search", params={"q": ""}, headers=headers)

    assert read_problem(response, 400)["violations"][0]["field"] == "q"


def many_accounts(tenant: Tenant) -> list[dict[str, str]]:
    """With a few rows, any index would do."""
    account = {
        "organisation_id": tenant.organisation_id,
        "company_id": read_account(tenant)["company_id"],
        "vendor": "aws",
        "account_id": "836060457634",
    }
    return [{**account, "customer_id": f"{i:012}", "name": f"account {i}"} for i in range(2000)]


@pytest.mark.parametrize("column", ["customer_id", "name_prefix"])
def test_beginnings_are_found_with_an_index_behind_row_security(
    tenant: Tenant, column: str
) -> None:
    stmt = sa.select(cloud_accounts.c.customer_id).where(
        cloud_accounts.c.organisation_id == tenant.organisation_id,
        begins_with(cloud_accounts.c[column], "abc"),
    )
    text = str(stmt.compile(compile_kwargs={"literal_binds": True}))

    database = tenant.superuser
    database.sql("BEGIN")
    try:
        for account in many_accounts(tenant):
            database.add("cloud_accounts", **account)
        database.sql("ANALYZE cloud_accounts")
        database.sql(f"SET LOCAL ROLE {APP_ROLE}")
        database.sql("SELECT set_config('nimbill.organisation', $1, true)", tenant.organisation_id)
        plan = "\n".join(row[0] for row in database.sql(f"EXPLAIN {text}"))
    finally:
        database.sql("ROLLBACK")
    (condition,) = [line for line in plan.splitlines() if "Index Cond" in line]
    assert f"{column} ~>=~" in condition
