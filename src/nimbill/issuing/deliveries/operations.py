"""Mails invoices: the checks in order, then the change; shows and retries mails."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import approval_required, is_approval_required
from nimbill.audit import records as audit
from nimbill.costs.months.records import load_month_state
from nimbill.customers.contacts.records import Contact, SendAs, load_contacts
from nimbill.customers.organisation_settings.records import OrganisationSettings, load_settings
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.foundation.ids import derive_id, new_id
from nimbill.foundation.language import Language
from nimbill.foundation.settings import Settings
from nimbill.invoicing.documents.stored_invoices import lock_invoices
from nimbill.invoicing.runs.month_settings import list_visible_groups
from nimbill.issuing.deliveries import records
from nimbill.issuing.deliveries.bodies import (
    DeliveryMethod,
    DeliveryState,
    InvoiceDelivery,
    PreviewedMail,
    QueuedMail,
    Recipient,
    SendingPreview,
    SendInvoicesRequest,
    SentInvoices,
    SkippedInvoice,
)
from nimbill.issuing.deliveries.mail_texts import build_text, choose_language
from nimbill.issuing.deliveries.mailed_invoice import decode_mailed_invoice
from nimbill.issuing.deliveries.problem_rules import DeliveryProblem, InvoiceFacts, find_problems
from nimbill.issuing.deliveries.shown_deliveries import show_delivery
from nimbill.issuing.sending.operations import (
    InvoiceStatus,
    describe_invoice,
    mark_all_as_sent,
    publish,
)
from nimbill.issuing.sending.publish_time_rules import parse_publish_time
from nimbill.jobs.records import add_job, add_jobs, run_sooner
from nimbill.mail.mailer import build_message_id
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import Announcement, publish_events

DELIVER_INVOICE = "deliver_invoice"
_RETRIED = (DeliveryState.failed, DeliveryState.unknown)


@dataclass(frozen=True, slots=True)
class _MailContext:
    """What all mails of a request have in common."""

    settings: Settings
    organisation: OrganisationSettings
    period: BillingPeriod
    method: DeliveryMethod
    is_closed: bool
    again: bool
    revisions: Mapping[str, int]
    needs_approval: bool

    @property
    def link(self) -> str | None:
        if self.method is DeliveryMethod.pdf:
            return None
        page = f"{self.settings.link_url}/portal/invoices"
        return f"{page}/{self.period.month}/{self.period.vendor}"


# ── preview ──────────────────────────────────────────────────────────────────────────────────────


async def preview_sending(
    db: AsyncConnection,
    scope: TenantScope,
    settings: Settings,
    month: str,
    body: SendInvoicesRequest,
) -> SendingPreview:
    """Show the mails that would be sent, and why some would not."""
    await _refuse_unknown_groups(db, scope, body.company_ids)
    mails = await _build_mails(db, scope, settings, month, body)
    return SendingPreview(
        month=month,
        vendor=body.vendor,
        method=body.method,
        ready=sum(not mail.problems for mail in mails),
        mails=mails,
    )


async def _refuse_unknown_groups(
    db: AsyncConnection, scope: TenantScope, company_ids: Sequence[str] | None
) -> None:
    if company_ids is None:
        return
    visible = await list_visible_groups(db, scope, company_ids)
    if len(visible) < len(set(company_ids)):
        refuse_if([Violation("company_ids", "existing billing groups")])


async def _build_mails(
    db: AsyncConnection,
    scope: TenantScope,
    settings: Settings,
    month: str,
    body: SendInvoicesRequest,
) -> list[PreviewedMail]:
    period = BillingPeriod(month, body.vendor)
    context = _MailContext(
        settings=settings,
        organisation=await load_settings(db, scope),
        period=period,
        method=body.method,
        is_closed=(await load_month_state(db, scope, period)).closed,
        again=body.again is True,
        revisions=body.revisions or {},
        needs_approval=await is_approval_required(db, scope, ApprovalKind.invoice_issue),
    )
    rows = await records.list_candidates(db, scope, period, body.company_ids)
    contacts = await load_contacts(db, scope, [row.company_id for row in rows])
    return [_build_mail(context, row, contacts.get(row.company_id, [])) for row in rows]


def _build_mail(context: _MailContext, row: Row, contacts: Sequence[Contact]) -> PreviewedMail:
    recipients = [contact for contact in contacts if contact.receives_invoices]
    group_language = None if row.language is None else Language(row.language)
    language = choose_language(recipients, group_language, context.organisation.language)
    invoice = decode_mailed_invoice(row.document)
    mail = build_text(invoice, recipients, language, context.link)
    facts = InvoiceFacts(
        is_sent=row.is_sent,
        is_cancelled=row.is_cancelled,
        is_outdated=row.is_outdated and not context.is_closed,
        lacks_approval=context.needs_approval and not row.is_approved,
        is_mailed_now=row.is_mailed_now,
        revision=row.revision,
        seen_revision=context.revisions.get(row.company_id),
        has_recipient=any(each.send_as is SendAs.to for each in recipients),
        has_portal_login=row.has_portal_login,
        by_link=context.method is DeliveryMethod.link,
        again=context.again,
    )
    return PreviewedMail(
        company_id=row.company_id,
        billinggroup_id=row.billinggroup_id,
        billinggroup_name=row.billinggroup_name,
        company_name=row.company_name,
        invoice_no=invoice.invoice_no,
        revision=row.revision,
        currency=invoice.currency,
        total=invoice.sheet.total,
        due_date=invoice.due_date,
        language=language,
        recipients=[
            Recipient(name=each.name, email=each.email, send_as=each.send_as) for each in recipients
        ],
        subject=mail.subject,
        text=mail.text,
        attachment=mail.attachment,
        problems=find_problems(facts),
    )


# ── sending ──────────────────────────────────────────────────────────────────────────────────────


async def send_invoices(
    db: AsyncConnection,
    scope: TenantScope,
    settings: Settings,
    month: str,
    body: SendInvoicesRequest,
    *,
    actor: Mapping[str, Any],
    by: str,
) -> SentInvoices:
    """Mark invoices as sent and queue one mail for each, in this transaction.

    Without `company_ids`, invoices with problems are skipped; a named one refuses all of them. The
    lock keeps a run from adding a revision in between.
    """
    period = BillingPeriod(month, body.vendor)
    await _refuse_unknown_groups(db, scope, body.company_ids)
    await lock_invoices(db, scope, period, body.company_ids or [])
    mails = await _build_mails(db, scope, settings, month, body)
    if body.company_ids is not None:
        _refuse_problems(body.company_ids, mails)
    ready = [mail for mail in mails if not mail.problems]
    queued = await _queue_mails(db, scope, settings, period, body, ready, by=by)
    await audit.append_entries(db, _list_audit_entries(period, body, queued, actor))
    return SentInvoices(
        sent=queued,
        skipped=[
            SkippedInvoice(company_id=mail.company_id, problems=mail.problems)
            for mail in mails
            if mail.problems
        ],
    )


def _refuse_problems(company_ids: Sequence[str], mails: Sequence[PreviewedMail]) -> None:
    """`field` holds the company_id, which the caller knows."""
    without_invoice = sorted(set(company_ids) - {mail.company_id for mail in mails})
    violations = [Violation(company_id, "no_invoice") for company_id in without_invoice]
    violations += [
        Violation(mail.company_id, problem.value) for mail in mails for problem in mail.problems
    ]
    if violations and all(each.rule == DeliveryProblem.not_approved for each in violations):
        raise approval_required(ApprovalKind.invoice_issue, violations)
    if violations:
        raise Conflict(
            "not_ready",
            "Some invoices cannot be sent. Each violation names a billing group and its reason.",
            violations,
        )


async def _queue_mails(
    db: AsyncConnection,
    scope: TenantScope,
    settings: Settings,
    period: BillingPeriod,
    body: SendInvoicesRequest,
    mails: Sequence[PreviewedMail],
    *,
    by: str,
) -> list[QueuedMail]:
    if not mails:
        return []
    publish_time = None if body.publish_time is None else parse_publish_time(body.publish_time)
    company_ids = [mail.company_id for mail in mails]
    marked = await mark_all_as_sent(
        db, scope, period, company_ids, by=by, publish_time=publish_time
    )
    queued = [
        QueuedMail(
            company_id=mail.company_id,
            invoice_no=mail.invoice_no,
            revision=mail.revision,
            delivery_id=new_id("dlv"),
        )
        for mail in mails
    ]
    rows = [
        {
            "delivery_id": each.delivery_id,
            "month": period.month,
            "company_id": each.company_id,
            "vendor": period.vendor,
            "revision": each.revision,
            "method": body.method,
            "state": DeliveryState.queued,
            "message_id": _derive_message_id(scope, settings, period, each),
            "refused": [],
            "attempts": 0,
            "created_by": by,
            **_list_mail_values(mail),
        }
        for each, mail in zip(queued, mails, strict=True)
    ]
    await records.add_deliveries(db, scope, rows)
    due = _find_due_time(body.method, publish_time)
    subjects = [each.delivery_id for each in queued]
    await add_jobs(db, scope, DELIVER_INVOICE, due=due, subjects=subjects)
    sent = [
        describe_invoice(period, mail.company_id, mail.invoice_no, mail.revision)
        for mail in mails
        if mail.company_id in marked
    ]
    await publish_events(
        db, scope, [Announcement(WebhookEventType.invoice_sent, each) for each in sent]
    )
    return queued


def _find_due_time(method: DeliveryMethod, publish_time: datetime | None) -> datetime:
    """A link is mailed when it leads to the invoice."""
    if method is DeliveryMethod.link and publish_time is not None:
        return max(publish_time, clock.now())
    return clock.now()


def _derive_message_id(
    scope: TenantScope, settings: Settings, period: BillingPeriod, mail: QueuedMail
) -> str:
    """The same document always has the same Message-ID, so that programs recognise a repeat."""
    local_part = derive_id(
        "inv", scope.organisation_id, period.month, period.vendor, mail.company_id, mail.revision
    )
    return build_message_id(settings, local_part)


def _list_mail_values(mail: PreviewedMail) -> dict[str, Any]:
    return {
        "language": mail.language,
        "recipients": [
            {"name": each.name, "email": each.email, "send_as": each.send_as.value}
            for each in mail.recipients
        ],
        "subject": mail.subject,
        "text": mail.text,
        "attachment": mail.attachment,
    }


def _list_audit_entries(
    period: BillingPeriod,
    body: SendInvoicesRequest,
    queued: Sequence[QueuedMail],
    actor: Mapping[str, Any],
) -> Iterable[audit.AuditedChange]:
    """One entry for each invoice, because each is sent on its own account."""
    for mail in queued:
        yield audit.describe_change(
            actor,
            action="send_invoice",
            resource=f"invoice/{period.month}/{mail.company_id}/{period.vendor}",
            company_id=mail.company_id,
            sent={
                "method": body.method.value,
                "revision": mail.revision,
                "delivery_id": mail.delivery_id,
                "publish_time": body.publish_time,
            },
        )


# ── retrying ─────────────────────────────────────────────────────────────────────────────────────


async def retry_delivery(
    db: AsyncConnection, scope: TenantScope, settings: Settings, delivery_id: str
) -> InvoiceDelivery:
    """Queue a failed mail, or one with an unknown outcome, once more.

    It keeps its Message-ID and goes to the customer's contacts as they are now.
    """
    row = await records.find_delivery(db, scope, delivery_id)
    if row is None:
        raise not_found()
    if row.state not in _RETRIED:
        raise _refuse_retry()
    period = BillingPeriod(row.month, row.vendor)
    await lock_invoices(db, scope, period, [row.company_id])
    request = SendInvoicesRequest(
        vendor=row.vendor,
        method=DeliveryMethod(row.method),
        company_ids=[row.company_id],
        revisions={row.company_id: row.revision},
        again=True,
    )
    mails = await _build_mails(db, scope, settings, row.month, request)
    _refuse_problems([row.company_id], mails)
    values = _list_mail_values(mails[0]) | {"state": DeliveryState.queued, "refused": []}
    if not await records.change_state(db, scope, delivery_id, before=_RETRIED, values=values):
        raise _refuse_retry()
    await add_job(db, scope, DELIVER_INVOICE, due=clock.now(), subject=delivery_id)
    changed = await records.find_delivery(db, scope, delivery_id)
    assert changed is not None
    return show_delivery(changed)


def _refuse_retry() -> Conflict:
    return Conflict(
        "not_failed", "Only a mail that failed or whose outcome is unknown can be retried."
    )


async def publish_invoice(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    publish_time: str,
) -> InvoiceStatus:
    """Choose another time of publication; mails with a link to the invoice wait for it."""
    due = parse_publish_time(publish_time)
    status = await publish(db, scope, period, company_id, due)
    selected = records.DeliveryFilter(
        vendor=period.vendor, company_id=company_id, state=DeliveryState.queued
    )
    queued = await records.list_deliveries(db, scope, period.month, selected)
    for row in queued.rows:
        if row.method == DeliveryMethod.link:
            await run_sooner(db, scope, DELIVER_INVOICE, subject=row.delivery_id, due=due)
    return status
