"""What counts of the lake, and the sums kept of it: stored with the month, asked by everybody."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.bulk_copy import copy_sums
from nimbill.database.tenant_scope import TenantScope, metadata, visible_rows
from nimbill.foundation.basis import chosen

if TYPE_CHECKING:
    import pyarrow as pa

basis = chosen("cost-sums")

USAGE = "usage"  # LineKind.usage, for those who need not load the engine
EXACT = Context(prec=100)  # the usual one would keep 28 digits of a sum

lake_files = sa.Table(
    "lake_files",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("import_id", sa.Text, nullable=False),
    sa.Column("vendor", sa.Text, nullable=False),
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("lines", sa.BigInteger, nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("sha256", sa.Text, nullable=False),
)

cost_months = sa.Table(
    "cost_months",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("vendor", sa.Text, primary_key=True),
    sa.Column("payer_id", sa.Text, primary_key=True),
    sa.Column("month", sa.Text, primary_key=True),
    sa.Column("import_id", sa.Text, nullable=False),
    sa.Column("provisional", sa.Boolean, nullable=False),
    sa.Column("lines", sa.BigInteger, nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)


def _sums(name: str, *of_its_own: sa.Column[Any]) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        sa.Column("organisation_id", sa.Text, nullable=False),
        sa.Column("vendor", sa.Text, nullable=False),
        sa.Column("payer_id", sa.Text, nullable=False),
        sa.Column("month", sa.Text, nullable=False),
        sa.Column("customer_id", sa.Text, nullable=False),
        sa.Column("line_type", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("service", sa.Text, nullable=False),
        sa.Column("marketplace", sa.Boolean, nullable=False),
        *of_its_own,
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column("cost", sa.Numeric, nullable=False),
        sa.Column("lines", sa.BigInteger, nullable=False),
    )


cost_sums = _sums("cost_sums", sa.Column("day", sa.Date, nullable=False))
cost_tag_sums = _sums(
    "cost_tag_sums",
    sa.Column("tag_key", sa.Text, nullable=False),
    sa.Column("tag_value", sa.Text, nullable=False),
)


class CountingFile(NamedTuple):
    vendor: str
    path: str
    payers: frozenset[str]


# ── files ────────────────────────────────────────────────────────────────────────────────────────


async def add_files(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    import_id: str,
    vendor: str,
    month: str,
    files: Sequence[Mapping[str, Any]],
) -> None:
    whose = {
        "organisation_id": scope.organisation_id,
        "import_id": import_id,
        "vendor": vendor,
        "month": month,
    }
    if files:
        await db.execute(sa.insert(lake_files), [{**whose, **file} for file in files])


async def files_of(db: AsyncConnection, scope: TenantScope, import_id: str) -> list[str]:
    """Names in the lake, in order."""
    question = (
        sa.select(lake_files.c.path)
        .where(
            lake_files.c.organisation_id == scope.organisation_id,
            lake_files.c.import_id == import_id,
        )
        .order_by(lake_files.c.path)
    )
    return list((await db.execute(question)).scalars())


async def files_that_count(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str | None
) -> list[CountingFile]:
    """The files of a month and whose lines in them count, by vendor and name."""
    question = (
        sa.select(
            lake_files.c.vendor,
            lake_files.c.path,
            sa.func.array_agg(cost_months.c.payer_id, type_=ARRAY(sa.Text)),
        )
        .join(
            cost_months,
            (cost_months.c.organisation_id == lake_files.c.organisation_id)
            & (cost_months.c.import_id == lake_files.c.import_id)
            & (cost_months.c.vendor == lake_files.c.vendor)
            & (cost_months.c.month == lake_files.c.month),
        )
        .where(lake_files.c.organisation_id == scope.organisation_id, lake_files.c.month == month)
        .group_by(lake_files.c.vendor, lake_files.c.path)
        .order_by(lake_files.c.vendor, lake_files.c.path)
    )
    if vendor is not None:
        question = question.where(lake_files.c.vendor == vendor)
    rows = (await db.execute(question)).all()
    return [CountingFile(of, path, frozenset(payers)) for of, path, payers in rows]


async def forget_files(
    db: AsyncConnection, scope: TenantScope, import_ids: Collection[str]
) -> list[str]:
    """Of imports that count for no payer any more; the names of what may be removed."""
    counts = sa.exists().where(
        cost_months.c.organisation_id == scope.organisation_id,
        cost_months.c.import_id == lake_files.c.import_id,
    )
    gone = await db.execute(
        sa.delete(lake_files)
        .where(
            lake_files.c.organisation_id == scope.organisation_id,
            visible_rows(lake_files.c.import_id, import_ids),
            sa.not_(counts),
        )
        .returning(lake_files.c.path)
    )
    return sorted(gone.scalars())


async def usage_before(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str
) -> Mapping[tuple[str, str], list[Decimal]]:
    """By payer and currency, what earlier months used in all, the latest first."""
    sums = cost_sums.c
    question = (
        sa.select(sums.payer_id, sums.currency, sa.func.sum(sums.cost).label("cost"))
        .where(
            sums.organisation_id == scope.organisation_id,
            sums.vendor == vendor,
            sums.month < month,
            sums.month >= _a_year_before(month),
            sums.kind == USAGE,
        )
        .group_by(sums.payer_id, sums.currency, sums.month)
        .order_by(sums.month.desc())
    )
    found: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
    for row in await db.execute(question):
        found[row.payer_id, row.currency].append(row.cost)
    return found


def _a_year_before(month: str) -> str:
    return f"{int(month[:4]) - 1:04}{month[4:]}"


# ── the month ────────────────────────────────────────────────────────────────────────────────────


async def replace_month(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    vendor: str,
    month: str,
    import_id: str,
    payers: Mapping[str, int],
    provisional: bool,
    sums: Iterable[pa.RecordBatch],
    tag_sums: Iterable[pa.RecordBatch],
) -> None:
    """The month of these payers becomes this import's: its sums, and that it counts."""
    if not payers:
        return
    for table, added in ((cost_sums, sums), (cost_tag_sums, tag_sums)):
        await db.execute(
            sa.delete(table).where(
                table.c.organisation_id == scope.organisation_id,
                table.c.vendor == vendor,
                table.c.month == month,
                visible_rows(table.c.payer_id, payers),
            )
        )
        whose = {"organisation_id": scope.organisation_id, "vendor": vendor, "month": month}
        await copy_sums(db, table, whose, added)
    adding = insert(cost_months)
    adding = adding.on_conflict_do_update(
        index_elements=["organisation_id", "vendor", "payer_id", "month"],
        set_={
            "import_id": adding.excluded.import_id,
            "provisional": adding.excluded.provisional,
            "lines": adding.excluded.lines,
            "update_time": sa.func.now(),
        },
    )
    await db.execute(
        adding,
        [
            {
                "organisation_id": scope.organisation_id,
                "vendor": vendor,
                "payer_id": payer_id,
                "month": month,
                "import_id": import_id,
                "provisional": provisional,
                "lines": lines,
            }
            for payer_id, lines in sorted(payers.items())
        ],
    )


async def anything_counts(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str | None
) -> bool:
    """Of this month, or where none is told of any."""
    counts = sa.exists().where(
        cost_months.c.organisation_id == scope.organisation_id, cost_months.c.vendor == vendor
    )
    if month is not None:
        counts = counts.where(cost_months.c.month == month)
    return bool((await db.execute(sa.select(counts))).scalar_one())


async def sums_of_month(
    db: AsyncConnection, scope: TenantScope, vendor: str, month: str, payers: Collection[str]
) -> dict[tuple[str, str, str], Decimal]:
    """What counts for these payers, by account, line type and currency."""
    by = (cost_sums.c.customer_id, cost_sums.c.line_type, cost_sums.c.currency)
    question = (
        sa.select(*by, sa.func.sum(cost_sums.c.cost).label("cost"))
        .where(
            cost_sums.c.organisation_id == scope.organisation_id,
            cost_sums.c.vendor == vendor,
            cost_sums.c.month == month,
            visible_rows(cost_sums.c.payer_id, payers),
        )
        .group_by(*by)
    )
    return {
        (row.customer_id, row.line_type, row.currency): row.cost
        for row in await db.execute(question)
    }
