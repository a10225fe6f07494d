"""Query plans of billing group lookups."""

from typing import Any

import sqlalchemy as sa

from nimbill.customers.billing_groups import records
from nimbill.database.tenant_scope import TenantScope, transaction
from tests.running_service import Service


def test_the_lookup_of_a_billinggroup_id_uses_the_index(service: Service) -> None:
    """Row-level security must not prevent the use of the index."""
    engine, scope = service.resources.engine, TenantScope(service.organisation.organisation_id)
    statements: list[tuple[str, Any]] = []

    def record(_connection: Any, _cursor: Any, statement: str, values: Any, *_rest: Any) -> None:
        statements.append((statement, values))

    async def explain() -> str:
        async with transaction(engine, scope.organisation_id) as db:
            await db.execute(sa.text("SET LOCAL enable_seqscan = off"))
            sa.event.listen(db.sync_connection, "before_cursor_execute", record)
            try:
                await records.billinggroup_id_exists(db, scope, "BG-0001")
            finally:
                sa.event.remove(db.sync_connection, "before_cursor_execute", record)
            statement, values = statements[0]
            rows = await db.exec_driver_sql(f"EXPLAIN {statement}", values)
            return "\n".join(rows.scalars())

    (condition,) = [line for line in service.run(explain).splitlines() if "Index Cond" in line]

    assert "billinggroup_id_hash" in condition
