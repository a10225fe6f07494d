"""Created invoices: a head that says which revision counts, and revisions that never change."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.basis import chosen
from nimbill.billing_groups.records import billing_groups, visible
from nimbill.invoices.document import Document, Glance, glance, read, written
from nimbill.months.records import lock_of_month
from nimbill.storage import Row, Scope, among, ask_driver, metadata

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
    """What an invoice to be made stands on, as it is while the locks are held."""

    closed: bool
    parked: bool
    imports: str  # which of them count, in one text
    number: int | None  # of the invoice, where it was made before
    revision: int
    made: bool  # by this very run, before it was taken up again


# Asked for every invoice of thousands: few questions, in the driver's own words.
_LOCK = (
    "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0)), "
    "pg_advisory_xact_lock(hashtextextended($2, 0))"
)
_OF_MONTH = "organisation_id = $1 AND vendor = $2 AND month = $3"
_STANDING = f"""
SELECT
    coalesce((SELECT closed FROM month_states WHERE {_OF_MONTH}), false) AS closed,
    EXISTS (SELECT 1 FROM parked_months WHERE {_OF_MONTH}) AS parked,
    (SELECT string_agg(payer_id || ' ' || import_id, ' ' ORDER BY payer_id)
        FROM cost_months WHERE {_OF_MONTH}) AS imports,
    (SELECT number FROM invoices WHERE {_OF_MONTH} AND company_id = $4) AS number,
    (SELECT revision FROM invoices WHERE {_OF_MONTH} AND company_id = $4) AS revision,
    EXISTS (SELECT 1 FROM invoice_revisions
        WHERE organisation_id = $1 AND run_id = $5 AND company_id = $4) AS made
"""  # noqa: S608  # nothing of a caller's is in it
_KEEP = """
WITH head AS (
    INSERT INTO invoices
        (organisation_id, month, company_id, vendor, number, revision, create_time, update_time)
    VALUES ($1, $2, $3, $4, $5, $6, now(), now())
    ON CONFLICT (organisation_id, month, company_id, vendor)
        DO UPDATE SET revision = excluded.revision, update_time = now()
)
INSERT INTO invoice_revisions
    (organisation_id, month, company_id, vendor, revision, run_id, currency, pre_tax, tax, total,
        pre_tax_usd, document, create_time)
VALUES ($1, $2, $3, $4, $6, $7, $8, $9, $10, $11, $12, $13, now())
"""


async def lock_invoice(
    db: AsyncConnection, scope: Scope, month: str, vendor: str, company_id: str, run_id: str
) -> Standing:
    """Until the transaction ends nobody else makes it, and nobody closes or imports its month."""
    name = f"invoice {scope.organisation_id} {month} {vendor} {company_id}"
    # a statement of its own: what is asked next sees what the last holder committed
    await ask_driver(db, _LOCK, lock_of_month(scope, vendor, month), name)
    asked = (scope.organisation_id, vendor, month, company_id, run_id)
    closed, parked, imports, number, revision, made = await ask_driver(db, _STANDING, *asked)
    return Standing(closed, parked, imports or "", number, revision or 0, made)


async def next_number(db: AsyncConnection, scope: Scope, month: str) -> int:
    """Without a gap: whoever gives up gives the number back. Asked for as late as can be."""
    adding = insert(invoice_counters).values(
        organisation_id=scope.organisation_id, month=month, last=1
    )
    counted = await db.execute(
        adding.on_conflict_do_update(
            index_elements=["organisation_id", "month"],
            set_={"last": invoice_counters.c.last + 1},
        ).returning(invoice_counters.c.last)
    )
    return int(counted.scalar_one())


async def add_revision(
    db: AsyncConnection, scope: Scope, run_id: str, number: int, document: Document
) -> None:
    """It counts from here on; the ones before stay as they are."""
    sheet = document.sheet
    await ask_driver(
        db,
        _KEEP,
        scope.organisation_id,
        document.month,
        document.company_id,
        document.vendor,
        number,
        document.revision,
        run_id,
        sheet.currency.value,
        sheet.pre_tax,
        sheet.tax,
        sheet.total,
        sheet.pre_tax_usd,
        written(document),
    )


async def made_by_run(db: AsyncConnection, scope: Scope, run_id: str) -> Sequence[Row]:
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
    scope: Scope,
    month: str,
    *,
    vendor: str | None = None,
    company_ids: Collection[str] | None = None,
) -> list[Created[Document]]:
    """The invoices that count, of groups the caller may see, by number."""
    return await _created(db, scope, month, read, vendor=vendor, company_ids=company_ids)


async def glances_of_month(db: AsyncConnection, scope: Scope, month: str) -> list[Created[Glance]]:
    """The same, as far as a list of them shows."""
    return await _created(db, scope, month, glance)


async def _created(
    db: AsyncConnection,
    scope: Scope,
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
        question = question.where(among(_heads.company_id, company_ids))
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
    db: AsyncConnection, scope: Scope, month: str, vendor: str | None
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
    db: AsyncConnection, scope: Scope, month: str, vendor: str, company_id: str
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


async def find_paper(db: AsyncConnection, scope: Scope, paper_id: str) -> bytes | None:
    question = sa.select(invoice_papers.c.content).where(
        invoice_papers.c.organisation_id == scope.organisation_id,
        invoice_papers.c.paper_id == paper_id,
    )
    found: bytes | None = (await db.execute(question)).scalar_one_or_none()
    return found


async def keep_paper(db: AsyncConnection, scope: Scope, paper_id: str, content: bytes) -> bytes:
    """The first to be kept is the one that everybody gets."""
    await db.execute(
        insert(invoice_papers)
        .values(organisation_id=scope.organisation_id, paper_id=paper_id, content=content)
        .on_conflict_do_nothing()
    )
    kept = await find_paper(db, scope, paper_id)
    assert kept is not None, "it was kept just now, or before"
    return kept
