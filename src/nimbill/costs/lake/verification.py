"""Verifies the lake of an organisation: files exist, and digests and sums equal the database's."""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.costs.lake import verification_records as records
from nimbill.costs.lake.engine_selection import open_engine
from nimbill.costs.lake.parquet_files import CHUNK_BYTES, Lake
from nimbill.costs.lake.verification_records import (
    CountedFile,
    CountedImport,
    StoredSum,
    SumKey,
)
from nimbill.database.tenant_scope import TenantScope, set_tenant, transaction
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import add_decimals
from nimbill.foundation.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from nimbill.costs.lake.engines.engine import Engine

# See docs/choices.md, cost-lake.

ZERO = StoredSum(Decimal(0), 0)


class LakeProblem(NamedTuple):
    """`path` is empty for a problem of sums."""

    vendor: str
    month: str
    path: str
    reason: str
    detail: str = ""


class LakeVerification(NamedTuple):
    organisation_id: str
    months: int
    files: int
    bytes: int
    problems: Sequence[LakeProblem]


async def verify_lake(
    engine: AsyncEngine, settings: Settings, organisation_id: str
) -> LakeVerification:
    """Check every file that counts. The database is not locked while files are read."""
    scope = TenantScope(organisation_id)
    async with transaction(engine, organisation_id) as db:
        periods = await records.list_periods(db, scope)
    files: list[CountedFile] = []
    problems: list[LakeProblem] = []
    for period in periods:
        imports, payers = await _load_month(engine, scope, period)
        problems += [
            LakeProblem(period.vendor, period.month, "", "sums without an import", payer_id)
            for payer_id in payers
        ]
        for counted in imports:
            files += counted.files
            problems += await asyncio.to_thread(_verify_import, settings, period, counted)
    size = sum(file.bytes for file in files)
    return LakeVerification(organisation_id, len(periods), len(files), size, problems)


async def _load_month(
    engine: AsyncEngine, scope: TenantScope, period: BillingPeriod
) -> tuple[list[CountedImport], list[str]]:
    """Read one state of the month, although an import may replace it at the same time."""
    async with engine.connect() as db:
        await db.execution_options(isolation_level="REPEATABLE READ")
        await set_tenant(db, scope.organisation_id)
        imports = await records.load_counted_imports(db, scope, period)
        payers = await records.list_payers_without_import(db, scope, period)
    return imports, payers


def _verify_import(
    settings: Settings, period: BillingPeriod, counted: CountedImport
) -> list[LakeProblem]:
    """Sums are compared only if the files are intact; otherwise they would differ as well."""
    lake = Lake(settings.lake_url)
    problems = [
        LakeProblem(period.vendor, period.month, file.path, reason)
        for file in counted.files
        if (reason := _find_damage(lake, file))
    ]
    if problems:
        return problems
    names = [file.path for file in counted.files]
    with open_engine(settings, lake) as engine:
        return [
            LakeProblem(period.vendor, period.month, "", "sums differ", detail)
            for detail in _find_differences(engine, names, counted)
        ]


def _find_damage(lake: Lake, file: CountedFile) -> str:
    """Return what is wrong with a file, or an empty text."""
    digest, size = hashlib.sha256(), 0
    try:
        with lake.open_file(file.path) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "unreadable"
    if size != file.bytes:
        return "size differs"
    return "" if digest.hexdigest() == file.sha256 else "digest differs"


def _find_differences(
    engine: Engine, names: Sequence[str], counted: CountedImport
) -> Iterator[str]:
    from nimbill.costs.lake import sums

    monthly_sums = [engine.run(sums.monthly_sums, names)]
    by_account = _add_up(monthly_sums, records.ACCOUNT_COLUMNS, counted.payers)
    by_day = _add_up(monthly_sums, records.DAY_COLUMNS, counted.payers)
    by_tag = _add_up(engine.batches(sums.tag_sums, names), records.TAG_COLUMNS, counted.payers)
    yield from _compare(records.ACCOUNT_COLUMNS, counted.by_account, by_account)
    yield from _compare(records.DAY_COLUMNS, counted.by_day, by_day)
    yield from _compare(records.TAG_COLUMNS, counted.by_tag, by_tag)
    tagged = {key: total for key, total in by_day.items() if key[0] in counted.tagged_payers}
    yield from _compare(records.DAY_COLUMNS, counted.tagged_by_day, tagged)
    for query in (sums.commitment_usage, sums.on_demand_usage):
        table = query.__name__
        usage = _add_up([engine.run(query, names)], records.USAGE_COLUMNS, counted.payers)
        for difference in _compare(records.USAGE_COLUMNS, counted.usage[table], usage):
            yield f"{table} {difference}"
    lines: dict[str, int] = defaultdict(int)
    for key, total in by_account.items():
        lines[key[0]] += total.lines
    for payer_id, stored in counted.payers.items():
        found = lines[payer_id]
        if found != stored:
            yield f"payer_id={payer_id}: {stored} lines in the database, {found} in the files"


def _add_up(
    parts: Iterator[pa.RecordBatch] | Sequence[pa.Table],
    names: Sequence[str],
    payers: Mapping[str, int],
) -> dict[SumKey, StoredSum]:
    """Sum up by the named columns, for the payers for which the import counts."""
    import pyarrow as pa

    totals: dict[SumKey, StoredSum] = {}
    for part in parts:
        table = part if isinstance(part, pa.Table) else pa.Table.from_batches([part])
        grouped = table.group_by(list(names)).aggregate([("cost", "sum"), ("lines", "sum")])
        for row in grouped.to_pylist():
            if row["payer_id"] in payers:
                key = tuple(row[name] for name in names)
                before = totals.get(key, ZERO)
                cost = add_decimals(before.cost, row["cost_sum"])
                totals[key] = StoredSum(cost, before.lines + row["lines_sum"])
    return totals


def _compare(
    names: Sequence[str], stored: Mapping[SumKey, StoredSum], computed: Mapping[SumKey, StoredSum]
) -> Iterator[str]:
    for key in sorted(stored.keys() | computed.keys(), key=repr):
        in_database, in_files = stored.get(key, ZERO), computed.get(key, ZERO)
        if in_database != in_files:
            label = " ".join(f"{name}={value}" for name, value in zip(names, key, strict=True))
            yield (
                f"{label}: {in_database.cost:f} in {in_database.lines} lines in the database, "
                f"{in_files.cost:f} in {in_files.lines} lines in the files"
            )
