"""Two people decide about the same late costs at once: one of them waits, and is refused."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.credit_notes.corrected_invoices.records import add_decision
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.stored_invoices import lock_invoices
from tests.credit_notes.corrected_invoices.late_deliveries import (
    REASON,
    import_late,
    late_lines,
    path_of,
    prepare_sent_invoice,
)
from tests.held_locks import call_while_locked
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem

PERIOD = BillingPeriod(MONTH, "aws")


def test_the_second_decision_waits_for_the_first(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)
    import_id = import_late(month_end, *late_lines("900"))

    async def lock(db: AsyncConnection, scope: TenantScope) -> None:
        await lock_invoices(db, scope, PERIOD, [group])

    async def dismiss(db: AsyncConnection, scope: TenantScope) -> None:
        await add_decision(
            db,
            scope,
            import_id=import_id,
            company_id=group,
            vendor="aws",
            month=MONTH,
            decision="dismissed",
            reason="first",
            late_costs="[]",
            decided_by="somebody else",
        )

    outcome = call_while_locked(
        month_end.service,
        lock,
        lambda: month_end.post(
            f"/costs/imports/{import_id}/drift/{group}",
            {"decision": "credit_note", "reason": REASON},
        ),
        change=dismiss,
    )

    assert outcome.waited
    assert read_problem(outcome.result, 409)["code"] == "already_decided"
    assert month_end.get(path_of(group, "/credit-notes")).json() == []
