"""What tests ask of invoices that were made, or could not be."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.invoicing.runs.records import RunRequest, start_or_join
from tests.answers import problem_of
from tests.costs.months.closing import inside
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd

ACTOR = {"actor": "usr", "actor_name": "test", "request_id": "req"}


def of_a(month_end: MonthEnd) -> str:
    """The group of worked example A, ready."""
    group = month_end.group("BG-A", *ACCOUNTS_OF_A)
    month_end.costs(*EXAMPLE_A)
    month_end.ready(group)
    return group


def numbers(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["invoice_no"] for one in answer.json()["created"]]


def missing(answer: Any) -> dict[str, str]:
    return {v["field"]: v["rule"] for v in problem_of(answer, 409)["violations"]}


def scope_of(month_end: MonthEnd) -> TenantScope:
    return TenantScope(month_end.service.organisation.organisation_id)


async def started(month_end: MonthEnd, groups: list[str], name: bytes = b"x") -> str:
    """A run for them that nobody has taken up."""
    scope = scope_of(month_end)
    asked = RunRequest(month=MONTH, vendor="aws", company_ids=groups, groups_hash=name, actor=ACTOR)
    async with transaction(month_end.service.resources.engine, scope.organisation_id) as db:
        return await start_or_join(db, scope, asked, None)


def stored(month_end: MonthEnd, question: str) -> Any:
    async def ask(db: Any, _scope: TenantScope) -> Any:
        return (await db.execute(sa.text(question))).all()

    return inside(month_end.service, ask)
