"""Created invoices: a head that says which revision counts, and revisions that never change."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, visible
from nimbill.database.tenant_scope import Row, TenantScope, fetch_row, metadata, visible_rows
from nimbill.foundation.basis import chosen
from nimbill.invoicing.documents.document import Draft, Glance, InvoiceDocument, glance, read

basis = chosen("invoice-numbers")

invoice_counters = sa.Table(
    "invoice_counters",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("last", sa.Integer, nullable=False),
)

invoices = sa.Table(
    "invoices",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)

invoice_revisions = sa.Table(
    "invoice_revisions",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("pre_tax", sa.Numeric, nullable=False),
    sa.Column("tax", sa.Numeric, nullable=False),
    sa.Column("total", sa.Numeric, nullable=False),
    sa.Column("pre_tax_usd", sa.Numeric, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

invoice_papers = sa.Table(
    "invoice_papers",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("paper_id", sa.Text, primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

_heads, _revisions = invoices.c, invoice_revisions.c


D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class Created(Generic[D]):
    """An invoice that counts, with what was read of it."""

    company_id: str
    vendor: str
    invoice_no: str
    document: D
    create_time: Any
    update_time: Any


def invoice_no(month: str, number: int) -> str:
    return f"{month.replace('-', '')}-{number:04}"


@dataclass(frozen=True, slots=True)
class Standing:
    """An invoice that was made before, as it is while the lock is held."""

    number: int
    revision: int
    made: bool  # by this very run, before it was taken up again


class Numbered(NamedTuple):
    """An invoice that is ready to be kept."""

    number: int
    revision: int
    draft: Draft


_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))"
# However many there are it is one question, in the driver's own words.
_KEEP = """
WITH made AS (
    SELECT * FROM unnest($4::text[], $5::integer[], $6::integer[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::text[], $12::text[])
    AS made (company_id, number, revision, currency, pre_tax, tax, total, pre_tax_usd, document)
), heads AS (
    INSERT INTO invoices
        (organisation_id, month, company_id, vendor, number, revision, create_time, update_time)
    SELECT $1, $2, company_id, $3, number, revision, now(), now() FROM made
    ON CONFLICT (organisation_id, month, company_id, vendor)
        DO UPDATE SET revision = excluded.revision, update_time = now()
)
INSERT INTO invoice_revisions
    (organisation_id, month, company_id, vendor, revision, run_id, currency, pre_tax, tax, total,
        pre_tax_usd, document, create_time)
SELECT $1, $2, company_id, $3, revision, $13, currency, pre_tax::numeric, tax::numeric,
    total::numeric, pre_tax_usd::numeric, document, now()
FROM made
"""


async def lock_invoices(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: str,
    company_ids: Collection[str],
    run_id: str,
) -> dict[str, Standing]:
    """Those of these groups, as they stand: until the transaction ends nobody else makes any.

    One lock for all of a month and vendor: who makes them waits for the counter anyway.
    """
    # a statement of its own: what is asked next sees what the last holder committed
    await fetch_row(db, _LOCK, f"invoices {scope.organisation_id} {month} {vendor}")
    made = sa.exists().where(
        _revisions.organisation_id == scope.organisation_id,
        _revisions.run_id == run_id,
        _revisions.company_id == _heads.company_id,
    )
    question = sa.select(_heads.company_id, _heads.number, _heads.revision, made).where(
        _heads.organisation_id == scope.organisation_id,
        _heads.month == month,
        _heads.vendor == vendor,
        visible_rows(_heads.company_id, company_ids),
    )
    return {
        company_id: Standing(number, revision, by_run)
        for company_id, number, revision, by_run in await db.execute(question)
    }


async def next_numbers(
    db: AsyncConnection, scope: TenantScope, month: str, count: int
) -> Iterator[int]:
    """Without a gap: whoever gives up gives them back. Asked for as late as can be."""
    if not count:
        return iter(())
    adding = insert(invoice_counters).values(
        organisation_id=scope.organisation_id, month=month, last=count
    )
    counted = await db.execute(
        adding.on_conflict_do_update(
            index_elements=["organisation_id", "month"],
            set_={"last": invoice_counters.c.last + count},
        ).returning(invoice_counters.c.last)
    )
    last = int(counted.scalar_one())
    return iter(range(last - count + 1, last + 1))


async def add_revisions(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: str,
    run_id: str,
    numbered: Sequence[Numbered],
) -> None:
    """They count from here on; the ones before stay as they are."""
    drafts = [one.draft for one in numbered]
    await fetch_row(
        db,
        _KEEP,
        scope.organisation_id,
        month,
        vendor,
        [draft.company_id for draft in drafts],
        [one.number for one in numbered],
        [one.revision for one in numbered],
        [draft.currency for draft in drafts],
        [str(draft.pre_tax) for draft in drafts],
        [str(draft.tax) for draft in drafts],
        [str(draft.total) for draft in drafts],
        [str(draft.pre_tax_usd) for draft in drafts],
        [
            draft.numbered(invoice_no(month, number), revision)
            for number, revision, draft in numbered
        ],
        run_id,
    )


async def made_by_run(db: AsyncConnection, scope: TenantScope, run_id: str) -> Sequence[Row]:
    """company_id and number of what a run has made so far, by number."""
    question = (
        sa.select(_revisions.company_id, _revisions.vendor, _revisions.month, _heads.number)
        .join_from(invoice_revisions, invoices, _head_of(counting=False))
        .where(_revisions.organisation_id == scope.organisation_id, _revisions.run_id == run_id)
        .order_by(_heads.number)
    )
    return (await db.execute(question)).all()


async def created_of_month(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    *,
    vendor: str | None = None,
    company_ids: Collection[str] | None = None,
) -> list[Created[InvoiceDocument]]:
    """The invoices that count, of groups the caller may see, by number."""
    return await _created(db, scope, month, read, vendor=vendor, company_ids=company_ids)


async def glances_of_month(
    db: AsyncConnection, scope: TenantScope, month: str
) -> list[Created[Glance]]:
    """The same, as far as a list of them shows."""
    return await _created(db, scope, month, glance)


async def _created(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    read_as: Callable[[str], D],
    *,
    vendor: str | None = None,
    company_ids: Collection[str] | None = None,
) -> list[Created[D]]:
    question = (
        sa.select(
            _revisions.company_id,
            _revisions.vendor,
            _heads.number,
            _revisions.document,
            _heads.create_time,
            _heads.update_time,
        )
        .join_from(invoices, invoice_revisions, _head_of(counting=True))
        .join(billing_groups, _group_of())
        .where(
            _heads.organisation_id == scope.organisation_id,
            _heads.month == month,
            *visible(scope),
        )
        .order_by(_heads.number)
    )
    if vendor is not None:
        question = question.where(_heads.vendor == vendor)
    if company_ids is not None:
        question = question.where(visible_rows(_heads.company_id, company_ids))
    return [
        Created(
            company_id=row.company_id,
            vendor=row.vendor,
            invoice_no=invoice_no(month, row.number),
            document=read_as(row.document),
            create_time=row.create_time,
            update_time=row.update_time,
        )
        for row in await db.execute(question)
    ]


async def invoiced_groups(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str | None
) -> list[str]:
    """Groups that the caller may see and that have an invoice, by the first number they have."""
    question = (
        sa.select(_heads.company_id)
        .join_from(invoices, billing_groups, _group_of())
        .where(
            _heads.organisation_id == scope.organisation_id,
            _heads.month == month,
            *visible(scope),
        )
        .group_by(_heads.company_id)
        .order_by(sa.func.min(_heads.number))
    )
    if vendor is not None:
        question = question.where(_heads.vendor == vendor)
    return list((await db.execute(question)).scalars())


async def revisions_of(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str, company_id: str
) -> Sequence[Row]:
    """Every revision, the newest first; none where the group is not the caller's to see."""
    question = (
        sa.select(_revisions.revision, _revisions.document, _revisions.create_time)
        .join_from(invoice_revisions, billing_groups, _group_of(invoice_revisions))
        .where(
            _revisions.organisation_id == scope.organisation_id,
            _revisions.month == month,
            _revisions.vendor == vendor,
            _revisions.company_id == company_id,
            *visible(scope),
        )
        .order_by(_revisions.revision.desc())
    )
    return (await db.execute(question)).all()


def _head_of(*, counting: bool) -> sa.ColumnElement[bool]:
    """A revision beside its head; with `counting` the one that counts alone."""
    same = sa.and_(
        _heads.organisation_id == _revisions.organisation_id,
        _heads.month == _revisions.month,
        _heads.company_id == _revisions.company_id,
        _heads.vendor == _revisions.vendor,
    )
    return same & (_heads.revision == _revisions.revision) if counting else same


def _group_of(table: sa.Table = invoices) -> sa.ColumnElement[bool]:
    return (billing_groups.c.organisation_id == table.c.organisation_id) & (
        billing_groups.c.company_id == table.c.company_id
    )


async def find_paper(db: AsyncConnection, scope: TenantScope, paper_id: str) -> bytes | None:
    question = sa.select(invoice_papers.c.content).where(
        invoice_papers.c.organisation_id == scope.organisation_id,
        invoice_papers.c.paper_id == paper_id,
    )
    found: bytes | None = (await db.execute(question)).scalar_one_or_none()
    return found


async def keep_paper(
    db: AsyncConnection, scope: TenantScope, paper_id: str, content: bytes
) -> bytes:
    """The first to be kept is the one that everybody gets."""
    await db.execute(
        insert(invoice_papers)
        .values(organisation_id=scope.organisation_id, paper_id=paper_id, content=content)
        .on_conflict_do_nothing()
    )
    kept = await find_paper(db, scope, paper_id)
    assert kept is not None, "it was kept just now, or before"
    return kept
