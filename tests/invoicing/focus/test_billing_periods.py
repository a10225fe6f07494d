"""The FOCUS data set Billing Period."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from nimbill.costs.lake.records import CurrentLakeFile
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.focus.export import build_billing_period_rows
from nimbill.invoicing.focus.month_records import FocusMonth, VendorCosts
from tests.invoicing.focus.focus_months import CLOSED, CREATED, UPDATED, build_month
from tests.invoicing.random_documents import build_random_document


@pytest.fixture(scope="module")
def documents() -> list[InvoiceDocument]:
    document = build_random_document(Random(1))
    return [document, replace(document, vendor="azure", invoice_no="202610-0002")]


def describe(month: FocusMonth, *, with_vendors: bool = False) -> list[tuple[Any, ...]]:
    names = [
        "InvoiceIssuerName",
        "BillingPeriodStatus",
        "BillingPeriodCreated",
        "BillingPeriodLastUpdated",
    ]
    rows = build_billing_period_rows(month, with_vendors=with_vendors)
    return [tuple(row[name] for name in names) for row in rows]


def test_the_period_of_an_issuer_is_closed_with_the_last_vendor(
    documents: list[InvoiceDocument],
) -> None:
    issuer = "Aozora Cloud Partners"

    assert describe(build_month(documents)) == [(issuer, "Open", CREATED, UPDATED)]
    assert describe(build_month(documents, "aws")) == [(issuer, "Open", CREATED, CLOSED)]
    assert describe(build_month(documents, "aws", "azure")) == [(issuer, "Closed", CREATED, CLOSED)]


@pytest.mark.parametrize(("provisional", "status"), [(True, "Open"), (False, "Closed")])
def test_the_period_of_a_vendor_is_closed_when_its_invoice_is_final(
    provisional: bool, status: str
) -> None:
    month = build_month([])._replace(
        files=[CurrentLakeFile("azure", "file", frozenset({"1"}))],
        costs={"azure": VendorCosts(CREATED, UPDATED, provisional)},
    )

    assert describe(month) == []
    assert describe(month, with_vendors=True) == [("Microsoft", status, CREATED, UPDATED)]
