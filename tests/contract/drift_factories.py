"""Creates imports that found late costs of a closed month, and customers that have some."""

from __future__ import annotations

import json
from typing import Any

from nimbill.foundation.ids import new_id
from tests.contract.month_factories import make_closed_month, make_sent_group
from tests.contract.tenants import PAYER, PLAIN_VALUES, Tenant, make_account


def make_drift_import(tenant: Tenant) -> str:
    """An import of a closed month with late costs of every account of the tenant."""
    return _add_import(tenant, make_closed_month(tenant))


def make_late_import(tenant: Tenant) -> str:
    """The same in the month of PLAIN_VALUES."""
    return _add_import(tenant, PLAIN_VALUES["month"])


def _add_import(tenant: Tenant, month: str) -> str:
    accounts = tenant.superuser.sql(
        "SELECT customer_id FROM cloud_accounts WHERE organisation_id = $1 AND vendor = 'aws'",
        tenant.organisation_id,
    )
    import_id = new_id("imp")
    tenant.add(
        "cost_imports",
        import_id=import_id,
        vendor="aws",
        month=month,
        sources=[tenant.word("i")],
        uploaded=False,
        state="drift",
        report=json.dumps({"proposals": [_build_proposal(row["customer_id"]) for row in accounts]}),
        created_by=tenant.organisation.root_user_id,
    )
    return import_id


def make_drifting_group(tenant: Tenant) -> str:
    """A group with an account whose late costs are in every such import of the tenant."""
    customer_id = make_account(tenant)
    (account,) = tenant.superuser.sql(
        "SELECT company_id FROM cloud_accounts WHERE organisation_id = $1 AND customer_id = $2",
        tenant.organisation_id,
        customer_id,
    )
    _add_late_costs(tenant, [customer_id])
    company_id: str = account["company_id"]
    return company_id


def _add_late_costs(tenant: Tenant, customer_ids: list[str]) -> None:
    rows = tenant.superuser.sql(
        "SELECT import_id, report FROM cost_imports WHERE organisation_id = $1 AND state = 'drift'",
        tenant.organisation_id,
    )
    for row in rows:
        proposals = json.loads(row["report"])["proposals"]
        proposals += [_build_proposal(customer_id) for customer_id in customer_ids]
        tenant.superuser.sql(
            "UPDATE cost_imports SET report = $1 WHERE organisation_id = $2 AND import_id = $3",
            json.dumps({"proposals": proposals}),
            tenant.organisation_id,
            row["import_id"],
        )


def make_corrected_group(tenant: Tenant) -> str:
    """A group with a sent invoice, and with late costs in every import of them."""
    company_id = make_sent_group(tenant)
    accounts = tenant.superuser.sql(
        "SELECT customer_id FROM cloud_accounts WHERE organisation_id = $1 AND company_id = $2",
        tenant.organisation_id,
        company_id,
    )
    _add_late_costs(tenant, [row["customer_id"] for row in accounts])
    return company_id


def _build_proposal(customer_id: str) -> dict[str, Any]:
    return {
        "customer_id": customer_id,
        "service": "AmazonEC2",
        "marketplace": False,
        "kind": "usage",
        "calc_type": "Fee",
        "amount": 1,
        "currency": "USD",
        "description": "late",
        "counts": 0,
        "delivered": 1,
        "payer_id": PAYER,
    }
