"""Suite "console": lists of an organisation with many customers, compared with one statement."""

import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import asyncpg

from bench.console_data import ACCOUNTS_PER_GROUP, GROUPS, create_console_organisation
from bench.console_data import LAST_MONTH as MONTH
from bench.example_database import ExampleDatabase, build_root_caller
from bench.rounds import Contender, Suite
from nimbill.access.caller import Caller
from nimbill.adjustments.recalculation.routes import list_recalculation
from nimbill.adjustments.reserved_instances.routes import list_reserved_instances
from nimbill.application.audit_routes import list_audit_entries
from nimbill.closing.checks.routes import list_findings
from nimbill.closing.overview.routes import summarize_invoices
from nimbill.closing.reconciliation.routes import read_tie_out
from nimbill.closing.search.routes import search
from nimbill.closing.steps.routes import list_months, read_month
from nimbill.customers.billing_groups.group_names import list_group_names
from nimbill.customers.billing_groups.routes import list_billing_groups
from nimbill.customers.cloud_accounts.routes import list_accounts
from nimbill.database.embedded_postgres import Address, embedded_postgres
from nimbill.database.tenant_scope import transaction
from nimbill.foundation import exact_json
from nimbill.identity.users.routes import list_subusers
from nimbill.imports.routes import list_unassigned_accounts

OURS, BARE, ROUND_TRIP = "nimbill", "bare statement", "SELECT 1"
DESCRIPTIONS = {
    OURS: "the work of the route in the transaction that the gate has begun, and JSON",
    BARE: "one statement by the driver that reads the rows of the same page, and nothing else",
    ROUND_TRIP: "the shortest statement by the driver: the time of a round trip",
}
PAGE = 50
WARM_UPS = 6  # PostgreSQL plans the first executions of a prepared statement anew

ReadPage = Callable[[], Coroutine[Any, Any, float]]  # returns the seconds


class _NamedGroups(NamedTuple):
    """What the audit log needs of a worker."""

    list_group_names: Any = list_group_names


class ConsolePage(NamedTuple):
    route: Any
    parameters: Mapping[str, Any]
    statement: str


def ignore_total(_total: int) -> None:
    pass


COUNTED = {"report_total": ignore_total, "limit": PAGE}
_GROUPS = "SELECT * FROM billing_groups WHERE organisation_id = $1"
_ACCOUNTS = "SELECT * FROM cloud_accounts WHERE organisation_id = $1 AND vendor = 'aws'"
_INVOICES = f"""
    SELECT i.*, r.currency, r.pre_tax, r.total FROM invoices i JOIN invoice_revisions r USING
    (organisation_id, month, company_id, vendor, revision)
    WHERE organisation_id = $1 AND month = '{MONTH}'
"""
PAGES = {
    "groups": ConsolePage(
        list_billing_groups, COUNTED, f"{_GROUPS} ORDER BY billinggroup_id LIMIT {PAGE}"
    ),
    "groups, searched": ConsolePage(
        list_billing_groups,
        {**COUNTED, "search": "商事 03"},
        f"{_GROUPS} AND strpos(lower(billinggroup_name), '商事 03') > 0 LIMIT {PAGE}",
    ),
    "accounts": ConsolePage(
        list_accounts,
        {**COUNTED, "vendor": "aws"},
        f"{_ACCOUNTS} ORDER BY customer_id LIMIT {PAGE}",
    ),
    "accounts, sorted by name": ConsolePage(
        list_accounts,
        {**COUNTED, "vendor": "aws", "sort": "-customer_name"},
        f"{_ACCOUNTS} ORDER BY name DESC LIMIT {PAGE}",
    ),
    "unassigned accounts": ConsolePage(
        list_unassigned_accounts,
        {**COUNTED, "vendor": "aws"},
        f"SELECT DISTINCT customer_id FROM cost_sums s WHERE organisation_id = $1 AND vendor = "
        f"'aws' AND month = '{MONTH}' AND NOT EXISTS (SELECT FROM cloud_accounts a WHERE "
        f"a.organisation_id = $1 AND a.customer_id = s.customer_id) LIMIT {PAGE}",
    ),
    "invoices, sorted by total": ConsolePage(
        summarize_invoices,
        {"month": MONTH, "vendor": "aws", "limit": PAGE, "sort": "-total"},
        f"{_INVOICES} ORDER BY total DESC LIMIT {PAGE}",
    ),
    "entries": ConsolePage(
        list_recalculation,
        {**COUNTED, "month": MONTH, "vendor": "aws", "details": True},
        f"SELECT * FROM recalculation_entries WHERE organisation_id = $1 AND vendor = 'aws' "
        f"AND month = '{MONTH}' ORDER BY customer_id LIMIT {PAGE}",
    ),
    "reservations": ConsolePage(
        list_reserved_instances,
        {**COUNTED, "vendor": "aws", "details": True},
        "SELECT * FROM reserved_instances WHERE organisation_id = $1 ORDER BY customer_id",
    ),
    "people": ConsolePage(
        list_subusers,
        {**COUNTED, "details": True},
        f"SELECT * FROM users WHERE organisation_id = $1 ORDER BY username LIMIT {PAGE}",
    ),
    "audit": ConsolePage(
        list_audit_entries,
        {**COUNTED, "details": True, "resources": _NamedGroups()},
        f"SELECT * FROM audit_log WHERE organisation_id = $1 ORDER BY seq DESC LIMIT {PAGE}",
    ),
    "search": ConsolePage(
        search,
        {"q": "商事 0304"},
        f"{_ACCOUNTS} AND strpos(lower(name), '商事 0304') > 0 LIMIT 10",
    ),
    "checks": ConsolePage(
        list_findings, {"month": MONTH, "vendor": "aws", "limit": PAGE}, _INVOICES
    ),
    "months": ConsolePage(
        list_months,
        {"limit": 100, "steps": False},
        "SELECT DISTINCT month, vendor FROM invoices WHERE organisation_id = $1",
    ),
    "month, nothing changed": ConsolePage(
        read_month,
        {"month": MONTH, "vendor": "aws"},
        "SELECT DISTINCT company_id FROM cost_sums JOIN cloud_accounts USING (organisation_id, "
        f"vendor, customer_id) WHERE organisation_id = $1 AND month = '{MONTH}'",
    ),
    "tie-out, nothing changed": ConsolePage(
        read_tie_out, {"month": MONTH, "vendor": "aws", "limit": PAGE}, _INVOICES
    ),
}


