"""Queries for the steps of a month."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import recalculation_entries
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import is_approval_required
from nimbill.closing.reconciliation.records import load_differing_subjects
from nimbill.closing.steps.month_steps import MonthFacts
from nimbill.costs.lake.records import USAGE, cost_months, cost_sums
from nimbill.costs.months.records import MonthState, month_states, parked_months
from nimbill.credit_notes.corrected_invoices.late_costs import list_undecided_imports
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_period, of_tenant
from nimbill.foundation import calendar_month, clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.imports.records import ImportState, cost_imports
from nimbill.invoicing.documents.invoice_approvals import list_unapproved_groups
from nimbill.invoicing.documents.invoiced_groups import list_invoiced_groups, list_sent_groups
from nimbill.invoicing.documents.stored_invoices import (
    format_invoice_no,
    invoice_revisions,
    invoices,
    join_revision,
)
from nimbill.invoicing.runs.cost_records import list_imports
from nimbill.invoicing.runs.month_settings import load_saved_settings
from nimbill.invoicing.runs.outdated_invoices import list_outdated_groups
from nimbill.invoicing.runs.records import list_running_runs

_RUNNING = (ImportState.waiting, ImportState.running)
_RESOLVING = (ImportState.done, ImportState.unchanged)


async def list_known_periods(
    db: AsyncConnection, scope: TenantScope, *, limit: int | None, offset: int
) -> list[BillingPeriod]:
    """List months with costs, imports, invoices or a state, the newest first."""
    vendors = await load_vendors(db, scope)
    tables = (cost_months, cost_imports, invoices, month_states, parked_months)
    known = sa.union(
        *(
            sa.select(table.c.month, table.c.vendor).where(
                of_tenant(table, scope),
                table.c.month.is_not(None),
                is_any_of(table.c.vendor, vendors),
            )
            for table in tables
        )
    ).subquery()
    stmt = (
        sa.select(known).order_by(known.c.month.desc(), known.c.vendor).limit(limit).offset(offset)
    )
    return [BillingPeriod(row.month, row.vendor) for row in await db.execute(stmt)]


class PeriodStates(NamedTuple):
    """Which months of all vendors are closed or parked, and have provisional costs or invoices."""

    closed: set[BillingPeriod]
    parked: set[BillingPeriod]
    provisional: set[BillingPeriod]
    invoiced: set[BillingPeriod]

    def get_state(self, period: BillingPeriod) -> Literal["open", "parked", "closed"]:
        if period in self.closed:
            return "closed"
        return "parked" if period in self.parked else "open"


async def load_period_states(db: AsyncConnection, scope: TenantScope) -> PeriodStates:
    async def list_periods(
        table: sa.Table, *conditions: sa.ColumnElement[bool]
    ) -> set[BillingPeriod]:
        stmt = sa.select(table.c.month, table.c.vendor).where(of_tenant(table, scope), *conditions)
        stmt = stmt.distinct()
        return {BillingPeriod(month, vendor) for month, vendor in await db.execute(stmt)}

    return PeriodStates(
        closed=await list_periods(month_states, month_states.c.closed),
        parked=await list_periods(parked_months),
        provisional=await list_periods(cost_months, cost_months.c.provisional),
        invoiced=await list_periods(invoices),
    )


async def load_facts(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    state: MonthState,
    *,
    from_data: bool,
) -> MonthFacts:
    """The caller holds the month's lock, so that the facts belong to one point in time.

    With `from_data`, invoices and costs are compared anew even if nothing seems to have changed.
    """
    groups, accounts_in_no_group = await _load_usage_owners(db, scope, period)
    entries = await _load_entries(db, scope, period)
    groups |= await _list_groups_with_applied_entries(db, scope, period)
    saved = await load_saved_settings(db, scope, period.month, list(groups))
    settings = {group: saved.get((group, period.vendor)) for group in groups}
    imports = await _list_period_imports(db, scope, period)
    invoiced = await list_invoiced_groups(db, scope, period.month, period.vendor)
    sent = set(await list_sent_groups(db, scope, period, invoiced))
    drifted = [row.import_id for row in imports if row.state == ImportState.drift]
    return MonthFacts(
        is_over=calendar_month.month_end(period.month) < clock.now(),
        is_closed=state.closed,
        has_costs=bool(await list_imports(db, scope, period)),
        parked_imports=list(state.parked_reasons),
        running_imports=[row.import_id for row in imports if row.state in _RUNNING],
        drifted_imports=drifted,
        uncorrected_imports=await list_undecided_imports(
            db, scope, period, _find_uncorrected(imports)
        ),
        accounts_in_no_group=accounts_in_no_group,
        has_entries=bool(entries),
        undecided_entries=[row.entry_id for row in entries if row.applied_month is None],
        billed_groups=groups,
        groups_without_settings=[group for group, row in settings.items() if row is None],
        groups_without_rate=[
            group
            for group, row in settings.items()
            if row is not None and row.exchange_rate is None
        ],
        invoiced_groups=invoiced,
        needs_approval=await is_approval_required(db, scope, ApprovalKind.invoice_issue),
        unapproved_groups=await list_unapproved_groups(db, scope, period, invoiced),
        unsent_groups=[group for group in invoiced if group not in sent],
        outdated_groups=([] if state.closed else await list_outdated_groups(db, scope, period)),
        running_runs=await list_running_runs(db, scope, period),
        differences=await load_differing_subjects(db, scope, period, from_data=from_data),
    )


async def has_provisional_costs(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> bool:
    return any(row.provisional for row in await list_imports(db, scope, period))


async def _load_usage_owners(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> tuple[set[str], list[str]]:
    """Return the billing groups with usage, and the accounts with usage that are in none."""
    owner = cloud_accounts.c.company_id
    account = sa.case((owner.is_(None), cost_sums.c.customer_id)).label("customer_id")
    stmt = (
        sa.select(owner, account)
        .join_from(
            cost_sums,
            cloud_accounts,
            (cloud_accounts.c.organisation_id == cost_sums.c.organisation_id)
            & (cloud_accounts.c.vendor == cost_sums.c.vendor)
            & (cloud_accounts.c.customer_id == cost_sums.c.customer_id),
            isouter=True,
        )
        .where(of_tenant(cost_sums, scope), of_period(cost_sums, period), cost_sums.c.kind == USAGE)
        .distinct()
    )
    rows = (await db.execute(stmt)).all()
    groups = {row.company_id for row in rows if row.company_id is not None}
    return groups, [row.customer_id for row in rows if row.company_id is None]


async def _load_entries(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Sequence[Row]:
    """Load the entries of the month that the vendor's latest data contains."""
    entries = recalculation_entries.c
    stmt = sa.select(entries.entry_id, entries.applied_month).where(
        of_tenant(recalculation_entries, scope),
        of_period(recalculation_entries, period),
        entries.delivered,
    )
    return (await db.execute(stmt)).all()


