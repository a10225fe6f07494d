"""Long lists, from the question to the JSON, beside the bare statements and a query per row."""

import asyncio
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

from bench.example_groups import numbered
from bench.others.usual_bodies import BillingGroupOut, CloudAccountOut
from bench.others.usual_records import BillingGroup, CloudAccount
from bench.rounds import Contender, Suite
from nimbill.application.open_database import prepare
from nimbill.customers.billing_groups import operations
from nimbill.customers.billing_groups import records as group_records
from nimbill.customers.cloud_accounts import records as account_records
from nimbill.database.embedded_postgres import Address, embedded_postgres
from nimbill.database.tenant_scope import TenantScope, engine_for, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.encryption import load_or_create_key
from nimbill.identity.organisations.operations import create_organisation

OURS = "nimbill"
FLOOR = "bare statements"
ROW_BY_ROW = "ORM, a query per row"

WHAT = {
    OURS: "what the routes do: the statements, the records, their JSON",
    FLOOR: "the same statements by the driver alone, the rows thrown away",
    ROW_BY_ROW: "SQLAlchemy ORM with its relationships as they come, pydantic; pages of "
    "{page} records, because the time for each record is the same",
}

GROUPS = 10_000
ACCOUNTS = 50_000
PAGE = 250

LIST_OF_GROUPS = "10,000 groups with their 50,000 accounts"
LIST_OF_ACCOUNTS = "50,000 accounts with their groups"

