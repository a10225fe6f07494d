"""Creates records of a month: entries, reservations, imports, costs, settings, invoices."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from nimbill.adjustments.reserved_instances.records import TEXT_COLUMNS as RI_TEXTS
from nimbill.foundation.ids import new_id
from tests.contract.tenants import (
    PAYER,
    PLAIN_VALUES,
    REPORT_TAG_KEYS,
    Tenant,
    make_account,
)
from tests.customers.billing_groups.sample_bodies import VALID_SETTING


def make_recalculation_entry(tenant: Tenant) -> str:
    """An entry of the month and vendor in PLAIN_VALUES."""
    entry_id = new_id("rce")
    words = ("platform_type", "description", "product_name", "product_code", "time_interval")
    tenant.add(
        "recalculation_entries",
        entry_id=entry_id,
        vendor="aws",
        payer_id=PAYER,
        month=PLAIN_VALUES["month"],
        customer_id=make_account(tenant),
        calc_type="Fee",
        **{name: tenant.word("d") for name in words},
        currency_code="USD",
        unblended_cost=1,
        usage_start=datetime(2026, 1, 1, tzinfo=UTC),
        delivered=True,
    )
    return entry_id


def make_reserved_instance(tenant: Tenant) -> str:
    ri_id = new_id("ri")
    tenant.add(
        "reserved_instances",
        ri_id=ri_id,
        vendor="aws",
        reservation_id=tenant.word("i"),
        customer_id=make_account(tenant),
        arn=tenant.word("i"),
        **{name: tenant.word("i") for name in RI_TEXTS},
        **dict.fromkeys(("normalization_factor", "unblended_rate", "upfront_value"), 1),
        number=10,
    )
    return ri_id


def make_moved_instance(tenant: Tenant) -> str:
    move_id, customer_id = new_id("ri"), make_account(tenant)
    tenant.add(
        "reservation_moves",
        move_id=move_id,
        ri_id=make_reserved_instance(tenant),
        position=1,
        dest_customer_id=customer_id,
        number=1,
        created_after_closing=0,
        account_in_use=customer_id,
    )
    return move_id


def make_commitment_usage(tenant: Tenant) -> str:
    """A savings plan, a reservation with a fee, and an instance on demand."""
    month = PLAIN_VALUES["month"]
    tenant.add(
        "reservation_fees",
        ri_id=make_reserved_instance(tenant),
        month=month,
        payer_id=PAYER,
        currency="USD",
        fee=1,
        number=10,
    )
    usage = {
        "vendor": "aws",
        "payer_id": PAYER,
        "month": month,
        "kind": "usage",
        "currency": "USD",
        "cost": 1,
        "lines": 1,
        "hours": 24 * 31,
        "hour_lines": 1,
    }
    plan_id, words = tenant.word("p"), ("usage_type", "platform", "tenancy", "region")
    texts = ("reservation_start", "reservation_end", "payment_option", "term_length")
    numbers = ("normalized_hours", "factor_lines", "effective_cost", "effective_lines")
    tenant.add(
        "commitment_usage",
        **usage | dict.fromkeys(numbers, 0) | {name: tenant.word("t") for name in texts},
        customer_id=make_account(tenant),
        line_type="SavingsPlanRecurringFee",
        reservation_id="",
        savings_plan_id=plan_id,
        used=False,
    )
    tenant.add(
        "on_demand_usage",
        **usage | {name: tenant.word("t") for name in (*words, "service", "instance_type")},
        customer_id=make_account(tenant),
        days=31,
    )
    return plan_id


def make_open_month(tenant: Tenant) -> str:
    """A month that no other test uses, because closing affects the whole organisation."""
    number = next(tenant.numbers)
    return f"{3000 + number // 12:04}-{number % 12 + 1:02}"


def make_closed_month(tenant: Tenant) -> str:
    month = make_open_month(tenant)
    tenant.add("month_states", vendor="aws", month=month, closed=True, closing_number=1)
    return month


def make_import(tenant: Tenant) -> str:
    """A parked import without lines."""
    import_id, month = new_id("imp"), make_open_month(tenant)
    tenant.add(
        "cost_imports",
        import_id=import_id,
        vendor="aws",
        month=month,
        sources=[tenant.word("i")],
        uploaded=False,
        state="parked",
        parked_reason=tenant.word("i"),
        created_by=tenant.organisation.root_user_id,
    )
    return import_id


def make_tagged_cost(tenant: Tenant) -> str:
    """The tag key of a cost line of an account of the tenant, in the month of PLAIN_VALUES."""
    tag_key = new_id("key")
    add_cost(tenant, make_account(tenant), tag_key)
    return tag_key


def add_cost(tenant: Tenant, customer_id: str, tag_key: str, vendor: str = "aws") -> None:
    """Add a cost of one dollar with a tag to an account."""
    line = {
        "vendor": vendor,
        "payer_id": PAYER,
        "month": PLAIN_VALUES["month"],
        "customer_id": customer_id,
        "line_type": tenant.word("l"),
        "kind": "usage",
        "service": tenant.word("s"),
        "marketplace": False,
        "currency": "USD",
        "cost": 1,
        "lines": 1,
    }
    tenant.add("cost_sums", **line, day=date(2026, 1, 1))
    tenant.add("cost_tag_sums", **line, tag_key=tag_key, tag_value=tenant.word("v"))
    add_tagged_sum(tenant, line)


def add_tagged_sum(tenant: Tenant, line: dict[str, Any]) -> None:
    """Add the cost to the sums by the tag keys of reports."""
    tags = {key: tenant.word("v") for key in REPORT_TAG_KEYS}
    tenant.add("cost_tagged_sums", **line, day=date(2026, 1, 1), tags=json.dumps(tags))
    tenant.superuser.sql(
        "INSERT INTO cost_months (organisation_id, vendor, payer_id, month, import_id, provisional,"
        " lines, tag_keys) VALUES ($1, $2, $3, $4, 'imp', false, 1, $5) ON CONFLICT DO NOTHING",
        *(tenant.organisation_id, line["vendor"], line["payer_id"], line["month"]),
        REPORT_TAG_KEYS,
    )


def make_saved_group(tenant: Tenant) -> str:
    """A group with an account, settings and a rate in the month of PLAIN_VALUES."""
    customer_id = make_account(tenant)
    company_id = tenant.superuser.sql(
        "SELECT company_id FROM cloud_accounts WHERE organisation_id = $1 AND customer_id = $2",
        tenant.organisation_id,
        customer_id,
    )[0]["company_id"]
    save_setting(tenant, company_id)
    return str(company_id)


def save_setting(
    tenant: Tenant, company_id: str, vendor: str = "aws", calc_type: str = "account"
) -> None:
    """Replace the setting and the rate of a group, and its default setting."""
    for table in ("monthly_invoice_settings", "invoice_settings"):
        tenant.superuser.sql(
            f"DELETE FROM {table} WHERE organisation_id = $1 AND company_id = $2 AND vendor = $3",
            tenant.organisation_id,
            company_id,
            vendor,
        )
    setting = {
        **{name: _to_column(value) for name, value in VALID_SETTING.items()},
        "calc_type": calc_type,
        "substitution_basis": "nondiscount",
        "substitution_scope": "cloudpayonly",
        "support_basis": "nondiscount",
    }
    tenant.add("invoice_settings", vendor=vendor, company_id=company_id, **setting)
    tenant.add(
        "monthly_invoice_settings",
        month=PLAIN_VALUES["month"],
        vendor=vendor,
        company_id=company_id,
        **setting,
        memo=tenant.word("m"),
        exchange_rate=150,
    )


def _to_column(value: Any) -> Any:
    return value if isinstance(value, str) else Decimal(str(value))


# operations on the invoice of a billing group
OF_INVOICES = [
    "compare_invoice",
    "compare_invoice_revision",
    "download_discount_csv",
    "download_focus_file",
    "download_merged_csv",
    "explain_invoice",
    "list_invoice_revisions",
    "list_saved_months",
    "mark_invoice_as_sent",
    "print_covering_page",
    "print_customer_invoice",
    "print_invoice",
    "print_invoice_revision",
    "read_customer_invoice",
    "read_invoice",
    "read_invoice_revision",
    "read_invoice_state",
]


def make_invoiced_group(tenant: Tenant) -> str:
    """A group with an invoice, created by the service, in the month of PLAIN_VALUES."""
    company_id = make_saved_group(tenant)
    create_invoice(tenant, company_id)
    return company_id


def make_sent_group(tenant: Tenant) -> str:
    """A group whose invoice has an amount and was sent."""
    company_id = make_saved_group(tenant)
    amounts = {"unit_cost": 100, "quantity": 1, "total": 100}
    item = {"enabled": True, "label": tenant.word("f"), **amounts}
    response = tenant.service.http.post(
        f"/m/core/billinggroup/{company_id}/freeformat/aws",
        json={"additional_items": [item]},
        headers=tenant.service.root(tenant.organisation),
    )
    assert response.status_code == 200, response.text
    create_invoice(tenant, company_id)
    mark_as_sent(tenant, company_id)
    return company_id


def mark_as_sent(tenant: Tenant, company_id: str, vendor: str = "aws") -> None:
    tenant.superuser.sql(
        "UPDATE invoices SET sent_time = now(), sent_by = 'root'"
        " WHERE organisation_id = $1 AND company_id = $2 AND vendor = $3 AND sent_time IS NULL",
        tenant.organisation_id,
        company_id,
        vendor,
    )


def is_sent(tenant: Tenant, company_id: str, vendor: str) -> bool:
    rows = tenant.superuser.sql(
        "SELECT 1 FROM invoices"
        " WHERE organisation_id = $1 AND company_id = $2 AND vendor = $3"
        " AND sent_time IS NOT NULL",
        tenant.organisation_id,
        company_id,
        vendor,
    )
    return bool(rows)


def create_invoice(tenant: Tenant, company_id: str, vendor: str = "aws") -> None:
    """Create an invoice, or a revision of it unless it was sent."""
    if is_sent(tenant, company_id, vendor):
        return
    response = tenant.service.http.post(
        f"/m/core/invoices/calculation/{PLAIN_VALUES['month']}",
        json={"vendor": vendor, "group": [company_id], "bulk": False},
        headers=tenant.service.root(tenant.organisation),
    )
    assert response.status_code == 200, response.text
