"""The inputs of an invoice: usage, tags, entries, moved fees and items."""

from __future__ import annotations

from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd


def test_usage_without_a_tag_value_is_listed_under_the_empty_tag(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")
    month_end.import_costs(
        report_line("10", UsageAccountId="000000000001", Team="web"),
        report_line("20", UsageAccountId="000000000001", Team="data"),
        report_line("5", UsageAccountId="000000000001"),
        report_line("0", UsageAccountId="000000000001", ProductCode="AmazonS3"),
    )
    month_end.put("/settings", {"cost_tag_key": "Team"})
    month_end.prepare_groups(group, calc_type="tag", discount_rate=0)

    assert month_end.create_invoices(group).status_code == 200

    invoice = month_end.get_invoice(group)
    lines = [(line["tag"], line["service"], line["cost"]) for line in invoice["sheet"]["lines"]]
    assert lines == [
        ("data", "AmazonEC2", 20),
        ("web", "AmazonEC2", 10),
        ("", "AmazonEC2", 5),
        ("", "AmazonS3", 0),
    ]
    assert invoice["tag_key"] == "Team"


def test_vendor_tax_and_unapplied_entries_are_not_invoiced(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")
    month_end.import_costs(
        report_line("10", UsageAccountId="000000000001"),
        report_line("1", UsageAccountId="000000000001", LineItemType="Tax"),
        report_line("-2", UsageAccountId="000000000001", LineItemType="EdpDiscount"),
        report_line("672", UsageAccountId="000000000001", LineItemType="Fee"),
    )
    month_end.prepare_groups(group, support_fee="fix", discount_rate=0, substitution_rate=0)

    month_end.create_invoices(group)

    invoice = month_end.get_invoice(group)
    assert [line["cost"] for line in invoice["sheet"]["lines"]] == [10]
    assert invoice["sheet"]["entries"] == []
    assert invoice["stock"] == [{"currency": "USD", "amount": 680}]


def test_an_applied_entry_is_invoiced(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")
    month_end.import_costs(report_line("672", UsageAccountId="000000000001", LineItemType="Fee"))
    entries = month_end.get(f"/billinggroup/recalculation/{MONTH}?vendor=aws").json()
    body = {
        "data": [entries[0]["id"]],
        "month": MONTH,
        "exchange_rate": 0,
        "tax_free": True,
        "apply": True,
        "vendor": "aws",
    }
    assert month_end.post("/billinggroup/recalculation", body).status_code == 200
    month_end.prepare_groups(group)

    month_end.create_invoices(group)

    sheet = month_end.get_invoice(group)["sheet"]
    assert [entry["amount"] for entry in sheet["entries"]] == [100968]
    assert (sheet["tax_free"], sheet["tax"], sheet["total"]) == (100968, 0, 100968)


def test_the_fee_of_a_moved_reservation_is_invoiced_to_its_new_owner(month_end: MonthEnd) -> None:
    owner = month_end.create_group("BG-1", "000000000001")
    other = month_end.create_group("BG-2", "000000000002")
    month_end.import_costs(
        report_line(
            "100",
            UsageAccountId="000000000001",
            LineItemType="RIFee",
            ReservationARN="arn:aws:ec2:x:000000000001:reserved-instances/1",
            NumberOfReservations="4",
            StartTime="2026-01-01T00:00:00Z",
            EndTime="2027-01-01T00:00:00Z",
        )
    )
    record = month_end.get("/ri/purchased?vendor=aws").json()[0]
    moved = {"customer_id": "000000000002", "number": 1, "vendor": "aws"}
    assert month_end.post(f"/ri/purchased/{record['id']}", moved).status_code == 200
    month_end.prepare_groups(owner, other)

    month_end.create_invoices()

    costs = [month_end.get_invoice(group)["sheet"]["lines"][0]["cost"] for group in (owner, other)]
    assert costs == [75, 25]


def test_free_format_items_are_copied_to_the_invoice(month_end: MonthEnd) -> None:
    group = month_end.create_group("BG-1", "000000000001")
    month_end.prepare_groups(group)
    item = {"enabled": True, "label": "setup", "unit_cost": 500, "quantity": 2, "total": 1000}
    month_end.post(f"/billinggroup/{group}/freeformat/aws", {"additional_items": [item]})

    month_end.create_invoices(group)
    month_end.service.http.delete(
        f"/m/core/billinggroup/{group}/freeformat", headers=month_end.service.root()
    )

    sheet = month_end.get_invoice(group)["sheet"]
    assert [item["total"] for item in sheet["items"]] == [1000]
    assert sheet["total"] == 1100
