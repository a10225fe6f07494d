"""Writes FOCUS files of every version and price from a sample month, without a database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random

from msgspec.structs import replace

from nimbill.costs.focus_columns import FocusVersion
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.stored_invoices import StoredInvoice
from nimbill.invoicing.focus.export import Price, write_focus
from nimbill.invoicing.focus.month_records import ClosingState, FocusMonth, VendorCosts
from tests.costs.generated_months import Line, build_line, write_month
from tests.invoicing.random_documents import build_random_document

MONTH = "2026-09"
INVOICES = 25
AT = datetime(2026, 10, 3, 4, 5, 6, tzinfo=UTC)
PAYER = {"payer_id": "836060457634", "payer_name": "Aozora", "customer_name": "Web shop"}
INVOICED = {**PAYER, "invoice_id": "42", "region": "ap-northeast-1", "zone": "ap-northeast-1a"}
RESERVED = {"reservation_id": "arn:aws:ec2::1:reserved-instances/1"}
PLANNED = {"savings_plan_id": "arn:aws:savingsplans::1:savingsplan/1"}
PRICED = {
    "usage_type": "BoxUsage:m5.large",
    "pricing_unit": "Hrs",
    "list_unit_price": "0.2",
    "sku_id": "SKU1",
    "sku_price_id": "SKU1.A.B",
    "pricing_quantity": "3",
}


def write_samples(folder: Path) -> dict[tuple[str, str], Path]:
    """Return the file or folder of each version and price."""
    month, lake = build_month(folder), Lake(str(folder / "lake"))
    written = {}
    for version in FocusVersion:
        for price in Price:
            output = folder / f"focus-{version.value}-{price.value}"
            if version == FocusVersion.v1_2:
                output = output.with_name(f"{output.name}.parquet")
            write_focus(lake, month, version, price, output)
            written[version.value, price.value] = output
    return written


def build_month(folder: Path) -> FocusMonth:
    """A month of AWS and Azure costs with invoices; the month of AWS is closed."""
    lake, files = Lake(str(folder / "lake")), []
    for vendor, lines in (("aws", list_aws_lines()), ("azure", list_azure_lines())):
        paths = write_month(lines, folder / vendor, files=1)
        names = lake.put(paths, folder=f"org/{vendor}/{MONTH}/imp")
        payers = frozenset(line["payer_id"] for line in lines)
        files += [CurrentLakeFile(vendor, name, payers) for name in names]
    return FocusMonth(
        month=MONTH,
        organisation_name="Aozora Cloud Partners",
        files=files,
        costs={vendor: VendorCosts(AT, AT, provisional=False) for vendor in ("aws", "azure")},
        states={"aws": ClosingState(closed=True, update_time=AT)},
        invoices=[
            StoredInvoice(
                company_id=document.company_id,
                vendor=document.vendor,
                invoice_no=document.invoice_no,
                document=document,
                create_time=AT,
                update_time=AT,
            )
            for document in build_documents()
        ],
    )


def build_documents() -> Iterator[InvoiceDocument]:
    random = Random(20261116)
    for number in range(1, INVOICES + 1):
        document = build_random_document(random)
        yield replace(
            document,
            invoice_no=f"202609-{number:04}",
            company_id=f"cmp_{number}",
            vendor=random.choice(("aws", "azure")),
            due_date=random.choice((None, "2026-12-31")),
        )


def list_aws_lines() -> list[Line]:
    """Every line type that AWS delivers, as its reports describe them."""
    entry = {"kind": "entry", **INVOICED}
    return [
        build_line(**INVOICED, **PRICED, unblended_rate="0.2", cost=Decimal("0.6"),
                   tags=[("team", "web")]),
        build_line(**INVOICED, **PRICED, **RESERVED, line_type="DiscountedUsage", cost=Decimal(0),
                   unblended_rate="0", effective_cost=Decimal("0.3"), pricing_category="Reserved"),
        build_line(**INVOICED, **RESERVED, line_type="RIFee", cost=Decimal("21.6"),
                   pricing_quantity="720", unblended_rate="0.03", usage_type="HeavyUsage"),
        build_line(**INVOICED, **PRICED, **PLANNED, line_type="SavingsPlanCoveredUsage",
                   cost=Decimal("0.6"), unblended_rate="0.2", effective_cost=Decimal("0.4")),
        build_line(**INVOICED, **PLANNED, line_type="SavingsPlanNegation", cost=Decimal("-0.6")),
        build_line(**INVOICED, **PLANNED, line_type="SavingsPlanRecurringFee", cost=Decimal(5)),
        build_line(**entry, **PLANNED, line_type="SavingsPlanUpfrontFee", entry_type="Upfront"),
        build_line(**entry, line_type="Fee", entry_type="Fee", description="Domain"),
        build_line(**entry, line_type="Credit", entry_type="Credit", cost=Decimal(-3)),
        build_line(**entry, line_type="Refund", entry_type="Refund", cost=Decimal(-2)),
        build_line(**INVOICED, line_type="Tax", kind="tax"),
        build_line(**INVOICED, line_type="EdpDiscount", kind="discount", cost=Decimal(-1)),
        build_line(**INVOICED, line_type="FlatRateSubscription", kind="unknown"),
        build_line(**INVOICED, marketplace=True, service="9k2x", billing_entity="AWS Marketplace"),
    ]  # fmt: skip


def list_azure_lines() -> list[Line]:
    azure = {
        **INVOICED,
        "payer_id": "8611537",
        "customer_id": "00000000-0000-0000-0000-000000000001",
        "billing_entity": "Azure",
        "service": "Virtual Machines",
        "pricing_unit": "1 Hour",
        "sku_id": "M1",
        "usage_type": "D2 v3",
    }
    reserved = {"reservation_id": "ri-1", "pricing_category": "Reservation"}
    return [
        build_line(**azure, cost=Decimal("0.2"), pricing_quantity="2", list_unit_price="0.1",
                   contracted_unit_price="0.1", pricing_category="OnDemand"),
        build_line(**azure, **reserved, cost=Decimal(0), pricing_quantity="2", list_unit_price="0",
                   contracted_unit_price="0.1"),
        build_line(**azure, **reserved, kind="entry", entry_type="Fee", line_type="Purchase",
                   cost=Decimal(90), pricing_quantity="1", contracted_unit_price="90"),
    ]  # fmt: skip
