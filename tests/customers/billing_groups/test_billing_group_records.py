"""What the database is asked about billing groups, and how it finds the answer."""

from typing import Any

import sqlalchemy as sa

from nimbill.customers.billing_groups import records
from nimbill.database.tenant_scope import TenantScope, transaction
from tests.running_service import Service


def test_an_id_in_use_is_looked_up_and_not_searched_for(service: Service) -> None:
    """Row-level security must not keep the index from being asked for the id."""
    engine, scope = service.resources.engine, TenantScope(service.organisation.organisation_id)
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_rest: Any) -> None:
        asked.append((statement, values))

    async def plan() -> str:
        async with transaction(engine, scope.organisation_id) as db:
            await db.execute(sa.text("SET LOCAL enable_seqscan = off"))
            sa.event.listen(engine.sync_engine, "before_cursor_execute", note)
            try:
                await records.billinggroup_id_taken(db, scope, "BG-0001")
            finally:
                sa.event.remove(engine.sync_engine, "before_cursor_execute", note)
            statement, values = asked[0]
            rows = await db.exec_driver_sql(f"EXPLAIN {statement}", values)
            return "\n".join(rows.scalars())

    (condition,) = [line for line in service.run(plan).splitlines() if "Index Cond" in line]

    assert "billinggroup_key" in condition
