"""Contacts, the preview of mails, sending, and another attempt, with a mail server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from playwright.sync_api import Page, expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    SampleReseller,
    create_reseller,
)
from tests.command_line import build_environment
from tests.mail.smtp_server import parse_message
from tests.proof.real_server import free_port, real_server

WAIT_SECONDS_MAX = 60
EMAIL = "keiri@sakura.example"
REFUSED = "550 5.1.1 no such mailbox"


@dataclass
class MailSink:
    """Accepts mails, except those for which a refusal is left."""

    messages: list[bytes] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802
        """aiosmtpd prescribes the name."""
        if self.refusals:
            return self.refusals.pop(0)
        self.messages.append(envelope.content)
        return "250 accepted"

    def wait_for_messages(self, count: int) -> None:
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while len(self.messages) < count:
            assert time.monotonic() < deadline, f"{len(self.messages)} of {count} mails"
            time.sleep(0.02)


@pytest.fixture(scope="module")
def sink_and_sender(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[MailSink, SampleReseller]]:
    sink, port = MailSink(), free_port()
    controller = Controller(sink, hostname="127.0.0.1", port=port)
    controller.start()
    data = tmp_path_factory.mktemp("sending") / "data"
    environment = build_environment(
        data, NIMBILL_RATE_LIMIT="0", NIMBILL_SMTP_URL=f"smtp://127.0.0.1:{port}"
    )
    try:
        with real_server(data, environment, workers=1) as server:
            yield sink, create_reseller(server, "Aozora")
    finally:
        controller.stop()


def add_contact(console: Console, name: str, email: str) -> None:
    page = console.page
    page.get_by_role("button", name="送付先を追加").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("お名前").fill(name)
    dialog.get_by_label("メールアドレス").fill(email)
    console.check_accessibility()
    dialog.get_by_role("button", name="保存").click()
    expect(page.get_by_text(f"送付先「{name}」を保存しました。")).to_be_visible()


def open_sending(page: Page) -> None:
    page.get_by_role("button", name="請求書を送付").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("の請求書の送付")


def test_an_invoice_is_sent_from_the_steps_of_the_month(
    open_console: OpenConsole, sink_and_sender: tuple[MailSink, SampleReseller]
) -> None:
    sink, sender = sink_and_sender
    console = open_console(sender)
    page = console.page
    console.open(f"/customers/{sender.companies['BG-0001']}?tab=contacts")
    add_contact(console, "経理部 山田", EMAIL)
    expect(page.get_by_role("row").filter(has_text=EMAIL)).to_contain_text("宛先（To）")

    console.open(f"/months/{CLOSED_MONTH}/aws")
    expect(page.get_by_text("3件の請求書が未送付です。")).to_be_visible()
    open_sending(page)
    row = page.get_by_role("row").filter(has_text="さくら商事")
    expect(row).to_contain_text(EMAIL)
    expect(page.get_by_role("row").filter(has_text="山手フーズ")).to_contain_text(
        "請求書の宛先がありません。"
    )
    console.check_accessibility()
    row.get_by_role("button", name="さくら商事へのメールを表示").click()
    mail = page.get_by_role("dialog")
    expect(mail).to_contain_text("株式会社さくら商事 御中")
    expect(mail).to_contain_text("経理部 山田 様")
    expect(mail).to_contain_text("_株式会社さくら商事.pdf")
    console.check_accessibility()
    mail.get_by_role("button", name="閉じる").first.click()

    sink.refusals.append(REFUSED)
    page.get_by_role("button", name="1件の請求書を送付").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(f"確認のため {CLOSED_MONTH} と入力してください").fill(CLOSED_MONTH)
    dialog.get_by_role("button", name="送付する").click()
    expect(page.get_by_text("1件の請求書を送信しています。")).to_be_visible()
    expect(page.get_by_text(REFUSED)).to_be_visible()
    assert sink.messages == []

    page.get_by_role("button", name="再送").first.click()
    page.get_by_role("dialog").get_by_role("button", name="再送").click()
    mails = page.get_by_role("table", name="メール", exact=True)
    expect(mails.get_by_role("row").filter(has_text="さくら商事")).to_contain_text("送信済み")
    sink.wait_for_messages(1)
    message = parse_message(sink.messages[0])
    assert message["To"] == f"経理部 山田 <{EMAIL}>"
    assert message["Subject"].startswith("請求書送付のご案内（2026年8月ご利用分")
    (attachment,) = message.iter_attachments()
    assert str(attachment.get_filename()).endswith("_株式会社さくら商事.pdf")
    console.check_accessibility()

    mails.get_by_role("link", name="さくら商事").click()
    expect(page.get_by_role("tab", name="メール")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text("に送付済みにしました")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=EMAIL)).to_contain_text("送信済み")
    console.check_in_both_languages()
