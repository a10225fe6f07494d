"""Creates invoices in tests and reads the results of invoice runs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.runs.records import RunRequest, start_or_join_run
from tests.costs.months.month_requests import run_in_transaction
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.problem_responses import read_problem

ACTOR = {"actor": "usr", "actor_name": "test", "request_id": "req"}


def prepare_example_a(month_end: MonthEnd) -> str:
    """Create the billing group of worked example A, ready to be invoiced."""
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    return group


def list_invoice_numbers(response: Any) -> list[str]:
    assert response.status_code == 200, response.text
    return [invoice["invoice_no"] for invoice in response.json()["created"]]


def list_missing_reasons(response: Any) -> dict[str, str]:
    return {
        violation["field"]: violation["rule"]
        for violation in read_problem(response, 409)["violations"]
    }


def build_scope(month_end: MonthEnd) -> TenantScope:
    return TenantScope(month_end.service.organisation.organisation_id)


async def start_run(month_end: MonthEnd, groups: list[str], groups_hash: bytes = b"x") -> str:
    """Start a run that no process executes yet."""
    scope = build_scope(month_end)
    request = RunRequest(
        period=BillingPeriod(MONTH, "aws"), company_ids=groups, groups_hash=groups_hash, actor=ACTOR
    )
    async with transaction(month_end.service.resources.engine, scope.organisation_id) as db:
        return await start_or_join_run(db, scope, request, None)


def query_rows(month_end: MonthEnd, sql: str) -> Any:
    async def execute(db: Any, _scope: TenantScope) -> Any:
        return (await db.execute(sa.text(sql))).all()

    return run_in_transaction(month_end.service, execute)
