"""Queries of the archive: invoices, replaced ones too, and credit notes, in one list."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.credit_notes.records import credit_notes, format_credit_note_no
from nimbill.customers.billing_groups.records import (
    billing_groups,
    filter_visible_groups,
    match_group_text,
)
from nimbill.database.list_query import ListColumns, ListQuery, contains_text, fetch_page
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_tenant
from nimbill.foundation.currency import Currency
from nimbill.invoicing.documents.invoice_number_text import select_invoice_no
from nimbill.invoicing.documents.replaced_invoices import replaced_invoices
from nimbill.invoicing.documents.stored_invoices import (
    format_invoice_no,
    invoice_revisions,
    invoices,
    join_group,
    join_invoice,
    join_revision,
    sum_by_invoice,
)
from nimbill.issuing.archive.bodies import ArchivedDocument, DocumentKind, DocumentState
from nimbill.issuing.archive.document_filter import DocumentFilter

_invoices, _revisions, _notes = invoices.c, invoice_revisions.c, credit_notes.c
_replaced = replaced_invoices.c


def _invoice_state(credited: sa.Subquery) -> sa.ColumnElement[str]:
    return sa.case(
        (_invoices.cancelled_time.is_not(None), DocumentState.cancelled.value),
        (credited.c.amount == _revisions.total, DocumentState.credited.value),
        (_invoices.sent_time.is_not(None), DocumentState.sent.value),
        else_=DocumentState.created.value,
    )


def _select_documents(scope: TenantScope, counterparty: str | None) -> sa.Subquery:
    """All kinds with the same columns, of groups that the caller may see.

    A counterparty is found by the name on the document and by the present names and ids.
    """
    credited = sum_by_invoice(scope, _notes.total)
    of_invoices = (
        _select_revisions(invoices, _invoice_state(credited))
        .join(invoice_revisions, join_revision(current=True))
        .outerjoin(credited, join_invoice(credited))
    )
    of_replaced = _select_revisions(
        replaced_invoices, sa.literal(DocumentState.replaced.value)
    ).join(invoice_revisions, _join_replaced_revision())
    selects = [
        (of_invoices, invoices, _revisions.counterparty),
        (of_replaced, replaced_invoices, _revisions.counterparty),
        (_select_notes(), credit_notes, _notes.counterparty),
    ]
    return sa.union_all(
        *(
            stmt.join(billing_groups, join_group(table)).where(
                of_tenant(table, scope),
                *filter_visible_groups(scope),
                *_match_counterparty(name, counterparty),
            )
            for stmt, table, name in selects
        )
    ).subquery("documents")


def _select_revisions(
    table: sa.Table, state: sa.ColumnElement[str]
) -> sa.Select[*tuple[object, ...]]:
    """The columns of invoices; the table has their numbers."""
    return sa.select(
        table.c.organisation_id,
        sa.literal(DocumentKind.invoice.value).label("kind"),
        table.c.month.label("number_month"),
        table.c.number,
        _revisions.revision.label("revision"),
        sa.null().cast(sa.Text).label("credit_note_id"),
        _revisions.issue_date,
        table.c.month,
        table.c.vendor,
        table.c.company_id,
        _revisions.counterparty,
        _revisions.currency,
        _revisions.pre_tax,
        _revisions.tax,
        _revisions.total,
        state.label("state"),
    ).select_from(table)


def _select_notes() -> sa.Select[*tuple[object, ...]]:
    return sa.select(
        _notes.organisation_id,
        sa.literal(DocumentKind.credit_note.value).label("kind"),
        _notes.issue_month.label("number_month"),
        _notes.number,
        sa.null().cast(sa.Integer).label("revision"),
        _notes.credit_note_id,
        _notes.issue_date,
        _notes.month,
        _notes.vendor,
        _notes.company_id,
        _notes.counterparty,
        _notes.currency,
        _notes.pre_tax,
        _notes.tax,
        _notes.total,
        sa.literal(DocumentState.issued.value).label("state"),
    ).select_from(credit_notes)


def _match_counterparty(
    name: sa.ColumnElement[str], counterparty: str | None
) -> Iterator[sa.ColumnElement[bool]]:
    if counterparty is not None:
        yield contains_text([name], counterparty) | match_group_text(counterparty)


def _join_replaced_revision() -> sa.ColumnElement[bool]:
    return sa.and_(
        _replaced.organisation_id == _revisions.organisation_id,
        _replaced.month == _revisions.month,
        _replaced.company_id == _revisions.company_id,
        _replaced.vendor == _revisions.vendor,
        _replaced.revision == _revisions.revision,
    )


async def list_documents(
    db: AsyncConnection, scope: TenantScope, selected: DocumentFilter, query: ListQuery
) -> tuple[list[ArchivedDocument], int]:
    """List documents, the newest first."""
    documents = _select_documents(scope, selected.counterparty)
    found = documents.c
    columns = ListColumns(
        table=documents,
        order=[
            found.issue_date.desc(),
            found.kind.desc(),
            found.number_month.desc(),
            found.number.desc(),
        ],
        searched=[select_invoice_no(found.number_month, found.number), found.counterparty],
        sortable={
            "issue_date": found.issue_date,
            "total": found.total,
            "counterparty": found.counterparty,
        },
    )
    stmt = sa.select(documents).where(*_conditions(documents, selected))
    rows, total = await fetch_page(db, scope, stmt, columns, replace(query, search=selected.search))
    return [_build_document(row) for row in rows], total


def _conditions(
    documents: sa.Subquery, selected: DocumentFilter
) -> Iterator[sa.ColumnElement[bool]]:
    found = documents.c
    if selected.date_from is not None:
        yield found.issue_date >= selected.date_from
    if selected.date_to is not None:
        yield found.issue_date <= selected.date_to
    if selected.amount_from is not None:
        yield found.total >= selected.amount_from
    if selected.amount_to is not None:
        yield found.total <= selected.amount_to
    if selected.currency is not None:
        yield found.currency == selected.currency.value
    if selected.kind is not None:
        yield found.kind == selected.kind.value
    if selected.state is not None:
        yield found.state == selected.state.value


def _build_document(row: Row) -> ArchivedDocument:
    kind = DocumentKind(row.kind)
    is_note = kind is DocumentKind.credit_note
    format_number = format_credit_note_no if is_note else format_invoice_no
    return ArchivedDocument(
        kind=kind,
        number=format_number(row.number_month, row.number),
        revision=row.revision,
        credit_note_id=row.credit_note_id,
        issue_date=row.issue_date,
        month=row.month,
        vendor=row.vendor,
        company_id=row.company_id,
        counterparty=row.counterparty,
        currency=Currency(row.currency),
        pre_tax=row.pre_tax,
        tax=row.tax,
        total=row.total,
        state=DocumentState(row.state),
    )


@dataclass(frozen=True, slots=True)
class StoredText:
    """A document and its stored text, byte for byte."""

    document: ArchivedDocument
    text: str


async def load_texts(
    db: AsyncConnection, scope: TenantScope, documents: Sequence[ArchivedDocument]
) -> list[StoredText]:
    """Load the stored texts of documents that the caller was shown, in their order."""
    key = sa.tuple_(_revisions.month, _revisions.company_id, _revisions.vendor, _revisions.revision)
    wanted = [_revision_key(each) for each in documents if each.kind is DocumentKind.invoice]
    stmt = sa.select(
        _revisions.month,
        _revisions.company_id,
        _revisions.vendor,
        _revisions.revision,
        _revisions.document,
    ).where(of_tenant(invoice_revisions, scope), key.in_(wanted))
    texts: dict[Any, str] = {tuple(row[:4]): row.document for row in await db.execute(stmt)}
    wanted_notes = [each.credit_note_id for each in documents if each.credit_note_id is not None]
    notes = sa.select(_notes.credit_note_id, _notes.document).where(
        of_tenant(credit_notes, scope), is_any_of(_notes.credit_note_id, wanted_notes)
    )
    texts |= {row.credit_note_id: row.document for row in await db.execute(notes)}
    return [
        StoredText(each, texts[each.credit_note_id or _revision_key(each)]) for each in documents
    ]


def _revision_key(document: ArchivedDocument) -> tuple[str, str, str, int | None]:
    return document.month, document.company_id, document.vendor, document.revision
