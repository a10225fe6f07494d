"""The job that creates invoices in batches of billing groups; each is created or skipped.

The revisions stored by a run show what it has created. A run that is retried after a crash
continues from there and creates nothing twice.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.audit import records as audit
from nimbill.costs.months.records import MonthState, lock_month, lock_month_shared
from nimbill.database.tenant_scope import TenantScope, is_database_unavailable, transaction
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.prefetch import prefetch_next
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.document import InvoiceDraft, build_draft
from nimbill.invoicing.documents.run_invoices import list_run_invoices
from nimbill.invoicing.documents.stored_invoices import ExistingInvoice, NumberedDraft
from nimbill.invoicing.runs import records
from nimbill.invoicing.runs.build_invoice import build_invoice
from nimbill.invoicing.runs.cost_records import list_imports
from nimbill.invoicing.runs.invoice_inputs import (
    InvoiceInputs,
    MonthContext,
    load_invoice_inputs,
    load_month_context,
)
from nimbill.jobs.runner import Job, JobType, ReportProgress
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import Announcement, publish_event, publish_events

FIRST_BATCH_GROUPS, BATCH_GROUPS = 10, 200
BATCH_LINES = 2_000  # drafts are stored together until they have this many lines
ATTEMPTS_MAX = 4
ALREADY_SENT = "already_sent"  # the reason for a skipped group

log = structlog.get_logger()

# by company_id: the invoice without its number, or the reason why there is none
Drafts = Mapping[str, InvoiceDraft | str]


@dataclass(frozen=True, slots=True)
class InputBatch:
    """The inputs of several billing groups, read at one point in time."""

    company_ids: Sequence[str]
    context: MonthContext
    inputs: Mapping[str, InvoiceInputs]


def invoice_job_types(engine: AsyncEngine) -> list[JobType]:
    async def prepare(job: Job, report_progress: ReportProgress) -> dict[str, str]:
        return await create_invoices(engine, job, report_progress)

    async def finish(db: AsyncConnection, job: Job) -> None:
        await _finish_run(db, job, job.prepared)

    async def skip_remaining(db: AsyncConnection, job: Job) -> None:
        """The run ends; the groups without an invoice are skipped with the reason `failed`."""
        remaining = await _list_remaining_groups(db, job)
        await _finish_run(db, job, dict.fromkeys(remaining, "failed"))

    return [
        JobType(
            records.CREATE_INVOICES,
            finish,
            attempts_max=ATTEMPTS_MAX,
            prepare=prepare,
            on_failure=skip_remaining,
        )
    ]


async def create_invoices(
    engine: AsyncEngine, job: Job, report_progress: ReportProgress
) -> dict[str, str]:
    """Create all invoices that can be created; return the skipped groups with their reasons."""
    async with transaction(engine, job.scope.organisation_id) as db:
        remaining = await _list_remaining_groups(db, job)
    run = _InvoiceRun(engine, job, report_progress, remaining=len(remaining))
    await run.create(remaining)
    return run.skipped


async def load_batch(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_ids: Sequence[str],
    context: MonthContext | None = None,
) -> InputBatch:
    """Load the inputs under a lock that keeps out imports and changes to entries."""
    if context is None:
        state = await lock_month(db, scope, period, shared=True)
        context = await load_month_context(db, scope, period, state)
    else:
        await lock_month_shared(db, scope, period)
    inputs = await load_invoice_inputs(db, scope, period, context, company_ids)
    return InputBatch(company_ids, context, inputs)


class _InvoiceRun:
    """Stores one batch while the next is calculated and the one after it is loaded."""

    def __init__(
        self, engine: AsyncEngine, job: Job, report_progress: ReportProgress, *, remaining: int
    ) -> None:
        self.engine, self.job, self.report_progress = engine, job, report_progress
        self.scope, self.run_id = job.scope, job.subject
        self.period = BillingPeriod(job.payload["month"], job.payload["vendor"])
        self.group_count = len(job.payload["company_ids"])
        self.done = self.group_count - remaining
        self.skipped: dict[str, str] = {}
        self.context: MonthContext | None = None

    async def create(self, company_ids: Sequence[str]) -> None:
        drafts_of_batches = self._build_drafts(prefetch_next(self._load_batches(company_ids)))
        async with aclosing(prefetch_next(drafts_of_batches)) as ready:
            async for batch, drafts in ready:
                self.skipped |= await self._store(batch, drafts)
                self.done += len(drafts)
                await self.report_progress(
                    {
                        "groups": self.group_count,
                        "done": self.done,
                        "skipped": len(self.skipped),
                    }
                )

    async def _load_batches(self, company_ids: Sequence[str]) -> AsyncGenerator[InputBatch, None]:
        """The month context is loaded once per run, and again after an import."""
        for batch_ids in split_into_batches(company_ids):
            async with transaction(self.engine, self.scope.organisation_id) as db:
                batch = await load_batch(db, self.scope, self.period, batch_ids, self.context)
            self.context = self.context or batch.context
            yield batch

    async def _build_drafts(
        self, batches: AsyncGenerator[InputBatch, None]
    ) -> AsyncGenerator[tuple[InputBatch, Drafts], None]:
        """Split batches whose invoices have too many lines to be stored together."""
        async with aclosing(batches):
            async for batch in batches:
                drafts: dict[str, InvoiceDraft | str] = {}
                lines = 0
                async for company_id, draft in self._build_batch_drafts(batch):
                    drafts[company_id] = draft
                    lines += 0 if isinstance(draft, str) else draft.lines
                    if lines >= BATCH_LINES:
                        yield batch, drafts
                        drafts, lines = {}, 0
                if drafts:
                    yield batch, drafts

    async def _build_batch_drafts(
        self, batch: InputBatch
    ) -> AsyncGenerator[tuple[str, InvoiceDraft | str], None]:
        for company_id in batch.company_ids:
            await asyncio.sleep(0)  # lets other tasks of this process run between two invoices
            yield company_id, self._build_draft(batch, company_id)

    def _build_draft(self, batch: InputBatch, company_id: str) -> InvoiceDraft | str:
        inputs = batch.inputs.get(company_id)
        if inputs is None:
            return "billing_group_deleted"
        try:
            invoice = build_invoice(inputs, batch.context.settings, self.period, clock.now())
            return build_draft(invoice)
        except CannotBeBilled as refusal:
            return refusal.reason
        except Exception as error:  # noqa: BLE001  # an unexpected error skips only this group
            return self._log_failure(company_id, error)

    async def _store(self, batch: InputBatch, drafts: Drafts) -> dict[str, str]:
        """Store the drafts; return the skipped groups with their reasons.

        If storing them together fails, each draft is stored separately.
        """
        try:
            async with transaction(self.engine, self.scope.organisation_id) as db:
                return await self._store_together(db, batch, drafts)
        except Exception as error:
            if is_database_unavailable(error):
                raise
            if len(drafts) == 1:
                return {company_id: self._log_failure(company_id, error) for company_id in drafts}
        skipped: dict[str, str] = {}
        for company_id, draft in drafts.items():
            skipped |= await self._store(batch, {company_id: draft})
        return skipped

    def _log_failure(self, company_id: str, error: Exception) -> str:
        log.error("invoice_failed", company_id=company_id, run_id=self.run_id, exc_info=error)
        return "failed"

    async def _store_together(
        self, db: AsyncConnection, batch: InputBatch, drafts: Drafts
    ) -> dict[str, str]:
        state = await lock_month(db, self.scope, self.period, shared=True)
        existing = await stored_invoices.lock_invoices(
            db, self.scope, self.period, drafts, self.run_id
        )
        done = {name for name, invoice in existing.items() if invoice.created_by_run}
        sent = {name for name, invoice in existing.items() if invoice.is_sent} - done
        remaining: Drafts = {
            name: draft for name, draft in drafts.items() if name not in done | sent
        }
        if await list_imports(db, self.scope, self.period) != batch.context.imports:
            remaining = await self._rebuild_drafts(db, state, list(remaining))
        skipped = dict.fromkeys(sent, ALREADY_SENT) | {
            name: draft for name, draft in remaining.items() if isinstance(draft, str)
        }
        ready = {
            name: draft for name, draft in remaining.items() if isinstance(draft, InvoiceDraft)
        }
        obstacle = find_month_obstacle(state)
        if obstacle is not None:
            return skipped | dict.fromkeys(ready, obstacle)
        if ready:
            await self._add_revisions(db, existing, ready)
        return skipped

    async def _rebuild_drafts(
        self, db: AsyncConnection, state: MonthState, company_ids: Sequence[str]
    ) -> Drafts:
        """Load the inputs again, because an import has replaced the costs they were read from."""
        self.context = await load_month_context(db, self.scope, self.period, state)
        batch = await load_batch(db, self.scope, self.period, company_ids, self.context)
        return {name: draft async for name, draft in self._build_batch_drafts(batch)}

    async def _add_revisions(
        self,
        db: AsyncConnection,
        existing: Mapping[str, ExistingInvoice],
        drafts: Mapping[str, InvoiceDraft],
    ) -> None:
        new_count = sum(company_id not in existing for company_id in drafts)
        numbers = await stored_invoices.allocate_numbers(
            db, self.scope, self.period.month, new_count
        )
        numbered_drafts = []
        for company_id, draft in drafts.items():
            if company_id in existing:
                number, revision = existing[company_id].number, existing[company_id].revision + 1
            else:
                number, revision = next(numbers), 1
            numbered_drafts.append(NumberedDraft(number, revision, draft))
        await stored_invoices.add_revisions(
            db, self.scope, self.period, self.run_id, numbered_drafts
        )
        await publish_events(db, self.scope, list(map(self._announce, numbered_drafts)))
        await audit.append_entries(db, map(self._build_audit_entry, numbered_drafts))

    def _announce(self, numbered: NumberedDraft) -> Announcement:
        created: dict[str, str | int] = {
            "month": self.period.month,
            "company_id": numbered.draft.company_id,
            "vendor": self.period.vendor,
            "invoice_no": stored_invoices.format_invoice_no(self.period.month, numbered.number),
            "revision": numbered.revision,
            "run_id": self.run_id,
        }
        return Announcement(WebhookEventType.invoice_created, created)

    def _build_audit_entry(self, numbered: NumberedDraft) -> audit.AuditedChange:
        actor, month = self.job.payload["actor"], self.period.month
        company_id = numbered.draft.company_id
        return audit.describe_change(
            actor,
            action="create_invoice",
            resource=f"invoice/{month}/{company_id}/{self.period.vendor}",
            company_id=company_id,
            sent={
                "invoice_no": stored_invoices.format_invoice_no(month, numbered.number),
                "revision": numbered.revision,
                "run_id": self.run_id,
            },
        )


def split_into_batches(company_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """The first batch is small, so that progress is reported early."""
    start, size = 0, FIRST_BATCH_GROUPS
    while batch := company_ids[start : start + size]:
        yield batch
        start, size = start + size, BATCH_GROUPS


def find_month_obstacle(state: MonthState) -> str | None:
    """The reason why no invoice of the month can be created, if there is one."""
    if state.closed:
        return "month_closed"
    return "month_parked" if state.is_parked else None


async def _list_remaining_groups(db: AsyncConnection, job: Job) -> list[str]:
    """List the groups for which the run has created no invoice yet."""
    invoices = await list_run_invoices(db, job.scope, job.subject)
    created = {invoice.company_id for invoice in invoices}
    return [name for name in job.payload["company_ids"] if name not in created]


async def _finish_run(db: AsyncConnection, job: Job, skipped: Mapping[str, str]) -> None:
    payload = job.payload
    await records.finish_run(db, job.scope, job.subject, skipped)
    finished = {
        "run_id": job.subject,
        "month": payload["month"],
        "vendor": payload["vendor"],
        "groups": len(payload["company_ids"]),
        "skipped": len(skipped),
    }
    await publish_event(db, job.scope, WebhookEventType.invoice_run_finished, finished)
    await audit.append_entry(
        db,
        **payload["actor"],
        action="create_invoices",
        resource=f"invoices/{payload['month']}/{payload['vendor']}",
        sent={
            "run_id": job.subject,
            "groups": len(payload["company_ids"]),
            "skipped": len(skipped),
        },
    )
