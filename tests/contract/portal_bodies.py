"""Valid bodies of what customers change in the portal."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.contract.tenants import Tenant, make_account, make_billing_group


def budget_bodies() -> dict[str, Callable[[Tenant], dict[str, Any]]]:
    """Bodies of the budgets of the portal."""
    return {
        "change_budgets": lambda tenant: {
            "budgets": [
                {
                    "name": tenant.word("b"),
                    "target": "tag",
                    "target_id": f"Team={tenant.word('b')}",
                    "amount": 100,
                    "currency": "jpy",
                    "thresholds": [{"percent": 80, "of": "actual"}],
                }
            ]
        },
        "change_budget_alerts": lambda tenant: {
            "enabled": True,
            "recipients": [f"{tenant.word('e')}@example.com"],
            "language": "en",
        },
    }


def portal_bodies() -> dict[str, Callable[[Tenant], dict[str, Any]]]:
    """Bodies of what customers set up."""
    return {
        "create_account_group": account_group_body,
        "change_account_group": changed_group_body,
        "rename_account": lambda tenant: {"name": tenant.word("a")},
        "create_saved_filter": lambda tenant: {
            "name": tenant.word("f"),
            "content": {"services": [tenant.word("s")]},
        },
    }


def account_group_body(tenant: Tenant) -> dict[str, Any]:
    company_id = make_billing_group(tenant)
    return {
        "company_id": company_id,
        "name": tenant.word("g"),
        "customer_ids": [make_account(replace(tenant, group=company_id))],
    }


def changed_group_body(tenant: Tenant) -> dict[str, Any]:
    """An account of the company whose group was created last, which is the one in the path."""
    rows = tenant.superuser.sql(
        "SELECT company_id FROM account_groups WHERE organisation_id = $1"
        " ORDER BY create_time DESC LIMIT 1",
        tenant.organisation_id,
    )
    account = make_account(replace(tenant, group=str(rows[0]["company_id"])))
    return {"name": tenant.word("g"), "customer_ids": [account]}
