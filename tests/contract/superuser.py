"""A database superuser for tests: reads and changes the rows of every organisation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import asyncpg

from nimbill.database.embedded_postgres import Address
from tests.running_service import Service
from tests.temporary_database import connect

# rows to compare, by table; recurring jobs of the service change without a request
COMPARED_ROWS = {"jobs": "t.subject <> 'maintenance'"}

CREATE_CHANGES = """
CREATE SCHEMA watched_changes;
CREATE TABLE watched_changes.changes (organisation_id text, name text);
CREATE INDEX ON watched_changes.changes (organisation_id)
"""
COUNT_CHANGES = """
SELECT organisation_id, name, count(*) AS number FROM watched_changes.changes
WHERE organisation_id = ANY ($1) GROUP BY 1, 2
"""


def build_change_function(name: str, condition: str) -> str:
    """A trigger function that notes a change of a row `t` if the condition holds."""
    return f"""
CREATE FUNCTION watched_changes.{name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE t record;
BEGIN
    t := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    IF {condition} THEN
        INSERT INTO watched_changes.changes VALUES (t.organisation_id, TG_TABLE_NAME);
    END IF;
    RETURN NULL;
END
$$"""


class Superuser:
    """One connection that row-level security does not restrict, in the service's event loop."""

    def __init__(self, service: Service, connection: asyncpg.Connection) -> None:
        self._service = service
        self._connection = connection
        self._has_triggers = False

    def sql(self, statement: str, *values: Any) -> list[Any]:
        rows: list[Any] = self._service.run(lambda: self._connection.fetch(statement, *values))
        return rows

    def add(self, table: str, **values: Any) -> None:
        parameters = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        self.sql(
            f"INSERT INTO {table} ({', '.join(values)}) VALUES ({parameters})", *values.values()
        )

    def delete_rows(self, table: str, organisation_id: str, **where: str) -> None:
        """Delete rows of one organisation without checking foreign keys."""
        conditions = [f"{name} = ${number}" for number, name in enumerate(where, start=2)]
        self.sql("SET session_replication_role = replica")
        self.sql(
            f"DELETE FROM {table} WHERE organisation_id = $1 AND {' AND '.join(conditions)}",
            organisation_id,
            *where.values(),
        )
        self.sql("RESET session_replication_role")

    @cached_property
    def tables(self) -> list[str]:
        """Every table whose rows belong to an organisation."""
        rows = self.sql(
            "SELECT c.table_name FROM information_schema.columns c "
            "JOIN information_schema.tables t USING (table_schema, table_name) "
            "WHERE c.table_schema = 'public' AND c.column_name = 'organisation_id' "
            "AND t.table_type = 'BASE TABLE' ORDER BY 1"
        )
        return [row["table_name"] for row in rows]

    def digest(self, *organisation_ids: str) -> dict[str, dict[str, int]]:
        """How often rows of each organisation have been changed, by organisation and table.

        Triggers count the changes from the first call on. Comparing the rows of all tables
        instead took two fifths of the time of the tests of isolation.
        """
        if not self._has_triggers:
            self._create_triggers()
        digests: dict[str, dict[str, int]] = {name: {} for name in organisation_ids}
        for row in self.sql(COUNT_CHANGES, list(organisation_ids)):
            digests[row["organisation_id"]][row["name"]] = row["number"]
        return digests

    def _create_triggers(self) -> None:
        self._has_triggers = True
        functions = [build_change_function("note_change", "true")]
        functions += [
            build_change_function(f"note_change_of_{table}", condition)
            for table, condition in COMPARED_ROWS.items()
        ]
        triggers = [
            f"CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW "
            f"EXECUTE FUNCTION watched_changes.note_change"
            f"{f'_of_{table}' if table in COMPARED_ROWS else ''}()"
            for table in self.tables
        ]
        self._execute_each([CREATE_CHANGES, *functions, *triggers])

    def drop_triggers(self) -> None:
        if self._has_triggers:
            drops = [f"DROP TRIGGER IF EXISTS note_change ON {table}" for table in self.tables]
            self._execute_each([*drops, "DROP SCHEMA watched_changes CASCADE"])

    def _execute_each(self, statements: list[str]) -> None:
        """One transaction each: with locks of several tables, jobs would wait in a circle."""

        async def execute() -> None:
            for statement in statements:
                await self._connection.execute(statement)

        self._service.run(execute)

    def list_rows(self, organisation_id: str) -> dict[str, list[dict[str, Any]]]:
        """All rows of an organisation by table, as JSON."""
        selects = [
            f"SELECT '{table}' AS name, to_jsonb(t)::text AS row FROM {table} t "
            f"WHERE organisation_id = $1 AND {COMPARED_ROWS.get(table, 'true')}"
            for table in self.tables
        ]
        rows: dict[str, list[dict[str, Any]]] = {table: [] for table in self.tables}
        for row in self.sql(" UNION ALL ".join(selects) + " ORDER BY 1, 2", organisation_id):
            rows[row["name"]].append(json.loads(row["row"]))
        return rows


@contextmanager
def connect_superuser(service: Service, address: Address) -> Iterator[Superuser]:
    connection = service.run(lambda: connect(address))
    superuser = Superuser(service, connection)
    try:
        yield superuser
    finally:
        try:
            superuser.drop_triggers()
        finally:
            service.run(connection.close)  # the loop of the service waits for it when it ends
