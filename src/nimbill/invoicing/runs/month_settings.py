"""The invoice settings, exchange rates and memos saved for a month before it is invoiced."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.fee_targets import FeeTargets
from nimbill.customers.billing_groups.invoice_setting_records import invoice_settings
from nimbill.customers.billing_groups.records import (
    InvoiceSetting,
    billing_groups,
    filter_visible_groups,
)
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, metadata
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BilledVendor

SETTING_FIELDS = InvoiceSetting.__struct_fields__
FEE_TARGET_COLUMNS = tuple(FeeTargets.__dataclass_fields__)
_COPIED_COLUMNS = (*SETTING_FIELDS, *FEE_TARGET_COLUMNS)
_get_setting, _get_fee_targets = attrgetter(*SETTING_FIELDS), attrgetter(*FEE_TARGET_COLUMNS)
_KEY = ("organisation_id", "month", "vendor", "company_id")

monthly_invoice_settings = sa.Table(
    "monthly_invoice_settings",
    metadata,
    *(sa.Column(name, sa.Text, primary_key=True) for name in _KEY),
    *(
        sa.Column(name, invoice_settings.c[name].type, nullable=invoice_settings.c[name].nullable)
        for name in _COPIED_COLUMNS
    ),
    sa.Column("memo", sa.Text),
    sa.Column("exchange_rate", sa.Numeric),  # null until it is saved in a later request
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
_saved = monthly_invoice_settings.c


@dataclass(frozen=True, slots=True)
class NewMonthlySetting:
    """The setting of a billing group that is saved for a month."""

    company_id: str
    vendor: str
    setting: InvoiceSetting
    fee_targets: FeeTargets
    memo: str | None


async def list_visible_groups(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str] | None = None
) -> list[str]:
    """List the visible groups among these, or all visible groups, by billinggroup_id."""
    stmt = sa.select(billing_groups.c.company_id).where(*filter_visible_groups(scope))
    if company_ids is not None:
        stmt = stmt.where(is_any_of(billing_groups.c.company_id, company_ids))
    return list((await db.execute(stmt.order_by(billing_groups.c.billinggroup_id))).scalars())


async def list_default_vendors(db: AsyncConnection, scope: TenantScope) -> set[BilledVendor]:
    """The vendors for which a visible group has a default setting."""
    stmt = (
        sa.select(invoice_settings.c.vendor)
        .distinct()
        .join_from(
            invoice_settings,
            billing_groups,
            (billing_groups.c.organisation_id == invoice_settings.c.organisation_id)
            & (billing_groups.c.company_id == invoice_settings.c.company_id),
        )
        .where(*filter_visible_groups(scope))
    )
    return {vendor for (vendor,) in await db.execute(stmt)}


async def copy_defaults(
    db: AsyncConnection, scope: TenantScope, month: str, vendors: Collection[str]
) -> None:
    """Copy the default settings of all visible groups; saved rates and memos stay."""
    defaults = (
        sa.select(
            sa.literal(scope.organisation_id),
            sa.literal(month),
            invoice_settings.c.vendor,
            invoice_settings.c.company_id,
            *(invoice_settings.c[name] for name in _COPIED_COLUMNS),
        )
        .join_from(
            invoice_settings,
            billing_groups,
            (billing_groups.c.organisation_id == invoice_settings.c.organisation_id)
            & (billing_groups.c.company_id == invoice_settings.c.company_id),
        )
        .where(
            invoice_settings.c.organisation_id == scope.organisation_id,
            is_any_of(invoice_settings.c.vendor, vendors),
            *filter_visible_groups(scope),
        )
    )
    stmt = insert(monthly_invoice_settings).from_select([*_KEY, *_COPIED_COLUMNS], defaults)
    changes = {name: stmt.excluded[name] for name in _COPIED_COLUMNS} | {
        "update_time": sa.func.now()
    }
    await db.execute(stmt.on_conflict_do_update(index_elements=list(_KEY), set_=changes))


async def save_settings(
    db: AsyncConnection, scope: TenantScope, month: str, settings: Sequence[NewMonthlySetting]
) -> None:
    """Saved exchange rates stay."""
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "month": month,
            "vendor": setting.vendor,
            "company_id": setting.company_id,
            **{name: getattr(setting.setting, name) for name in SETTING_FIELDS},
            **asdict(setting.fee_targets),
            "memo": setting.memo,
        }
        for setting in settings
    ]
    stmt = insert(monthly_invoice_settings)
    changes: dict[str, Any] = {name: stmt.excluded[name] for name in (*_COPIED_COLUMNS, "memo")}
    changes["update_time"] = sa.func.now()
    if rows:
        await db.execute(stmt.on_conflict_do_update(index_elements=list(_KEY), set_=changes), rows)


async def save_rates(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_ids: Collection[str],
    rate: Decimal,
) -> set[str]:
    """Save the rate; return the groups that have saved settings, and so have a rate now."""
    updated = await db.execute(
        sa.update(monthly_invoice_settings)
        .where(
            _saved.organisation_id == scope.organisation_id,
            _saved.month == period.month,
            _saved.vendor == period.vendor,
            is_any_of(_saved.company_id, company_ids),
        )
        .values(exchange_rate=rate, update_time=sa.func.now())
        .returning(_saved.company_id)
    )
    return set(updated.scalars())


async def load_saved_settings(
    db: AsyncConnection, scope: TenantScope, month: str, company_ids: Collection[str]
) -> Mapping[tuple[str, str], Row]:
    """Load the saved settings by company_id and vendor."""
    stmt = sa.select(monthly_invoice_settings).where(
        _saved.organisation_id == scope.organisation_id,
        _saved.month == month,
        is_any_of(_saved.company_id, company_ids),
    )
    return {(row.company_id, row.vendor): row for row in await db.execute(stmt)}


async def load_earlier_fee_targets(
    db: AsyncConnection, scope: TenantScope, month: str, company_ids: Collection[str]
) -> Mapping[tuple[str, str], FeeTargets]:
    """Load the fee targets that a new setting keeps where it does not state them.

    They come from the saved setting of the month, or else from the group's default setting.
    """
    default_stmt = sa.select(
        invoice_settings.c.company_id,
        invoice_settings.c.vendor,
        *(invoice_settings.c[name] for name in FEE_TARGET_COLUMNS),
    ).where(
        invoice_settings.c.organisation_id == scope.organisation_id,
        is_any_of(invoice_settings.c.company_id, company_ids),
    )
    defaults = {(row[0], row[1]): FeeTargets(*row[2:]) for row in await db.execute(default_stmt)}
    saved = await load_saved_settings(db, scope, month, company_ids)
    return defaults | {key: read_fee_targets(row) for key, row in saved.items()}


def read_fee_targets(row: Row) -> FeeTargets:
    return FeeTargets(*_get_fee_targets(row))


def read_setting_fields(row: Row | Any) -> dict[str, Any]:
    """Return the 17 fields of the setting as last sent."""
    return dict(zip(SETTING_FIELDS, _get_setting(row), strict=True))
