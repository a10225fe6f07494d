"""Customers who receive invoices by post: their invoices are marked as sent together."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import OpenConsole
from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    SampleReseller,
    create_reseller,
)
from tests.proof.real_server import RealServer

MAILED, POSTED = "さくら商事", ("山手フーズ", "みなと物流")


@pytest.fixture
def poster(console_server: RealServer) -> SampleReseller:
    """A reseller of its own with three invoices, one of which can be mailed."""
    reseller = create_reseller(console_server, "Poster")
    with reseller.api() as api:
        path = f"/core/billinggroup/{reseller.companies['BG-0001']}/contacts"
        contact = {"name": "経理部 山田", "email": "keiri@sakura.example"}
        assert api.post(path, json=contact).is_success
    return reseller


def test_invoices_sent_by_post_are_marked_together(
    open_console: OpenConsole, poster: SampleReseller
) -> None:
    console = open_console(poster)
    page = console.page
    console.open(f"/sending/{CLOSED_MONTH}/aws")
    send = page.get_by_role("button", name="1件の請求書を送付", exact=True)
    mark = page.get_by_role("button", name="送付済みにする")
    expect(send).to_be_enabled()
    expect(mark).to_be_disabled()  # nobody is selected at first

    send.click()
    expect(page.get_by_role("dialog")).to_contain_text(
        "この月のほかの2件の請求書は未送付のままです。"
    )
    page.get_by_role("dialog").get_by_role("button", name="キャンセル").click()

    for name in POSTED:
        page.get_by_role("row").filter(has_text=name).get_by_role("checkbox").check()
    expect(send).to_be_enabled()  # its number does not change
    expect(mark).to_have_text("2件の請求書を送付済みにする")
    console.check_accessibility()
    mark.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("2件の顧客が郵送などの別の方法で請求書を受け取ったこと")
    confirm = dialog.get_by_role("button", name="送付済みにする", exact=True)
    expect(confirm).to_be_disabled()
    dialog.get_by_label(f"確認のため {CLOSED_MONTH} と入力してください").fill(CLOSED_MONTH)
    console.check_accessibility()
    confirm.click()

    expect(page.get_by_text("2件の請求書を送付済みにしました。")).to_be_visible()
    invoices = page.get_by_role("table", name="送付する請求書")
    expect(invoices.get_by_role("row").filter(has_text=MAILED)).to_be_visible()
    for name in POSTED:
        expect(invoices.get_by_role("row").filter(has_text=name)).to_have_count(0)
    expect(mark).to_have_count(0)
    with poster.api() as api:
        paths = [
            f"/core/invoices/{CLOSED_MONTH}/{company}/aws/state"
            for company in poster.companies.values()
        ]
        states = [api.get(path).json()["state"] for path in paths]
    assert sorted(states) == ["created", "sent", "sent"]
