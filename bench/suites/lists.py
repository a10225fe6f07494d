"""Long lists, from the query to the JSON, compared with bare statements and a query per row."""

import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg
import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from bench.alternatives.fastapi_bodies import BillingGroupOut, CloudAccountOut
from bench.alternatives.orm_records import BillingGroupRow, CloudAccountRow
from bench.copied_groups import COPY_BILLING_GROUP
from bench.example_database import ExampleDatabase
from bench.example_groups import build_group
from bench.rounds import Contender, Suite
from nimbill.customers.billing_groups import operations
from nimbill.customers.billing_groups import records as group_records
from nimbill.customers.cloud_accounts import records as account_records
from nimbill.database.embedded_postgres import Address, embedded_postgres
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.identity.organisations.operations import create_organisation

OURS = "nimbill"
BARE = "bare statements"
ROW_BY_ROW = "ORM, a query per row"

DESCRIPTIONS = {
    OURS: "the work of the routes: statements, records, JSON",
    BARE: "the same statements by the driver alone, rows discarded",
    ROW_BY_ROW: "SQLAlchemy ORM with default relationships, pydantic; pages of "
    "{page} records, because the time per record is constant",
}

GROUPS = 10_000
ACCOUNTS = 50_000
PAGE = 250

GROUPS_CASE = "10,000 groups with their 50,000 accounts"
ACCOUNTS_CASE = "50,000 accounts with their groups"

# The service creates the first group; these statements copy it and add accounts.
COPY_STATEMENTS = (
    COPY_BILLING_GROUP,
    """
    INSERT INTO invoice_settings SELECT (first).* FROM (
        SELECT jsonb_populate_record(s, jsonb_build_object('company_id', g.company_id)) AS first
        FROM invoice_settings s, billing_groups g WHERE g.company_id <> s.company_id) AS copies
    """,
    """
    INSERT INTO cloud_accounts (organisation_id, customer_id, vendor, account_id, company_id, name)
    SELECT g.organisation_id, lpad(row_number() OVER ()::text, 12, '0'), 'aws', '000000000000',
        g.company_id, 'さくら本番 ' || number
    FROM billing_groups g, generate_series(1, :accounts) AS number
    """,
)

ListRecords = Callable[[], Coroutine[Any, Any, int]]  # returns the number of records