async def _list_groups_with_applied_entries(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> set[str]:
    entries = recalculation_entries.c
    stmt = (
        sa.select(cloud_accounts.c.company_id)
        .join_from(
            recalculation_entries,
            cloud_accounts,
            (cloud_accounts.c.organisation_id == entries.organisation_id)
            & (cloud_accounts.c.vendor == entries.vendor)
            & (cloud_accounts.c.customer_id == entries.customer_id),
        )
        .where(
            of_tenant(recalculation_entries, scope),
            entries.vendor == period.vendor,
            entries.applied_month == period.month,
        )
        .distinct()
    )
    return set((await db.execute(stmt)).scalars())


async def _list_period_imports(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Sequence[Row]:
    """List import_id and state, the oldest first."""
    stmt = (
        sa.select(cost_imports.c.import_id, cost_imports.c.state)
        .where(of_tenant(cost_imports, scope), of_period(cost_imports, period))
        .order_by(cost_imports.c.create_time, cost_imports.c.import_id)
    )
    return (await db.execute(stmt)).all()


def _find_uncorrected(imports: Iterable[Row]) -> list[str]:
    """A drift is corrected as soon as a later delivery counts or shows no difference.

    Otherwise somebody decides about its late costs.
    """
    uncorrected: list[str] = []
    for row in imports:
        if row.state == ImportState.drift:
            uncorrected.append(row.import_id)
        elif row.state in _RESOLVING:
            uncorrected = []
    return uncorrected


class ClosedInvoice(NamedTuple):
    """An invoice that cannot change any more once its month is closed."""

    invoice_no: str
    company_id: str
    revision: int
    currency: str
    total: Decimal


async def list_closed_invoices(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[ClosedInvoice]:
    """List the current invoices of the month that are owed, by number."""
    stmt = (
        sa.select(
            invoices.c.number,
            invoices.c.company_id,
            invoices.c.revision,
            invoice_revisions.c.currency,
            invoice_revisions.c.total,
        )
        .join_from(invoices, invoice_revisions, join_revision(current=True))
        .where(
            of_tenant(invoices, scope),
            of_period(invoices, period),
            invoices.c.cancelled_time.is_(None),
        )
        .order_by(invoices.c.number)
    )
    return [
        ClosedInvoice(format_invoice_no(period.month, row[0]), *row[1:])
        for row in await db.execute(stmt)
    ]


class ClosedCosts(NamedTuple):
    currency: str
    cost: Decimal


async def list_closed_costs(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[ClosedCosts]:
    """Sum the usage of the month for each currency."""
    stmt = (
        sa.select(cost_sums.c.currency, sa.func.sum(cost_sums.c.cost))
        .where(of_tenant(cost_sums, scope), of_period(cost_sums, period), cost_sums.c.kind == USAGE)
        .group_by(cost_sums.c.currency)
        .order_by(cost_sums.c.currency)
    )
    return [ClosedCosts(*row) for row in await db.execute(stmt)]
