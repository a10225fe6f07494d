"""A month that can be closed, and what can keep it from being closed."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.imports.records import cost_imports
from nimbill.invoicing.runs.records import invoice_runs
from tests.adjustments.recalculation.entries import (
    FEE,
    apply_entries,
    get_only_entry,
    import_entries,
)
from tests.costs.months.month_requests import run_in_transaction
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.running_service import Service

ACCOUNT, OTHER_ACCOUNT = "000000000001", "000000000002"
EARLIER = "2026-08"


def build_ready_month(month_end: MonthEnd, *, invoiced: bool = True) -> str:
    """A billing group with costs and an invoice; return its company_id."""
    group = month_end.create_group("BG-1", ACCOUNT)
    month_end.prepare_groups(group)
    assert month_end.import_costs(report_line("3", UsageAccountId=ACCOUNT))["state"] == "done"
    if invoiced:
        response = month_end.create_invoices(group)
        assert response.status_code == 200, response.text
    return group


def apply_entry(month_end: MonthEnd, customer_id: str) -> None:
    """Apply an entry of an earlier month to this one."""
    service = month_end.service
    import_entries(service, replace(FEE, customer_id=customer_id), month=EARLIER)
    entry = get_only_entry(service, EARLIER)
    response = apply_entries(service, [entry["id"]], month=MONTH)
    assert response.status_code == 200, response.text


def add_import(service: Service, import_id: str, state: str, *, month: str = MONTH) -> None:
    """Add the record of an import without a job."""

    async def add(db: AsyncConnection, scope: TenantScope) -> None:
        await db.execute(
            sa.insert(cost_imports).values(
                organisation_id=scope.organisation_id,
                import_id=import_id,
                vendor="aws",
                month=month,
                sources=[],
                uploaded=False,
                state=state,
                created_by=service.organisation.root_user_id,
            )
        )

    run_in_transaction(service, add)


def add_run(service: Service, run_id: str, *, month: str = MONTH) -> None:
    """Add the record of an invoice run under way, without a job."""

    async def add(db: AsyncConnection, scope: TenantScope) -> None:
        await db.execute(
            sa.insert(invoice_runs).values(
                organisation_id=scope.organisation_id,
                run_id=run_id,
                month=month,
                vendor="aws",
                groups_hash=b"",
                state="running",
                job_id="",
                company_ids=["cmp_running"],
                group_count=1,
            )
        )

    run_in_transaction(service, add)
