"""Statements and changes of one organisation, each with a guarantee and without it."""

import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bench.example_database import ExampleDatabase, build_root_caller
from bench.example_groups import GROUP, PASSWORD, build_group
from bench.suites.lists import COPY_STATEMENTS
from nimbill.access.caller import Caller
from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.audit import records as audit
from nimbill.customers.billing_groups import operations
from nimbill.database.embedded_postgres import Address, superuser_address
from nimbill.database.tenant_scope import APP_ROLE, TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.ids import new_id
from nimbill.http import idempotency
from nimbill.identity.organisations.operations import create_organisation

GROUPS = 1_000
ACCOUNTS_PER_GROUP = 5
FIRST_NUMBER = 1_000_000  # of the groups that are created while it is measured
BODY = exact_json.encode({**GROUP, "billinggroup_id": "BG-0000000001"})
SECRET_CONTEXT = ("bench", "secret")
ONE_ACCOUNT = """
SELECT * FROM cloud_accounts WHERE organisation_id = $1 AND vendor = 'aws'
AND customer_id = '000000000777'
"""
ALL_ACCOUNTS = """
SELECT * FROM cloud_accounts WHERE organisation_id = $1 AND vendor = 'aws' ORDER BY customer_id
"""
SET_TENANT = "SELECT set_config('nimbill.organisation', $1, true)"

Work = Callable[[], Awaitable[None]]