class ExampleConsole(ExampleDatabase):
    def __init__(self, address: Address, folder: Path) -> None:
        super().__init__(address, folder)
        self._bare: asyncpg.Connection
        self._caller: Caller

    async def _fill(self) -> None:
        created = await create_console_organisation(self._engine, self._key)
        self._caller = build_root_caller(created)
        self._bare = await self._open_connection(self._address)
        setting = f"SET nimbill.organisation = '{created.organisation_id}'"
        for statement in ("VACUUM ANALYZE", setting):
            await self._bare.execute(statement)

    def read_page(self, contender: str, page: ConsolePage) -> ReadPage:
        async def read() -> float:
            organisation_id = self._caller.scope.organisation_id
            async with transaction(self._engine, organisation_id) as db:
                started = time.perf_counter()
                body = await page.route.fn(caller=self._caller, db=db, **page.parameters)
                assert exact_json.encode(body)
                return time.perf_counter() - started

        async def read_bare() -> float:
            started = time.perf_counter()
            if contender == ROUND_TRIP:
                assert await self._bare.fetch("SELECT 1")
            else:
                assert await self._bare.fetch(page.statement, self._caller.scope.organisation_id)
            return time.perf_counter() - started

        return read if contender == OURS else read_bare

    def measure_rate(self, read: ReadPage, seconds: float) -> float:
        """Pages per second of at least one page."""
        spent, pages = 0.0, 0
        while not pages or spent < seconds:
            spent += self._runner.run(read())
            pages += 1
        return pages / spent


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    """All contenders in one process, on one PostgreSQL."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        address = stack.enter_context(embedded_postgres(folder / "postgres"))
        example = stack.enter_context(ExampleConsole(address, folder))
        for page in PAGES.values():
            for contender in DESCRIPTIONS:
                for _ in range(WARM_UPS):
                    example.measure_rate(example.read_page(contender, page), 0)
        yield [build_contender(example, name) for name in DESCRIPTIONS]


def build_contender(example: ExampleConsole, name: str) -> Contender:
    def measure(page: str, seconds: float) -> float:
        return example.measure_rate(example.read_page(name, PAGES[page]), seconds)

    return Contender(name, DESCRIPTIONS[name], measure)


SUITE = Suite(
    name="console",
    description=f"pages of {PAGE} rows of an organisation with {GROUPS:,} groups and "
    f"{GROUPS * ACCOUNTS_PER_GROUP:,} accounts",
    unit="pages/s",
    cases=tuple(PAGES),
    baseline=OURS,
    roles={BARE: "floor", ROUND_TRIP: "variant"},
    targets={},
    slice_seconds=0.3,
    contenders=contenders,
    summary_case="groups",
)
