"""A version is compared under the lock of its record: a change that is not committed yet counts.

Each test changes a record in a transaction that is still open and then sends a change of the
version before it, which has to wait and must be refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.product import Product
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.held_locks import InTransaction, call_while_locked
from tests.problem_responses import HttpResponse, read_problem
from tests.running_service import Service

PAYER, ACCOUNT_ID, OTHER_ID = "100000000001", "100000000002", "100000000003"
ACCOUNT = {"vendor": "aws", "account_id": PAYER, "name": "Shop"}
PROJECT = {"project_code": "P-1", "project_label": "Label", "project_currency": "jpy"}
TEMPLATE = {"name": "Standard", "company": "Aozora"}
NAMES = {"billinggroup_id": "BG-1", "billinggroup_name": "n", "company_name": "c"}
ROLES = "/m/auth/rbac/roles"


@pytest.fixture(scope="module")
def tenant(running: Service) -> Service:
    """The service with one organisation for all tests of this file."""
    running.organisation = running.new_organisation()
    return running


@pytest.fixture(scope="module")
def company(tenant: Service) -> str:
    company_id = create_billing_group(tenant, tenant.root(), **NAMES)
    for customer_id in (ACCOUNT_ID, OTHER_ID):
        body = {**ACCOUNT, "customer_id": customer_id, "company_id": company_id}
        assert send(tenant, "POST", "/m/core/accts", body).status_code == 200
    return company_id


def send(
    tenant: Service, method: str, path: str, body: Any, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    return tenant.http.request(
        method, path, json=body, headers={**tenant.root(), **(headers or {})}
    )


def execute(statement: str) -> InTransaction:
    async def run(db: AsyncConnection, scope: TenantScope) -> None:
        text = sa.text(f"{statement} WHERE organisation_id = :organisation_id")
        await db.execute(text, {"organisation_id": scope.organisation_id})

    return run


def assert_refused(
    tenant: Service, statement: str, method: str, path: str, body: dict[str, Any]
) -> None:
    version = send(tenant, method, path, body).headers["etag"]

    outcome = call_while_locked(
        tenant,
        execute(statement),
        lambda: send(tenant, method, path, body, {"If-Match": version}),
    )

    assert outcome.waited
    assert read_problem(outcome.result, 412)["code"] == "version_conflict"


def test_a_project(tenant: Service) -> None:
    project_id = send(tenant, "POST", "/m/core/project", PROJECT).json()["project_id"]

    statement = "UPDATE projects SET project_label = 'other'"
    assert_refused(tenant, statement, "POST", f"/m/core/project/{project_id}", PROJECT)


def test_an_invoice_template(tenant: Service) -> None:
    created = send(tenant, "POST", "/m/core/invoicetemplate", TEMPLATE).json()

    path = f"/m/core/invoicetemplate/{created['invoice_template_id']}"
    statement = """UPDATE invoice_templates SET content = content || '{"notes"\\: "other"}'"""
    assert_refused(tenant, statement, "POST", path, TEMPLATE)


def test_a_role(tenant: Service) -> None:
    role = {"name": "role-1", "namespace": "core", "permissions": ["ReadCost"]}
    assert send(tenant, "POST", ROLES, role).status_code == 200

    statement = "UPDATE roles SET permissions = '{ReadAudit}'"
    body = {"permissions": ["ReadCost"]}
    assert_refused(tenant, statement, "PATCH", f"{ROLES}/core/role-1", body)


def test_an_account(tenant: Service, company: str) -> None:
    statement = "UPDATE cloud_accounts SET name = 'other'"
    body = {**ACCOUNT, "company_id": company}
    assert_refused(tenant, statement, "PUT", f"/m/core/accts/{ACCOUNT_ID}/edit", body)


def test_a_billing_group(tenant: Service, company: str) -> None:
    statement = "UPDATE billing_groups SET remarks = 'other'"
    assert_refused(tenant, statement, "POST", f"/m/core/billinggroup/{company}", NAMES)


def test_the_organisation_settings(tenant: Service) -> None:
    statement = """UPDATE organisation_settings SET settings = '{"language"\\: "en"}'"""
    assert_refused(tenant, statement, "PUT", "/m/core/settings", {"rounding": "down"})


def test_the_budgets_of_a_customer(tenant: Service, company: str) -> None:
    budget = {"name": "all", "target": "company", "amount": 9, "currency": "jpy", "thresholds": []}
    path = f"/m/portal/budgets?company_id={company}"
    portal = tenant.root(product=Product.portal)
    first = send(tenant, "PUT", path, {"budgets": [budget]}, portal)
    assert first.status_code == 200, first.text
    named = portal | {"If-Match": first.headers["etag"]}

    outcome = call_while_locked(
        tenant,
        execute("UPDATE budget_settings SET budgets = '[]'"),
        lambda: send(tenant, "PUT", path, {"budgets": [budget]}, named),
    )

    assert outcome.waited
    assert read_problem(outcome.result, 412)["code"] == "version_conflict"


def test_accounts_that_are_assigned_together(tenant: Service, company: str) -> None:
    """The account is deleted meanwhile, so that it needs a payer to be registered again."""

    async def delete_one(db: AsyncConnection, scope: TenantScope) -> None:
        await db.execute(
            sa.text(
                "DELETE FROM cloud_accounts WHERE organisation_id = :organisation_id"
                " AND customer_id = :customer_id"
            ),
            {"organisation_id": scope.organisation_id, "customer_id": OTHER_ID},
        )

    body = {"company_id": company, "accounts": [{"vendor": "aws", "customer_id": OTHER_ID}]}
    outcome = call_while_locked(
        tenant, delete_one, lambda: send(tenant, "POST", "/m/core/accts/assign", body)
    )

    assert outcome.waited
    (violation,) = read_problem(outcome.result, 400)["violations"]
    assert violation["field"] == "accounts[0].account_id"
