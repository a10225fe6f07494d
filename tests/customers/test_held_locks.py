"""Customer records are locked while a request decides about them.

Each test makes a change in a transaction that is still open, sends a request that must not decide
before the change is committed, and checks that the request took the change into account.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.customers.organisation_settings import records as settings_records
from nimbill.customers.organisation_settings.bodies import OrganisationSettings
from nimbill.customers.resellers import records as reseller_records
from nimbill.database.tenant_scope import TenantScope
from tests.contract.valid_bodies import UPDATED_SETTING
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.resellers.reseller_accounts import CUSTOM_PASSWORD, build_body
from tests.held_locks import InTransaction, call_while_locked
from tests.problem_responses import HttpResponse, read_problem
from tests.quick_hashes import use_quick_hashes
from tests.running_service import Service

__all__ = ["use_quick_hashes"]  # an autouse fixture

CORE = "/m/core"
PAYER = "100000000001"
ACCOUNT = {"vendor": "aws", "account_id": PAYER, "name": "Shop", "note": ""}
PROJECT = {"project_code": "P-1", "project_label": "Label", "project_currency": "jpy"}
NEW_IDS = {"billinggroup_id": "new", "billinggroup_name": "new", "company_name": "new"}


@pytest.fixture(scope="module")
def tenant(running: Service) -> Service:
    """The service with one organisation for all tests of this file."""
    running.organisation = running.new_organisation()
    return running


def send(tenant: Service, method: str, path: str, body: Any = None) -> HttpResponse:
    return tenant.http.request(method, CORE + path, json=body, headers=tenant.root())


def create(tenant: Service, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = send(tenant, "POST", path, body)
    assert response.status_code == 200, response.text
    created: dict[str, Any] = response.json()
    return created


@dataclass(frozen=True)
class LockedRecord:
    """A table with the column that identifies its rows, and how to create a row."""

    table: str
    column: str

    def create(self, tenant: Service, name: str) -> str:
        """Create a record that is unique for this name, and return its id."""
        match self.table:
            case "projects":
                body = PROJECT | {"project_code": name}
                return str(create(tenant, "/project", body)["project_id"])
            case "cloud_accounts":
                customer_id = name.removeprefix("r").zfill(12)
                group = {"company_id": create_group(tenant, name)}
                create(tenant, "/accts", ACCOUNT | group | {"customer_id": customer_id})
                return customer_id
            case "resellers":
                body = build_body(create_group(tenant, name), email=f"{name}@example.com")
                return str(create(tenant, "/reseller", body)["user_id"])
        return create_group(tenant, name)

    def delete(self, record_id: str) -> InTransaction:
        """Delete the row in the transaction that holds its lock."""
        stmt = sa.text(f"DELETE FROM {self.table} WHERE {self.column} = :id")

        async def delete(db: AsyncConnection, _scope: TenantScope) -> None:
            await db.execute(stmt, {"id": record_id})

        return delete


def create_group(tenant: Service, name: str) -> str:
    return create_billing_group(tenant, tenant.root(), billinggroup_id=name)


PROJECTS = LockedRecord("projects", "project_id")
ACCOUNTS = LockedRecord("cloud_accounts", "customer_id")
GROUPS = LockedRecord("billing_groups", "company_id")
RESELLERS = LockedRecord("resellers", "user_id")
PASSWORD_BODY = {"input_type": "Custom", "notification": False, "password": CUSTOM_PASSWORD}
ITEM = {"enabled": True, "label": "Fee", "unit_cost": 1, "quantity": 1, "total": 1}

# record, method, path and body of every route that locks it
CHANGES: list[tuple[LockedRecord, str, str, Any]] = [
    (PROJECTS, "POST", "/project/{id}", PROJECT | {"project_code": "P-2"}),
    (PROJECTS, "DELETE", "/project/{id}", None),
    (ACCOUNTS, "PUT", "/accts/{id}/edit", ACCOUNT),
    (ACCOUNTS, "DELETE", f"/accts/aws/{{id}}%7C{PAYER}", None),
    (GROUPS, "POST", "/billinggroup/{id}", NEW_IDS),
    (GROUPS, "POST", "/billinggroup/{id}/invoices", {"vendor": "aws", "invoices": UPDATED_SETTING}),
    (GROUPS, "POST", "/billinggroup/{id}/freeformat/aws", {"additional_items": [ITEM]}),
    (GROUPS, "DELETE", "/billinggroup/{id}/freeformat", None),
    (GROUPS, "POST", "/billinggroup/{id}/invoicetemplate", {"invoice_template_id": None}),
    (GROUPS, "DELETE", "/billinggroup/{id}", None),
    (RESELLERS, "PUT", "/reseller/{id}/password", PASSWORD_BODY),
    (RESELLERS, "PUT", "/reseller/{id}/meta", {"meta": {"invoice": True}}),
    (RESELLERS, "DELETE", "/reseller/{id}", None),
]


@pytest.mark.parametrize(
    ("record", "method", "path", "body"), CHANGES, ids=[f"{row[1]} {row[2]}" for row in CHANGES]
)
def test_a_record_that_is_being_deleted_is_not_found(
    tenant: Service, record: LockedRecord, method: str, path: str, body: Any
) -> None:
    """Without the lock, the change would report success, or fail in the database."""
    record_id = record.create(tenant, f"r{CHANGES.index((record, method, path, body))}")
    if record is ACCOUNTS and body is not None:
        body = body | {"company_id": create_group(tenant, "target")}

    outcome = call_while_locked(
        tenant,
        record.delete(record_id),
        lambda: send(tenant, method, path.replace("{id}", record_id), body),
    )

    assert outcome.waited
    read_problem(outcome.result, 404)


def test_settings_that_are_being_changed_are_kept(tenant: Service) -> None:
    """The other change has read the settings and has not stored them yet."""
    assert send(tenant, "PUT", "/settings", {"language": "ja"}).status_code == 200
    read: list[OrganisationSettings] = []

    async def read_settings(db: AsyncConnection, scope: TenantScope) -> None:
        read.append(await settings_records.lock_settings(db, scope))

    async def round_down(db: AsyncConnection, scope: TenantScope) -> None:
        changed = msgspec.structs.replace(read[0], rounding="down")
        await settings_records.store_settings(db, scope, changed)

    outcome = call_while_locked(
        tenant,
        read_settings,
        lambda: send(tenant, "PUT", "/settings", {"language": "en"}),
        change=round_down,
    )

    assert outcome.waited
    stored = send(tenant, "GET", "/settings").json()
    assert (stored["rounding"], stored["language"]) == ("down", "en")


def test_flags_that_are_being_changed_are_kept(tenant: Service) -> None:
    user_id = RESELLERS.create(tenant, "flags")

    async def show_invoices(db: AsyncConnection, scope: TenantScope) -> None:
        reseller = await reseller_records.lock_reseller(db, scope, user_id)
        assert reseller is not None
        await reseller_records.store_meta(db, scope, user_id, reseller.meta | {"invoice": True})

    outcome = call_while_locked(
        tenant,
        show_invoices,
        lambda: send(tenant, "PUT", f"/reseller/{user_id}/meta", {"meta": {"open_api": True}}),
    )

    assert outcome.waited
    listed = {each["user_id"]: each for each in send(tenant, "GET", "/reseller").json()}
    assert listed[user_id]["meta"]["invoice"] is listed[user_id]["meta"]["open_api"] is True


def test_a_vendor_is_not_disabled_while_a_request_adds_records_of_it(tenant: Service) -> None:
    group = create_group(tenant, "r900")
    enabled = send(tenant, "PUT", "/settings", {"vendors": ["aws", "azure", "gcp"]})
    assert enabled.status_code == 200, enabled.text

    async def lock_vendors(db: AsyncConnection, scope: TenantScope) -> None:
        await settings_records.load_vendors(db, scope, lock=True)

    async def add_account(db: AsyncConnection, scope: TenantScope) -> None:
        fields = ACCOUNT | {"vendor": "gcp", "customer_id": "x", "company_id": group}
        organisation = {"organisation_id": scope.organisation_id}
        await db.execute(sa.insert(cloud_accounts).values(**fields, **organisation))

    outcome = call_while_locked(
        tenant,
        lock_vendors,
        lambda: send(tenant, "PUT", "/settings", {"vendors": ["aws", "azure"]}),
        change=add_account,
    )

    assert outcome.waited
    assert read_problem(outcome.result, 409)["code"] == "vendor_in_use"
