"""FOCUS rows of invoices: what they contain, and that they add up to the invoice."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from nimbill.costs.focus_columns import FocusVersion
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import sum_decimals
from nimbill.invoicing.calculation.charges import AppliedEntry, FreeItem, MonthlyCharges
from nimbill.invoicing.calculation.sheet import calculate_invoice
from nimbill.invoicing.documents.document import InvoiceDocument, Issuer
from nimbill.invoicing.focus.columns import (
    COST_AND_USAGE_SCHEMAS,
    INVOICE_DETAIL_SCHEMA,
)
from nimbill.invoicing.focus.export import build_tables
from nimbill.invoicing.focus.invoice_rows import (
    build_cost_and_usage_rows,
    build_invoice_detail_rows,
)
from tests.invoicing.focus.focus_months import CREATED, UPDATED, build_month
from tests.invoicing.invoice_builders import build_charge, build_terms
from tests.invoicing.random_documents import build_random_document

INVOICES = 200
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def documents() -> list[InvoiceDocument]:
    random = Random(20261116)
    return [
        replace(build_random_document(random), invoice_no=f"202610-{number:04}")
        for number in range(1, INVOICES + 1)
    ]


def read_cost_and_usage(
    documents: list[InvoiceDocument], version: str = "1.4", *closed_vendors: str
) -> Rows:
    month = build_month(documents, *closed_vendors)
    rows = [row for each in month.invoices for row in build_cost_and_usage_rows(month, each)]
    return read_rows(COST_AND_USAGE_SCHEMAS[FocusVersion(version)], rows)


def read_invoice_detail(documents: list[InvoiceDocument], *closed_vendors: str) -> Rows:
    month = build_month(documents, *closed_vendors)
    rows = [row for each in month.invoices for row in build_invoice_detail_rows(month, each)]
    return read_rows(INVOICE_DETAIL_SCHEMA, rows)


def read_rows(schema: pa.Schema, rows: Rows) -> Rows:
    table = pa.concat_tables(build_tables(schema, rows))
    table.validate(full=True)
    read: Rows = table.to_pylist()
    for row in read:
        assert all(row[field.name] is not None for field in schema if not field.nullable), row
    return read


def sum_by(rows: Rows, *names: str) -> dict[Any, Decimal]:
    amounts: defaultdict[Any, list[Decimal]] = defaultdict(list)
    for row in rows:
        amounts[tuple(row[name] for name in names)].append(row["BilledCost"])
    return {key: sum_decimals(values) for key, values in amounts.items()}


@pytest.mark.parametrize("version", ["1.2", "1.4"])
def test_the_charges_of_an_invoice_add_up_to_its_total(
    documents: list[InvoiceDocument], version: str
) -> None:
    sums = sum_by(read_cost_and_usage(documents, version), "InvoiceId")

    assert {key[0]: amount for key, amount in sums.items()} == {
        document.invoice_no: document.sheet.total
        for document in documents
        if (document.invoice_no,) in sums
    }
    empty = [document for document in documents if (document.invoice_no,) not in sums]
    assert all(document.sheet.total == 0 for document in empty)
    assert len(sums) > INVOICES / 2


def test_invoice_detail_and_charges_agree_line_by_line(documents: list[InvoiceDocument]) -> None:
    details, charges = read_invoice_detail(documents), read_cost_and_usage(documents)

    keys = ("InvoiceIssuerName", "InvoiceId", "InvoiceDetailId", "ChargeCategory")
    assert sum_by(details, *keys) == sum_by(charges, *keys)
    ids = [row["InvoiceDetailId"] for row in details]
    assert len(ids) == len(set(ids))
    linked = {row["InvoiceDetailId"]: row for row in details}
    for row in charges:
        detail = linked[row["InvoiceDetailId"]]
        for name in ("BillingAccountId", "BillingCurrency", "BillingPeriodStart"):
            assert row[name] == detail[name]


@pytest.fixture(scope="module")
def document(documents: list[InvoiceDocument]) -> InvoiceDocument:
    """An invoice with every sort of line."""
    terms = build_terms(
        currency=Currency.jpy,
        discount_rate=Decimal("0.1"),
        support_fee="fix",
        support_fix=Decimal(500),
        tax_rate=Decimal("0.1"),
        exchange_rate=Decimal(150),
    )
    charges = MonthlyCharges(
        cost_currency=Currency.usd,
        usage=(build_charge("10"), build_charge("2", service="9k2x", marketplace=True)),
        entries=tuple(build_entry(calc_type) for calc_type in ("Credit", "Fee", "Refund")),
        items=(build_item("Consulting", "3000"), build_item("Loyalty", "-100")),
    )
    return replace(
        documents[0],
        terms=terms,
        charges=charges,
        currency=Currency.jpy,
        sheet=calculate_invoice(charges, terms),
        issuer=Issuer(invoice_template_id="tpl_1", company="Aozora K.K."),
        due_date="2026-12-31",
    )


def build_entry(calc_type: str) -> AppliedEntry:
    return AppliedEntry(
        entry_id=f"ent_{calc_type}",
        customer_id="111111111111",
        customer_name="account 111111111111",
        calc_type=calc_type,
        description=f"{calc_type} of August",
        amount=Decimal(-1) if calc_type != "Fee" else Decimal(1),
        currency=Currency.usd,
        exchange_rate=Decimal(0),
        tax_free=False,
    )


def build_item(label: str, total: str) -> FreeItem:
    return FreeItem(
        enabled=True,
        label=label,
        unit_cost=Decimal(total),
        quantity=Decimal(1),
        total=Decimal(total),
    )


def test_every_sort_of_line_is_a_charge(document: InvoiceDocument) -> None:
    rows = read_cost_and_usage([document])

    charges = [
        (
            row["ChargeCategory"],
            row["ChargeClass"],
            row["ChargeFrequency"],
            row["ChargeDescription"],
            int(row["ListCost"]),
            int(row["BilledCost"]),
            row["ServiceProviderName"],
        )
        for row in rows
    ]
    assert charges == [
        ("Usage", None, "Usage-Based", "9k2x", 300, 270, "AWS Marketplace"),
        ("Usage", None, "Usage-Based", "AmazonEC2", 1500, 1350, "AWS"),
        ("Purchase", None, "Recurring", "Support", 75000, 75000, "Aozora K.K."),
        ("Purchase", None, "Recurring", "Agency fee", 0, 0, "Aozora K.K."),
        ("Credit", None, "One-Time", "Credit of August", -150, -150, "AWS"),
        ("Purchase", None, "One-Time", "Fee of August", 150, 150, "AWS"),
        ("Usage", "Correction", "One-Time", "Refund of August", -150, -150, "AWS"),
        ("Purchase", None, "One-Time", "Consulting", 3000, 3000, "Aozora K.K."),
        ("Credit", None, "One-Time", "Loyalty", -100, -100, "Aozora K.K."),
        ("Tax", None, "One-Time", "Tax 10 %", 7937, 7937, "Aozora K.K."),
    ]
    assert {row["BillingCurrency"] for row in rows} == {"JPY"}
    assert rows[1]["SubAccountId"] == "111111111111"


def test_an_invoice_detail_names_dates_terms_and_its_own_invoice(
    document: InvoiceDocument,
) -> None:
    row = read_invoice_detail([document])[1]

    assert row | {"BillingAccountId": None} == {
        "BilledCost": Decimal(1350),
        "BillingAccountId": None,
        "BillingCurrency": "JPY",
        "BillingPeriodEnd": datetime(2026, 11, 1, tzinfo=UTC),
        "BillingPeriodStart": datetime(2026, 10, 1, tzinfo=UTC),
        "ChargeCategory": "Usage",
        "InvoiceDetailCreated": CREATED,
        "InvoiceDetailDescription": "AmazonEC2",
        "InvoiceDetailGrain": '{"ServiceName":"AmazonEC2","SubAccountId":"111111111111"}',
        "InvoiceDetailId": "202610-0001-00002",
        "InvoiceDetailLastUpdated": UPDATED,
        "InvoiceId": "202610-0001",
        "InvoiceIssueDate": datetime(2026, 11, 15, tzinfo=UTC),
        "InvoiceIssueStatus": "Open",
        "InvoiceIssuerName": "Aozora K.K.",
        "PaymentCurrency": "JPY",
        "PaymentCurrencyBilledCost": Decimal(1350),
        "PaymentCurrencyInvoiceDetailId": "202610-0001-00002",
        "PaymentDueDate": datetime(2026, 12, 31, tzinfo=UTC),
        "PaymentTerms": "Net 46",
        "PurchaseOrderNumber": None,
        "ReferenceInvoiceId": "202610-0001",
    }


def test_an_invoice_of_a_closed_month_is_issued(document: InvoiceDocument) -> None:
    assert {row["InvoiceIssueStatus"] for row in read_invoice_detail([document])} == {"Open"}
    assert {row["InvoiceIssueStatus"] for row in read_invoice_detail([document], "azure")} == {
        "Open"
    }
    assert {row["InvoiceIssueStatus"] for row in read_invoice_detail([document], "aws")} == {
        "Issued"
    }


def test_an_invoice_without_issuer_and_due_date_names_the_organisation(
    document: InvoiceDocument,
) -> None:
    (row, *_) = read_invoice_detail([replace(document, issuer=None, due_date=None)])

    assert row["InvoiceIssuerName"] == "Aozora Cloud Partners"
    assert (row["PaymentDueDate"], row["PaymentTerms"]) == (None, "No due date")


def test_the_lines_of_an_invoice_by_tag_have_the_tag(document: InvoiceDocument) -> None:
    terms = replace(document.terms, calc_type="tag")
    usage = (build_charge("10", tag="web"), build_charge("5"))
    charges = replace(document.charges, usage=usage, entries=(), items=())
    by_tag = replace(
        document,
        terms=terms,
        charges=charges,
        sheet=calculate_invoice(charges, terms),
        tag_key="team",
    )

    rows, details = read_cost_and_usage([by_tag]), read_invoice_detail([by_tag])

    assert [row["Tags"] for row in rows[:2]] == ['{"team":"web"}', None]
    assert [json.loads(row["InvoiceDetailGrain"])["x_Tag"] for row in details[:2]] == ["web", ""]


def test_an_amount_in_yen_may_be_larger_than_any_cost(document: InvoiceDocument) -> None:
    terms = replace(document.terms, exchange_rate=Decimal(1_000_000))
    charges = replace(document.charges, usage=(build_charge("9999999999999999"),))
    large = replace(document, terms=terms, charges=charges, sheet=calculate_invoice(charges, terms))

    sums = sum_by(read_cost_and_usage([large]), "InvoiceId")

    assert sums[large.invoice_no,] == large.sheet.total > 10**21
