"""Schedules what depends on the costs of a month after an import has become current."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.jobs.records import add_job

# The portal defines the job; imports only know its name, because they do not depend on the portal.
EVALUATE_BUDGETS = "evaluate_budgets"


async def schedule_budget_evaluation(
    db: AsyncConnection, scope: TenantScope, import_id: str, month: str
) -> None:
    """Add the job in the transaction that makes the import current."""
    await add_job(
        db,
        scope,
        EVALUATE_BUDGETS,
        due=clock.now(),
        subject=import_id,
        payload={"month": month},
    )