class GuaranteedChanges(ExampleDatabase):
    """A database with an organisation of 5,000 accounts."""

    def __init__(self, address: Address, folder: Path) -> None:
        super().__init__(address, folder)
        self._numbers = count(FIRST_NUMBER)
        self._asynchronous: AsyncEngine
        self._restricted: Any  # a connection that row-level security applies to
        self._superuser: Any
        self._caller: Caller
        self._scope: TenantScope

    async def _fill(self) -> None:
        self._asynchronous = self._open_engine()
        sa.event.listen(self._asynchronous.sync_engine, "connect", _commit_without_waiting)
        created = await create_organisation(
            self._engine, self._key, name="Guarantees", username="root", password=PASSWORD
        )
        self._caller = build_root_caller(created)
        self._scope = self._caller.scope
        sizes = {"groups": GROUPS, "accounts": ACCOUNTS_PER_GROUP}
        async with transaction(self._engine, created.organisation_id) as db:
            await operations.create_billing_group(db, self._scope, build_group(1))
            for statement in COPY_STATEMENTS:
                values = {name: size for name, size in sizes.items() if f":{name}" in statement}
                await db.execute(sa.text(statement), values)
            await self._store_secret(db)
        superuser = superuser_address(self._folder / "postgres")
        self._superuser = await self._open_connection(superuser)
        self._restricted = await self._open_connection(superuser)
        await self._superuser.execute("VACUUM ANALYZE")
        await self._restricted.execute(f"SET ROLE {APP_ROLE}")

    def measure_rate(self, work: Work, seconds: float) -> float:
        """Repetitions per second, one after the other."""

        async def repeat() -> float:
            started, repetitions = time.perf_counter(), 0
            while not repetitions or time.perf_counter() - started < seconds:
                await work()
                repetitions += 1
            return repetitions / (time.perf_counter() - started)

        return self._runner.run(repeat())

    # ── changes ──────────────────────────────────────────────────────────────────────────────────

    async def create_unaudited(self) -> None:
        async with transaction(self._engine, self._scope.organisation_id) as db:
            await self._create_group(db)

    async def create(self) -> None:
        """With its audit row."""
        await self._create_with_audit_row(self._engine)

    async def create_without_waiting(self) -> None:
        await self._create_with_audit_row(self._asynchronous)

    async def create_once(self) -> None:
        """With an idempotency key and the audit row."""
        async with transaction(self._engine, self._scope.organisation_id) as db:
            path = "/m/core/billinggroup"
            request_hash = idempotency.hash_request("POST", path, b"", "application/json", BODY)
            reserved = await idempotency.reserve_key(
                db, self._caller, self._key, new_id("key"), request_hash
            )
            assert isinstance(reserved, idempotency.ReservedKey)
            company_id = await self._create_group(db)
            response = idempotency.StoredResponse(200, exact_json.encode({"id": company_id}))
            await idempotency.store_response(db, self._caller, self._key, reserved, response)
            await self._append_audit_row(db, company_id)

    async def _create_with_audit_row(self, engine: AsyncEngine) -> None:
        async with transaction(engine, self._scope.organisation_id) as db:
            await self._append_audit_row(db, await self._create_group(db))

    async def _create_group(self, db: AsyncConnection) -> str:
        body = build_group(next(self._numbers))
        return await operations.create_billing_group(db, self._scope, body)

    async def _append_audit_row(self, db: AsyncConnection, company_id: str) -> None:
        await audit.append_entry(
            db,
            actor=self._caller.user_id,
            actor_name="root",
            action="CreateBillingGroup",
            resource=f"billing_group/{company_id}",
            company_id=company_id,
            request_id=new_id("cmd"),
            sent=dict(GROUP),
        )

    # ── row-level security ───────────────────────────────────────────────────────────────────────

    async def read_account(self) -> None:
        await self._read(self._restricted, ONE_ACCOUNT, rows=1)

    async def read_account_unrestricted(self) -> None:
        await self._read(self._superuser, ONE_ACCOUNT, rows=1)

    async def list_accounts(self) -> None:
        await self._read(self._restricted, ALL_ACCOUNTS, rows=GROUPS * ACCOUNTS_PER_GROUP)

    async def list_accounts_unrestricted(self) -> None:
        await self._read(self._superuser, ALL_ACCOUNTS, rows=GROUPS * ACCOUNTS_PER_GROUP)

    async def _read(self, connection: Any, statement: str, *, rows: int) -> None:
        """The policies need to know the organisation of the transaction."""
        organisation_id = self._scope.organisation_id
        async with connection.transaction():
            if connection is self._restricted:
                await connection.fetch(SET_TENANT, organisation_id)
            assert len(await connection.fetch(statement, organisation_id)) == rows

    # ── encrypted secrets ────────────────────────────────────────────────────────────────────────

    async def _store_secret(self, db: AsyncConnection) -> None:
        encryptor = await load_organisation_encryptor(db, self._scope, self._key)
        values = {
            "organisation_id": self._scope.organisation_id,
            "user_id": self._caller.user_id,
            "key": "secret",
            "fingerprint": b"",
            "status": 200,
            "encrypted_response": encryptor.encrypt(BODY, SECRET_CONTEXT),
            "create_time": sa.func.now(),
        }
        await db.execute(sa.insert(idempotency.idempotency_keys).values(values))

    async def read_secret(self) -> None:
        async with transaction(self._engine, self._scope.organisation_id) as db:
            ciphertext = await self._read_ciphertext(db)
            encryptor = await load_organisation_encryptor(db, self._scope, self._key)
            assert encryptor.decrypt(ciphertext, SECRET_CONTEXT) == BODY

    async def read_unencrypted(self) -> None:
        async with transaction(self._engine, self._scope.organisation_id) as db:
            assert await self._read_ciphertext(db)

    async def _read_ciphertext(self, db: AsyncConnection) -> bytes:
        table = idempotency.idempotency_keys
        stmt = sa.select(table.c.encrypted_response).where(
            table.c.organisation_id == self._scope.organisation_id,
            table.c.user_id == self._caller.user_id,
            table.c.key == "secret",
        )
        ciphertext: bytes = (await db.execute(stmt)).scalar_one()
        return ciphertext


def _commit_without_waiting(connection: Any, _record: object) -> None:
    """A commit returns before it is on disk; a crash of the server may lose the last ones."""
    cursor = connection.cursor()
    cursor.execute("SET synchronous_commit = off")
    cursor.close()
    connection.commit()
