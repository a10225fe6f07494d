"""Mails with invoices at the mail server: accepted, refused, postponed, interrupted."""

from __future__ import annotations

from email.header import decode_header, make_header
from typing import Any

import pytest
import sqlalchemy as sa

from nimbill.database.tenant_scope import transaction
from nimbill.issuing.deliveries.operations import DELIVER_INVOICE
from nimbill.jobs.records import jobs
from tests.customers.contacts.contacts import add_contact, list_contacts, path_of
from tests.customers.resellers.reseller_accounts import create_reseller
from tests.invoicing.month_end import MONTH
from tests.issuing.deliveries.mailed_month import MailedMonth
from tests.mail.smtp_server import SmtpServer
from tests.problem_responses import read_problem

PERMANENT, TEMPORARY = "550 5.1.1 no such mailbox", "451 4.3.0 try again later"


def make_due(month: MailedMonth) -> None:
    """Make waiting mails due at once."""

    async def set_due() -> None:
        organisation_id = month.service.organisation.organisation_id
        async with transaction(month.service.resources.engine, organisation_id) as db:
            stmt = sa.update(jobs).where(jobs.c.kind == DELIVER_INVOICE)
            await db.execute(stmt.where(jobs.c.state == "waiting").values(due=sa.func.now()))

    month.service.run(set_due)


def change_settings(month: MailedMonth, **settings: Any) -> None:
    response = month.put("/settings", settings)
    assert response.status_code == 200, response.text


def test_the_mail_has_the_stored_pdf_and_readable_headers(
    smtp_month: MailedMonth, smtp_server: SmtpServer
) -> None:
    service = smtp_month.service
    add_contact(service, smtp_month.group, name="佐藤 太郎", email="taro@example.com", send_as="cc")
    change_settings(smtp_month, invoice_reply_to="keiri@example.jp")
    with smtp_server.open(service):
        smtp_month.send(smtp_month.group)
        delivery = smtp_month.wait_for_state("delivered")

    (received,) = smtp_server.messages
    message = received.message
    assert received.sender == "billing@mail.example.com"
    assert received.recipients == ("hanako@example.com", "taro@example.com")
    assert message["From"] == "請求 Nimbill <billing@mail.example.com>"
    assert message["To"] == "山田 花子 <hanako@example.com>"
    assert message["Cc"] == "佐藤 太郎 <taro@example.com>"
    assert message["Reply-To"] == "keiri@example.jp"
    assert message["Subject"] == delivery["subject"]
    assert message["Message-ID"] == f"<{delivery['message_id']}>"
    assert delivery["message_id"].endswith("@mail.example.com")
    assert message["List-Unsubscribe"] is None
    body = message.get_body(("plain",))
    assert body is not None
    assert body.get_content().splitlines() == delivery["text"].splitlines()
    (attachment,) = message.iter_attachments()
    assert attachment.get_content_type() == "application/pdf"
    assert attachment.get_filename() == delivery["attachment"]
    pdf = smtp_month.get(f"/invoices/{MONTH}/{smtp_month.group}/aws/revisions/1/pdf").content
    assert attachment.get_content() == pdf
    assert (delivery["attempts"], delivery["cause"], delivery["refused"]) == (1, None, [])
    assert received.raw.isascii() or b"8bit" in received.raw


def test_headers_are_encoded_by_the_standards(
    smtp_month: MailedMonth, smtp_server: SmtpServer
) -> None:
    group = {"billinggroup_id": "BG-A", "billinggroup_name": "A", "company_name": "株式会社さくら"}
    smtp_month.post(f"/billinggroup/{smtp_month.group}", group)
    smtp_month.create_invoices(smtp_month.group)
    with smtp_server.open(smtp_month.service):
        smtp_month.send(smtp_month.group)
        delivery = smtp_month.wait_for_state("delivered")

    raw = smtp_server.messages[0].raw
    head, _, _ = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
    assert head.isascii()
    assert b"filename*=utf-8''202609-0001-r2_" in raw or b"filename*0*=utf-8''" in raw
    subject = smtp_server.messages[0].message["Subject"]
    assert str(make_header(decode_header(subject))) == delivery["subject"]
    assert delivery["attachment"] == "202609-0001-r2_株式会社さくら.pdf"


def test_without_an_address_for_answers_there_is_no_such_header(
    smtp_month: MailedMonth, smtp_server: SmtpServer
) -> None:
    with smtp_server.open(smtp_month.service):
        smtp_month.send(smtp_month.group)
        smtp_month.wait_for_state("delivered")

    assert smtp_server.messages[0].message["Reply-To"] is None
    assert smtp_server.messages[0].message["Cc"] is None


def test_a_link_is_mailed_without_attachment(
    smtp_month: MailedMonth, smtp_server: SmtpServer
) -> None:
    create_reseller(smtp_month.service, smtp_month.group, meta={"invoice": True})
    with smtp_server.open(smtp_month.service):
        sent = smtp_month.send(smtp_month.group, method="link")
        assert sent.status_code == 200, sent.text
        delivery = smtp_month.wait_for_state("delivered")

    message = smtp_server.messages[0].message
    link = f"{smtp_month.service.settings.link_url}/portal/invoices/{MONTH}/aws"
    assert link in message.get_content().splitlines()
    assert delivery["attachment"] is None
    assert not message.is_multipart()