# the first group is made by the service itself; the others are its copies
COPIES = (
    """
    INSERT INTO billing_groups SELECT organisation_id, 'cmp_' || number,
        'BG-' || lpad(number::text, 10, '0'), billinggroup_name, company_name, phone, postal,
        address, billing_title, personal, remarks, inv_aggregate, project_id,
        invoice_template_id, language, create_time
    FROM billing_groups, generate_series(2, :groups) AS number
    """,
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

Listing = Callable[[], Coroutine[Any, Any, int]]  # lists once; how many records that were


class Example:
    """A database full of groups, and the three ways of listing them."""

    def __init__(self, address: Address, folder: Path) -> None:
        self._address, self._url = address, address.url
        self._key = load_or_create_key(folder / "key")
        self._runner = asyncio.Runner()
        self._engine: AsyncEngine
        self._orm: AsyncEngine
        self._bare: asyncpg.Connection
        self._scope: TenantScope

    def __enter__(self) -> "Example":
        self._runner.run(self._fill())
        return self

    def __exit__(self, *_error: object) -> None:
        self._runner.run(self._leave())
        self._runner.close()

    async def _fill(self) -> None:
        await prepare(self._url, self._key)
        self._engine = engine_for(self._url)
        who = await create_organisation(
            self._engine, self._key, name="Lists", username="root", password="correct horse 7"
        )
        self._scope = TenantScope(who.organisation_id)
        numbers = {"groups": GROUPS, "accounts": ACCOUNTS // GROUPS}
        async with transaction(self._engine, who.organisation_id) as db:
            await operations.create_billing_group(db, self._scope, numbered(1))
            for statement in COPIES:
                named = {name: numbers[name] for name in numbers if f":{name}" in statement}
                await db.execute(sa.text(statement), named)
        self._orm = create_async_engine(self._engine.url)
        self._bare = await asyncpg.connect(
            host=self._address.host,
            port=self._address.port,
            user=self._address.user,
            password=self._address.password,
            database=self._address.database,
        )
        for statement in ("ANALYZE", f"SET nimbill.organisation = '{who.organisation_id}'"):
            await self._bare.execute(statement)

    async def _leave(self) -> None:
        await self._bare.close()
        await self._orm.dispose()
        await self._engine.dispose()

    # ── ours ─────────────────────────────────────────────────────────────────────────────────────

    async def our_groups(self) -> int:
        async with transaction(self._engine, self._scope.organisation_id) as db:
            found = await group_records.list_billing_groups(db, self._scope)
            assert exact_json.write(found)
            return len(found)

    async def our_accounts(self) -> int:
        async with transaction(self._engine, self._scope.organisation_id) as db:
            found = await account_records.list_accounts(
                db, self._scope, "aws", limit=None, offset=0
            )
            assert exact_json.write(found)
            return len(found)

    # ── the floor ────────────────────────────────────────────────────────────────────────────────

    async def bare_groups(self) -> int:
        whose = "WHERE organisation_id = $1"
        found = await self._bare.fetch(
            "SELECT g.*, p.project_code, p.project_label, p.project_currency FROM billing_groups g "
            "LEFT JOIN projects p USING (organisation_id, project_id) "
            f"{whose} ORDER BY billinggroup_id",
            self._scope.organisation_id,
        )
        for table in ("invoice_settings", "free_format_items", "cloud_accounts"):
            await self._bare.fetch(f"SELECT * FROM {table} {whose}", self._scope.organisation_id)
        return len(found)

    async def bare_accounts(self) -> int:
        found = await self._bare.fetch(
            "SELECT a.*, g.billinggroup_id, g.billinggroup_name, g.project_id "
            "FROM cloud_accounts a JOIN billing_groups g USING (organisation_id, company_id) "
            "WHERE organisation_id = $1 AND vendor = 'aws' ORDER BY customer_id",
            self._scope.organisation_id,
        )
        return len(found)

    # ── a query per row ──────────────────────────────────────────────────────────────────────────

    async def groups_row_by_row(self) -> int:
        return await self._row_by_row(
            sa.select(BillingGroup).order_by(BillingGroup.billinggroup_id),
            TypeAdapter(list[BillingGroupOut]),
        )

    async def accounts_row_by_row(self) -> int:
        """In an order in which neighbours are of different groups, as they are in life."""
        return await self._row_by_row(
            sa.select(CloudAccount).order_by(sa.func.reverse(CloudAccount.customer_id)),
            TypeAdapter(list[CloudAccountOut]),
        )

    async def _row_by_row(self, question: Any, shape: TypeAdapter[Any]) -> int:
        def listed(session: Session) -> int:
            found = session.scalars(question.limit(PAGE)).all()
            assert shape.dump_json(shape.validate_python(found, from_attributes=True))
            return len(found)

        async with AsyncSession(self._orm) as session:
            organisation = sa.func.set_config(
                "nimbill.organisation", self._scope.organisation_id, True
            )
            await session.execute(sa.select(organisation))
            return await session.run_sync(listed)

    def rate(self, listing: Listing, seconds: float) -> float:
        """Records a second; at least one list, however long it takes."""
        began, records = time.perf_counter(), 0
        while not records or time.perf_counter() - began < seconds:
            records += self._runner.run(listing())
        return records / (time.perf_counter() - began)


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """Three ways in one process, on one PostgreSQL, one after the other."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        address = stack.enter_context(embedded_postgres(folder / "postgres"))
        example = stack.enter_context(Example(address, folder))
        ways: dict[str, dict[str, Listing]] = {
            OURS: {LIST_OF_GROUPS: example.our_groups, LIST_OF_ACCOUNTS: example.our_accounts},
            FLOOR: {LIST_OF_GROUPS: example.bare_groups, LIST_OF_ACCOUNTS: example.bare_accounts},
            ROW_BY_ROW: {
                LIST_OF_GROUPS: example.groups_row_by_row,
                LIST_OF_ACCOUNTS: example.accounts_row_by_row,
            },
        }
        for listings in ways.values():
            for listing in listings.values():
                example.rate(listing, 0)  # once, unmeasured
        yield [contender(example, name, listings) for name, listings in ways.items()]


def contender(example: Example, name: str, listings: dict[str, Listing]) -> Contender:
    def measure(case: str, seconds: float) -> float:
        return example.rate(listings[case], seconds)

    return Contender(name, WHAT[name].format(page=PAGE), measure)


SUITE = Suite(
    name="lists",
    what=f"whole lists of {GROUPS:,} groups and {ACCOUNTS:,} accounts",
    unit="records/s",
    cases=(LIST_OF_GROUPS, LIST_OF_ACCOUNTS),
    ours=OURS,
    aims={FLOOR: 0.25, ROW_BY_ROW: 5},
    slice_seconds=2,
    contenders=contenders,
)
