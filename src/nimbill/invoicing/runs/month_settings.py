"""What is saved for a month before its invoices are made: settings, rates, a memo."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import (
    InvoiceSetting,
    billing_groups,
    invoice_settings,
    visible,
)
from nimbill.customers.billing_groups.settled_terms import Settled
from nimbill.database.tenant_scope import Row, TenantScope, metadata, visible_rows

SETTING_FIELDS = InvoiceSetting.__struct_fields__
SETTLED_FIELDS = tuple(Settled.__dataclass_fields__)
_COPIED = (*SETTING_FIELDS, *SETTLED_FIELDS)
_read_setting, _read_settled = attrgetter(*SETTING_FIELDS), attrgetter(*SETTLED_FIELDS)
_KEY = ("organisation_id", "month", "vendor", "company_id")

saved_settings = sa.Table(
    "saved_settings",
    metadata,
    *(sa.Column(name, sa.Text, primary_key=True) for name in _KEY),
    *(
        sa.Column(name, invoice_settings.c[name].type, nullable=invoice_settings.c[name].nullable)
        for name in _COPIED
    ),
    sa.Column("memo", sa.Text),
    sa.Column("exchange_rate", sa.Numeric),  # null until it is saved, after the settings
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)
_saved = saved_settings.c


@dataclass(frozen=True, slots=True)
class NewSetting:
    """A group's terms for the month, as they are to be saved."""

    company_id: str
    vendor: str
    setting: InvoiceSetting
    settled: Settled
    memo: str | None


async def visible_groups(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str] | None = None
) -> list[str]:
    """Those of the groups that the caller may see, in a settled order; all of them by default."""
    question = sa.select(billing_groups.c.company_id).where(*visible(scope))
    if company_ids is not None:
        question = question.where(visible_rows(billing_groups.c.company_id, company_ids))
    return list((await db.execute(question.order_by(billing_groups.c.billinggroup_id))).scalars())


async def copy_defaults(
    db: AsyncConnection, scope: TenantScope, month: str, vendors: Collection[str]
) -> None:
    """Every visible group's own settings become the month's; rates and memos stay."""
    defaults = (
        sa.select(
            sa.literal(scope.organisation_id),
            sa.literal(month),
            invoice_settings.c.vendor,
            invoice_settings.c.company_id,
            *(invoice_settings.c[name] for name in _COPIED),
        )
        .join_from(
            invoice_settings,
            billing_groups,
            (billing_groups.c.organisation_id == invoice_settings.c.organisation_id)
            & (billing_groups.c.company_id == invoice_settings.c.company_id),
        )
        .where(
            invoice_settings.c.organisation_id == scope.organisation_id,
            visible_rows(invoice_settings.c.vendor, vendors),
            *visible(scope),
        )
    )
    adding = insert(saved_settings).from_select([*_KEY, *_COPIED], defaults)
    changes = {name: adding.excluded[name] for name in _COPIED} | {"update_time": sa.func.now()}
    await db.execute(adding.on_conflict_do_update(index_elements=list(_KEY), set_=changes))


async def put_settings(
    db: AsyncConnection, scope: TenantScope, month: str, settings: Sequence[NewSetting]
) -> None:
    """Rates that were saved stay."""
    rows = [
        {
            "organisation_id": scope.organisation_id,
            "month": month,
            "vendor": new.vendor,
            "company_id": new.company_id,
            **{name: getattr(new.setting, name) for name in SETTING_FIELDS},
            **asdict(new.settled),
            "memo": new.memo,
        }
        for new in settings
    ]
    adding = insert(saved_settings)
    changes: dict[str, Any] = {name: adding.excluded[name] for name in (*_COPIED, "memo")}
    changes["update_time"] = sa.func.now()
    if rows:
        await db.execute(
            adding.on_conflict_do_update(index_elements=list(_KEY), set_=changes), rows
        )


async def put_rates(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: str,
    company_ids: Collection[str],
    rate: Decimal,
) -> set[str]:
    """Which of the groups have settings, and so a rate now."""
    changed = await db.execute(
        sa.update(saved_settings)
        .where(
            _saved.organisation_id == scope.organisation_id,
            _saved.month == month,
            _saved.vendor == vendor,
            visible_rows(_saved.company_id, company_ids),
        )
        .values(exchange_rate=rate, update_time=sa.func.now())
        .returning(_saved.company_id)
    )
    return set(changed.scalars())


async def saved_of(
    db: AsyncConnection, scope: TenantScope, month: str, company_ids: Collection[str]
) -> Mapping[tuple[str, str], Row]:
    """By company_id and vendor."""
    question = sa.select(saved_settings).where(
        _saved.organisation_id == scope.organisation_id,
        _saved.month == month,
        visible_rows(_saved.company_id, company_ids),
    )
    return {(row.company_id, row.vendor): row for row in await db.execute(question)}


async def settled_before(
    db: AsyncConnection, scope: TenantScope, month: str, company_ids: Collection[str]
) -> Mapping[tuple[str, str], Settled]:
    """What an open dimension keeps: the month's own, else that of the group's setting."""
    own = sa.select(
        invoice_settings.c.company_id,
        invoice_settings.c.vendor,
        *(invoice_settings.c[name] for name in SETTLED_FIELDS),
    ).where(
        invoice_settings.c.organisation_id == scope.organisation_id,
        visible_rows(invoice_settings.c.company_id, company_ids),
    )
    found = {(row[0], row[1]): Settled(*row[2:]) for row in await db.execute(own)}
    saved = await saved_of(db, scope, month, company_ids)
    return found | {key: settled(row) for key, row in saved.items()}


def settled(row: Row) -> Settled:
    return Settled(*_read_settled(row))


def setting_fields(row: Row | Any) -> dict[str, Any]:
    """The 17 fields as they were last sent."""
    return dict(zip(SETTING_FIELDS, _read_setting(row), strict=True))
