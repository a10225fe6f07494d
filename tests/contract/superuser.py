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

# rows to compare, by table; recurring jobs of the service change without a request
COMPARED_ROWS = {"jobs": "t.subject <> 'maintenance'"}


class Superuser:
    """One connection that row-level security does not restrict, in the service's event loop."""

    def __init__(self, service: Service, connection: asyncpg.Connection) -> None:
        self._service = service
        self._connection = connection

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

    def digest(self, *organisation_ids: str) -> dict[str, dict[str, str]]:
        """A hash of the row versions of each organisation, by organisation and table.

        Every change writes a new version: another place, or another transaction. Hashing the
        contents instead took half of the time of the tests that compare all tables.
        """
        digests: dict[str, dict[str, str]] = {name: {} for name in organisation_ids}
        for row in self.sql(self._digest_statement, list(organisation_ids)):
            digests[row["organisation_id"]][row["name"]] = row["hash"]
        return digests

    @cached_property
    def _digest_statement(self) -> str:
        selects = [
            f"SELECT organisation_id, '{table}' AS name, "
            f"count(*) || ' ' || sum(hashtextextended(t.ctid || ' ' || t.xmin, 0)) AS hash "
            f"FROM {table} t WHERE organisation_id = ANY ($1) "
            f"AND {COMPARED_ROWS.get(table, 'true')} GROUP BY 1"
            for table in self.tables
        ]
        return " UNION ALL ".join(selects)

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
    connection = service.run(
        lambda: asyncpg.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            database=address.database,
            # planning a query over all tables takes longer than running it
            server_settings={"plan_cache_mode": "force_generic_plan", "jit": "off"},
        )
    )
    try:
        yield Superuser(service, connection)
    finally:
        service.run(connection.close)
