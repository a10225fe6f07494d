"""Starts imports from a source or an upload, and releases parked imports."""

import asyncio

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.uploads import Upload
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest, require_approval
from nimbill.costs.ingestion.import_roots import resolve_allowed_source
from nimbill.costs.months.closed_month import MonthChange
from nimbill.costs.months.records import lock_month
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import (
    Conflict,
    Violation,
    not_found,
    rule_violations_error,
)
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.http.request_bodies import parse_body
from nimbill.imports import records
from nimbill.imports.allowed_roots import describe_allowed_source, load_import_roots
from nimbill.imports.bodies import ImportSource, ImportState
from nimbill.imports.preparation_process import working_folder
from nimbill.imports.records import NewImport
from nimbill.jobs.records import add_job

# See docs/choices.md, import-roots.
# See docs/choices.md, import-limits.

UNFINISHED_IMPORTS_MAX = 100


async def import_from_source(
    db: AsyncConnection, settings: Settings, caller: Caller, body: ImportSource
) -> str:
    """Only checks that the source is under an allowed root; the job reads it."""
    await _refuse_long_queue(db, caller.scope)
    roots = await load_import_roots(db, settings, caller.scope)
    source = resolve_allowed_source(body.source, roots)
    if source is None:
        raise rule_violations_error([Violation("source", describe_allowed_source(settings, roots))])
    import_id = new_id("imp")
    await start_import(
        db,
        caller.scope,
        NewImport(
            import_id=import_id,
            vendor=body.vendor,
            month=body.month,
            sources=[source],
            source_names=[body.source],
            roots=roots,
            created_by=caller.user_id,
        ),
    )
    return import_id


async def import_upload(
    db: AsyncConnection, settings: Settings, caller: Caller, upload: Upload
) -> str:
    """The files are synced to disk before the import is acknowledged."""
    await _refuse_long_queue(db, caller.scope)
    vendors = await load_vendors(db, caller.scope)
    fields = {name: value for name, value in upload.fields.items() if value}
    body = parse_body(ImportSource, {**fields, "source": "upload"}, vendors)
    if not upload.files:
        raise rule_violations_error([Violation("file", "at least one file")])
    import_id = new_id("imp")
    folder = working_folder(settings, import_id) / "uploaded"
    await asyncio.to_thread(upload.move_to, folder)
    await start_import(
        db,
        caller.scope,
        NewImport(
            import_id=import_id,
            vendor=body.vendor,
            month=body.month,
            sources=[str(folder / name) for name in sorted(upload.files)],
            source_names=sorted(upload.files),
            roots=[str(folder)],
            created_by=caller.user_id,
            uploaded=True,
        ),
    )
    return import_id


async def start_import(db: AsyncConnection, scope: TenantScope, new_import: NewImport) -> None:
    """Refuse a vendor that is not enabled: its costs could never be billed."""
    enabled = await load_vendors(db, scope, lock=True)
    if new_import.vendor not in enabled:
        raise Conflict(
            "vendor_disabled",
            f"The vendor {new_import.vendor} is not enabled, so nothing was imported. Enabled: "
            f"{', '.join(enabled)}. Add it to the organisation setting vendors, with "
            "PUT /m/core/settings or nimbill settings set.",
        )
    await records.add_import(db, scope, new_import)
    roots = None if new_import.roots is None else list(new_import.roots)
    await add_job(
        db,
        scope,
        records.IMPORT_COSTS,
        due=clock.now(),
        subject=new_import.import_id,
        payload={"sources": list(new_import.sources), "roots": roots},
    )


async def release_import(
    db: AsyncConnection,
    scope: TenantScope,
    import_id: str,
    reason: str,
    *,
    approved: ApprovedRequest | None = None,
) -> None:
    """Commit a parked import as it is, after its sums have been computed again."""
    await require_approval(db, scope, ApprovalKind.import_release, approved)
    row = await records.lock_import(db, scope, import_id)
    if row is None:
        raise not_found()
    if row.state != ImportState.parked:
        raise Conflict("not_parked", "This import is not parked.")
    period = BillingPeriod(row.month, row.vendor)
    MonthChange.release_import.refuse_if_closed(await lock_month(db, scope, period, shared=True))
    await records.change_import(
        db, scope, import_id, state=ImportState.waiting, release_reason=reason
    )
    await add_job(
        db,
        scope,
        records.IMPORT_COSTS,
        due=clock.now(),
        subject=import_id,
        payload={"sources": [], "roots": []},
    )


async def _refuse_long_queue(db: AsyncConnection, scope: TenantScope) -> None:
    """Uploads occupy the disk until their import ends, and imports of an organisation queue up."""
    if await records.count_unfinished_imports(db, scope) >= UNFINISHED_IMPORTS_MAX:
        raise Conflict(
            "too_many_imports",
            f"At most {UNFINISHED_IMPORTS_MAX} imports of an organisation can be unfinished. "
            "Try again when some have ended.",
        )
