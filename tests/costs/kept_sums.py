"""Months of costs as an import keeps them, for tests that only read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nimbill.costs.lake import records, sums
from nimbill.costs.lake.engines.duckdb import DuckDBEngine
from nimbill.costs.lake.parquet_files import Lake, folder_of
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.ids import new_id
from nimbill.identity.organisations.operations import NewOrganisation
from tests.costs.generated_months import Line, write_month
from tests.running_service import Service


def keep_month(
    service: Service,
    lines: Sequence[Line],
    *,
    vendor: str = "aws",
    month: str = "2026-09",
    provisional: bool = False,
    organisation: NewOrganisation | None = None,
) -> str:
    """Lines into the lake, their sums into the records; the id of the import they count for."""
    who = (organisation or service.organisation).organisation_id
    import_id, settings = new_id("imp"), service.settings
    lake = Lake(settings.lake_url)
    paths = write_month(lines, settings.data / new_id("spool"), files=1)
    names = lake.put(paths, under=folder_of(who, vendor=vendor, month=month, import_id=import_id))
    engine = DuckDBEngine(lake, scratch=settings.data / "scratch")
    try:
        kept = {
            name: engine.run(getattr(sums, name), names) for name in ("monthly_sums", "tag_sums")
        }
    finally:
        engine.close()

    async def keep() -> None:
        async with transaction(service.resources.engine, who) as db:
            await records.add_files(
                db,
                TenantScope(who),
                import_id=import_id,
                vendor=vendor,
                month=month,
                files=[_told(name, lines) for name in names],
            )
            await records.replace_month(
                db,
                TenantScope(who),
                vendor=vendor,
                month=month,
                import_id=import_id,
                payers=Counter(line["payer_id"] for line in lines),
                provisional=provisional,
                sums=kept["monthly_sums"].to_batches(),
                tag_sums=kept["tag_sums"].to_batches(),
            )

    service.run(keep)
    return import_id


def _told(name: str, lines: Sequence[Line]) -> dict[str, Any]:
    return {"path": name, "lines": len(lines), "bytes": 1, "sha256": Path(name).stem}
