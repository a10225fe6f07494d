"""Stores months of costs as an import does, for tests that only read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

import pyarrow as pa

from nimbill.costs.lake import records, sums
from nimbill.costs.lake.engines.duckdb import DuckDBEngine
from nimbill.costs.lake.parquet_files import Lake, import_folder
from nimbill.costs.lake.tagged_batches import combine_tags
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.ids import new_id
from nimbill.foundation.vendors import Vendor
from nimbill.identity.organisations.operations import NewOrganisation
from tests.costs.generated_months import Line, write_month
from tests.running_service import Service


def store_month(
    service: Service,
    lines: Sequence[Line],
    *,
    vendor: Vendor = "aws",
    month: str = "2026-09",
    provisional: bool = False,
    organisation: NewOrganisation | None = None,
    tag_keys: Sequence[str] = (),
) -> str:
    """Write lines into the lake and their sums into the database; return the import's id."""
    scope = TenantScope((organisation or service.organisation).organisation_id)
    import_id, settings, period = new_id("imp"), service.settings, BillingPeriod(month, vendor)
    lake = Lake(settings.lake_url)
    paths = write_month(lines, settings.data / new_id("spool"), files=1)
    folder = import_folder(scope.organisation_id, vendor=vendor, month=month, import_id=import_id)
    contents = [path.read_bytes() for path in paths]
    names = lake.put(paths, folder=folder)
    engine = DuckDBEngine(lake, scratch=settings.data / "scratch")
    try:
        monthly_sums = engine.run(sums.monthly_sums, names)
        tag_sums = engine.run(sums.tag_sums, names)
        tagged_sums = _sum_by_keys(engine, names, tag_keys) if tag_keys else None
    finally:
        engine.close()

    async def store() -> None:
        async with transaction(service.resources.engine, scope.organisation_id) as db:
            await records.add_files(
                db,
                scope,
                period,
                import_id=import_id,
                files=[
                    {
                        "path": name,
                        "lines": len(lines),
                        "bytes": len(content),
                        "sha256": sha256(content).hexdigest(),
                    }
                    for name, content in zip(names, contents, strict=True)
                ],
            )
            await records.replace_month(
                db,
                scope,
                period,
                import_id=import_id,
                payers=Counter(line["payer_id"] for line in lines),
                provisional=provisional,
                sums=monthly_sums.to_batches(),
                tag_sums=tag_sums.to_batches(),
                tagged_sums=tagged_sums,
                tag_keys=tag_keys,
            )

    service.run(store)
    return import_id


def _sum_by_keys(
    engine: DuckDBEngine, names: Sequence[str], keys: Sequence[str]
) -> list[pa.RecordBatch]:
    return list(combine_tags(engine.batches(sums.TaggedSums(keys), names), keys))
