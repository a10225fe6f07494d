"""A run over billing groups: each is a transaction of its own, and one that cannot be is named.

What a run has made is known by its revisions, so that whoever takes it up after a crash goes on
where it stood and makes nothing twice.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill import clock
from nimbill.audit import records as audit
from nimbill.basis import chosen
from nimbill.invoices import created_records, run_records
from nimbill.invoices.document import Document
from nimbill.invoices.drawing_up import drawn_up
from nimbill.invoices.gathered_records import Gathered, gather, imports_of_month
from nimbill.invoices.terms import CannotBeBilled
from nimbill.months.records import lock_month
from nimbill.organisation_settings.records import OrganisationSettings, settings_of
from nimbill.storage import Scope, database_is_away, transaction
from nimbill.work.runner import Kind, Taken, Tell

basis = chosen("invoice-runs")

GROUPS_AT_ONCE = 100
ATTEMPTS_MAX = 4

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Batch:
    """What was stored for some groups at one moment, and which imports counted then."""

    settings: OrganisationSettings
    imports: str
    found: Mapping[str, Gathered]


def invoice_kinds(engine: AsyncEngine) -> list[Kind]:
    async def prepare(taken: Taken, tell: Tell) -> dict[str, str]:
        return await make_invoices(engine, taken, tell)

    async def finish(db: AsyncConnection, taken: Taken) -> None:
        await _finish(db, taken, taken.prepared)

    async def give_up(db: AsyncConnection, taken: Taken) -> None:
        made = {row.company_id for row in await _made(db, taken)}
        left = [name for name in taken.payload["company_ids"] if name not in made]
        await _finish(db, taken, dict.fromkeys(left, "failed"))

    return [
        Kind(
            run_records.CREATE_INVOICES,
            finish,
            attempts_max=ATTEMPTS_MAX,
            prepare=prepare,
            give_up=give_up,
        )
    ]


async def make_invoices(engine: AsyncEngine, taken: Taken, tell: Tell) -> dict[str, str]:
    """All that can be made; which groups were left out, and why."""
    async with transaction(engine, taken.scope.organisation_id) as db:
        made = {row.company_id for row in await _made(db, taken)}
    left = iter([name for name in taken.payload["company_ids"] if name not in made])
    run = _Run(engine, taken, tell, done=len(made))
    while company_ids := list(islice(left, GROUPS_AT_ONCE)):
        await run.make(company_ids)
    return run.skipped


async def ready_batch(
    db: AsyncConnection, scope: Scope, month: str, vendor: str, company_ids: Sequence[str]
) -> Batch:
    """Under the month's lock, so that no import and no entry comes in between."""
    await lock_month(db, scope, vendor, month, shared=True)
    settings = await settings_of(db, scope)
    return Batch(
        settings=settings,
        imports=" ".join(
            f"{row.payer_id} {row.import_id}"
            for row in await imports_of_month(db, scope, month, vendor)
        ),
        found=await gather(
            db,
            scope,
            month,
            vendor,
            company_ids,
            tag_key=settings.cost_tag_key,
            template_id=settings.invoice_template_id,
        ),
    )


class _Run:
    """On its way: one group is stored while the next is drawn up."""

    def __init__(self, engine: AsyncEngine, taken: Taken, tell: Tell, *, done: int) -> None:
        self.engine, self.taken, self.tell, self.done = engine, taken, tell, done
        self.scope, self.run_id = taken.scope, taken.subject
        self.month, self.vendor = taken.payload["month"], taken.payload["vendor"]
        self.skipped: dict[str, str] = {}

    async def make(self, company_ids: Sequence[str]) -> None:
        async with transaction(self.engine, self.scope.organisation_id) as db:
            batch = await ready_batch(db, self.scope, self.month, self.vendor, company_ids)
        before: asyncio.Task[None] | None = None
        for company_id in company_ids:
            draft = self._drafted(batch, company_id)
            if before is not None:
                await before
            before = asyncio.create_task(self._settle(batch, company_id, draft))
            await asyncio.sleep(0)  # it begins, and the database works meanwhile
        if before is not None:
            await before

    def _drafted(self, batch: Batch, company_id: str) -> Document | str:
        """The invoice but for its number; or the reason there is none."""
        found = batch.found.get(company_id)
        if found is None:
            return "billing_group_deleted"
        try:
            return drawn_up(
                found, batch.settings, month=self.month, vendor=self.vendor, at=clock.now()
            )
        except CannotBeBilled as refusal:
            return refusal.reason
        except Exception as error:  # noqa: BLE001  # what nobody foresaw stops this group alone
            return self._failed(company_id, error)

    async def _settle(self, batch: Batch, company_id: str, draft: Document | str) -> None:
        reason = draft if isinstance(draft, str) else await self._stored(batch, company_id, draft)
        if reason is not None:
            self.skipped[company_id] = reason
        self.done += 1
        await self.tell(
            {
                "groups": len(self.taken.payload["company_ids"]),
                "done": self.done,
                "skipped": len(self.skipped),
            }
        )

    async def _stored(self, batch: Batch, company_id: str, draft: Document) -> str | None:
        """The reason it was not."""
        try:
            async with transaction(self.engine, self.scope.organisation_id) as db:
                return await self._store(db, batch, company_id, draft)
        except Exception as error:
            if database_is_away(error):
                raise
            return self._failed(company_id, error)

    def _failed(self, company_id: str, error: Exception) -> str:
        log.error("invoice_failed", company_id=company_id, run_id=self.run_id, exc_info=error)
        return "failed"

    async def _store(
        self, db: AsyncConnection, batch: Batch, company_id: str, draft: Document
    ) -> str | None:
        standing = await created_records.lock_invoice(
            db, self.scope, self.month, self.vendor, company_id, self.run_id
        )
        if standing.made:
            return None
        reason = unready(closed=standing.closed, parked=standing.parked)
        if reason is not None:
            return reason
        if standing.imports != batch.imports:
            fresh = await ready_batch(db, self.scope, self.month, self.vendor, [company_id])
            drafted = self._drafted(fresh, company_id)
            if isinstance(drafted, str):
                return drafted
            draft = drafted
        number = standing.number or await created_records.next_number(db, self.scope, self.month)
        document = msgspec.structs.replace(
            draft,
            invoice_no=created_records.invoice_no(self.month, number),
            revision=standing.revision + 1,
        )
        await created_records.add_revision(db, self.scope, self.run_id, number, document)
        await self._leave_a_row(db, document)
        return None

    async def _leave_a_row(self, db: AsyncConnection, document: Document) -> None:
        await audit.append(
            db,
            **self.taken.payload["actor"],
            action="create_invoice",
            resource=f"invoice/{self.month}/{document.company_id}/{self.vendor}",
            company_id=document.company_id,
            sent={
                "invoice_no": document.invoice_no,
                "revision": document.revision,
                "run_id": self.run_id,
            },
        )


def unready(*, closed: bool, parked: bool) -> str | None:
    if closed:
        return "month_closed"
    return "month_parked" if parked else None


async def _made(db: AsyncConnection, taken: Taken) -> Sequence[Any]:
    return await created_records.made_by_run(db, taken.scope, taken.subject)


async def _finish(db: AsyncConnection, taken: Taken, skipped: Mapping[str, str]) -> None:
    payload = taken.payload
    await run_records.finish_run(db, taken.scope, taken.subject, skipped)
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
