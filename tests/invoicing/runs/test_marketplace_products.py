"""Invoices name marketplace products; the vendors charge them under a code or a category."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.customers.cloud_accounts.accounts import add_account
from tests.imports.aws_reports import report_line
from tests.imports.in_process_importer import InProcessImporter
from tests.invoicing.exports.export_requests import (
    create_month_link,
    download_content,
    parse_rows,
)
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.invoicing.pdf.pdf_text import extract_text, remove_whitespace

ACCOUNT = "222222222222"
CODE = "7g7dki2hwpzxz4pvhk2s0h6ik"
SUBSCRIPTION = "0f8fad5b-d9cb-469f-a165-70867728950e"
AZURE_HEADER = (
    "BillingAccountId,SubscriptionId,PublisherType,ChargeType,MeterCategory,ProductName,"
    "CostInBillingCurrency,BillingCurrency,Date,BillingPeriodStartDate"
)


def buy(cost: str, name: str, **values: str) -> dict[str, str]:
    """A line of the AWS Marketplace."""
    product = {"BillingEntity": "AWS Marketplace", "ProductCode": CODE, "ProductName": name}
    return report_line(cost, **product | values)


def invoice_lines(month_end: MonthEnd, *lines: dict[str, str], **setting: Any) -> str:
    """Create the invoice of a group with one account; return its company_id."""
    group = month_end.create_group("BG-A", ACCOUNT, language="en")
    month_end.import_costs(*lines)
    month_end.prepare_groups(group, **setting)
    assert month_end.create_invoices(group).status_code == 200
    return group


def list_lines(month_end: MonthEnd, group: str) -> list[tuple[str, list[str]]]:
    lines = month_end.get_invoice(group)["sheet"]["lines"]
    return [(line["service"], line.get("products", [])) for line in lines]


def list_csv_names(month_end: MonthEnd, what: str = "invoice_account") -> list[str]:
    """The ServiceName of each row with ServiceType Service."""
    link = create_month_link(month_end.service, what, MONTH)
    header, *rows = parse_rows(download_content(month_end.service, link))
    kind, name = header.index("ServiceType"), header.index("ServiceName")
    return [row[name] for row in rows if row[kind] == "Service"]


def print_invoice(month_end: MonthEnd, group: str, vendor: str = "aws") -> str:
    path = f"/m/core/invoices/{MONTH}/{group}/{vendor}/pdf"
    pdf = month_end.service.http.get(path, headers=month_end.service.root()).content
    return remove_whitespace(extract_text(pdf))


def test_a_marketplace_line_is_named_after_its_product(month_end: MonthEnd) -> None:
    group = invoice_lines(month_end, report_line("10"), buy("5", "Firewall Pro"))

    assert list_lines(month_end, group) == [(CODE, ["Firewall Pro"]), ("AmazonEC2", [])]
    assert list_csv_names(month_end) == ["Firewall Pro", "AmazonEC2"]
    printed = print_invoice(month_end, group)
    assert "FirewallPro" in printed
    assert CODE not in printed


def test_an_invoice_by_tag_names_the_products_too(month_end: MonthEnd) -> None:
    headers = month_end.service.root()
    changed = month_end.service.http.put(
        "/m/core/settings", json={"cost_tag_key": "Team"}, headers=headers
    )
    assert changed.status_code == 200

    invoice_lines(month_end, buy("5", "Firewall Pro", Team="a"), calc_type="tag")

    assert list_csv_names(month_end, "invoice_tag") == ["Firewall Pro"]


def test_several_products_of_one_code_share_a_line(month_end: MonthEnd) -> None:
    names = ["Delta", "Bravo", "Alpha", "Echo", "Charlie", "Alpha"]

    group = invoice_lines(month_end, *(buy("1", name) for name in names))

    assert list_lines(month_end, group) == [(CODE, sorted(set(names)))]
    assert list_csv_names(month_end) == ["Alpha, Bravo, Charlie (+2)"]


def test_a_product_without_a_name_is_shown_by_its_code(month_end: MonthEnd) -> None:
    group = invoice_lines(month_end, buy("5", ""))

    assert list_lines(month_end, group) == [(CODE, [])]
    assert list_csv_names(month_end) == [CODE]


def test_a_new_import_replaces_the_names(month_end: MonthEnd) -> None:
    group = invoice_lines(month_end, buy("5", "Firewall Pro"))
    month_end.import_costs(buy("5", "Firewall Enterprise"))

    assert month_end.create_invoices(group).status_code == 200

    assert list_csv_names(month_end) == ["Firewall Enterprise"]


@pytest.mark.parametrize("publisher", ["Marketplace", "Microsoft"])
def test_azure_marketplace_products_are_named(
    month_end: MonthEnd, tmp_path: Path, publisher: str
) -> None:
    file = tmp_path / "azure.csv"
    line = f"8611537,{SUBSCRIPTION},{publisher},Usage,SaaS,Mail Guard,7.5,USD,09/05/2026,09/01/2026"
    file.write_text(f"{AZURE_HEADER}\n{line}\n")
    month_end.vendor = "azure"
    group = month_end.create_group("BG-A")
    account = {"vendor": "azure", "customer_id": SUBSCRIPTION, "account_id": "8611537"}
    add_account(month_end.service, group, **account)
    service = month_end.service
    InProcessImporter(service, service.organisation, tmp_path)(file, vendor="azure")
    month_end.prepare_groups(group, support_fee="fix")

    assert month_end.create_invoices(group).status_code == 200

    expected = "Mail Guard" if publisher == "Marketplace" else "SaaS"
    assert list_csv_names(month_end) == [expected]
