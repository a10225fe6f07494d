"""A run over billing groups: they are made in batches, and one that cannot be is named.

What a run has made is known by its revisions, so that whoever takes it up after a crash goes on
where it stood and makes nothing twice.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.audit import records as audit
from nimbill.costs.months.records import lock_month, lock_month_shared
from nimbill.database.tenant_scope import TenantScope, is_database_unavailable, transaction
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import Vendor
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.document import Draft, draft_of
from nimbill.invoicing.runs import records
from nimbill.invoicing.runs.build_invoice import drawn_up
from nimbill.invoicing.runs.invoice_inputs import (
    Gathered,
    OfMonth,
    gather,
    imports_of_month,
    of_month,
)
from nimbill.jobs.runner import Job, JobType, ReportProgress

basis = chosen("invoice-runs")

GROUPS_AT_FIRST, GROUPS_AT_ONCE = 10, 200
LINES_AT_ONCE = 2_000  # of the invoices that are stored together, but for the last
ATTEMPTS_MAX = 4

log = structlog.get_logger()

T = TypeVar("T")
# by company_id: the invoice but for its number, or the reason there is none
Drafts = Mapping[str, Draft | str]


@dataclass(frozen=True, slots=True)
class Batch:
    """What was stored for some groups, and for their whole month, at one moment."""

    company_ids: Sequence[str]
    whole: OfMonth
    found: Mapping[str, Gathered]


def invoice_job_types(engine: AsyncEngine) -> list[JobType]:
    async def prepare(taken: Job, tell: ReportProgress) -> dict[str, str]:
        return await make_invoices(engine, taken, tell)

    async def finish(db: AsyncConnection, taken: Job) -> None:
        await _finish(db, taken, taken.prepared)

    async def give_up(db: AsyncConnection, taken: Job) -> None:
        made = {row.company_id for row in await _made(db, taken)}
        left = [name for name in taken.payload["company_ids"] if name not in made]
        await _finish(db, taken, dict.fromkeys(left, "failed"))

    return [
        JobType(
            records.CREATE_INVOICES,
            finish,
            attempts_max=ATTEMPTS_MAX,
            prepare=prepare,
            on_failure=give_up,
        )
    ]


async def make_invoices(engine: AsyncEngine, taken: Job, tell: ReportProgress) -> dict[str, str]:
    """All that can be made; which groups were left out, and why."""
    async with transaction(engine, taken.scope.organisation_id) as db:
        made = {row.company_id for row in await _made(db, taken)}
    left = [name for name in taken.payload["company_ids"] if name not in made]
    run = _Run(engine, taken, tell, done=len(made))
    await run.make(left)
    return run.skipped


async def ready_batch(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: Vendor,
    company_ids: Sequence[str],
    whole: OfMonth | None = None,
) -> Batch:
    """Under the month's lock, so that no import and no entry comes in between."""
    await lock_month_shared(db, scope, BillingPeriod(month, vendor))
    whole = whole or await of_month(db, scope, month, vendor)
    found = await gather(db, scope, month, vendor, company_ids, whole)
    return Batch(company_ids, whole, found)


