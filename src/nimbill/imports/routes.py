"""Imports over HTTP; paths are relative to /m/core."""

from typing import Annotated, Any, Literal

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from nimbill.access.gate import Audience, Changes
from nimbill.access.request_context import get_request_context
from nimbill.access.role_actions import RoleAction
from nimbill.access.uploads import UPLOAD_BYTES_MAX
from nimbill.costs.months.closed_month import MonthChange
from nimbill.database.list_query import ListQuery
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Unreadable, not_found
from nimbill.foundation.vendors import BilledVendor, Vendor
from nimbill.http.list_parameters import QueryMonth, ReportTotal, Search
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    WorkerResources,
    get,
    post,
)
from nimbill.imports import operations, records, unassigned_accounts
from nimbill.imports.bodies import (
    ImportRecord,
    ImportRelease,
    ImportSource,
    ImportStarted,
    ImportState,
    UnassignedAccount,
)

ImportSort = Literal[
    "create_time",
    "-create_time",
    "month",
    "-month",
    "vendor",
    "-vendor",
    "state",
    "-state",
    "lines",
    "-lines",
]
READ = [RoleAction.ReadCost, RoleAction.ModifyCost]


@post(
    "/costs/imports",
    status_code=202,
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyCost],
    basis=chosen("cost-imports"),
    audited="costs/imports/{import_id}",
    changes=Changes.shared_records,
    uploads=True,
    request_max_body_size=UPLOAD_BYTES_MAX + 65_536,
    closed_month=MonthChange.import_costs,
)
async def create_import(
    request: Request[Any, Any, Any],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
    data: JSONBody[ImportSource | None] = None,
) -> ImportStarted:
    """Import a month of costs: upload files as a form, or send JSON with the source."""
    context, settings = get_request_context(request.scope), resources.settings
    if context.upload is not None:
        context.sent = {**context.upload.fields, "files": sorted(context.upload.files)}
        import_id = await operations.import_upload(db, settings, caller, context.upload)
    elif data is None:
        raise Unreadable(
            415, "media_type", "The body must be multipart/form-data or application/json."
        )
    else:
        import_id = await operations.import_from_source(db, settings, caller, data)
    return ImportStarted(import_id=import_id)


@get(
    "/costs/imports",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("cost-imports"),
    counted=True,
)
async def list_imports(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[ImportSort | None] = None,
    vendor: FromQuery[Vendor | None] = None,
    month: QueryMonth = None,
    import_state: Annotated[ImportState | None, QueryParameter(name="state")] = None,
) -> list[ImportRecord]:
    """List imports, the newest first; `vendor`, `month` and `state` select some of them.

    `search` looks in import_id, vendor, month, state and the names of the sources.
    """
    query = ListQuery(limit, offset, search, sort)
    imports, total = await records.list_imports(
        db, caller.scope, query, vendor=vendor, month=month, state=import_state
    )
    report_total(total)
    return imports


@get(
    "/costs/imports/{import_id:str}",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("cost-imports"),
)
async def get_import(
    import_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> ImportRecord:
    """Get an import: its progress or its result."""
    record = await records.find_import(db, caller.scope, import_id)
    if record is None:
        raise not_found()
    return record


@post(
    "/costs/imports/{import_id:str}/release",
    status_code=202,
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyCost],
    basis=chosen("parked-months"),
    audited="costs/imports/{import_id}",
    changes=Changes.shared_records,
    closed_month=MonthChange.release_import,
)
async def release_import(
    import_id: FromPath[str],
    data: JSONBody[ImportRelease],
    caller: RequestCaller,
    db: Transaction,
) -> ImportStarted:
    """Release a parked import: its costs are used as they are."""
    await operations.release_import(db, caller.scope, import_id, data.reason)
    return ImportStarted(import_id=import_id)


@get(
    "/accts/unassigned",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadAccount, RoleAction.ModifyAccount],
    basis=chosen("bulk-assignment"),
    counted=True,
)
async def list_unassigned_accounts(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    vendor: FromQuery[BilledVendor],
    month: QueryMonth = None,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
) -> list[UnassignedAccount]:
    """List accounts that have costs and belong to no billing group, with a suggested group each.

    `month` is by default the newest one with costs of the vendor. `search` looks in customer_id and
    name.
    """
    query = ListQuery(limit, offset, search)
    accounts, total = await unassigned_accounts.list_unassigned_accounts(
        db, caller.scope, vendor, month, query
    )
    report_total(total)
    return accounts


ROUTES = [create_import, list_imports, get_import, release_import, list_unassigned_accounts]
