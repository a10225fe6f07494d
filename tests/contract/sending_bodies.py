"""Valid bodies of the operations about contacts and about sending invoices."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from nimbill.foundation import clock
from tests.contract.month_factories import make_invoiced_group
from tests.contract.sending_factories import make_mailable_group
from tests.contract.tenants import Tenant, make_billing_group


def contact_body(tenant: Tenant) -> dict[str, Any]:
    return {
        "name": tenant.word("c"),
        "email": f"{tenant.word('c')}@example.com",
        "send_as": "to",
        "receives_invoices": True,
        "language": "ja",
    }


def contact_file(tenant: Tenant) -> str:
    (row,) = tenant.superuser.sql(
        "SELECT billinggroup_id FROM billing_groups WHERE organisation_id = $1 AND company_id = $2",
        tenant.organisation_id,
        make_billing_group(tenant),
    )
    email = f"{tenant.word('c')}@example.com"
    return f"billinggroup_id,name,email\n{row['billinggroup_id']},{tenant.word('c')},{email}\n"


def sending_body(tenant: Tenant) -> dict[str, Any]:
    company_id = make_mailable_group(tenant)
    return {
        "vendor": "aws",
        "method": "pdf",
        "company_ids": [company_id],
        "publish_time": clock.format_seconds(clock.now()),
    }


def sending_bodies() -> dict[str, Callable[[Tenant], Any]]:
    return {
        "create_contact": contact_body,
        "create_contacts_from_csv": contact_file,
        "replace_contact": contact_body,
        "preview_sending": sending_body,
        "send_invoices": sending_body,
        "mark_invoices_as_sent": lambda tenant: {
            "vendor": "aws",
            "revisions": {make_invoiced_group(tenant): 1},
        },
        "publish_invoice": lambda _: {
            "publish_time": clock.format_seconds(clock.now() + timedelta(days=1))
        },
    }
