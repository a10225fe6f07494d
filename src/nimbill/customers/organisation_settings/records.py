"""Stored organisation settings. Settings that were never changed have their default."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.organisation_settings.bodies import (
    OrganisationSettings,
    PortalInvoices,
    SettingUpdateMode,
)
from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_given_tenant, of_tenant
from nimbill.foundation import exact_json
from nimbill.foundation.product import PRODUCT_NAME
from nimbill.foundation.user_kind import PORTAL_USER_KINDS

__all__ = ["OrganisationSettings", "PortalInvoices", "SettingUpdateMode"]

# The settings are JSON text, so that rates keep their digits. The invoice template has its own
# column with a foreign key, so that a template in use cannot be deleted.
organisation_settings = sa.Table(
    "organisation_settings",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("invoice_template_id", sa.Text),
    # a column of its own, because packages below this one read it
    sa.Column("approval_required", ARRAY(sa.Text), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


async def load_settings(db: AsyncConnection, scope: TenantScope) -> OrganisationSettings:
    row = (await db.execute(_select_settings(scope))).one_or_none()
    return OrganisationSettings() if row is None else _parse_settings(row)


async def lock_settings(db: AsyncConnection, scope: TenantScope) -> OrganisationSettings:
    """Lock the row until the transaction ends, so that no concurrent change is lost.

    Without a row there is nothing to lock, so it is inserted first.
    """
    stmt = insert(organisation_settings).values(
        organisation_id=scope.organisation_id, settings="{}"
    )
    await db.execute(stmt.on_conflict_do_nothing())
    return _parse_settings((await db.execute(_select_settings(scope).with_for_update())).one())


async def load_vendors(
    db: AsyncConnection, scope: TenantScope, lock: bool = False
) -> Sequence[str]:
    """Load the vendors that the organisation bills.

    With `lock` nobody can disable one of them until the transaction ends.
    """
    stmt = _LOAD_VENDORS.with_for_update(read=True) if lock else _LOAD_VENDORS
    values = {"organisation_id": scope.organisation_id}
    row = (await db.execute(stmt, values)).one_or_none()
    return (OrganisationSettings() if row is None else _parse_settings(row)).vendors


# built once, because every request that names a vendor executes it
_LOAD_VENDORS = sa.select(organisation_settings).where(of_given_tenant(organisation_settings))


async def requires_second_factor(db: AsyncConnection, scope: TenantScope, user: Row) -> bool:
    """Return whether users of this kind, staff or customers, must have a second factor."""
    settings = await load_settings(db, scope)
    if user.kind in PORTAL_USER_KINDS:
        return settings.customers_need_second_factor
    return settings.staff_needs_second_factor


async def find_issuer_name(db: AsyncConnection, scope: TenantScope, user: Row) -> str:
    """Return the name of the portal for its users, and of the product for staff."""
    if user.kind not in PORTAL_USER_KINDS:
        return PRODUCT_NAME
    return (await load_settings(db, scope)).portal_name or PRODUCT_NAME


def _select_settings(scope: TenantScope) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(organisation_settings).where(of_tenant(organisation_settings, scope))


def _parse_settings(row: Row) -> OrganisationSettings:
    stored = exact_json.decode_stored(row.settings)
    stored["invoice_template_id"] = row.invoice_template_id
    stored["approval_required"] = row.approval_required
    return msgspec.convert(stored, OrganisationSettings)


async def store_settings(
    db: AsyncConnection, scope: TenantScope, settings: OrganisationSettings
) -> None:
    await db.execute(
        sa.update(organisation_settings)
        .where(of_tenant(organisation_settings, scope))
        .values(
            settings=exact_json.encode(settings).decode(),
            invoice_template_id=settings.invoice_template_id,
            approval_required=list(settings.approval_required),
            update_time=sa.func.now(),
        )
    )
