"""Reads the schema of a test database from PostgreSQL's catalogue."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nimbill.application.schema import MIGRATIONS
from nimbill.database.embedded_postgres import Address
from nimbill.database.migrate import MigrationPackage, is_schema_current
from nimbill.database.tenant_scope import create_owner_engine
from tests.temporary_database import execute_sql

FROM_FUNCTIONS = "FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
FROM_CONSTRAINTS = "FROM pg_constraint c WHERE connamespace = 'public'::regnamespace"


def list_tables(address: Address) -> set[str]:
    stmt = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    return {row["tablename"] for row in execute_sql(address, stmt)}


def list_functions(address: Address) -> set[str]:
    return {row["proname"] for row in execute_sql(address, f"SELECT proname {FROM_FUNCTIONS}")}


def describe_schema(address: Address) -> list[tuple[object, ...]]:
    """Every column, index, policy and constraint."""
    columns = "table_name, column_name, data_type, is_nullable, column_default"
    stmts = (
        f"SELECT {columns} FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT tablename, policyname, qual, with_check FROM pg_policies",
        f"SELECT conname, pg_get_constraintdef(c.oid) {FROM_CONSTRAINTS}",
    )
    return sorted((tuple(row) for stmt in stmts for row in execute_sql(address, stmt)), key=repr)


def is_current(address: Address, packages: Sequence[MigrationPackage] = MIGRATIONS) -> bool:
    async def check() -> bool:
        engine = create_owner_engine(address.url)
        async with engine.connect() as db:
            result = await db.run_sync(is_schema_current, packages)
        await engine.dispose()
        return result

    return asyncio.run(check())
