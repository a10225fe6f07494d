"""Stored invoice settings: one per billing group and vendor."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.bodies import InvoiceSetting, SupportFeeTarget
from nimbill.customers.billing_groups.fee_targets import FeeTargets
from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.foundation.vendors import BilledVendor

SETTING_FIELDS = InvoiceSetting.__struct_fields__


def _setting_column(name: str, type_: type) -> sa.Column[Any]:
    return sa.Column(name, sa.Text if type_ is str else sa.Numeric, nullable=False)


invoice_settings = sa.Table(
    "invoice_settings",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    *(_setting_column(name, InvoiceSetting.__annotations__[name]) for name in SETTING_FIELDS),
    sa.Column("substitution_basis", sa.Text, nullable=False),
    sa.Column("substitution_scope", sa.Text, nullable=False),
    sa.Column("support_basis", sa.Text, nullable=False),
    sa.Column("support_scope", sa.Text),
)


# What a billing group shows of a setting, behind its company_id and vendor.
SHOWN_COLUMNS = tuple(
    invoice_settings.c[name] for name in (*SETTING_FIELDS, "support_basis", "support_scope")
)


def build_setting(row: Row) -> InvoiceSetting:
    return InvoiceSetting(**dict(zip(SETTING_FIELDS, row[2:-2], strict=True)))


def build_support_target(row: Row) -> SupportFeeTarget:
    return SupportFeeTarget(usage=row[-2], scope=row[-1])


_INSERT_SETTINGS = sa.insert(invoice_settings)


def _build_row(
    scope: TenantScope,
    company_id: str,
    vendor: BilledVendor,
    setting: InvoiceSetting,
    targets: FeeTargets,
) -> dict[str, Any]:
    return {
        "organisation_id": scope.organisation_id,
        "company_id": company_id,
        "vendor": vendor,
        **{name: getattr(setting, name) for name in SETTING_FIELDS},
        **asdict(targets),
    }


async def add_invoice_settings(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str,
    settings: Mapping[BilledVendor, tuple[InvoiceSetting, FeeTargets]],
) -> None:
    rows = [
        _build_row(scope, company_id, vendor, setting, targets)
        for vendor, (setting, targets) in settings.items()
    ]
    await db.execute(_INSERT_SETTINGS, rows)


async def load_fee_targets(
    db: AsyncConnection, scope: TenantScope, company_id: str, vendor: BilledVendor
) -> FeeTargets | None:
    stmt = sa.select(*(invoice_settings.c[name] for name in FeeTargets.__dataclass_fields__)).where(
        of_tenant(invoice_settings, scope),
        invoice_settings.c.company_id == company_id,
        invoice_settings.c.vendor == vendor,
    )
    row = (await db.execute(stmt)).one_or_none()
    return None if row is None else FeeTargets(*row)


async def upsert_invoice_setting(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str,
    vendor: BilledVendor,
    setting: InvoiceSetting,
    targets: FeeTargets,
) -> None:
    row = _build_row(scope, company_id, vendor, setting, targets)
    key = ("organisation_id", "company_id", "vendor")
    await db.execute(
        insert(invoice_settings)
        .values(**row)
        .on_conflict_do_update(
            index_elements=list(key),
            set_={name: value for name, value in row.items() if name not in key},
        )
    )
