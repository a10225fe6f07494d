"""A month that is ready for invoicing: stored lines, their sums, groups and settings."""

from pathlib import Path
from typing import Any

import asyncpg
import duckdb

from bench.example_groups import PASSWORD
from nimbill.application.open_database import prepare_database
from nimbill.customers.billing_groups.records import new_company_id
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import create_app_engine
from nimbill.foundation.encryption import load_or_create_key
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation

MONTH, PAYER = "2026-09", "836060457634"
SERVICES = 10
CUSTOMER = "lpad(({} % {})::text, 12, '0')"
SUM_FIELDS = ("customer_id", "line_type", "kind", "service", "marketplace", "day", "currency")

WRITE_LINES = """
COPY (SELECT {customer} AS customer_id, 'Usage' AS line_type, 'usage' AS kind,
      'Service' || (i // {groups} % {services}) AS service, false AS marketplace,
      DATE '2026-09-01' + (i // 7 % 30)::int AS day, 'USD' AS currency,
      ((i * 7919 % 100003) / 10000)::DECIMAL(38, 22) AS cost
      FROM range({lines}) t(i)) TO '{file}' (FORMAT parquet, COMPRESSION zstd)
"""
DAILY_SUMS = """
SELECT customer_id, line_type, kind, service, marketplace, day, currency, sum(cost), count(*)
FROM '{file}' GROUP BY ALL
"""
INVOICE_SUMS = """
SELECT customer_id, service, marketplace, currency, sum(cost) FROM '{file}'
WHERE kind = 'usage' GROUP BY ALL ORDER BY ALL
"""
SETTING = {
    "calc_type": "account",
    "currency": "jpy",
    "discount_calc_logic": "usageamount",
    "discount_rate": "0.05",
    "discount_target_usage": "cloudpaywithfee",
    "substitution_fee": "percent",
    "substitution_fee_calc_target": "discounted",
    "substitution_fee_calc_type": "allsum",
    "substitution_fee_target_usage": "cloudpaywithfee",
    "substitution_fix": "0",
    "substitution_rate": "0.03",
    "support_amount_target": "allusage",
    "support_fee": "aws_business",
    "support_fee_calc_target": "nondiscount",
    "support_fix": "0",
    "support_rate": "0",
    "tax_rate": "0.10",
    "substitution_basis": "discounted",
    "substitution_scope": "cloudpaywithfee",
    "support_basis": "nondiscount",
}


def write_lines(file: Path, *, groups: int, lines: int) -> None:
    customer = CUSTOMER.format("i", groups)
    duckdb.sql(
        WRITE_LINES.format(
            customer=customer, groups=groups, services=SERVICES, lines=lines, file=file
        )
    )


def sum_lines(file: Path) -> int:
    """Compute the sums of an invoice from the lines; return their number."""
    with duckdb.connect() as engine:
        return len(engine.execute(INVOICE_SUMS.format(file=file)).fetchall())


async def fill_month(url: str, db: Any, key: Path, file: Path, groups: int) -> NewOrganisation:
    """Insert the rows that imports, saved settings and saved rates would leave."""
    encryptor, engine = load_or_create_key(key), create_app_engine(url)
    await prepare_database(url, encryptor)
    organisation = await create_organisation(
        engine, encryptor, name=f"{groups} groups", username="root", password=PASSWORD
    )
    await engine.dispose()
    organisation_id = organisation.organisation_id
    with duckdb.connect() as lines:
        daily_sums = lines.execute(DAILY_SUMS.format(file=file)).fetchall()
    companies = [new_company_id() for _ in range(groups)]
    await copy_rows(db, "billing_groups", _build_groups(organisation_id, companies))
    await copy_rows(db, "cloud_accounts", _build_accounts(organisation_id, companies))
    await copy_rows(db, "monthly_invoice_settings", _build_settings(organisation_id, companies))
    sums = [
        {
            "organisation_id": organisation_id,
            "vendor": "aws",
            "payer_id": PAYER,
            "month": MONTH,
            **dict(zip((*SUM_FIELDS, "cost", "lines"), row, strict=True)),
        }
        for row in daily_sums
    ]
    await copy_rows(db, "cost_sums", sums)
    await db.execute("VACUUM ANALYZE")
    return organisation


def _build_groups(organisation_id: str, companies: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "organisation_id": organisation_id,
            "company_id": company_id,
            "billinggroup_id": f"BG-{number:06}",
            "billinggroup_name": "さくら商事 東日本",
            "company_name": "株式会社さくら商事",
            "inv_aggregate": False,
        }
        for number, company_id in enumerate(companies)
    ]


def _build_accounts(organisation_id: str, companies: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "organisation_id": organisation_id,
            "customer_id": f"{number:012}",
            "vendor": "aws",
            "account_id": PAYER,
            "company_id": company_id,
            "name": f"account {number}",
        }
        for number, company_id in enumerate(companies)
    ]


def _build_settings(organisation_id: str, companies: list[str]) -> list[dict[str, Any]]:
    key = {
        "organisation_id": organisation_id,
        "month": MONTH,
        "vendor": "aws",
        "exchange_rate": "150.25",
    }
    return [{**key, "company_id": company_id, **SETTING} for company_id in companies]


async def copy_rows(db: Any, table: str, rows: list[dict[str, Any]]) -> None:
    names = list(rows[0])
    await db.copy_records_to_table(
        table, columns=names, records=[tuple(row.values()) for row in rows]
    )


async def connect(address: Address) -> Any:
    """Connect with asyncpg, which accepts numbers as text."""
    return await asyncpg.connect(address.url.replace("postgresql+asyncpg", "postgresql"))
