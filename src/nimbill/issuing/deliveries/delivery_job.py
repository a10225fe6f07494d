"""The job that hands a mail with an invoice over to the mail server, at most once by itself.

The state `sending` is committed before the mail is handed over, and the outcome with the job. A job
that finds the state `sending` belongs to a process that died in between: the server may have
accepted the mail, so its outcome is unknown and only a person sends it again.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.contacts.records import SendAs
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.settings import Settings
from nimbill.invoicing.pdf.pdf_cache import PdfPrinter, load_revision_pdf
from nimbill.issuing.deliveries import records
from nimbill.issuing.deliveries.bodies import DeliveryMethod, DeliveryState
from nimbill.issuing.deliveries.operations import DELIVER_INVOICE
from nimbill.jobs.records import renew_lease
from nimbill.jobs.runner import LEASE, Job, JobType, ReportProgress
from nimbill.mail.mailer import (
    HandOver,
    HandOverResult,
    Mail,
    MailRecipient,
    PdfAttachment,
    hand_over,
)
from nimbill.mail.records import find_organisation_name

LANE = "mail"  # a slow mail server delays nothing else
RETRY_SECONDS_MAX = 600
# Retries are at most ten minutes apart, so this is about two days of an unavailable mail server.
ATTEMPTS_MAX = 300
INTERRUPTED = "The service stopped while it handed the mail over."
CANCELLED = "The invoice was cancelled before the mail was sent."

SendMail = Callable[[Settings, TenantScope, Mail], Awaitable[HandOver]]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What to store, and when to try again."""

    before: DeliveryState
    values: dict[str, Any]
    due: datetime | None = None


class InvoiceMailer:
    def __init__(
        self, settings: Settings, printer: PdfPrinter, send_mail: SendMail = hand_over
    ) -> None:
        self._settings, self._printer, self._send_mail = settings, printer, send_mail

    async def deliver(self, job: Job, _report: ReportProgress) -> _Outcome | None:
        """Print, mark as `sending`, hand over. None if there is nothing to do any more."""
        async with transaction(self._printer.engine, job.scope.organisation_id) as db:
            row = await records.find_delivery(db, job.scope, job.subject)
        if row is None:
            return None
        if row.state == DeliveryState.sending:
            return _Outcome(
                DeliveryState.sending, {"state": DeliveryState.unknown, "cause": INTERRUPTED}
            )
        if row.state != DeliveryState.queued:
            return None
        if row.cancelled_time is not None:
            return _Outcome(
                DeliveryState.queued, {"state": DeliveryState.failed, "cause": CANCELLED}
            )
        is_early = row.method == DeliveryMethod.link and row.publish_time > clock.now()
        if is_early:
            return _Outcome(DeliveryState.queued, {}, row.publish_time)
        mail = await self._build_mail(job.scope, row)
        if not await self._begin(job):
            return None
        attempts = row.attempts + 1
        outcome = await self._send_mail(self._settings, job.scope, mail)
        return _build_outcome(outcome, attempts)

    async def _build_mail(self, scope: TenantScope, row: Row) -> Mail:
        """The attached PDF is the stored one of the revision that was marked as sent.

        It is also stored for a link, so that the portal shows what was sent.
        """
        period = BillingPeriod(row.month, row.vendor)
        _, pdf = await load_revision_pdf(self._printer, scope, period, row.company_id, row.revision)
        async with transaction(self._printer.engine, scope.organisation_id) as db:
            reply_to = (await load_settings(db, scope)).invoice_reply_to
            sender_name = await find_organisation_name(db, scope)
        recipients = {
            kind: [
                MailRecipient(each["name"], each["email"])
                for each in row.recipients
                if each["send_as"] == kind
            ]
            for kind in SendAs
        }
        return Mail(
            message_id=row.message_id,
            to=recipients[SendAs.to],
            cc=recipients[SendAs.cc],
            subject=row.subject,
            text=row.text,
            sender_name=sender_name,
            reply_to=reply_to,
            attachment=None if row.attachment is None else PdfAttachment(row.attachment, pdf),
        )

    async def _begin(self, job: Job) -> bool:
        """Commit the state `sending`; return False if another process has the job."""
        async with transaction(self._printer.engine, job.scope.organisation_id) as db:
            until = clock.now() + LEASE
            if not await renew_lease(db, job.scope, job.job_id, attempt=job.attempt, until=until):
                return False
            return await records.change_state(
                db,
                job.scope,
                job.subject,
                before=[DeliveryState.queued],
                values={
                    "state": DeliveryState.sending,
                    "attempts": records.invoice_deliveries.c.attempts + 1,
                },
            )


def _build_outcome(outcome: HandOver, attempts: int) -> _Outcome:
    values: dict[str, Any] = {"cause": outcome.cause}
    due = None
    if outcome.result is HandOverResult.accepted:
        refused = [{"email": each, "cause": cause} for each, cause in outcome.refused.items()]
        values |= {"state": DeliveryState.delivered, "refused": refused}
        values |= {"delivered_time": clock.now()}
    elif outcome.result is HandOverResult.unknown:
        values |= {"state": DeliveryState.unknown}
    elif outcome.result is HandOverResult.postponed and attempts < ATTEMPTS_MAX:
        values |= {"state": DeliveryState.queued}
        due = clock.now() + timedelta(seconds=min(2**attempts, RETRY_SECONDS_MAX))
    else:
        values |= {"state": DeliveryState.failed}
    return _Outcome(DeliveryState.sending, values, due)


async def _store_outcome(db: AsyncConnection, job: Job) -> datetime | None:
    """Runs in the transaction that completes the job."""
    outcome: _Outcome | None = job.prepared
    if outcome is None:
        return None
    if outcome.values:
        await records.change_state(
            db, job.scope, job.subject, before=[outcome.before], values=outcome.values
        )
    return outcome.due


async def _fail(db: AsyncConnection, job: Job) -> None:
    """A mail that was not handed over has failed; the outcome of another is unknown."""
    cause = type(job.failure).__name__
    failed = await records.change_state(
        db,
        job.scope,
        job.subject,
        before=[DeliveryState.queued],
        values={"state": DeliveryState.failed, "cause": cause},
    )
    if not failed:
        await records.change_state(
            db,
            job.scope,
            job.subject,
            before=[DeliveryState.sending],
            values={"state": DeliveryState.unknown, "cause": cause},
        )


def delivery_job_types(settings: Settings, printer: PdfPrinter) -> list[JobType]:
    mailer = InvoiceMailer(settings, printer)
    return [
        JobType(
            DELIVER_INVOICE, _store_outcome, prepare=mailer.deliver, on_failure=_fail, lane=LANE
        )
    ]
