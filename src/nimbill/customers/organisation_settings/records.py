"""Stored settings of an organisation; what was never changed has its default."""

from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.organisation_settings.bodies import OrganisationSettings
from nimbill.database.tenant_scope import Row, TenantScope, metadata
from nimbill.foundation import exact_json

__all__ = ["OrganisationSettings"]  # invoices are worked out by them

# as JSON text, so that rates keep the digits they were sent with; what refers to a record is
# a column of its own, so that the record cannot go
organisation_settings = sa.Table(
    "organisation_settings",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("invoice_template_id", sa.Text),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def settings_of(db: AsyncConnection, scope: TenantScope) -> OrganisationSettings:
    row = (await db.execute(_one(scope))).one_or_none()
    return OrganisationSettings() if row is None else _settings(row)


async def settings_for_change(db: AsyncConnection, scope: TenantScope) -> OrganisationSettings:
    """Locked until the transaction ends, the very first time too: no change undoes another."""
    first = insert(organisation_settings).values(
        organisation_id=scope.organisation_id, settings="{}"
    )
    await db.execute(first.on_conflict_do_nothing())
    return _settings((await db.execute(_one(scope).with_for_update())).one())


def _one(scope: TenantScope) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(organisation_settings).where(
        organisation_settings.c.organisation_id == scope.organisation_id
    )


def _settings(row: Row) -> OrganisationSettings:
    stored = exact_json.read_own(row.settings)
    stored["invoice_template_id"] = row.invoice_template_id
    return msgspec.convert(stored, OrganisationSettings)


async def change_settings(
    db: AsyncConnection, scope: TenantScope, settings: OrganisationSettings
) -> None:
    await db.execute(
        sa.update(organisation_settings)
        .where(organisation_settings.c.organisation_id == scope.organisation_id)
        .values(
            settings=exact_json.write(settings).decode(),
            invoice_template_id=settings.invoice_template_id,
            update_time=sa.func.now(),
        )
    )
