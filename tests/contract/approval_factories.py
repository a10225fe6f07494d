"""Creates approval requests of a billing group."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from tests.contract.month_factories import make_saved_group
from tests.contract.tenants import PLAIN_VALUES, RecordReference, Tenant, make_billing_group
from tests.subusers import create_subuser


def make_approval(tenant: Tenant) -> str:
    """A request of a user who does not exist any more."""
    return _add_request(tenant, new_id("usr"))


def make_own_approval(tenant: Tenant) -> str:
    """A request of the root user."""
    return _add_request(tenant, tenant.organisation.root_user_id)


def _add_request(tenant: Tenant, requested_by: str) -> str:
    approval_id, now = new_id("apr"), clock.now()
    tenant.add(
        "approval_requests",
        approval_id=approval_id,
        kind="rates",
        state="requested",
        target="{}",
        body="{}",
        review="{}",
        review_hash="0" * 64,
        comment=tenant.word("c"),
        company_ids=[make_billing_group(tenant)],
        requested_by=requested_by,
        requested_by_name=tenant.word("u"),
        expire_time=now + timedelta(days=7),
    )
    return approval_id


def make_approvable_request(tenant: Tenant) -> str:
    """A request for a rate, by a user who may save rates."""
    service = tenant.service
    clerk = create_subuser(
        service,
        ["ModifyInvoice"],
        organisation=tenant.organisation,
        username=tenant.word("u"),
        role=tenant.word("r"),
    )
    response = service.http.post(
        "/m/core/approvals", json=build_rate_request(tenant), headers=clerk.core
    )
    assert response.status_code == 201, response.text
    return str(response.json()["approval_id"])


def build_rate_request(tenant: Tenant) -> dict[str, Any]:
    rate = {"vendor": "aws", "billing_groups": [make_saved_group(tenant)], "exchange_rate": 150}
    return {
        "kind": "rates",
        "target": {"month": PLAIN_VALUES["month"]},
        "body": rate,
        "comment": tenant.word("c"),
    }


def build_decision(tenant: Tenant) -> dict[str, str]:
    """The hash of the request that was made last."""
    (row,) = tenant.superuser.sql(
        "SELECT review_hash FROM approval_requests WHERE organisation_id = $1"
        " ORDER BY create_time DESC LIMIT 1",
        tenant.organisation_id,
    )
    return {"review_hash": row["review_hash"]}


_TABLE = ("approval_requests", "approval_id")
APPROVAL_REFERENCES = {
    "approval_id": RecordReference(make_approval, *_TABLE, filtered=True),
    "withdraw_request.approval_id": RecordReference(make_own_approval, *_TABLE, filtered=True),
    "approve_request.approval_id": RecordReference(make_approvable_request, *_TABLE, filtered=True),
}