def test_a_refused_mail_is_sent_again_by_hand_with_its_id_to_the_corrected_address(
    smtp_month: MailedMonth, smtp_server: SmtpServer
) -> None:
    smtp_server.refusals.append(PERMANENT)
    with smtp_server.open(smtp_month.service):
        smtp_month.send(smtp_month.group)
        failed = smtp_month.wait_for_state("failed")
        (contact,) = list_contacts(smtp_month.service, smtp_month.group)
        corrected = {"name": "山田 花子", "email": "hanako@example.jp"}
        path = path_of(smtp_month.group, contact["contact_id"])
        smtp_month.service.http.put(path, json=corrected, headers=smtp_month.service.root())
        queued = smtp_month.retry(failed)
        delivered = smtp_month.wait_for_state("delivered")

    assert failed["cause"] == PERMANENT
    assert failed["delivered_time"] is None
    assert queued.status_code == 200, queued.text
    assert delivered["message_id"] == failed["message_id"]
    assert (delivered["attempts"], delivered["cause"]) == (2, None)
    (received,) = smtp_server.messages
    assert received.recipients == ("hanako@example.jp",)
    assert received.message["Message-ID"] == f"<{failed['message_id']}>"
    assert read_problem(smtp_month.retry(delivered), 409)["code"] == "not_failed"


def test_a_postponed_mail_is_retried_by_itself(
    smtp_month: MailedMonth, smtp_server: SmtpServer
) -> None:
    smtp_server.refusals.append(TEMPORARY)
    with smtp_server.open(smtp_month.service):
        smtp_month.send(smtp_month.group)
        waiting = smtp_month.wait_for(
            lambda each: each["attempts"] == 1 and each["state"] == "queued"
        )
        make_due(smtp_month)
        delivered = smtp_month.wait_for_state("delivered")

    assert waiting["cause"] == TEMPORARY
    assert (delivered["attempts"], delivered["message_id"]) == (2, waiting["message_id"])
    assert len(smtp_server.messages) == 1


def test_an_unavailable_server_postpones_the_mail(
    smtp_month: MailedMonth, smtp_server: SmtpServer
) -> None:
    smtp_month.send(smtp_month.group)
    waiting = smtp_month.wait_for(lambda each: each["attempts"] >= 1 and each["state"] == "queued")
    with smtp_server.open(smtp_month.service):
        make_due(smtp_month)
        smtp_month.wait_for_state("delivered")

    assert "SMTPConnectError" in waiting["cause"]
    assert len(smtp_server.messages) == 1


def test_a_refused_recipient_is_named_while_others_receive_the_mail(
    smtp_month: MailedMonth, smtp_server: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_contact(smtp_month.service, smtp_month.group, email="gone@example.com", send_as="cc")

    async def refuse_gone(
        _self: SmtpServer, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        if address.startswith("gone"):
            return PERMANENT
        envelope.rcpt_tos.append(address)
        return "250 OK"

    monkeypatch.setattr(SmtpServer, "handle_RCPT", refuse_gone, raising=False)
    with smtp_server.open(smtp_month.service):
        smtp_month.send(smtp_month.group)
        delivery = smtp_month.wait_for_state("delivered")

    assert delivery["refused"] == [{"email": "gone@example.com", "cause": PERMANENT}]
    assert smtp_server.messages[0].recipients == ("hanako@example.com",)


def test_a_connection_that_ends_after_the_text_leaves_an_unknown_outcome(
    smtp_month: MailedMonth, smtp_server: SmtpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def accept_and_vanish(self: SmtpServer, server: Any, _s: Any, envelope: Any) -> str:
        self.refusals.append("vanished")
        server.transport.abort()
        return "250 accepted"

    with monkeypatch.context() as patched, smtp_server.open(smtp_month.service):
        patched.setattr(SmtpServer, "handle_DATA", accept_and_vanish)
        smtp_month.send(smtp_month.group)
        unknown = smtp_month.wait_for_state("unknown")

    assert "SMTPServerDisconnected" in unknown["cause"]
    assert smtp_server.refusals == ["vanished"]
    assert unknown["attempts"] == 1


def test_a_mail_of_a_cancelled_invoice_is_not_sent(
    smtp_month: MailedMonth, smtp_server: SmtpServer
) -> None:
    smtp_month.send(smtp_month.group)
    smtp_month.wait_for(lambda each: each["attempts"] >= 1 and each["state"] == "queued")
    smtp_month.put(f"/invoices/{MONTH}/{smtp_month.group}/aws/cancelled", {"reason": "wrong"})
    with smtp_server.open(smtp_month.service):
        make_due(smtp_month)
        failed = smtp_month.wait_for_state("failed")

    assert "cancelled" in failed["cause"]
    assert smtp_server.messages == []
    assert read_problem(smtp_month.retry(failed), 409)["code"] == "not_ready"
