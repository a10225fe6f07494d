"""Suite "portal": the pages of a customer among many, compared with one hand-written statement."""

import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import asyncpg
import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bench.example_database import ExampleDatabase
from bench.example_groups import PASSWORD, build_group
from bench.portal_data import (
    ACCOUNTS_PER_GROUP,
    BUDGETS,
    COPY_STATEMENTS,
    INVOICE_STATEMENTS,
    LAST_MONTH,
    LAST_MONTH_STATEMENTS,
    MONTH_STATEMENTS,
    MONTHS,
)
from bench.portal_pages import PAGES, PortalPage
from bench.rounds import Contender, Suite
from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups import operations
from nimbill.customers.organisation_settings.records import lock_settings, store_settings
from nimbill.database.embedded_postgres import Address, embedded_postgres
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.identity.organisations.operations import create_organisation
from nimbill.portal import report_months
from nimbill.portal.commitments import routes as commitment_routes

OURS = "nimbill"
BARE = "bare statement"
ALONE = "nimbill, no other customers"

DESCRIPTIONS = {
    OURS: "the work of the route in the transaction that the gate has begun: view, sums, prices, "
    "calculation and JSON",
    BARE: "one statement by the driver that sums and prices the same rows, compared once with what "
    "the page shows",
    ALONE: "the same page of the same customer in an organisation without other customers",
}

GROUPS = 5_000
# pages without parameters show the current month
NOW = datetime(2026, 9, 29, 12, tzinfo=UTC)

# Returns the seconds that the page took.
ReadPage = Callable[[], Coroutine[Any, Any, float]]


class ExamplePortal(ExampleDatabase):
    """Two organisations with the same customer: one with many customers, one with it alone."""

    def __init__(self, address: Address, folder: Path, groups: int = GROUPS) -> None:
        super().__init__(address, folder)
        self._groups = groups
        self._bare: asyncpg.Connection
        self._callers: dict[str, Caller] = {}

    async def _fill(self) -> None:
        for contender, groups in ((OURS, self._groups), (ALONE, 1)):
            self._callers[contender] = await self._create_organisation(contender, groups)
        self._bare = await self._open_connection(self._address)
        organisation_id = self._callers[OURS].scope.organisation_id
        for statement in ("VACUUM ANALYZE", f"SET nimbill.organisation = '{organisation_id}'"):
            await self._bare.execute(statement)

    async def _create_organisation(self, name: str, groups: int) -> Caller:
        """Return the customer of the first group."""
        organisation = await create_organisation(
            self._engine, self._key, name=name, username="root", password=PASSWORD
        )
        scope = TenantScope(organisation.organisation_id)
        async with transaction(self._engine, scope.organisation_id) as db:
            company_id = await operations.create_billing_group(db, scope, build_group(1))
            values = {"groups": groups, "accounts": ACCOUNTS_PER_GROUP, "budgets": BUDGETS}
            await _execute(db, COPY_STATEMENTS, values)
            settings = await lock_settings(db, scope)
            keys = ["Team", "Stage"]
            await store_settings(db, scope, msgspec.structs.replace(settings, report_tag_keys=keys))
        for month in MONTHS:
            is_last = month == LAST_MONTH
            async with transaction(self._engine, scope.organisation_id) as db:
                values = {"month": month, "company": company_id}
                await _execute(db, MONTH_STATEMENTS, values)
                await _execute(db, LAST_MONTH_STATEMENTS if is_last else INVOICE_STATEMENTS, values)
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

    def read_page(self, contender: str, page: PortalPage) -> ReadPage:
        async def read_bare() -> float:
            started = time.perf_counter()
            rows = await self._fetch_bare(page)
            assert rows
            return time.perf_counter() - started

        async def read() -> float:
            caller = self._callers[contender]
            async with transaction(self._engine, caller.scope.organisation_id) as db:
                started = time.perf_counter()
                exact_json.encode(await page.route.fn(caller, db, **page.parameters))
                return time.perf_counter() - started

        return read_bare if contender == BARE else read

    async def _fetch_bare(self, page: PortalPage) -> Sequence[Any]:
        scope = self._callers[OURS].scope
        rows: Sequence[Any] = await self._bare.fetch(
            page.statement, scope.organisation_id, list(scope.billing_groups or ()), page.months
        )
        return rows

    def compare(self, page: PortalPage) -> None:
        """The page and the statement have the same rows, and all their digits are equal."""

        async def read() -> tuple[Any, Sequence[Any]]:
            caller = self._callers[OURS]
            async with transaction(self._engine, caller.scope.organisation_id) as db:
                body = await page.route.fn(caller, db, **page.parameters)
            return body, await self._fetch_bare(page)

        body, rows = self._runner.run(read())
        shown = sorted(page.list_rows(body), key=repr)
        expected = sorted(page.list_bare_rows([tuple(row) for row in rows]), key=repr)
        assert shown, "the page is empty"
        assert len(shown) == len(expected), (len(shown), len(expected))
        unequal = [pair for pair in zip(shown, expected, strict=True) if pair[0] != pair[1]]
        assert not unequal, unequal[:3]

    def measure_rate(self, read: ReadPage, seconds: float) -> float:
        """Pages per second of at least one page."""
        spent, pages = 0.0, 0
        while not pages or spent < seconds:
            spent += self._runner.run(read())
            pages += 1
        return pages / spent


async def _execute(db: AsyncConnection, statements: Sequence[str], values: dict[str, Any]) -> None:
    """Without the time limit of requests."""
    await db.execute(sa.text("SET LOCAL statement_timeout = 0"))
    for statement in statements:
        used = {key: value for key, value in values.items() if f":{key}" in statement}
        await db.execute(sa.text(statement), used)


@contextmanager
def fixed_time() -> Iterator[None]:
    """Let the portal believe that the last month is the current one."""
    clock = SimpleNamespace(now=lambda: NOW)
    with (
        patch.object(report_months, "clock", clock),
        patch.object(commitment_routes, "clock", clock),
    ):
        yield


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """All contenders in one process, on one PostgreSQL."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        address = stack.enter_context(embedded_postgres(folder / "postgres"))
        stack.enter_context(fixed_time())
        example = stack.enter_context(ExamplePortal(address, folder))
        for name, page in PAGES.items():
            try:
                example.compare(page)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None
            for contender in DESCRIPTIONS:
                for _ in range(WARM_UPS):
                    example.measure_rate(example.read_page(contender, page), 0)
        yield [build_contender(example, name) for name in DESCRIPTIONS]


# PostgreSQL plans the first executions of a prepared statement anew.
WARM_UPS = 6


def build_contender(example: ExamplePortal, name: str) -> Contender:
    def measure(page: str, seconds: float) -> float:
        return example.measure_rate(example.read_page(name, PAGES[page]), seconds)

    return Contender(name, DESCRIPTIONS[name], measure)


SUITE = Suite(
    name="portal",
    description=f"pages of one of {GROUPS:,} customers with {ACCOUNTS_PER_GROUP} of "
    f"{GROUPS * ACCOUNTS_PER_GROUP:,} accounts, {len(MONTHS)} months",
    unit="pages/s",
    cases=tuple(PAGES),
    baseline=OURS,
    roles={BARE: "floor", ALONE: "variant"},
    targets={BARE: 0.33, ALONE: 0.8},
    slice_seconds=0.5,
    contenders=contenders,
    rounds=3,
    minutes=2,
    summary_case="account usage, 13 months",
)
