"""Tables and queries of stored invoices.

A row of `invoices` holds the number and the current revision; rows of `invoice_revisions` never
change.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSON, JSONB, Insert, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.advisory_lock import advisory_lock
from nimbill.database.tenant_scope import (
    Row,
    TenantScope,
    is_any_of,
    metadata,
    of_period,
    of_tenant,
)
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import Currency
from nimbill.invoicing.documents.document import (
    InvoiceAmounts,
    InvoiceDocument,
    InvoiceDraft,
    InvoiceSummary,
    decode_document,
    decode_summary,
    decode_vendor_charges,
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
    # `stock` of the document; null in revisions from before this column
    sa.Column("vendor_charges", JSONB),
)

_invoices, _revisions = invoices.c, invoice_revisions.c
_INVOICE_KEY = ("organisation_id", "month", "company_id", "vendor")
_TEXTS = ARRAY(sa.Text)


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
    now = sa.func.now()
    same: dict[str, sa.ColumnElement[Any]] = {
        "organisation_id": sa.literal(scope.organisation_id),
        "month": sa.literal(period.month),
        "vendor": sa.literal(period.vendor),
        "create_time": now,
    }
    heads = _insert_rows(
        invoices,
        [
            {"company_id": draft.company_id, "number": number, "revision": revision}
            for number, revision, draft in numbered_drafts
        ],
        same | {"update_time": now},
    )
    changes = {"revision": heads.excluded.revision, "update_time": now}
    await db.execute(heads.on_conflict_do_update(index_elements=_INVOICE_KEY, set_=changes))
    rows = [
        {
            "company_id": draft.company_id,
            "revision": revision,
            **draft.columns,
            "document": draft.encode_with_number(format_invoice_no(period.month, number), revision),
        }
        for number, revision, draft in numbered_drafts
    ]
    await db.execute(_insert_rows(invoice_revisions, rows, same | {"run_id": sa.literal(run_id)}))


def _insert_rows(
    table: sa.Table, rows: Sequence[Mapping[str, object]], same: Mapping[str, sa.ColumnElement[Any]]
) -> Insert:
    """Insert any number of rows with one parameter per column; `same` is equal in all of them."""
    given = (
        sa.func.unnest(
            *(sa.literal([_format_value(row[name]) for row in rows], _TEXTS) for name in rows[0])
        )
        .table_valued(*rows[0], name="given")
        .render_derived()
    )
    values = [sa.cast(given.c[name], table.c[name].type) for name in rows[0]]
    stmt = sa.select(*values, *same.values())
    return insert(table).from_select([*rows[0], *same], stmt)


def _format_value(value: object) -> str | None:
    """Format a value as text that PostgreSQL converts to the type of the column."""
    if isinstance(value, tuple):
        return f"{{{','.join(value)}}}"
    return None if value is None else str(value)


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
    db: AsyncConnection, scope: TenantScope, month: str, company_ids: Collection[str]
) -> list[StoredInvoice[InvoiceSummary]]:
    """List the invoices of these groups without their lines."""
    return await load_invoices(db, scope, month, decode_summary, company_ids=company_ids)


async def list_invoice_amounts(
    db: AsyncConnection, scope: TenantScope, month: str
) -> list[InvoiceAmounts]:
    """List the amounts of all invoices; documents are read only where a column is missing."""
    in_document = sa.cast(_revisions.document, JSON)["stock"].astext
    stmt = _select_current(
        scope,
        month,
        _revisions.company_id,
        _revisions.vendor,
        _invoices.number,
        _revisions.currency,
        _revisions.exchange_rate,
        _revisions.pre_tax,
        sa.func.coalesce(sa.cast(_revisions.vendor_charges, sa.Text), in_document).label("charges"),
        _invoices.cancelled_time,
    )
    return [
        InvoiceAmounts(
            company_id=row.company_id,
            vendor=row.vendor,
            invoice_no=format_invoice_no(month, row.number),
            currency=Currency(row.currency),
            exchange_rate=row.exchange_rate,
            pre_tax=row.pre_tax,
            stock=decode_vendor_charges(row.charges),
            is_cancelled=row.cancelled_time is not None,
        )
        for row in await db.execute(stmt)
    ]


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
    stmt = _select_current(
        scope,
        month,
        _revisions.company_id,
        _revisions.vendor,
        _invoices.number,
        _revisions.document,
        _invoices.create_time,
        _invoices.update_time,
        _invoices.cancelled_time,
    ).where(*conditions)
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


def _select_current(
    scope: TenantScope, month: str, *columns: sa.Column[Any] | sa.ColumnElement[Any]
) -> sa.Select[*tuple[Any, ...]]:
    """The current invoices of groups that the caller may see, by number."""
    return (
        sa.select(*columns)
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .join(billing_groups, join_group())
        .where(of_tenant(invoices, scope), _invoices.month == month, *filter_visible_groups(scope))
        .order_by(_invoices.number)
    )


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
