"""Marks many invoices of a month as sent, all or none: first the checks in order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit import records as audit
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, refuse_if
from nimbill.invoicing.documents.stored_invoices import (
    ExistingInvoice,
    format_invoice_no,
    lock_invoices,
)
from nimbill.invoicing.runs.month_settings import list_visible_groups
from nimbill.issuing.sending.bodies import MarkedInvoice, MarkedInvoices, MarkInvoicesRequest
from nimbill.issuing.sending.operations import describe_invoice, mark_all_as_sent
from nimbill.issuing.sending.pdf_job import STORE_SENT_PDF, build_subject
from nimbill.jobs.records import add_jobs
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import Announcement, publish_events


async def mark_invoices(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    body: MarkInvoicesRequest,
    *,
    actor: Mapping[str, Any],
    by: str,
) -> MarkedInvoices:
    """Mark the current revisions; those that were sent before keep their first time and user.

    The lock keeps a run from adding a revision in between. A PDF that somebody has printed is
    stored and never changes. A job stores each of the others, as mailing does: thousands of them
    take longer than a request may.
    """
    period = BillingPeriod(month, body.vendor)
    visible = await list_visible_groups(db, scope, list(body.revisions))
    if len(visible) < len(body.revisions):
        refuse_if([Violation("revisions", "existing billing groups")])
    existing = await lock_invoices(db, scope, period, list(body.revisions))
    _refuse_unfit(existing, body.revisions)
    newly_marked = await mark_all_as_sent(db, scope, period, list(existing), by=by)
    invoices = [
        MarkedInvoice(
            company_id=company_id,
            invoice_no=format_invoice_no(month, invoice.number),
            revision=invoice.revision,
        )
        for company_id, invoice in sorted(existing.items(), key=lambda item: item[1].number)
    ]
    marked = [each for each in invoices if each.company_id in newly_marked]
    if marked:
        await _queue_printing(db, scope, period, marked)
        await _publish_sent(db, scope, period, marked)
        await audit.append_entries(db, _list_audit_entries(period, marked, actor))
    return MarkedInvoices(
        marked=marked,
        already_sent=[each for each in invoices if each.company_id not in newly_marked],
    )


def _refuse_unfit(existing: Mapping[str, ExistingInvoice], revisions: Mapping[str, int]) -> None:
    """`field` holds the company_id, which the caller knows."""
    violations = [
        Violation(company_id, problem)
        for company_id, revision in sorted(revisions.items())
        for problem in _find_problems(existing.get(company_id), revision)
    ]
    if violations:
        raise Conflict(
            "not_ready",
            "Some invoices cannot be marked as sent. Each violation names a billing group and its "
            "reason.",
            violations,
        )


def _find_problems(invoice: ExistingInvoice | None, seen_revision: int) -> Iterator[str]:
    if invoice is None:
        yield "no_invoice"
        return
    if invoice.is_cancelled:
        yield "cancelled"
    if invoice.revision != seen_revision:
        yield "revision_changed"


async def _queue_printing(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, marked: Sequence[MarkedInvoice]
) -> None:
    """A PDF that is stored already stays; its job changes nothing."""
    subjects = [build_subject(period, each.company_id, each.revision) for each in marked]
    await add_jobs(db, scope, STORE_SENT_PDF, due=clock.now(), subjects=subjects)


async def _publish_sent(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, marked: Sequence[MarkedInvoice]
) -> None:
    sent = [
        describe_invoice(period, each.company_id, each.invoice_no, each.revision) for each in marked
    ]
    await publish_events(
        db, scope, [Announcement(WebhookEventType.invoice_sent, each) for each in sent]
    )


def _list_audit_entries(
    period: BillingPeriod, marked: Sequence[MarkedInvoice], actor: Mapping[str, Any]
) -> Iterator[audit.AuditedChange]:
    """One entry for each invoice, the same as if it had been marked alone."""
    for each in marked:
        yield audit.describe_change(
            actor,
            action="mark_invoice_as_sent",
            resource=f"invoice/{period.month}/{each.company_id}/{period.vendor}",
            company_id=each.company_id,
            sent={"revision": each.revision},
        )
