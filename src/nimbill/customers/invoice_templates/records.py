"""Stored invoice templates and the queries on them."""

from collections.abc import Collection, Sequence

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.invoice_templates.bodies import InvoiceTemplateBody
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata, of_tenant

invoice_templates = sa.Table(
    "invoice_templates",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("invoice_template_id", sa.Text, primary_key=True),
    sa.Column("content", JSONB, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)


def _match_id(scope: TenantScope, invoice_template_id: str) -> list[sa.ColumnElement[bool]]:
    return [
        of_tenant(invoice_templates, scope),
        invoice_templates.c.invoice_template_id == invoice_template_id,
    ]


async def list_invoice_templates(db: AsyncConnection, scope: TenantScope) -> Sequence[Row]:
    stmt = (
        sa.select(invoice_templates)
        .where(of_tenant(invoice_templates, scope))
        .order_by(invoice_templates.c.create_time, invoice_templates.c.invoice_template_id)
    )
    return (await db.execute(stmt)).all()


async def find_invoice_template(
    db: AsyncConnection, scope: TenantScope, invoice_template_id: str, *, lock: bool
) -> Row | None:
    stmt = sa.select(invoice_templates).where(*_match_id(scope, invoice_template_id))
    return (await db.execute(stmt.with_for_update() if lock else stmt)).one_or_none()


async def invoice_template_exists(
    db: AsyncConnection, scope: TenantScope, invoice_template_id: str
) -> bool:
    stmt = sa.select(sa.exists().where(*_match_id(scope, invoice_template_id)))
    return bool((await db.execute(stmt)).scalar_one())


async def list_existing_templates(
    db: AsyncConnection, scope: TenantScope, invoice_template_ids: Collection[str]
) -> set[str]:
    """Return those of these ids that name an invoice template."""
    stmt = sa.select(invoice_templates.c.invoice_template_id).where(
        of_tenant(invoice_templates, scope),
        is_any_of(invoice_templates.c.invoice_template_id, invoice_template_ids),
    )
    return set((await db.execute(stmt)).scalars())


async def add_invoice_template(
    db: AsyncConnection, scope: TenantScope, invoice_template_id: str, body: InvoiceTemplateBody
) -> None:
    await db.execute(
        sa.insert(invoice_templates).values(
            organisation_id=scope.organisation_id,
            invoice_template_id=invoice_template_id,
            content=msgspec.to_builtins(body),
        )
    )


async def change_invoice_template(
    db: AsyncConnection, scope: TenantScope, invoice_template_id: str, body: InvoiceTemplateBody
) -> bool:
    result = await db.execute(
        sa.update(invoice_templates)
        .where(*_match_id(scope, invoice_template_id))
        .values(content=msgspec.to_builtins(body))
    )
    return bool(result.rowcount)


async def delete_invoice_template(
    db: AsyncConnection, scope: TenantScope, invoice_template_id: str
) -> bool:
    result = await db.execute(
        sa.delete(invoice_templates).where(*_match_id(scope, invoice_template_id))
    )
    return bool(result.rowcount)
