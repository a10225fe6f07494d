"""What a superuser of the database sees and may do: the rows of every organisation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import asyncpg

from nimbill.database.embedded_postgres import Address
from tests.running_service import Service

# rows that change by themselves, whoever calls: the service's own recurring work
COMPARED_ROWS = {"jobs": "t.subject <> 'upkeep'"}


class Superuser:
    """One connection that no wall stops, in the event loop of the service."""

    def __init__(self, service: Service, connection: asyncpg.Connection) -> None:
        self._service = service
        self._connection = connection

    def sql(self, statement: str, *values: Any) -> list[Any]:
        rows: list[Any] = self._service.run(lambda: self._connection.fetch(statement, *values))
        return rows

    def add(self, table: str, **values: Any) -> None:
        places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        self.sql(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", *values.values())

    def delete_rows(self, table: str, organisation_id: str, **where: str) -> None:
        """Delete rows of one organisation, as if they had been deleted long ago.

        Whatever hangs on them: a service that would not let them go did so once.
        """
        tests = [f"{name} = ${number}" for number, name in enumerate(where, start=2)]
        self.sql("SET session_replication_role = replica")
        self.sql(
            f"DELETE FROM {table} WHERE organisation_id = $1 AND {' AND '.join(tests)}",
            organisation_id,
            *where.values(),
        )
        self.sql("RESET session_replication_role")

    @cached_property
    def tables(self) -> list[str]:
        """Every table whose rows belong to an organisation."""
        found = self.sql(
            "SELECT c.table_name FROM information_schema.columns c "
            "JOIN information_schema.tables t USING (table_schema, table_name) "
            "WHERE c.table_schema = 'public' AND c.column_name = 'organisation_id' "
            "AND t.table_type = 'BASE TABLE' ORDER BY 1"
        )
        return [row["table_name"] for row in found]

    def digest(self, organisation_id: str) -> dict[str, str]:
        """A hash of all rows of an organisation, table by table."""
        questions = [
            f"SELECT '{table}' AS name, md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), "
            f"'')) AS hash FROM {table} t WHERE organisation_id = $1 "
            f"AND {COMPARED_ROWS.get(table, 'true')}"
            for table in self.tables
        ]
        rows = self.sql(" UNION ALL ".join(questions), organisation_id)
        return {row["name"]: row["hash"] for row in rows}

    def list_rows(self, organisation_id: str) -> dict[str, list[dict[str, Any]]]:
        """All rows of an organisation, table by table, as JSON has them."""
        found = {}
        for table in self.tables:
            rows = self.sql(
                f"SELECT to_jsonb(t)::text AS row FROM {table} t WHERE organisation_id = $1 "
                f"AND {COMPARED_ROWS.get(table, 'true')} ORDER BY t::text",
                organisation_id,
            )
            found[table] = [json.loads(row["row"]) for row in rows]
        return found


@contextmanager
def connect_superuser(service: Service, address: Address) -> Iterator[Superuser]:
    connection = service.run(
        lambda: asyncpg.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            database=address.database,
        )
    )
    try:
        yield Superuser(service, connection)
    finally:
        service.run(connection.close)
