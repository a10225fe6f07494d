"""What is proposed where the vendor changes a closed month."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill.foundation import exact_json
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.cloud_accounts.accounts import add_account
from tests.imports.small_files import CUSTOMER, MONTH, PAYER, cost, write
from tests.imports.taking import PATH, Taking

NOBODYS = "999999999999"


def closed(taking: Taking, folder: Path, *lines: dict[str, str]) -> None:
    """The month of a customer in a billing group, with these lines, closed."""
    service = taking.service
    group = create_group(service, taking.headers, billinggroup_id="BG")
    add_account(service, group, customer_id=CUSTOMER, account_id=PAYER)
    assert taking(write(folder / "first.csv", lines))["state"] == "done"
    answer = service.http.post(
        f"/m/core/invoices/close/{MONTH}", json={"vendor": "aws"}, headers=taking.headers
    )
    assert answer.status_code == 200, answer.text


def late(taking: Taking, folder: Path, *lines: dict[str, str]) -> Any:
    """The record of what is delivered afterwards, its numbers exact."""
    import_id = taking(write(folder / "late.csv", lines))["import_id"]
    answer = taking.service.http.get(f"{PATH}/{import_id}", headers=taking.headers)
    return exact_json.read_own(answer.text)


def test_more_usage_is_a_fee_and_less_is_a_credit(taking: Taking, tmp_path: Path) -> None:
    rds = {"ProductCode": "AmazonRDS"}
    closed(taking, tmp_path, cost("100.25"), cost("5", **rds), cost("7", ProductCode="AmazonS3"))

    record = late(
        taking,
        tmp_path,
        cost("100.25"),
        cost("20.2500000001", UsageStartDate="2026-09-06T10:00:00Z"),
        cost("1.5", **rds),
        cost("7", ProductCode="AmazonS3"),
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
    taking: Taking, tmp_path: Path
) -> None:
    closed(taking, tmp_path, cost("1"))

    record = late(
        taking,
        tmp_path,
        cost("1"),
        cost("-0.25", LineItemType="Refund"),
        cost("2", BillingEntity="AWS Marketplace"),
    )

    assert [
        (one["kind"], one["marketplace"], one["calc_type"], one["amount"])
        for one in record["proposals"]
    ] == [("entry", False, "Credit", Decimal("-0.25")), ("usage", True, "Fee", 2)]
    assert record["proposals"][1]["description"] == (
        "2026-09 AmazonEC2 (marketplace): 2 in place of 0"
    )


def test_what_is_not_billed_is_told_as_drift_and_not_proposed(
    taking: Taking, tmp_path: Path
) -> None:
    closed(taking, tmp_path, cost("1"))

    record = late(
        taking,
        tmp_path,
        cost("1"),
        cost("0.1", LineItemType="Tax"),
        cost("-0.1", LineItemType="EdpDiscount"),
        cost("3", UsageAccountId=NOBODYS),
    )

    assert len(record["drift"]) == 3
    assert record["proposals"] == []


def test_a_proposal_changes_nothing_by_itself(taking: Taking, tmp_path: Path) -> None:
    closed(taking, tmp_path, cost("1"))
    before = taking.costs("account,service")

    late(taking, tmp_path, cost("2"), cost("5", LineItemType="Fee"))

    entries = taking.service.http.get(
        f"/m/core/billinggroup/recalculation/{MONTH}?vendor=aws", headers=taking.headers
    )
    assert taking.costs("account,service") == before
    assert entries.json() == []


def test_an_open_month_proposes_nothing(taking: Taking, tmp_path: Path) -> None:
    taking(write(tmp_path / "first.csv", [cost("1")]))

    assert late(taking, tmp_path, cost("2"))["proposals"] == []
