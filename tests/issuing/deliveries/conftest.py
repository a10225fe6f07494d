"""Fixtures of the tests of mailed invoices."""

from pathlib import Path

import pytest

from nimbill.issuing.deliveries.operations import DELIVER_INVOICE
from nimbill.jobs.records import jobs
from tests.issuing.deliveries.mailed_month import MailedMonth, prepare_mailed_month
from tests.mail.conftest import mail_service, mail_service_and_server, smtp_server
from tests.mail.smtp_server import SmtpServer
from tests.quick_hashes import use_quick_hashes
from tests.running_service import Service
from tests.temporary_database import execute_sql

__all__ = ["mail_service", "mail_service_and_server", "smtp_server", "use_quick_hashes"]


@pytest.fixture
def month(service: Service, tmp_path: Path) -> MailedMonth:
    """Mails are written to the outbox folder."""
    return prepare_mailed_month(service, tmp_path)


@pytest.fixture
def smtp_month(
    mail_service: Service,
    smtp_server: SmtpServer,
    tmp_path: Path,
) -> MailedMonth:
    """Mails are handed over to `smtp_server`, which does not listen yet."""
    statement = f"DELETE FROM {jobs.name} WHERE kind = $1"
    execute_sql(smtp_server.database, statement, DELIVER_INVOICE)
    return prepare_mailed_month(mail_service, tmp_path)
