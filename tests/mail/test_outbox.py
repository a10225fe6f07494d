"""Without a mail server letters lie in the outbox folder, complete or not at all."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from nimbill.foundation.settings import Settings
from nimbill.mail.delivery import deliver
from nimbill.mail.messages import Message
from tests.customers.billing_groups.stored import create as create_group
from tests.customers.resellers.accounts import EMAIL, create, log_in
from tests.mail.post_office import all_sent, read, until
from tests.running_service import Service

LETTER = Message("hanako@example.com", "件名", "本文\n" * 5000)


@pytest.fixture
def settings(service: Service, tmp_path: Path) -> Settings:
    return replace(service.settings, data=tmp_path, mail_from="billing@mail.example.com")


def put(settings: Settings, name: str = "ltr_1", letter: Message = LETTER) -> None:
    asyncio.run(deliver(settings, name, letter))


def in_the_outbox(settings: Settings) -> list[str]:
    folder = settings.data / "outbox"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_letter_of_the_service_ends_in_the_folder(service: Service) -> None:
    company_id = create_group(
        service, service.root(), billinggroup_id="1", company_name="株式会社さくら商事"
    )
    create(service, company_id, input_type="Auto", notification=True)

    (row,) = until(service, all_sent)

    message = read((service.settings.data / "outbox" / f"{row.subject}.eml").read_bytes())
    assert message["To"] == EMAIL
    assert message["Subject"] == "ポータルのアカウントを作成しました"
    (line,) = [one for one in message.get_content().splitlines() if one.startswith("パスワード: ")]
    assert log_in(service, EMAIL, line.partition(": ")[2]).status_code == 200
    assert row.payload == {}


def test_a_letter_is_a_file_of_its_own_that_a_mail_program_reads(settings: Settings) -> None:
    put(settings)
    put(settings, "ltr_2", replace(LETTER, to="taro@example.com"))

    assert in_the_outbox(settings) == ["ltr_1.eml", "ltr_2.eml"]
    message = read((settings.data / "outbox" / "ltr_1.eml").read_bytes())
    assert (message["To"], message["Subject"]) == (LETTER.to, LETTER.subject)
    assert message["From"] == "billing@mail.example.com"
    assert message["Message-ID"] == "<ltr_1@mail.example.com>"
    assert message.get_content().splitlines() == LETTER.text.splitlines()


def test_nobody_else_on_the_machine_reads_them(settings: Settings) -> None:
    put(settings)

    folder = settings.data / "outbox"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "ltr_1.eml").stat().st_mode) == 0o600


def test_the_same_letter_delivered_twice_is_one_file(settings: Settings) -> None:
    put(settings)
    put(settings)

    assert in_the_outbox(settings) == ["ltr_1.eml"]


@pytest.mark.parametrize("call", ["fsync", "fdopen"])
def test_a_disk_that_fails_leaves_no_file(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail)
        with pytest.raises(OSError, match="No space left"):
            put(settings)
    assert in_the_outbox(settings) == []

    put(settings)
    assert in_the_outbox(settings) == ["ltr_1.eml"]


def test_a_rename_that_fails_leaves_no_file(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "rename", fail)
        with pytest.raises(OSError, match="Input/output"):
            put(settings)

    assert in_the_outbox(settings) == []


@pytest.mark.parametrize(
    "letter",
    [
        replace(LETTER, to="a@example.com\r\nBcc: b@example.net"),
        replace(LETTER, to="a@example.com\nBcc: b@example.net"),
        replace(LETTER, subject="hello\r\nBcc: b@example.net"),
    ],
)
def test_a_line_break_in_a_header_is_refused_and_nothing_written(
    settings: Settings, letter: Message
) -> None:
    with pytest.raises(ValueError, match=r"newline|linefeed|CR or LF"):
        put(settings, letter=letter)

    assert in_the_outbox(settings) == []


@pytest.mark.parametrize("sender", ["nimbill@localhost", "請求 <billing@example.com>"])
def test_the_sender_may_carry_a_name(settings: Settings, sender: str) -> None:
    put(replace(settings, mail_from=sender))

    message = read((settings.data / "outbox" / "ltr_1.eml").read_bytes())
    host = sender.rpartition("@")[2].rstrip(">")
    assert message["From"] == sender
    assert message["Message-ID"] == f"<ltr_1@{host}>"
