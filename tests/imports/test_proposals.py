"""What is proposed where the vendor changes a closed month."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill.foundation import exact_json
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.imports.aws_reports import CUSTOMER, MONTH, PAYER, report_line, write_report
from tests.imports.in_process_importer import PATH, InProcessImporter

NOBODYS = "999999999999"


def closed(importer: InProcessImporter, folder: Path, *lines: dict[str, str]) -> None:
    """The month of a customer in a billing group, with these lines, closed."""
    service = importer.service
    group = create_group(service, importer.headers, billinggroup_id="BG")
    add_account(service, group, customer_id=CUSTOMER, account_id=PAYER)
    assert importer(write_report(folder / "first.csv", lines))["state"] == "done"
    answer = service.http.post(
        f"/m/core/invoices/close/{MONTH}", json={"vendor": "aws"}, headers=importer.headers
    )
    assert answer.status_code == 200, answer.text


def late(importer: InProcessImporter, folder: Path, *lines: dict[str, str]) -> Any:
    """The record of what is delivered afterwards, its numbers exact."""
    import_id = importer(write_report(folder / "late.csv", lines))["import_id"]
    answer = importer.service.http.get(f"{PATH}/{import_id}", headers=importer.headers)
    return exact_json.decode_stored(answer.text)


def test_more_usage_is_a_fee_and_less_is_a_credit(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    rds = {"ProductCode": "AmazonRDS"}
    closed(
        importer,
        tmp_path,
        report_line("100.25"),
        report_line("5", **rds),
        report_line("7", ProductCode="AmazonS3"),
    )

    record = late(
        importer,
        tmp_path,
        report_line("100.25"),
        report_line("20.2500000001", UsageStartDate="2026-09-06T10:00:00Z"),
        report_line("1.5", **rds),
        report_line("7", ProductCode="AmazonS3"),
    )

    assert record["state"] == "drift"
    assert record["proposals"] == [
        {
            "customer_id": CUSTOMER,
            "service": "AmazonEC2",
            "marketplace": False,
            "kind": "usage",
            "calc_type": "Fee",
            "amount": Decimal("20.2500000001"),
            "currency": "USD",
            "description": "2026-09 AmazonEC2: 120.5000000001 in place of 100.25",
            "counts": Decimal("100.25"),
            "delivered": Decimal("120.5000000001"),
        },
        {
            "customer_id": CUSTOMER,
            "service": "AmazonRDS",
            "marketplace": False,
            "kind": "usage",
            "calc_type": "Credit",
            "amount": Decimal("-3.5"),
            "currency": "USD",
            "description": "2026-09 AmazonRDS: 1.5 in place of 5",
            "counts": 5,
            "delivered": Decimal("1.5"),
        },
    ]


def test_a_late_one_off_line_and_marketplace_usage_are_proposed_apart(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    closed(importer, tmp_path, report_line("1"))

    record = late(
        importer,
        tmp_path,
        report_line("1"),
        report_line("-0.25", LineItemType="Refund"),
        report_line("2", BillingEntity="AWS Marketplace"),
    )

    assert [
        (one["kind"], one["marketplace"], one["calc_type"], one["amount"])
        for one in record["proposals"]
    ] == [("entry", False, "Credit", Decimal("-0.25")), ("usage", True, "Fee", 2)]
    assert record["proposals"][1]["description"] == (
        "2026-09 AmazonEC2 (marketplace): 2 in place of 0"
    )


def test_what_is_not_billed_is_told_as_drift_and_not_proposed(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    closed(importer, tmp_path, report_line("1"))

    record = late(
        importer,
        tmp_path,
        report_line("1"),
        report_line("0.1", LineItemType="Tax"),
        report_line("-0.1", LineItemType="EdpDiscount"),
        report_line("3", UsageAccountId=NOBODYS),
    )

    assert len(record["drift"]) == 3
    assert record["proposals"] == []


def test_a_proposal_changes_nothing_by_itself(importer: InProcessImporter, tmp_path: Path) -> None:
    closed(importer, tmp_path, report_line("1"))
    before = importer.get_costs("account,service")

    late(importer, tmp_path, report_line("2"), report_line("5", LineItemType="Fee"))

    entries = importer.service.http.get(
        f"/m/core/billinggroup/recalculation/{MONTH}?vendor=aws", headers=importer.headers
    )
    assert importer.get_costs("account,service") == before
    assert entries.json() == []


def test_an_open_month_proposes_nothing(importer: InProcessImporter, tmp_path: Path) -> None:
    importer(write_report(tmp_path / "first.csv", [report_line("1")]))

    assert late(importer, tmp_path, report_line("2"))["proposals"] == []
