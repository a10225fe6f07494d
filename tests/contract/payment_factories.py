"""Creates payments, which a service records only for sent invoices."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from nimbill.foundation.ids import new_id
from tests.contract.month_factories import make_invoiced_group, make_sent_group
from tests.contract.tenants import PLAIN_VALUES, Tenant


def make_paid_group(tenant: Tenant) -> str:
    """A group with a payment of 1 yen, which `find_last_payment` returns.

    The invoice is not sent, so that it can get further revisions.
    """
    company_id = make_invoiced_group(tenant)
    add_payment(tenant, company_id)
    return company_id


def find_last_payment(tenant: Tenant) -> str:
    """The payment that was recorded last."""
    query = (
        "SELECT payment_id FROM payments WHERE organisation_id = $1 AND reversed_time IS NULL"
        " ORDER BY create_time DESC LIMIT 1"
    )
    if not tenant.superuser.sql(query, tenant.organisation_id):
        make_paid_group(tenant)
    return str(tenant.superuser.sql(query, tenant.organisation_id)[0]["payment_id"])


def add_payment(tenant: Tenant, company_id: str) -> None:
    tenant.add(
        "payments",
        payment_id=new_id("pay"),
        month=PLAIN_VALUES["month"],
        company_id=company_id,
        vendor=PLAIN_VALUES["vendor"],
        currency="jpy",
        amount=Decimal(1),
        paid_on="2026-02-01",
        note=tenant.word("n"),
        create_time=datetime.now(UTC),
        created_by="root",
    )


def payment_file(tenant: Tenant) -> str:
    company_id = make_sent_group(tenant)
    (row,) = tenant.superuser.sql(
        "SELECT number FROM invoices"
        " WHERE organisation_id = $1 AND month = $2 AND company_id = $3 AND vendor = $4",
        tenant.organisation_id,
        PLAIN_VALUES["month"],
        company_id,
        PLAIN_VALUES["vendor"],
    )
    invoice_no = f"{PLAIN_VALUES['month'].replace('-', '')}-{row['number']:04}"
    return f"invoice_no,amount,paid_on,note\n{invoice_no},1,2026-02-01,{tenant.word('n')}\n"
