"""Tables of budgets and of mailed alerts, and the queries on them."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.invoice_setting_records import invoice_settings
from nimbill.database.tenant_scope import TenantScope, metadata, of_tenant
from nimbill.foundation import exact_json
from nimbill.foundation.currency import Currency
from nimbill.foundation.language import Language
from nimbill.portal.account_groups.records import account_groups
from nimbill.portal.budgets.bodies import AlertSettings, Budget, Threshold

budget_settings = sa.Table(
    "budget_settings",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("budgets", sa.Text, nullable=False),
    sa.Column("alerts_enabled", sa.Boolean, nullable=False),
    sa.Column("alert_recipients", ARRAY(sa.Text), nullable=False),
    sa.Column("alert_language", sa.Text),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)

# One row for each mail that was sent, so that none is sent twice.
budget_alerts = sa.Table(
    "budget_alerts",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("company_id", sa.Text, primary_key=True),
    sa.Column("budget_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("percent_of", sa.Text, primary_key=True),
    sa.Column("percent", sa.Integer, primary_key=True),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)

NO_ALERTS = AlertSettings(enabled=False, recipients=[])


async def list_budgets(db: AsyncConnection, scope: TenantScope, company_id: str) -> list[Budget]:
    stmt = sa.select(budget_settings.c.budgets).where(*_is_company(scope, company_id))
    stored: str | None = (await db.execute(stmt)).scalar_one_or_none()
    return msgspec.convert(exact_json.decode_stored(stored or "[]"), list[Budget])


async def lock_budgets(db: AsyncConnection, scope: TenantScope, company_id: str) -> list[Budget]:
    """List the budgets and lock the list until the transaction ends, also an empty one."""
    key = {"organisation_id": scope.organisation_id, "company_id": company_id}
    await db.execute(insert(budget_settings).values(**key).on_conflict_do_nothing())
    stmt = sa.select(budget_settings.c.budgets).where(*_is_company(scope, company_id))
    stored: str = (await db.execute(stmt.with_for_update())).scalar_one()
    return msgspec.convert(exact_json.decode_stored(stored), list[Budget])


async def store_budgets(
    db: AsyncConnection, scope: TenantScope, company_id: str, budgets: Sequence[Budget]
) -> None:
    """Replace the list in one statement: of two concurrent changes, the later one counts."""
    await _store(db, scope, company_id, budgets=exact_json.encode(list(budgets)).decode())


async def load_alert_settings(
    db: AsyncConnection, scope: TenantScope, company_id: str
) -> AlertSettings:
    stmt = sa.select(budget_settings).where(*_is_company(scope, company_id))
    row = (await db.execute(stmt)).one_or_none()
    if row is None:
        return NO_ALERTS
    return AlertSettings(
        enabled=row.alerts_enabled,
        recipients=row.alert_recipients,
        language=None if row.alert_language is None else Language(row.alert_language),
    )


async def store_alert_settings(
    db: AsyncConnection, scope: TenantScope, company_id: str, settings: AlertSettings
) -> None:
    await _store(
        db,
        scope,
        company_id,
        alerts_enabled=settings.enabled,
        alert_recipients=settings.recipients,
        alert_language=settings.language,
    )


async def list_companies_with_alerts(db: AsyncConnection, scope: TenantScope) -> list[str]:
    """List the companies whose budgets have to be compared after an import."""
    stmt = (
        sa.select(budget_settings.c.company_id)
        .where(
            of_tenant(budget_settings, scope),
            budget_settings.c.alerts_enabled,
            budget_settings.c.budgets != "[]",
        )
        .order_by(budget_settings.c.company_id)
    )
    return list((await db.execute(stmt)).scalars())


async def add_alert(
    db: AsyncConnection,
    scope: TenantScope,
    company_id: str,
    budget_id: str,
    month: str,
    threshold: Threshold,
) -> bool:
    """Return False if the threshold was already reported in this month."""
    stmt = insert(budget_alerts).values(
        organisation_id=scope.organisation_id,
        company_id=company_id,
        budget_id=budget_id,
        month=month,
        percent_of=threshold.of,
        percent=threshold.percent,
    )
    return bool((await db.execute(stmt.on_conflict_do_nothing())).rowcount)


async def list_group_ids(
    db: AsyncConnection, scope: TenantScope, company_id: str
) -> frozenset[str]:
    """List the account groups of the company."""
    stmt = sa.select(account_groups.c.group_id).where(
        of_tenant(account_groups, scope), account_groups.c.company_id == company_id
    )
    return frozenset((await db.execute(stmt)).scalars())


async def list_company_currencies(
    db: AsyncConnection, scope: TenantScope, company_id: str
) -> list[Currency]:
    """List the currencies that the company is invoiced in, by its terms."""
    stmt = (
        sa.select(invoice_settings.c.currency)
        .where(of_tenant(invoice_settings, scope), invoice_settings.c.company_id == company_id)
        .distinct()
    )
    return sorted(Currency(name) for name in (await db.execute(stmt)).scalars())


async def _store(db: AsyncConnection, scope: TenantScope, company_id: str, **values: Any) -> None:
    key = {"organisation_id": scope.organisation_id, "company_id": company_id}
    stmt = insert(budget_settings).values(**key, **values)
    changes = {**values, "update_time": sa.func.now()}
    await db.execute(stmt.on_conflict_do_update(index_elements=list(key), set_=changes))


def _is_company(scope: TenantScope, company_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(budget_settings, scope), budget_settings.c.company_id == company_id]
