"""Without an SMTP server messages are written to the outbox folder, complete or not at all."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.settings import Settings
from nimbill.mail.delivery import deliver
from nimbill.mail.mailer import outbox_folder
from nimbill.mail.messages import Message
from tests.customers.billing_groups.billing_groups import create_billing_group as create_group
from tests.customers.resellers.reseller_accounts import EMAIL, log_in, post_reseller
from tests.mail.smtp_server import all_sent, parse_message, wait_for_jobs
from tests.running_service import Service

SCOPE = TenantScope("org_1")
MESSAGE = Message("hanako@example.com", "件名", "本文\n" * 5000)


@pytest.fixture
def settings(service: Service, tmp_path: Path) -> Settings:
    return replace(service.settings, data=tmp_path, mail_from="billing@mail.example.com")


def deliver_to_outbox(
    settings: Settings, message_id: str = "msg_1", message: Message = MESSAGE
) -> None:
    asyncio.run(deliver(settings, SCOPE, message_id, message))


def list_outbox(settings: Settings) -> list[str]:
    folder = outbox_folder(settings, SCOPE)
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_message_of_the_service_is_written_to_the_folder(service: Service) -> None:
    company_id = create_group(
        service, service.root(), billinggroup_id="1", company_name="株式会社さくら商事"
    )
    post_reseller(service, company_id, input_type="Auto", notification=True)

    (row,) = wait_for_jobs(service, all_sent)

    folder = service.settings.data / "outbox" / service.organisation.organisation_id
    message = parse_message((folder / f"{row.subject}.eml").read_bytes())
    assert message["To"] == EMAIL
    assert message["Subject"] == "ポータルのアカウントを作成しました"
    (line,) = [
        line for line in message.get_content().splitlines() if line.startswith("パスワード: ")
    ]
    assert log_in(service, EMAIL, line.partition(": ")[2]).status_code == 200
    assert row.payload == {}


def test_each_message_is_one_file_in_mail_format(settings: Settings) -> None:
    deliver_to_outbox(settings)
    deliver_to_outbox(settings, "msg_2", replace(MESSAGE, to="taro@example.com"))

    assert list_outbox(settings) == ["msg_1.eml", "msg_2.eml"]
    message = parse_message((outbox_folder(settings, SCOPE) / "msg_1.eml").read_bytes())
    assert (message["To"], message["Subject"]) == (MESSAGE.to, MESSAGE.subject)
    assert message["From"] == "billing@mail.example.com"
    assert message["Message-ID"] == "<msg_1@mail.example.com>"
    assert message.get_content().splitlines() == MESSAGE.text.splitlines()


def test_only_the_owner_can_read_the_files(settings: Settings) -> None:
    deliver_to_outbox(settings)

    folder = outbox_folder(settings, SCOPE)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "msg_1.eml").stat().st_mode) == 0o600


def test_the_same_message_delivered_twice_is_one_file(settings: Settings) -> None:
    deliver_to_outbox(settings)
    deliver_to_outbox(settings)

    assert list_outbox(settings) == ["msg_1.eml"]


@pytest.mark.parametrize("call", ["fsync", "fdopen"])
def test_a_failed_write_leaves_no_file(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail)
        with pytest.raises(OSError, match="No space left"):
            deliver_to_outbox(settings)
    assert list_outbox(settings) == []

    deliver_to_outbox(settings)
    assert list_outbox(settings) == ["msg_1.eml"]


def test_a_failed_rename_leaves_no_file(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "rename", fail)
        with pytest.raises(OSError, match="Input/output"):
            deliver_to_outbox(settings)

    assert list_outbox(settings) == []


@pytest.mark.parametrize(
    "message",
    [
        replace(MESSAGE, to="a@example.com\r\nBcc: b@example.net"),
        replace(MESSAGE, to="a@example.com\nBcc: b@example.net"),
        replace(MESSAGE, subject="hello\r\nBcc: b@example.net"),
    ],
)
def test_a_line_break_in_a_header_is_refused(settings: Settings, message: Message) -> None:
    with pytest.raises(ValueError, match=r"newline|linefeed|CR or LF"):
        deliver_to_outbox(settings, message=message)

    assert list_outbox(settings) == []


@pytest.mark.parametrize("sender", ["nimbill@localhost", "請求 <billing@example.com>"])
def test_the_sender_may_include_a_display_name(settings: Settings, sender: str) -> None:
    deliver_to_outbox(replace(settings, mail_from=sender))

    message = parse_message((outbox_folder(settings, SCOPE) / "msg_1.eml").read_bytes())
    host = sender.rpartition("@")[2].rstrip(">")
    assert message["From"] == sender
    assert message["Message-ID"] == f"<msg_1@{host}>"