class _Run:
    """On its way: a batch is stored while the next is drawn up and the one after it gathered."""

    def __init__(self, engine: AsyncEngine, taken: Job, tell: ReportProgress, *, done: int) -> None:
        self.engine, self.taken, self.tell, self.done = engine, taken, tell, done
        self.scope, self.run_id = taken.scope, taken.subject
        self.month, self.vendor = taken.payload["month"], taken.payload["vendor"]
        self.skipped: dict[str, str] = {}
        self.whole: OfMonth | None = None

    async def make(self, company_ids: Sequence[str]) -> None:
        drafted = self._drafted(ahead(self._gathered(company_ids)))
        async with aclosing(ahead(drafted)) as ready:
            async for batch, drafts in ready:
                await self._settle(batch, drafts)

    async def _gathered(self, company_ids: Sequence[str]) -> AsyncGenerator[Batch, None]:
        """What holds for the whole month is asked for once, and anew when an import came in."""
        for some in in_batches(company_ids):
            async with transaction(self.engine, self.scope.organisation_id) as db:
                batch = await ready_batch(db, self.scope, self.month, self.vendor, some, self.whole)
            self.whole = self.whole or batch.whole
            yield batch

    async def _drafted(
        self, gathered: AsyncGenerator[Batch, None]
    ) -> AsyncGenerator[tuple[Batch, Drafts], None]:
        """As many of a batch as are not too long to be stored at once."""
        async with aclosing(gathered):
            async for batch in gathered:
                drafts: dict[str, Draft | str] = {}
                lines = 0
                async for company_id, draft in self._drafts(batch):
                    drafts[company_id] = draft
                    lines += 0 if isinstance(draft, str) else draft.lines
                    if lines >= LINES_AT_ONCE:
                        yield batch, drafts
                        drafts, lines = {}, 0
                if drafts:
                    yield batch, drafts

    async def _drafts(self, batch: Batch) -> AsyncGenerator[tuple[str, Draft | str], None]:
        for company_id in batch.company_ids:
            await asyncio.sleep(0)  # whoever else is in this process comes in between
            yield company_id, self._draft(batch, company_id)

    def _draft(self, batch: Batch, company_id: str) -> Draft | str:
        """The invoice but for its number; or the reason there is none."""
        found = batch.found.get(company_id)
        if found is None:
            return "billing_group_deleted"
        try:
            settings, at = batch.whole.settings, clock.now()
            return draft_of(drawn_up(found, settings, month=self.month, vendor=self.vendor, at=at))
        except CannotBeBilled as refusal:
            return refusal.reason
        except Exception as error:  # noqa: BLE001  # what nobody foresaw stops this group alone
            return self._failed(company_id, error)

    async def _settle(self, batch: Batch, drafts: Drafts) -> None:
        self.skipped |= await self._stored(batch, drafts)
        self.done += len(drafts)
        await self.tell(
            {
                "groups": len(self.taken.payload["company_ids"]),
                "done": self.done,
                "skipped": len(self.skipped),
            }
        )

    async def _stored(self, batch: Batch, drafts: Drafts) -> dict[str, str]:
        """Which were not, and why. What goes wrong for all of them is tried for each by itself."""
        try:
            async with transaction(self.engine, self.scope.organisation_id) as db:
                return await self._store(db, batch, drafts)
        except Exception as error:
            if is_database_unavailable(error):
                raise
            if len(drafts) == 1:
                return {name: self._failed(name, error) for name in drafts}
        skipped: dict[str, str] = {}
        for company_id, draft in drafts.items():
            skipped |= await self._stored(batch, {company_id: draft})
        return skipped

    def _failed(self, company_id: str, error: Exception) -> str:
        log.error("invoice_failed", company_id=company_id, run_id=self.run_id, exc_info=error)
        return "failed"

    async def _store(self, db: AsyncConnection, batch: Batch, drafts: Drafts) -> dict[str, str]:
        state = await lock_month(
            db, self.scope, BillingPeriod(self.month, self.vendor), shared=True
        )
        standing = await stored_invoices.lock_invoices(
            db, self.scope, self.month, self.vendor, drafts, self.run_id
        )
        made = {name for name, one in standing.items() if one.made}
        left: Drafts = {name: draft for name, draft in drafts.items() if name not in made}
        if await imports_of_month(db, self.scope, self.month, self.vendor) != batch.whole.imports:
            fresh = await ready_batch(db, self.scope, self.month, self.vendor, list(left))
            self.whole = fresh.whole
            left = {name: draft async for name, draft in self._drafts(fresh)}
        skipped = {name: draft for name, draft in left.items() if isinstance(draft, str)}
        ready = {name: draft for name, draft in left.items() if isinstance(draft, Draft)}
        reason = unready(closed=state.closed, parked=state.is_parked)
        if reason is not None:
            return skipped | dict.fromkeys(ready, reason)
        if ready:
            await self._keep(db, standing, ready)
        return skipped

    async def _keep(
        self,
        db: AsyncConnection,
        standing: Mapping[str, stored_invoices.Standing],
        drafts: Mapping[str, Draft],
    ) -> None:
        new = sum(name not in standing for name in drafts)
        numbers = await stored_invoices.next_numbers(db, self.scope, self.month, new)
        numbered = []
        for company_id, draft in drafts.items():
            before = standing.get(company_id)
            number, revision = (before.number, before.revision) if before else (next(numbers), 0)
            numbered.append(stored_invoices.Numbered(number, revision + 1, draft))
        await stored_invoices.add_revisions(
            db, self.scope, self.month, self.vendor, self.run_id, numbered
        )
        await audit.append_all(db, map(self._row, numbered))

    def _row(self, made: stored_invoices.Numbered) -> audit.Change:
        who = self.taken.payload["actor"]
        return audit.Change(
            actor=who["actor"],
            actor_name=who["actor_name"],
            client_id=who.get("client_id"),
            request_id=who["request_id"],
            action="create_invoice",
            resource=f"invoice/{self.month}/{made.draft.company_id}/{self.vendor}",
            company_id=made.draft.company_id,
            sent={
                "invoice_no": stored_invoices.invoice_no(self.month, made.number),
                "revision": made.revision,
                "run_id": self.run_id,
            },
        )


async def ahead(items: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """The same; while one is in use, the next is already worked on."""
    following = asyncio.ensure_future(anext(items, None))
    try:
        while (item := await following) is not None:
            following = asyncio.ensure_future(anext(items, None))
            yield item
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await items.aclose()


def in_batches(company_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """A small one first, so that whoever watches soon sees something."""
    start, size = 0, GROUPS_AT_FIRST
    while some := company_ids[start : start + size]:
        yield some
        start, size = start + size, GROUPS_AT_ONCE


def unready(*, closed: bool, parked: bool) -> str | None:
    if closed:
        return "month_closed"
    return "month_parked" if parked else None


async def _made(db: AsyncConnection, taken: Job) -> Sequence[Any]:
    return await stored_invoices.made_by_run(db, taken.scope, taken.subject)


async def _finish(db: AsyncConnection, taken: Job, skipped: Mapping[str, str]) -> None:
    payload = taken.payload
    await records.finish_run(db, taken.scope, taken.subject, skipped)
    await audit.append(
        db,
        **payload["actor"],
        action="create_invoices",
        resource=f"invoices/{payload['month']}/{payload['vendor']}",
        sent={
            "run_id": taken.subject,
            "groups": len(payload["company_ids"]),
            "skipped": len(skipped),
        },
    )
