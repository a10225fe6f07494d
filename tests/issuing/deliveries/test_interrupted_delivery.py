"""A process that dies between the mail server's answer and the record of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope
from nimbill.invoicing.pdf.compiler_pool import CompilerPool
from nimbill.invoicing.pdf.pdf_cache import PdfPrinter
from nimbill.issuing.deliveries import delivery_job
from nimbill.issuing.deliveries.delivery_job import LANE, delivery_job_types
from nimbill.jobs.runner import JobRunner
from tests.issuing.deliveries.mailed_month import (
    WAIT_SECONDS_MAX,
    MailedMonth,
    prepare_mailed_month,
)
from tests.mail.smtp_server import SmtpServer
from tests.proof.real_server import free_port
from tests.running_service import running_service
from tests.temporary_database import execute_sql, temporary_database


class LaneKilled(BaseException):
    """Ends the lane of a runner at once, like SIGKILL: nothing more is stored."""


@pytest.fixture
def scene(
    postgres: Address, superuser: Address, tmp_path: Path
) -> Iterator[tuple[MailedMonth, SmtpServer]]:
    """A service of its own, because its lane of mails ends with the test."""
    port = free_port()
    with (
        temporary_database(postgres, superuser) as address,
        running_service(
            address.url, tmp_path / "data", NIMBILL_SMTP_URL=f"smtp://127.0.0.1:{port}"
        ) as service,
    ):
        service.organisation = service.new_organisation()
        server = SmtpServer(port, replace(superuser, database=address.database))
        yield prepare_mailed_month(service, tmp_path), server


def expire_leases(server: SmtpServer) -> None:
    execute_sql(
        server.database,
        "UPDATE jobs SET leased_until = now() - interval '1 second' WHERE state = 'running'",
    )


def run_lane(month: MailedMonth) -> bool:
    """Run one mail as another process does."""
    service = month.service

    async def run() -> bool:
        compilers = CompilerPool()
        printer = PdfPrinter(service.resources.engine, compilers)
        runner = JobRunner(service.resources.engine, delivery_job_types(service.settings, printer))
        try:
            scope = TenantScope(service.organisation.organisation_id)
            return await runner.run_next(scope, lane=LANE)
        finally:
            await compilers.close()

    return service.run(run)


def kill_after_acceptance(month: MailedMonth, monkeypatch: pytest.MonkeyPatch) -> None:
    """Send the invoice; the process dies as soon as the mail server has accepted the mail."""
    killed = Event()

    def die(*_: Any) -> None:
        killed.set()
        raise LaneKilled

    with monkeypatch.context() as patched:
        patched.setattr(delivery_job, "_build_outcome", die)
        assert month.send(month.group).status_code == 200
        assert killed.wait(WAIT_SECONDS_MAX)
    assert month.list_deliveries()[0]["state"] == "sending"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_outcome_is_unknown_and_only_a_person_sends_it_again(
    scene: tuple[MailedMonth, SmtpServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    month, server = scene
    with server.open(month.service):
        kill_after_acceptance(month, monkeypatch)
        assert run_lane(month) is False  # the lease of the dead process is still valid
        expire_leases(server)

        assert run_lane(month) is True
        unknown = month.list_deliveries("?state=unknown")[0]
        assert run_lane(month) is False
        assert len(server.messages) == 1

        retried = month.retry(unknown)
        assert retried.json()["state"] == "queued"
        assert run_lane(month) is True

    (delivered,) = month.list_deliveries()
    assert unknown["cause"] == delivery_job.INTERRUPTED
    assert delivered["state"] == "delivered"
    first, second = (received.message["Message-ID"] for received in server.messages)
    assert first == second == f"<{unknown['message_id']}>"
    assert delivered["attempts"] == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_process_that_dies_before_the_hand_over_leaves_the_mail_queued(
    scene: tuple[MailedMonth, SmtpServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    month, server = scene

    killed = Event()

    async def die(*_: Any) -> None:
        killed.set()
        raise LaneKilled

    with server.open(month.service):
        with monkeypatch.context() as patched:
            patched.setattr(delivery_job, "load_revision_pdf", die)
            month.send(month.group)
            assert killed.wait(WAIT_SECONDS_MAX)
        expire_leases(server)
        assert run_lane(month) is True

    assert month.list_deliveries()[0]["state"] == "delivered"
    assert len(server.messages) == 1
