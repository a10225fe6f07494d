"""Tables and queries of stored invoices.

A row of `invoices` holds the number and the current revision; rows of `invoice_revisions` never
change.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.advisory_lock import advisory_lock
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    fetch_row,
    is_any_of,
    metadata,
    of_period,
    of_tenant,
)
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.document import (
    InvoiceDocument,
    InvoiceDraft,
    InvoiceSummary,
    decode_document,
    decode_summary,
)

# See docs/choices.md, invoice-numbers.

invoice_counters = sa.Table(
    "invoice_counters",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("last_number", sa.Integer, nullable=False),
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
    # of the current revision, to which no other can be added then
    sa.Column("sent_time", sa.DateTime(timezone=True)),
    sa.Column("sent_by", sa.Text),
    sa.Column("publish_time", sa.DateTime(timezone=True)),  # from when customers see it
    # an invoice that was sent and is not owed any more; it keeps its number
    sa.Column("cancelled_time", sa.DateTime(timezone=True)),
    sa.Column("cancelled_by", sa.Text),
    sa.Column("cancel_reason", sa.Text),
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
    sa.Column("taxable", sa.Numeric, nullable=False),  # the part of pre_tax that is taxed
    sa.Column("tax_rate", sa.Numeric, nullable=False),
    sa.Column("tax", sa.Numeric, nullable=False),
    sa.Column("total", sa.Numeric, nullable=False),
    sa.Column("pre_tax_usd", sa.Numeric, nullable=False),
    # the terms by which the portal prices the month's usage without decoding the document
    sa.Column("discount_rate", sa.Numeric, nullable=False),
    sa.Column("exchange_rate", sa.Numeric, nullable=False),
    # what the vendor charged, in the currency of the invoice, and the currency of the usage
    sa.Column("vendor_cost", sa.Numeric, nullable=False),
    sa.Column("cost_currency", sa.Text, nullable=False),
    sa.Column("issue_date", sa.Text, nullable=False),
    sa.Column("due_date", sa.Text),
    sa.Column("counterparty", sa.Text, nullable=False),  # the company that the invoice names
    sa.Column("warnings", ARRAY(sa.Text), nullable=False),
    sa.Column("saved_inputs", JSONB, nullable=False),  # to find outdated invoices
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

_invoices, _revisions = invoices.c, invoice_revisions.c
_INVOICE_KEY = ("organisation_id", "month", "company_id", "vendor")


D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class StoredInvoice(Generic[D]):
    """The current revision of an invoice, decoded completely or as a summary."""

    company_id: str
    vendor: str
    invoice_no: str
    document: D
    create_time: Any
    update_time: Any
    is_cancelled: bool = False


def format_invoice_no(month: str, number: int) -> str:
    return f"{month.replace('-', '')}-{number:04}"


@dataclass(frozen=True, slots=True)
class ExistingInvoice:
    """An invoice that exists already; its values stay valid while the lock is held."""

    number: int
    revision: int
    is_sent: bool
    is_cancelled: bool
    created_by_run: bool  # by an earlier attempt of the same run


class NumberedDraft(NamedTuple):
    """An invoice that is ready to be stored."""

    number: int
    revision: int
    draft: InvoiceDraft


# One statement for any number of invoices, in the syntax of the driver.
_INSERT_REVISIONS = """
WITH drafts AS (
    SELECT * FROM unnest($4::text[], $5::integer[], $6::integer[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
        $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[],
        $22::text[], $23::text[])
    AS drafts (company_id, number, revision, currency, pre_tax, taxable, tax_rate, tax, total,
        pre_tax_usd, discount_rate, exchange_rate, vendor_cost, cost_currency, issue_date, due_date,
        counterparty, warnings, saved_inputs, document)
), heads AS (
    INSERT INTO invoices
        (organisation_id, month, company_id, vendor, number, revision, create_time, update_time)
    SELECT $1, $2, company_id, $3, number, revision, now(), now() FROM drafts
    ON CONFLICT (organisation_id, month, company_id, vendor)
        DO UPDATE SET revision = excluded.revision, update_time = now()
)
INSERT INTO invoice_revisions
    (organisation_id, month, company_id, vendor, revision, run_id, currency, pre_tax, taxable,
        tax_rate, tax, total, pre_tax_usd, discount_rate, exchange_rate, vendor_cost, cost_currency,
        issue_date, due_date, counterparty, warnings, saved_inputs, document, create_time)
SELECT $1, $2, company_id, $3, revision, $24, currency, pre_tax::numeric, taxable::numeric,
    tax_rate::numeric, tax::numeric, total::numeric, pre_tax_usd::numeric, discount_rate::numeric,
    exchange_rate::numeric, vendor_cost::numeric, cost_currency, issue_date, due_date,
    counterparty, string_to_array(warnings, ' '), saved_inputs::jsonb, document, now()
FROM drafts
"""


async def lock_invoices(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_ids: Collection[str],
    run_id: str | None = None,
) -> dict[str, ExistingInvoice]:
    """Lock the invoices of the period until the transaction ends; return those of these groups.

    One lock covers the whole period, because creating invoices waits for the counter anyway.
    """
    await advisory_lock(db, f"invoices {scope.organisation_id} {period.month} {period.vendor}")
    created_by_run = sa.exists().where(
        of_tenant(invoice_revisions, scope),
        _revisions.run_id == run_id,
        _revisions.company_id == _invoices.company_id,
    )
    stmt = sa.select(
        _invoices.company_id,
        _invoices.number,
        _invoices.revision,
        _invoices.sent_time.is_not(None),
        _invoices.cancelled_time.is_not(None),
        created_by_run,
    ).where(
        of_tenant(invoices, scope),
        of_period(invoices, period),
        is_any_of(_invoices.company_id, company_ids),
    )
    return {row[0]: ExistingInvoice(*row[1:]) for row in await db.execute(stmt)}


async def allocate_numbers(
    db: AsyncConnection, scope: TenantScope, month: str, count: int
) -> Iterator[int]:
    """Allocate consecutive numbers; a rollback returns them, so that there are no gaps.

    The counter stays locked until the transaction ends, so call this as late as possible.
    """
    if not count:
        return iter(())
    stmt = insert(invoice_counters).values(
        organisation_id=scope.organisation_id, month=month, last_number=count
    )
    result = await db.execute(
        stmt.on_conflict_do_update(
            index_elements=["organisation_id", "month"],
            set_={"last_number": invoice_counters.c.last_number + count},
        ).returning(invoice_counters.c.last_number)
    )
    last = int(result.scalar_one())
    return iter(range(last - count + 1, last + 1))


async def add_revisions(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    run_id: str,
    numbered_drafts: Sequence[NumberedDraft],
) -> None:
    """Store the drafts as the current revisions; earlier revisions stay unchanged."""
    numbers, revisions, drafts = zip(*numbered_drafts, strict=True)
    await fetch_row(
        db,
        _INSERT_REVISIONS,
        scope.organisation_id,
        period.month,
        period.vendor,
        [draft.company_id for draft in drafts],
        list(numbers),
        list(revisions),
        [draft.currency for draft in drafts],
        [str(draft.pre_tax) for draft in drafts],
        [str(draft.taxable) for draft in drafts],
        [str(draft.tax_rate) for draft in drafts],
        [str(draft.tax) for draft in drafts],
        [str(draft.total) for draft in drafts],
        [str(draft.pre_tax_usd) for draft in drafts],
        [str(draft.discount_rate) for draft in drafts],
        [str(draft.exchange_rate) for draft in drafts],
        [str(draft.vendor_cost) for draft in drafts],
        [draft.cost_currency for draft in drafts],
        [draft.issue_date for draft in drafts],
        [draft.due_date for draft in drafts],
        [draft.counterparty for draft in drafts],
        [" ".join(draft.warnings) for draft in drafts],
        [draft.saved_inputs for draft in drafts],
        [
            draft.encode_with_number(format_invoice_no(period.month, number), revision)
            for number, revision, draft in numbered_drafts
        ],
        run_id,
    )


async def list_invoices(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    *,
    vendor: str | None = None,
    company_ids: Collection[str] | None = None,
    with_cancelled: bool = True,
    conditions: Sequence[sa.ColumnElement[bool]] = (),
) -> list[StoredInvoice[InvoiceDocument]]:
    """List the current invoices of groups that the caller may see, by number."""
    return await load_invoices(
        db,
        scope,
        month,
        decode_document,
        vendor=vendor,
        company_ids=company_ids,
        with_cancelled=with_cancelled,
        conditions=conditions,
    )


async def list_invoice_summaries(
    db: AsyncConnection, scope: TenantScope, month: str
) -> list[StoredInvoice[InvoiceSummary]]:
    """List the same invoices without their lines."""
    return await load_invoices(db, scope, month, decode_summary)


async def load_invoices(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    decode: Callable[[str], D],
    *,
    vendor: str | None = None,
    company_ids: Collection[str] | None = None,
    with_cancelled: bool = True,
    conditions: Sequence[sa.ColumnElement[bool]] = (),
) -> list[StoredInvoice[D]]:
    stmt = (
        sa.select(
            _revisions.company_id,
            _revisions.vendor,
            _invoices.number,
            _revisions.document,
            _invoices.create_time,
            _invoices.update_time,
            _invoices.cancelled_time,
        )
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .join(billing_groups, join_group())
        .where(
            of_tenant(invoices, scope),
            _invoices.month == month,
            *filter_visible_groups(scope),
            *conditions,
        )
        .order_by(_invoices.number)
    )
    if vendor is not None:
        stmt = stmt.where(_invoices.vendor == vendor)
    if company_ids is not None:
        stmt = stmt.where(is_any_of(_invoices.company_id, company_ids))
    if not with_cancelled:
        stmt = stmt.where(_invoices.cancelled_time.is_(None))
    return [
        StoredInvoice(
            company_id=row.company_id,
            vendor=row.vendor,
            invoice_no=format_invoice_no(month, row.number),
            document=decode(row.document),
            create_time=row.create_time,
            update_time=row.update_time,
            is_cancelled=row.cancelled_time is not None,
        )
        for row in await db.execute(stmt)
    ]


async def list_revisions(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    *,
    revision: int | None = None,
) -> Sequence[Row]:
    """List all revisions or one, the newest first; none if the caller cannot see the group."""
    stmt = (
        sa.select(_revisions.revision, _revisions.document, _revisions.create_time)
        .join_from(invoice_revisions, billing_groups, join_group(invoice_revisions))
        .where(
            of_tenant(invoice_revisions, scope),
            of_period(invoice_revisions, period),
            _revisions.company_id == company_id,
            *filter_visible_groups(scope),
        )
        .order_by(_revisions.revision.desc())
    )
    if revision is not None:
        stmt = stmt.where(_revisions.revision == revision)
    return (await db.execute(stmt)).all()


def join_revision(*, current: bool) -> sa.ColumnElement[bool]:
    """Join revisions with their invoice; with `current`, only the current revision."""
    same_invoice = join_invoice(invoice_revisions)
    if not current:
        return same_invoice
    return same_invoice & (_invoices.revision == _revisions.revision)


def join_invoice(table: sa.FromClause) -> sa.ColumnElement[bool]:
    """Join rows that belong to an invoice with it."""
    return sa.and_(*(_invoices[name] == table.c[name] for name in _INVOICE_KEY))


def sum_by_invoice(
    scope: TenantScope, amount: sa.Column[Decimal], *conditions: sa.ColumnElement[bool]
) -> sa.Subquery:
    """The sums of an amount of a table whose rows belong to invoices, as `amount`."""
    keys = [amount.table.c[name] for name in _INVOICE_KEY]
    stmt = sa.select(*keys, sa.func.sum(amount).label("amount"))
    stmt = stmt.where(of_tenant(amount.table, scope), *conditions)
    return stmt.group_by(*keys).subquery()


def join_group(table: sa.Table = invoices) -> sa.ColumnElement[bool]:
    return (billing_groups.c.organisation_id == table.c.organisation_id) & (
        billing_groups.c.company_id == table.c.company_id
    )
