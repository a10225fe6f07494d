"""The page of reserved instances: some are moved to another customer and returned."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import CUSTOMERS, SampleReseller, import_month
from tests.imports.aws_reports import build_report, report_line

MONTH = "2025-01"  # too early to be compared with the months of other tests
ARN = "arn:aws:ec2:ap-northeast-1:222222222222:reserved-instances/6a1f"


def import_reservation(reseller: SampleReseller) -> None:
    line = report_line(
        "30",
        LineItemType="RIFee",
        UsageAccountId=CUSTOMERS["BG-0001"][1],
        UsageStartDate=f"{MONTH}-05T10:00:00Z",
        BillingPeriodStartDate=f"{MONTH}-01T00:00:00Z",
        ReservationARN=ARN,
        NumberOfReservations="3",
        StartTime="2025-01-01T00:00:00Z",
        EndTime="2999-01-01T00:00:00Z",
    )
    with reseller.api() as api:
        import_month(api, MONTH, build_report([line]))


def test_instances_are_moved_and_returned(console: Console, reseller: SampleReseller) -> None:
    import_reservation(reseller)
    page = console.page
    console.open("/reservations?vendor=aws")
    page.get_by_role("button", name="さくら商事 本番のBoxUsage:m5.largeを移動").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("新しい保有者").click()
    page.get_by_role("option", name="山手フーズ 本番").click()
    dialog.get_by_label("台数").fill("2")
    console.check_accessibility()
    dialog.get_by_role("button", name="移動").click()
    expect(page.get_by_text("山手フーズ 本番に2台を移動しました。")).to_be_visible()

    moved = page.get_by_role("row").filter(has_text="↳")
    expect(moved).to_contain_text("山手フーズ 本番")
    console.check_accessibility()
    moved.get_by_role("button", name="BoxUsage:m5.largeをさくら商事 本番に戻す").click()
    page.get_by_role("dialog").get_by_role("button", name="戻す").click()
    expect(page.get_by_text("さくら商事 本番に2台を戻しました。")).to_be_visible()
    expect(moved).to_have_count(0)
