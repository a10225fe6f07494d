"""Pages of the portal for one customer among 5,000, compared with bare statements."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from bench.example_groups import PASSWORD, build_group
from bench.rounds import Contender, Suite
from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.application.open_database import prepare_database
from nimbill.customers.billing_groups import operations
from nimbill.database.embedded_postgres import Address, embedded_postgres
from nimbill.database.tenant_scope import TenantScope, create_app_engine, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.encryption import load_or_create_key
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations.operations import create_organisation
from nimbill.portal.report_months import list_months
from nimbill.portal.usage.routes import read_account_graph, read_account_usage

OURS = "nimbill"
BARE = "bare statement"
ALONE = "nimbill, no other customers"

DESCRIPTIONS = {
    OURS: "the work of the route: view, sums, prices, JSON",
    BARE: "one statement by the driver that sums and prices the same rows, result discarded",
    ALONE: "the same page of the same customer in an organisation without other customers",
}

GROUPS = 5_000
ACCOUNTS_PER_GROUP = 10
FIRST_MONTH, LAST_MONTH = "2025-09", "2026-09"
MONTHS = list_months(FIRST_MONTH, LAST_MONTH)
YEAR = {"first": FIRST_MONTH, "last": LAST_MONTH}

# The service creates the first group; these statements copy it and add accounts.
COPY_STATEMENTS = (
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
# executed for every month
MONTH_STATEMENTS = (
    """
    INSERT INTO monthly_invoice_settings SELECT (saved).* FROM (
        SELECT jsonb_populate_record(NULL::monthly_invoice_settings, to_jsonb(s) ||
            jsonb_build_object('month', CAST(:month AS text), 'exchange_rate', 150.25,
                'update_time', now())) AS saved
        FROM invoice_settings s) AS months
    """,
    """
    INSERT INTO cost_sums SELECT organisation_id, vendor, account_id, :month, customer_id, 'Usage',
        'usage', service, false, CAST(:month || '-' || day AS date), 'USD', 12.3456789 * day, 30
    FROM cloud_accounts, unnest(ARRAY['AmazonEC2', 'AmazonS3']) AS service,
        generate_series(10, 11) AS day
    """,
)

ReadPage = Callable[[], Coroutine[Any, Any, None]]

# The page to the parameters of its route, and to the columns of the bare statement.
PAGES: dict[str, tuple[Any, dict[str, str], str]] = {
    "account usage, one month": (
        read_account_usage,
        {"month": LAST_MONTH},
        "month, customer_id, service, marketplace",
    ),
    "account usage, 13 months": (
        read_account_usage,
        YEAR,
        "month, customer_id, service, marketplace",
    ),
    "account graph, one month by day": (
        read_account_graph,
        {"month": LAST_MONTH},
        "customer_id, day",
    ),
    "account graph, 13 months": (read_account_graph, YEAR, "customer_id, month"),
}


class ExamplePortal:
    """Two organisations with the same customer: one with many customers, one with it alone."""

    def __init__(self, address: Address, folder: Path) -> None:
        self._address, self._url = address, address.url
        self._key = load_or_create_key(folder / "key")
        self._runner = asyncio.Runner()
        self._engine: AsyncEngine
        self._bare: asyncpg.Connection
        self._callers: dict[str, Caller] = {}

    def __enter__(self) -> "ExamplePortal":
        self._runner.run(self._fill())
        return self

    def __exit__(self, *_error: object) -> None:
        self._runner.run(self._close())
        self._runner.close()

    async def _fill(self) -> None:
        await prepare_database(self._url, self._key)
        self._engine = create_app_engine(self._url)
        for contender, groups in ((OURS, GROUPS), (ALONE, 1)):
            self._callers[contender] = await self._create_organisation(contender, groups)
        self._bare = await asyncpg.connect(
            host=self._address.host,
            port=self._address.port,
            user=self._address.user,
            password=self._address.password,
            database=self._address.database,
        )
        organisation_id = self._callers[OURS].scope.organisation_id
        for statement in ("ANALYZE", f"SET nimbill.organisation = '{organisation_id}'"):
            await self._bare.execute(statement)

    async def _create_organisation(self, name: str, groups: int) -> Caller:
        """Return the customer of the first group."""
        organisation = await create_organisation(
            self._engine, self._key, name=name, username="root", password=PASSWORD
        )
        scope = TenantScope(organisation.organisation_id)
        values = {"groups": groups, "accounts": ACCOUNTS_PER_GROUP}
        async with transaction(self._engine, scope.organisation_id) as db:
            company_id = await operations.create_billing_group(db, scope, build_group(1))
            for statement in COPY_STATEMENTS:
                used = {key: value for key, value in values.items() if f":{key}" in statement}
                await db.execute(sa.text(statement), used)
        for month in MONTHS:
            async with transaction(self._engine, scope.organisation_id) as db:
                for statement in MONTH_STATEMENTS:
                    await db.execute(sa.text(statement), {"month": month})
        return Caller(
            user_id="usr_customer",
            username="customer",
            kind=UserKind.reseller,
            root_user="usr_customer",
            client_id="",
            subject_type="user",
            product=Product.portal,
            permissions=frozenset({RoleAction.Admin}),
            scope=TenantScope(organisation.organisation_id, frozenset({company_id})),
            epoch=1,
        )

    async def _close(self) -> None:
        await self._bare.close()
        await self._engine.dispose()

    def read_page(self, contender: str, page: str) -> ReadPage:
        if contender == BARE:
            return self._read_bare(page)
        route, parameters, _ = PAGES[page]
        caller = self._callers[contender]

        async def read() -> None:
            async with transaction(self._engine, caller.scope.organisation_id) as db:
                body = await route.fn(caller, db, **parameters)
                assert len(exact_json.encode(body)) > 1_000

        return read

    def _read_bare(self, page: str) -> ReadPage:
        _, parameters, columns = PAGES[page]
        months = [parameters["month"]] if "month" in parameters else MONTHS
        columns = ", ".join(f"s.{name}" for name in columns.split(", "))
        stmt = f"""
            SELECT {columns}, t.currency, sum(s.cost) * (1 - t.discount_rate) * t.exchange_rate
            FROM cloud_accounts a JOIN cost_sums s USING (organisation_id, vendor, customer_id)
            JOIN monthly_invoice_settings t USING (organisation_id, vendor, month, company_id)
            WHERE organisation_id = $1 AND company_id = ANY($2) AND month = ANY($3)
                AND s.kind = 'usage'
            GROUP BY {columns}, t.currency, t.discount_rate, t.exchange_rate
            ORDER BY {columns}
        """
        company_ids = list(self._callers[OURS].scope.billing_groups or ())
        organisation_id = self._callers[OURS].scope.organisation_id

        async def read() -> None:
            assert await self._bare.fetch(stmt, organisation_id, company_ids, months)

        return read

    def measure_rate(self, read: ReadPage, seconds: float) -> float:
        """Pages per second of at least one page."""
        started, pages = time.perf_counter(), 0
        while not pages or time.perf_counter() - started < seconds:
            self._runner.run(read())
            pages += 1
        return pages / (time.perf_counter() - started)


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """All contenders in one process, on one PostgreSQL."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        address = stack.enter_context(embedded_postgres(folder / "postgres"))
        example = stack.enter_context(ExamplePortal(address, folder))
        for contender in DESCRIPTIONS:
            for page in PAGES:
                example.measure_rate(example.read_page(contender, page), 0)  # warm-up
        yield [build_contender(example, name) for name in DESCRIPTIONS]


def build_contender(example: ExamplePortal, name: str) -> Contender:
    def measure(page: str, seconds: float) -> float:
        return example.measure_rate(example.read_page(name, page), seconds)

    return Contender(name, DESCRIPTIONS[name], measure)


SUITE = Suite(
    name="portal",
    description=f"pages of one of {GROUPS:,} customers with {ACCOUNTS_PER_GROUP} of "
    f"{GROUPS * ACCOUNTS_PER_GROUP:,} accounts, {len(MONTHS)} months",
    unit="pages/s",
    cases=tuple(PAGES),
    baseline=OURS,
    targets={BARE: 0.33, ALONE: 0.8},
    slice_seconds=1,
    contenders=contenders,
)
