"""Stored sums and lake files of a month."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake import bulk_copy, records
from nimbill.costs.lake.decimal_overflow import WIDE_MONEY
from nimbill.costs.lake.records import cost_sums, cost_tag_sums
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from tests.costs.generated_months import LARGEST_UNITS, amount_of_units, build_line
from tests.costs.months.month_requests import run_in_transaction
from tests.costs.stored_months import store_month
from tests.running_service import Service

PAYER = "836060457634"


def load_rows(service: Service, table: sa.Table) -> list[dict[str, Any]]:
    async def read(db: AsyncConnection, _: TenantScope) -> list[dict[str, Any]]:
        return [row._asdict() for row in await db.execute(sa.select(table))]

    return run_in_transaction(service, read)


def build_sums(count: int, cost: Decimal, money: pa.DataType) -> pa.Table:
    rows = [
        {
            "payer_id": PAYER,
            "customer_id": "011254002932",
            "line_type": "Usage",
            "kind": "usage",
            "service": f"service {number}",
            "marketplace": False,
            "day": date(2026, 9, 1),
            "currency": "USD",
            "cost": cost,
            "lines": 1,
        }
        for number in range(count)
    ]
    types = [
        ("payer_id", pa.string()),
        ("customer_id", pa.string()),
        ("line_type", pa.string()),
        ("kind", pa.string()),
        ("service", pa.string()),
        ("marketplace", pa.bool_()),
        ("day", pa.date32()),
        ("currency", pa.string()),
        ("cost", money),
        ("lines", pa.int64()),
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(types))


def replace_month(service: Service, sums: pa.Table) -> None:
    no_tag_sums = sums.slice(0, 0).drop_columns(["day"])
    for name in ("tag_key", "tag_value"):
        no_tag_sums = no_tag_sums.append_column(name, pa.array([], pa.string()))

    async def replace(db: AsyncConnection, scope: TenantScope) -> None:
        await records.replace_month(
            db,
            scope,
            BillingPeriod("2026-09", "aws"),
            import_id="imp",
            payers={PAYER: len(sums)},
            provisional=False,
            sums=sums.to_batches(),
            tag_sums=no_tag_sums.to_batches(),
        )

    run_in_transaction(service, replace)


def test_sums_of_both_decimal_types_are_stored_exactly(service: Service) -> None:
    for cost, money in (
        (amount_of_units(LARGEST_UNITS), pa.decimal128(38, 22)),
        (amount_of_units(10**45 + 1), WIDE_MONEY),
    ):
        replace_month(service, build_sums(1, cost, money))

        assert [row["cost"] for row in load_rows(service, cost_sums)] == [cost]


def test_more_rows_than_fit_into_one_statement_are_stored(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_copy, "ROWS_PER_STATEMENT", 1_000)
    count = 2_007

    replace_month(service, build_sums(count, Decimal("0.1"), pa.decimal128(38, 22)))

    rows = load_rows(service, cost_sums)
    assert len({row["service"] for row in rows}) == len(rows) == count
    assert sum(row["cost"] for row in rows) == count * Decimal("0.1")


def test_a_month_without_lines_replaces_nothing(service: Service) -> None:
    store_month(service, [build_line()])

    store_month(service, [])

    assert len(load_rows(service, cost_sums)) == 1


def test_tags_are_stored_unchanged(service: Service) -> None:
    values = ["値 'x' \"y\" \\", "", "\\.", "NULL", "\\N", "a,b\n\r\nc\td", '"', " x "]
    tags = {(f"user:{number}", value) for number, value in enumerate(values)} | {("", "")}

    store_month(service, [build_line(tags=sorted(tags))])

    rows = load_rows(service, cost_tag_sums)
    assert {(row["tag_key"], row["tag_value"]) for row in rows} == tags


def test_a_file_is_current_for_the_payers_of_its_import(service: Service) -> None:
    first = store_month(service, [build_line(), build_line(payer_id="000000000001")])
    second = store_month(service, [build_line(payer_id="000000000001")])
    store_month(service, [build_line()], month="2026-10")

    files = run_in_transaction(
        service, lambda db, scope: records.list_current_files(db, scope, "2026-09", None)
    )

    payers = {file.path.split("/")[3]: file.payers for file in files}
    assert payers == {first: {PAYER}, second: {"000000000001"}}
    assert [file.vendor for file in files] == ["aws", "aws"]


def test_files_of_replaced_imports_are_deleted(service: Service) -> None:
    old = store_month(service, [build_line()])
    new = store_month(service, [build_line()])

    deleted = run_in_transaction(
        service, lambda db, scope: records.delete_unused_files(db, scope, [old, new])
    )

    assert [name.split("/")[3] for name in deleted] == [old]
    assert run_in_transaction(service, lambda db, scope: records.list_files(db, scope, new)) != []
