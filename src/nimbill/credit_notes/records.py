"""Tables and queries of credit notes; a stored note never changes."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.credit_notes.document import CreditNoteDocument, decode_note, encode_note
from nimbill.customers.billing_groups.records import billing_groups, filter_visible_groups
from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_period, of_tenant
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.stored_invoices import join_group

credit_note_counters = sa.Table(
    "credit_note_counters",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("issue_month", sa.Text, primary_key=True),
    sa.Column("last_number", sa.Integer, nullable=False),
)

credit_notes = sa.Table(
    "credit_notes",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("credit_note_id", sa.Text, primary_key=True),
    sa.Column("issue_month", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("issue_date", sa.Text, nullable=False),
    sa.Column("counterparty", sa.Text, nullable=False),  # the company that the note names
    # the invoice
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("company_id", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("pre_tax", sa.Numeric, nullable=False),
    sa.Column("tax", sa.Numeric, nullable=False),
    sa.Column("total", sa.Numeric, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("created_by", sa.Text, nullable=False),
)

_notes = credit_notes.c


def format_credit_note_no(issue_month: str, number: int) -> str:
    return f"CN{issue_month.replace('-', '')}-{number:04}"


async def allocate_number(db: AsyncConnection, scope: TenantScope, issue_month: str) -> int:
    """Allocate the next number; a rollback returns it, so that there are no gaps."""
    stmt = insert(credit_note_counters).values(
        organisation_id=scope.organisation_id, issue_month=issue_month, last_number=1
    )
    result = await db.execute(
        stmt.on_conflict_do_update(
            index_elements=["organisation_id", "issue_month"],
            set_={"last_number": credit_note_counters.c.last_number + 1},
        ).returning(credit_note_counters.c.last_number)
    )
    return int(result.scalar_one())


async def add_note(
    db: AsyncConnection, scope: TenantScope, note: CreditNoteDocument, number: int, *, by: str
) -> None:
    await db.execute(
        sa.insert(credit_notes).values(
            organisation_id=scope.organisation_id,
            credit_note_id=note.credit_note_id,
            issue_month=note.issue_date[:7],
            number=number,
            issue_date=note.issue_date,
            counterparty=note.addressee.company_name,
            month=note.month,
            company_id=note.company_id,
            vendor=note.vendor,
            currency=note.currency.value,
            pre_tax=note.pre_tax,
            tax=note.tax,
            total=note.total,
            document=encode_note(note),
            create_time=sa.func.now(),
            created_by=by,
        )
    )


async def find_note(
    db: AsyncConnection, scope: TenantScope, credit_note_id: str
) -> CreditNoteDocument | None:
    """Find a note; None if the caller cannot see its group."""
    stmt = _select(scope).where(_notes.credit_note_id == credit_note_id)
    row = (await db.execute(stmt)).one_or_none()
    return None if row is None else decode_note(row.document)


async def list_notes_of_invoice(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_id: str
) -> Sequence[Row]:
    """List the notes of an invoice in the order of their creation."""
    stmt = _select(scope).where(of_period(credit_notes, period), _notes.company_id == company_id)
    return (await db.execute(stmt)).all()


async def list_notes_of_month(
    db: AsyncConnection, scope: TenantScope, issue_month: str
) -> Sequence[Row]:
    """List the notes that were issued in a month, by number."""
    return (await db.execute(_select(scope).where(_notes.issue_month == issue_month))).all()


def _select(scope: TenantScope) -> sa.Select[*tuple[object, ...]]:
    return (
        sa.select(_notes.document, _notes.create_time, _notes.created_by)
        .join_from(credit_notes, billing_groups, join_group(credit_notes))
        .where(of_tenant(credit_notes, scope), *filter_visible_groups(scope))
        .order_by(_notes.issue_month, _notes.number)
    )
