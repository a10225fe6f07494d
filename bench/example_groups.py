"""The billing groups the benchmarks read and write, and the databases they lie in."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa

from bench.load import NUMBER
from nimbill.application.open_database import prepare
from nimbill.customers.billing_groups import operations
from nimbill.customers.billing_groups.bodies import BillingGroupCreate
from nimbill.database.embedded_postgres import Address, superuser_address
from nimbill.database.tenant_scope import TenantScope, engine_for, owner_engine, transaction
from nimbill.foundation.encryption import Encryptor
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation

GROUPS = 20
WRITING = 8
PASSWORD = "correct horse 7"
# Copies of the service's database for the others, without row-level security, which they would
# not have. Who writes the usual way also indexes the id itself, where the service keeps a hash.
BARE_COPY = "bare"
USUAL_COPY = "usual"
USUAL_INDEX = (
    "ALTER TABLE billing_groups DROP COLUMN billinggroup_id_hash",
    "CREATE UNIQUE INDEX ON billing_groups (organisation_id, billinggroup_id)",
)

GROUP: Mapping[str, Any] = {
    "billinggroup_id": f"BG-{NUMBER}",
    "billinggroup_name": "さくら商事 東日本",
    "company_name": "株式会社さくら商事",
    "phone": "03-1234-5678",
    "postal": "100-0001",
    "address": "東京都千代田区千代田1-1",
    "billing_title": "クラウド利用料",
    "personal": "経理部 山田花子",
    "remarks": "月末締め翌月末払い",
    "inv_aggregate": True,
    "language": "ja",
    "invoices": {
        "aws": {
            "calc_type": "account",
            "currency": "jpy",
            "discount_calc_logic": "usageamount",
            "discount_rate": 0.05,
            "discount_target_usage": "cloudpaywithfee",
            "substitution_fee": "percent",
            "substitution_fee_calc_target": "discounted",
            "substitution_fee_calc_type": "allsum",
            "substitution_fee_target_usage": "cloudpaywithfee",
            "substitution_fix": 0,
            "substitution_rate": 0.03,
            "support_amount_target": "allusage",
            "support_fee": "aws_business",
            "support_fee_calc_target": "nondiscount",
            "support_fix": 0,
            "support_rate": 0,
            "tax_rate": 0.10,
        }
    },
}


class Example(NamedTuple):
    """Groups are read in one organisation and written in others: the list keeps its length."""

    reading: NewOrganisation
    writing: list[NewOrganisation]
    company_id: str  # one of the groups that are read


def make_example(url: str, encryptor: Encryptor, folder: Path) -> Example:
    """The service's own database with its rows, and the copies of it."""
    example = asyncio.run(_fill(url, encryptor))
    superuser = superuser_address(folder)
    asyncio.run(_copy(superuser, BARE_COPY))
    asyncio.run(_copy(superuser, USUAL_COPY, *USUAL_INDEX))
    asyncio.run(_do(url, ["VACUUM ANALYZE"], at=superuser.database))
    return example


async def _fill(url: str, encryptor: Encryptor) -> Example:
    await prepare(url, encryptor)
    engine = engine_for(url)
    try:
        reading, *writing = [
            await create_organisation(
                engine, encryptor, name=f"Example {number}", username="root", password=PASSWORD
            )
            for number in range(1 + WRITING)
        ]
        scope = TenantScope(reading.organisation_id)
        async with transaction(engine, scope.organisation_id) as db:
            made = [
                await operations.create_billing_group(db, scope, numbered(number))
                for number in range(GROUPS)
            ]
    finally:
        await engine.dispose()
    return Example(reading, writing, company_id=made[GROUPS // 2])


def numbered(number: int) -> BillingGroupCreate:
    body = msgspec.json.encode({**GROUP, "billinggroup_id": f"BG-{number:010d}"})
    return msgspec.json.decode(body, type=BillingGroupCreate)


async def _copy(superuser: Address, name: str, *changes: str) -> None:
    own = superuser.database
    await _do(superuser.url, [f"CREATE DATABASE {name} TEMPLATE {own} OWNER {own}"], at="postgres")
    guarded = "SELECT relname FROM pg_class WHERE relrowsecurity"
    tables = await _do(superuser.url, [guarded], at=name)
    unguard = [f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY" for table in tables]
    await _do(superuser.url, [*unguard, *changes, "VACUUM ANALYZE"], at=name)


async def _do(url: str, statements: list[str], *, at: str) -> list[Any]:
    """Run statements one by one in the database of that name; what the last one answers."""
    engine = owner_engine(database_at(url, at))
    try:
        async with engine.connect() as db:
            alone = await db.execution_options(isolation_level="AUTOCOMMIT")
            for statement in statements:
                answer = await alone.execute(sa.text(statement))
            return list(answer.scalars()) if answer.returns_rows else []
    finally:
        await engine.dispose()


def database_at(url: str, name: str) -> str:
    return sa.make_url(url).set(database=name).render_as_string(hide_password=False)