class ExampleLists(ExampleDatabase):
    """A database with groups and accounts, and three methods of listing them."""

    def __init__(
        self, address: Address, folder: Path, *, groups: int = GROUPS, accounts: int = ACCOUNTS
    ) -> None:
        super().__init__(address, folder)
        self._sizes = {"groups": groups, "accounts": accounts // groups}
        self._orm: AsyncEngine
        self._bare: asyncpg.Connection
        self._scope: TenantScope

    async def _fill(self) -> None:
        organisation = await create_organisation(
            self._engine, self._key, name="Lists", username="root", password="correct horse 7"
        )
        self._scope = TenantScope(organisation.organisation_id)
        async with transaction(self._engine, organisation.organisation_id) as db:
            await operations.create_billing_group(db, self._scope, build_group(1))
            for statement in COPY_STATEMENTS:
                values = {
                    name: size for name, size in self._sizes.items() if f":{name}" in statement
                }
                await db.execute(sa.text(statement), values)
        self._orm = create_async_engine(self._engine.url)
        self._opened.push_async_callback(self._orm.dispose)
        self._bare = await self._open_connection(self._address)
        for statement in (
            "ANALYZE",
            f"SET nimbill.organisation = '{organisation.organisation_id}'",
        ):
            await self._bare.execute(statement)

    # ── nimbill ──────────────────────────────────────────────────────────────────────────────────

    async def list_groups(self) -> int:
        async with transaction(self._engine, self._scope.organisation_id) as db:
            groups = await group_records.list_billing_groups(db, self._scope)
            assert exact_json.encode(groups)
            return len(groups)

    async def list_accounts(self) -> int:
        async with transaction(self._engine, self._scope.organisation_id) as db:
            accounts, _ = await account_records.list_accounts(db, self._scope, "aws")
            assert exact_json.encode(accounts)
            return len(accounts)

    # ── bare statements ──────────────────────────────────────────────────────────────────────────

    async def list_groups_bare(self) -> int:
        where = "WHERE organisation_id = $1"
        groups = await self._bare.fetch(
            "SELECT g.*, p.project_code, p.project_label, p.project_currency FROM billing_groups g "
            "LEFT JOIN projects p USING (organisation_id, project_id) "
            f"{where} ORDER BY billinggroup_id",
            self._scope.organisation_id,
        )
        for table in ("invoice_settings", "free_format_items", "cloud_accounts"):
            await self._bare.fetch(f"SELECT * FROM {table} {where}", self._scope.organisation_id)
        return len(groups)

    async def list_accounts_bare(self) -> int:
        accounts = await self._bare.fetch(
            "SELECT a.*, g.billinggroup_id, g.billinggroup_name, g.project_id "
            "FROM cloud_accounts a JOIN billing_groups g USING (organisation_id, company_id) "
            "WHERE organisation_id = $1 AND vendor = 'aws' ORDER BY customer_id",
            self._scope.organisation_id,
        )
        return len(accounts)

    # ── a query per row ──────────────────────────────────────────────────────────────────────────

    async def list_groups_row_by_row(self) -> int:
        return await self._row_by_row(
            sa.select(BillingGroupRow).order_by(BillingGroupRow.billinggroup_id),
            TypeAdapter(list[BillingGroupOut]),
        )

    async def list_accounts_row_by_row(self) -> int:
        """Sorted so that adjacent accounts belong to different groups, as in practice."""
        return await self._row_by_row(
            sa.select(CloudAccountRow).order_by(sa.func.reverse(CloudAccountRow.customer_id)),
            TypeAdapter(list[CloudAccountOut]),
        )

    async def _row_by_row(self, stmt: Any, adapter: TypeAdapter[Any]) -> int:
        def list_page(session: Session) -> int:
            rows = session.scalars(stmt.limit(PAGE)).all()
            assert adapter.dump_json(adapter.validate_python(rows, from_attributes=True))
            return len(rows)

        async with AsyncSession(self._orm) as session:
            organisation = sa.func.set_config(
                "nimbill.organisation", self._scope.organisation_id, True
            )
            await session.execute(sa.select(organisation))
            return await session.run_sync(list_page)

    def measure_rate(self, list_records: ListRecords, seconds: float) -> float:
        """Records per second of at least one complete list."""
        started, records = time.perf_counter(), 0
        while not records or time.perf_counter() - started < seconds:
            records += self._runner.run(list_records())
        return records / (time.perf_counter() - started)


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """Three methods in one process, on one PostgreSQL."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        address = stack.enter_context(embedded_postgres(folder / "postgres"))
        example = stack.enter_context(ExampleLists(address, folder))
        methods: dict[str, dict[str, ListRecords]] = {
            OURS: {GROUPS_CASE: example.list_groups, ACCOUNTS_CASE: example.list_accounts},
            BARE: {
                GROUPS_CASE: example.list_groups_bare,
                ACCOUNTS_CASE: example.list_accounts_bare,
            },
            ROW_BY_ROW: {
                GROUPS_CASE: example.list_groups_row_by_row,
                ACCOUNTS_CASE: example.list_accounts_row_by_row,
            },
        }
        for cases in methods.values():
            for list_records in cases.values():
                example.measure_rate(list_records, 0)  # warm-up
        yield [build_contender(example, name, cases) for name, cases in methods.items()]


def build_contender(example: ExampleLists, name: str, cases: dict[str, ListRecords]) -> Contender:
    def measure(case: str, seconds: float) -> float:
        return example.measure_rate(cases[case], seconds)

    return Contender(name, DESCRIPTIONS[name].format(page=PAGE), measure)


SUITE = Suite(
    name="lists",
    description=f"complete lists of {GROUPS:,} groups and {ACCOUNTS:,} accounts",
    unit="records/s",
    cases=(GROUPS_CASE, ACCOUNTS_CASE),
    baseline=OURS,
    roles={BARE: "floor", ROW_BY_ROW: "instead"},
    targets={BARE: 0.25, ROW_BY_ROW: 5},
    slice_seconds=2,
    contenders=contenders,
    minutes=2,
    summary_case=GROUPS_CASE,
)
