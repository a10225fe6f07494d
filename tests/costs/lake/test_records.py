"""What is kept of a month: replaced as a whole, to the last digit, however much it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake import records
from nimbill.costs.lake.bulk_copy import ROWS_AT_ONCE
from nimbill.costs.lake.decimal_overflow import WIDE
from nimbill.costs.lake.records import cost_sums, cost_tag_sums
from nimbill.database.tenant_scope import TenantScope, transaction
from tests.costs.generated_months import LARGEST, cost_of, line
from tests.costs.kept_sums import keep_month
from tests.running_service import Service

T = TypeVar("T")
PAYER = "836060457634"


def within(service: Service, do: Callable[[AsyncConnection, TenantScope], Awaitable[T]]) -> T:
    who = service.organisation.organisation_id

    async def run() -> T:
        async with transaction(service.resources.engine, who) as db:
            return await do(db, TenantScope(who))

    return service.run(run)


def kept(service: Service, table: sa.Table) -> list[dict[str, Any]]:
    async def read(db: AsyncConnection, _: TenantScope) -> list[dict[str, Any]]:
        return [row._asdict() for row in await db.execute(sa.select(table))]

    return within(service, read)


def sums_of(count: int, cost: Decimal, money: pa.DataType) -> pa.Table:
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


def replace(service: Service, sums: pa.Table) -> None:
    nothing = sums.slice(0, 0).drop_columns(["day"])
    for name in ("tag_key", "tag_value"):
        nothing = nothing.append_column(name, pa.array([], pa.string()))

    async def do(db: AsyncConnection, scope: TenantScope) -> None:
        await records.replace_month(
            db,
            scope,
            vendor="aws",
            month="2026-09",
            import_id="imp",
            payers={PAYER: len(sums)},
            provisional=False,
            sums=sums.to_batches(),
            tag_sums=nothing.to_batches(),
        )

    within(service, do)


def test_sums_are_kept_to_the_last_digit_whatever_carries_them(service: Service) -> None:
    for cost, money in ((cost_of(LARGEST), pa.decimal128(38, 22)), (cost_of(10**45 + 1), WIDE)):
        replace(service, sums_of(1, cost, money))

        assert [row["cost"] for row in kept(service, cost_sums)] == [cost]


def test_more_rows_than_go_at_once_are_all_kept(service: Service) -> None:
    many = ROWS_AT_ONCE + 7

    replace(service, sums_of(many, Decimal("0.1"), pa.decimal128(38, 22)))

    rows = kept(service, cost_sums)
    assert len({row["service"] for row in rows}) == len(rows) == many
    assert sum(row["cost"] for row in rows) == many * Decimal("0.1")


def test_a_month_without_a_line_replaces_nothing_and_fails_nowhere(service: Service) -> None:
    keep_month(service, [line()])

    keep_month(service, [])

    assert len(kept(service, cost_sums)) == 1


def test_tags_are_kept_as_they_are(service: Service) -> None:
    awkward = ["値 'x' \"y\" \\", "", "\\.", "NULL", "\\N", "a,b\n\r\nc\td", '"', " x "]
    told = {(f"user:{at}", value) for at, value in enumerate(awkward)} | {("", "")}

    keep_month(service, [line(tags=sorted(told))])

    tags = {(row["tag_key"], row["tag_value"]) for row in kept(service, cost_tag_sums)}
    assert tags == told


def test_files_count_for_the_payers_whose_month_is_theirs(service: Service) -> None:
    first = keep_month(service, [line(), line(payer_id="000000000001")])
    second = keep_month(service, [line(payer_id="000000000001")])
    keep_month(service, [line()], month="2026-10")

    found = within(service, lambda db, scope: records.files_that_count(db, scope, "2026-09", None))

    payers = {file.path.split("/")[3]: file.payers for file in found}
    assert payers == {first: {PAYER}, second: {"000000000001"}}
    assert [file.vendor for file in found] == ["aws", "aws"]


def test_files_of_imports_that_count_for_nobody_are_forgotten(service: Service) -> None:
    old = keep_month(service, [line()])
    new = keep_month(service, [line()])

    gone = within(service, lambda db, scope: records.forget_files(db, scope, [old, new]))

    assert [name.split("/")[3] for name in gone] == [old]
    assert within(service, lambda db, scope: records.files_of(db, scope, new)) != []
