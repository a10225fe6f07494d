"""What may be done with imports: started from a place or from an upload, and released."""

import asyncio
from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.uploads import Upload
from nimbill.costs.ingestion.import_roots import allowed_source
from nimbill.costs.months.operations import refuse_closed
from nimbill.costs.months.records import lock_month
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Invalid, NotPermitted, Violation, not_found
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.http.request_bodies import sound
from nimbill.imports import records
from nimbill.imports.bodies import ImportSource, ImportState
from nimbill.imports.commit_import import folder_of_import
from nimbill.jobs.records import add_job

basis = chosen("cost-imports")
places_basis = chosen("import-roots")
release_basis = chosen("parked-months")


async def import_from_source(
    db: AsyncConnection, settings: Settings, caller: Caller, body: ImportSource
) -> str:
    """From under a root that the operator allows; what is there is found out later."""
    _refuse_narrowed(caller.scope)
    roots = list(settings.import_roots)
    source = allowed_source(body.source, roots)
    if source is None:
        broken = Violation("source", "a path or address under an allowed root")
        raise Invalid("rule_broken", "the request breaks a rule", [broken])
    import_id = new_id("imp")
    await start_import(
        db,
        caller.scope,
        import_id,
        vendor=body.vendor,
        month=body.month,
        sources=[source],
        shown=[body.source],
        roots=roots,
        made_by=caller.user_id,
    )
    return import_id


async def import_upload(
    db: AsyncConnection, settings: Settings, caller: Caller, upload: Upload
) -> str:
    """The files are on disk before the import is acknowledged."""
    _refuse_narrowed(caller.scope)
    told = {name: value for name, value in upload.fields.items() if value}
    body = sound(ImportSource, {**told, "source": "upload"})
    if not upload.files:
        broken = Violation("file", "at least one file")
        raise Invalid("rule_broken", "the request breaks a rule", [broken])
    import_id = new_id("imp")
    folder = folder_of_import(settings, import_id) / "uploaded"
    await asyncio.to_thread(upload.take_over, folder)
    await start_import(
        db,
        caller.scope,
        import_id,
        vendor=body.vendor,
        month=body.month,
        sources=[str(folder / name) for name in sorted(upload.files)],
        shown=sorted(upload.files),
        roots=[str(folder)],
        made_by=caller.user_id,
        uploaded=True,
    )
    return import_id


async def start_import(
    db: AsyncConnection,
    scope: TenantScope,
    import_id: str,
    *,
    vendor: str,
    month: str | None,
    sources: Sequence[str],
    shown: Sequence[str],
    roots: Sequence[str] | None,
    made_by: str,
    uploaded: bool = False,
) -> None:
    """Where roots are None the sources are the operator's own and trusted."""
    await records.add_import(
        db,
        scope,
        import_id=import_id,
        vendor=vendor,
        month=month,
        sources=shown,
        uploaded=uploaded,
        made_by=made_by,
    )
    await add_job(
        db,
        scope,
        records.IMPORT_COSTS,
        due=clock.now(),
        subject=import_id,
        payload={"sources": list(sources), "roots": None if roots is None else list(roots)},
    )


async def release_import(
    db: AsyncConnection, scope: TenantScope, import_id: str, reason: str
) -> None:
    """A parked import counts from here on as it is; its sums are worked out again first."""
    _refuse_narrowed_as_unknown(scope)
    row = await records.lock_import(db, scope, import_id)
    if row is None:
        raise not_found()
    if row.state != ImportState.parked:
        raise Conflict("not_parked", "this import is not parked")
    refuse_closed(await lock_month(db, scope, BillingPeriod(row.month, row.vendor), shared=True))
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


def _refuse_narrowed(scope: TenantScope) -> None:
    """A delivery is everybody's: it holds the costs of groups the caller may not know of."""
    if scope.billing_groups is not None:
        raise NotPermitted("narrowed_caller", "who sees only some billing groups imports nothing")


def _refuse_narrowed_as_unknown(scope: TenantScope) -> None:
    if scope.billing_groups is not None:
        raise not_found()
