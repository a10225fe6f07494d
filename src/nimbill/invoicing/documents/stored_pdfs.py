"""The table of printed documents, and the queries on it; a stored file never changes."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, is_any_of, metadata, of_tenant

invoice_pdfs = sa.Table(
    "invoice_pdfs",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("pdf_id", sa.Text, primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)


async def find_pdfs(
    db: AsyncConnection, scope: TenantScope, pdf_ids: Collection[str]
) -> dict[str, bytes]:
    """Return those of the PDFs that are stored."""
    stmt = sa.select(invoice_pdfs.c.pdf_id, invoice_pdfs.c.content).where(
        of_tenant(invoice_pdfs, scope), is_any_of(invoice_pdfs.c.pdf_id, pdf_ids)
    )
    return {row.pdf_id: row.content for row in await db.execute(stmt)}


async def store_pdf(db: AsyncConnection, scope: TenantScope, pdf_id: str, content: bytes) -> bytes:
    """Store the PDF unless one exists; return the PDF that was stored first."""
    inserted = await db.execute(
        insert(invoice_pdfs)
        .values(organisation_id=scope.organisation_id, pdf_id=pdf_id, content=content)
        .on_conflict_do_nothing()
        .returning(invoice_pdfs.c.pdf_id)
    )
    if inserted.first() is not None:
        return content
    return (await find_pdfs(db, scope, [pdf_id]))[pdf_id]
