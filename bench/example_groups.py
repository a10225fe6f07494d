"""The billing groups that benchmarks read and write, and their databases."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from bench.load import NUMBER_PLACEHOLDER
from nimbill.application.open_database import prepare_database
from nimbill.customers.billing_groups import operations
from nimbill.customers.billing_groups.bodies import BillingGroupCreate
from nimbill.database.embedded_postgres import Address, superuser_address
from nimbill.database.tenant_scope import (
    TenantScope,
    create_app_engine,
    create_owner_engine,
    transaction,
)
from nimbill.foundation.encryption import Encryptor
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation

GROUPS = 20
WRITERS = 8
PASSWORD = "correct horse 7"
# Copies of the database for the alternatives, without row-level security. The FastAPI application
# has an index on the id, where the service has one on a hash of it.
BARE_COPY = "bare"
FASTAPI_COPY = "fastapi"
FASTAPI_INDEX = (
    "ALTER TABLE billing_groups DROP COLUMN billinggroup_id_hash",
    "CREATE UNIQUE INDEX ON billing_groups (organisation_id, billinggroup_id)",
)

GROUP: Mapping[str, Any] = {
    "billinggroup_id": f"BG-{NUMBER_PLACEHOLDER}",
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


class ExampleGroups(NamedTuple):
    """Some organisations are read and others are written, so that the list keeps its length."""

    readers: list[NewOrganisation]
    writers: list[NewOrganisation]
    company_id: str  # a group of the first reader

    @property
    def reader(self) -> NewOrganisation:
        return self.readers[0]


def create_example_groups(
    url: str, encryptor: Encryptor, folder: Path, *, readers: int = 1
) -> ExampleGroups:
    """Fill the database of the service and copy it for the alternatives."""
    example = asyncio.run(_fill(url, encryptor, readers))
    superuser = superuser_address(folder)
    asyncio.run(_copy_database(superuser, BARE_COPY))
    asyncio.run(_copy_database(superuser, FASTAPI_COPY, *FASTAPI_INDEX))
    asyncio.run(_execute(url, ["VACUUM ANALYZE"], database=superuser.database))
    return example


async def _fill(url: str, encryptor: Encryptor, readers: int) -> ExampleGroups:
    await prepare_database(url, encryptor)
    engine = create_app_engine(url)
    try:
        organisations = [
            await create_organisation(
                engine, encryptor, name=f"Example {number}", username="root", password=PASSWORD
            )
            for number in range(readers + WRITERS)
        ]
        reading, writing = organisations[:readers], organisations[readers:]
        company_ids = [await _create_groups(engine, each.organisation_id) for each in reading]
    finally:
        await engine.dispose()
    return ExampleGroups(reading, writing, company_id=company_ids[0][GROUPS // 2])


async def _create_groups(engine: AsyncEngine, organisation_id: str) -> list[str]:
    scope = TenantScope(organisation_id)
    async with transaction(engine, organisation_id) as db:
        return [
            await operations.create_billing_group(db, scope, build_group(number))
            for number in range(GROUPS)
        ]


def build_group(number: int) -> BillingGroupCreate:
    body = msgspec.json.encode({**GROUP, "billinggroup_id": f"BG-{number:010d}"})
    return msgspec.json.decode(body, type=BillingGroupCreate)


async def _copy_database(superuser: Address, name: str, *changes: str) -> None:
    url, original = superuser.url, superuser.database
    create = f"CREATE DATABASE {name} TEMPLATE {original} OWNER {original}"
    await _execute(url, [create], database="postgres")
    list_tables = "SELECT relname FROM pg_class WHERE relrowsecurity"
    tables = await _execute(url, [list_tables], database=name)
    disable = [f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY" for table in tables]
    await _execute(url, [*disable, *changes, "VACUUM ANALYZE"], database=name)


async def _execute(url: str, statements: list[str], *, database: str) -> list[Any]:
    """Run statements without a transaction; return the first column of the last result."""
    engine = create_owner_engine(replace_database(url, database))
    try:
        async with engine.connect() as db:
            autocommit = await db.execution_options(isolation_level="AUTOCOMMIT")
            for statement in statements:
                result = await autocommit.execute(sa.text(statement))
            return list(result.scalars()) if result.returns_rows else []
    finally:
        await engine.dispose()


def replace_database(url: str, name: str) -> str:
    return sa.make_url(url).set(database=name).render_as_string(hide_password=False)
