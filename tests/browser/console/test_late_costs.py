"""The page of an import of late costs: the decision about each customer."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import OpenConsole
from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    CUSTOMERS,
    SampleReseller,
    create_reseller,
    import_month,
)
from tests.imports.aws_reports import build_report, report_line
from tests.proof.real_server import RealServer


@pytest.fixture(scope="module")
def late(console_server: RealServer) -> SampleReseller:
    """A reseller of its own, because a decision never changes."""
    return create_reseller(console_server, "Late")


def import_late_costs(reseller: SampleReseller) -> str:
    """The first customer costs less than it was invoiced for, the second more."""
    amounts = ("90.25", "210.25", "300.25")
    lines = [
        report_line(
            amount,
            UsageAccountId=account,
            UsageStartDate=f"{CLOSED_MONTH}-05T10:00:00Z",
            BillingPeriodStartDate=f"{CLOSED_MONTH}-01T00:00:00Z",
        )
        for amount, (_, account) in zip(amounts, CUSTOMERS.values(), strict=True)
    ]
    with reseller.api() as api:
        return import_month(api, CLOSED_MONTH, build_report(lines), expected_state="drift")


def test_late_costs_are_decided_for_each_customer(
    open_console: OpenConsole, late: SampleReseller
) -> None:
    import_id = import_late_costs(late)
    console = open_console(late)
    page = console.page
    console.open(f"/imports/{import_id}")
    expect(page.get_by_role("heading", name="顧客別の確定後の費用差額")).to_be_visible()
    console.check_accessibility()

    page.get_by_role("button", name="決定する：さくら商事").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("訂正後の請求額（税込）")).to_be_visible()
    decide = dialog.get_by_role("button", name="決定する")
    expect(decide).to_be_disabled()
    dialog.get_by_label("理由").fill("確定値による訂正")
    console.check_accessibility()
    decide.click()

    row = page.get_by_role("row").filter(has_text="確定値による訂正")
    expect(row).to_contain_text("後の請求書で相殺")
    expect(page.get_by_role("button", name="決定する：さくら商事")).to_have_count(0)

    page.get_by_role("button", name="決定する：山手フーズ").click()
    dialog.get_by_role("radio", name="対応しない").check()
    dialog.get_by_label("理由").fill("少額のため")
    dialog.get_by_role("button", name="決定する").click()
    expect(page.get_by_role("row").filter(has_text="少額のため")).to_contain_text("対応なし")
    console.check_accessibility()
