"""Entries proposed when the vendor changes a closed month."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from nimbill.foundation import exact_json
from nimbill.imports.proposals import ProposalKey, name_charge
from tests.costs.months.month_requests import close_month
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.imports.aws_reports import CUSTOMER, MONTH, PAYER, report_line, write_report
from tests.imports.in_process_importer import PATH, InProcessImporter

UNREGISTERED = "999999999999"


def import_and_close(importer: InProcessImporter, folder: Path, *lines: dict[str, str]) -> None:
    """Import a month of a customer in a billing group and close it."""
    service = importer.service
    group = create_billing_group(service, importer.headers, billinggroup_id="BG")
    add_account(service, group, customer_id=CUSTOMER, account_id=PAYER)
    assert importer(write_report(folder / "first.csv", lines))["state"] == "done"
    answer = close_month(service, MONTH, headers=importer.headers)
    assert answer.status_code == 200, answer.text


def import_late(importer: InProcessImporter, folder: Path, *lines: dict[str, str]) -> Any:
    """Import a later delivery and return its record with exact numbers."""
    import_id = importer(write_report(folder / "late.csv", lines))["import_id"]
    answer = importer.service.http.get(f"{PATH}/{import_id}", headers=importer.headers)
    return exact_json.decode_stored(answer.text)


def test_more_usage_is_a_fee_and_less_is_a_credit(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    rds = {"ProductCode": "AmazonRDS"}
    import_and_close(
        importer,
        tmp_path,
        report_line("100.25"),
        report_line("5", **rds),
        report_line("7", ProductCode="AmazonS3"),
    )

    record = import_late(
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
            "payer_id": PAYER,
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
            "payer_id": PAYER,
        },
    ]


def test_one_off_lines_and_marketplace_usage_are_proposed_separately(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    import_and_close(importer, tmp_path, report_line("1"))

    record = import_late(
        importer,
        tmp_path,
        report_line("1"),
        report_line("-0.25", LineItemType="Refund"),
        report_line("2", BillingEntity="AWS Marketplace"),
    )

    assert [
        (entry["kind"], entry["marketplace"], entry["calc_type"], entry["amount"])
        for entry in record["proposals"]
    ] == [("entry", False, "Credit", Decimal("-0.25")), ("usage", True, "Fee", 2)]
    assert record["proposals"][1]["description"] == (
        "2026-09 Amazon Elastic Compute Cloud (marketplace): 2 in place of 0"
    )


def test_costs_that_are_not_billed_are_reported_but_not_proposed(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    import_and_close(importer, tmp_path, report_line("1"))

    record = import_late(
        importer,
        tmp_path,
        report_line("1"),
        report_line("0.1", LineItemType="Tax"),
        report_line("-0.1", LineItemType="EdpDiscount"),
        report_line("3", UsageAccountId=UNREGISTERED),
    )

    assert len(record["drift"]) == 3
    assert record["proposals"] == []


def test_a_proposal_changes_nothing(importer: InProcessImporter, tmp_path: Path) -> None:
    import_and_close(importer, tmp_path, report_line("1"))
    before = importer.get_costs("account,service")

    import_late(importer, tmp_path, report_line("2"), report_line("5", LineItemType="Fee"))

    entries = importer.service.http.get(
        f"/m/core/billinggroup/recalculation/{MONTH}?vendor=aws", headers=importer.headers
    )
    assert importer.get_costs("account,service") == before
    assert entries.json() == []


def test_an_open_month_has_no_proposals(importer: InProcessImporter, tmp_path: Path) -> None:
    importer(write_report(tmp_path / "first.csv", [report_line("1")]))

    assert import_late(importer, tmp_path, report_line("2"))["proposals"] == []


def test_a_marketplace_charge_is_described_by_its_product(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    bought = {"BillingEntity": "AWS Marketplace", "ProductCode": "7g7dki2h", "ProductName": "Wall"}
    refunded = bought | {"ProductCode": "9x1aa0", "ProductName": "Guard"}
    import_and_close(importer, tmp_path, report_line("5", **bought), report_line("2", **refunded))

    record = import_late(importer, tmp_path, report_line("6", **bought))

    assert [proposal["description"] for proposal in record["proposals"]] == [
        "2026-09 Wall (marketplace): 6 in place of 5",
        "2026-09 Guard (marketplace): 0 in place of 2",
    ]


@pytest.mark.parametrize(
    ("service", "marketplace", "name"),
    [
        ("AmazonEC2", False, "2026-09 AmazonEC2"),
        ("", False, "2026-09 without a service"),
        ("a1b2", True, "2026-09 a1b2 (marketplace)"),
        ("", True, "2026-09 product (marketplace)"),
    ],
)
def test_a_charge_without_a_service_is_described(
    service: str, marketplace: bool, name: str
) -> None:
    key = ProposalKey(CUSTOMER, service, marketplace, "usage", "USD")

    assert name_charge(key, "2026-09", {}) == name
