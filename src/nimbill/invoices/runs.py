"""A run over billing groups: each is a transaction of its own, and one that cannot be is named.

What a run has made is known by its revisions, so that whoever takes it up after a crash goes on
where it stood and makes nothing twice.
"""

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
from nimbill.invoices.drawing_up import drawn_up
from nimbill.invoices.gathered_records import Gathered, gather, imports_of_month
from nimbill.invoices.terms import CannotBeBilled
from nimbill.months.records import MonthState, lock_month
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
    imports: tuple[Any, ...]
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
    organisation_id = taken.scope.organisation_id
    asked = taken.payload["company_ids"]
    async with transaction(engine, organisation_id) as db:
        made = {row.company_id for row in await _made(db, taken)}
    left = iter([company_id for company_id in asked if company_id not in made])
    skipped: dict[str, str] = {}
    done = len(made)
    while company_ids := list(islice(left, GROUPS_AT_ONCE)):
        async with transaction(engine, organisation_id) as db:
            batch = await ready_batch(
                db, taken.scope, taken.payload["month"], taken.payload["vendor"], company_ids
            )
        for company_id in company_ids:
            reason = await _made_one(engine, taken, batch, company_id)
            if reason is not None:
                skipped[company_id] = reason
            done += 1
            await tell({"groups": len(asked), "done": done, "skipped": len(skipped)})
    return skipped


async def ready_batch(
    db: AsyncConnection, scope: Scope, month: str, vendor: str, company_ids: Sequence[str]
) -> Batch:
    """Under the month's lock, so that no import and no entry comes in between."""
    await lock_month(db, scope, vendor, month, shared=True)
    settings = await settings_of(db, scope)
    return Batch(
        settings=settings,
        imports=tuple(await imports_of_month(db, scope, month, vendor)),
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


async def _made_one(engine: AsyncEngine, taken: Taken, batch: Batch, company_id: str) -> str | None:
    """The reason it was not made; what nobody foresaw stops this one group alone."""
    try:
        async with transaction(engine, taken.scope.organisation_id) as db:
            await _make(db, taken, batch, company_id)
    except CannotBeBilled as refusal:
        return refusal.reason
    except Exception as error:
        if database_is_away(error):
            raise
        log.error("invoice_failed", company_id=company_id, run_id=taken.subject, exc_info=error)
        return "failed"
    return None


async def _make(db: AsyncConnection, taken: Taken, batch: Batch, company_id: str) -> None:
    scope, run_id = taken.scope, taken.subject
    month, vendor = taken.payload["month"], taken.payload["vendor"]
    state = await lock_month(db, scope, vendor, month, shared=True)
    if tuple(await imports_of_month(db, scope, month, vendor)) != batch.imports:
        batch = await ready_batch(db, scope, month, vendor, [company_id])
    found = batch.found.get(company_id)
    if found is None:
        raise CannotBeBilled("billing_group_deleted")
    head = await created_records.lock_invoice(db, scope, month, vendor, company_id)
    if await created_records.made_in_run(db, scope, run_id, company_id):
        return
    document = drawn_up(
        found,
        batch.settings,
        month=month,
        vendor=vendor,
        invoice_no="",
        revision=1 if head is None else head.revision + 1,
        at=clock.now(),
    )
    refuse_unready(state)
    number = head.number if head else await created_records.next_number(db, scope, month)
    invoice_no = created_records.invoice_no(month, number)
    document = msgspec.structs.replace(document, invoice_no=invoice_no)
    await created_records.add_revision(db, scope, run_id, number, document)
    await audit.append(
        db,
        **taken.payload["actor"],
        action="create_invoice",
        resource=f"invoice/{month}/{company_id}/{vendor}",
        company_id=company_id,
        sent={"invoice_no": invoice_no, "revision": document.revision, "run_id": run_id},
    )


def refuse_unready(state: MonthState) -> None:
    if state.closed:
        raise CannotBeBilled("month_closed")
    if state.is_parked:
        raise CannotBeBilled("month_parked")


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
