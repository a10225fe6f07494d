"""CSV files over HTTP; paths are relative to /m/core, the download's to the service."""

from typing import Any

from litestar import Request, Response
from litestar.params import FromPath, JSONBody

from nimbill.access.gate import Audience, Changes, Public
from nimbill.access.role_actions import ANY_CALLER
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.basis import chosen, stated
from nimbill.http.downloads import CSV_TYPE, build_csv_download
from nimbill.http.routing import (
    PathMonth,
    RequestCaller,
    Transaction,
    WorkerResources,
    get,
    post,
)
from nimbill.invoicing.exports import operations
from nimbill.invoicing.exports.bodies import ExportPath, ExportRequest, ExportUrl
from nimbill.invoicing.exports.links import verify_link

READ = operations.READERS["billing-group"]
READ_INVOICES = operations.READERS["invoice-account"]


@post(
    "/export/csv/invoice_account/{month:str}",
    audiences=[Audience.core],
    role_actions=READ_INVOICES,
    basis=stated("CSV exports"),
    audited="export/invoice_account/{month}",
    changes=Changes.billing_groups,
)
async def export_invoice_account_csv(
    month: PathMonth, caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> ExportUrl:
    """Export a month's invoices by account as CSV; the link is valid for ten minutes."""
    url = await operations.export_invoices(db, caller, resources, "invoice-account", month)
    return ExportUrl(url=url)


@post(
    "/export/csv/invoice_tag/{month:str}",
    audiences=[Audience.core],
    role_actions=READ_INVOICES,
    basis=stated("CSV exports"),
    audited="export/invoice_tag/{month}",
    changes=Changes.billing_groups,
)
async def export_invoice_tag_csv(
    month: PathMonth, caller: RequestCaller, db: Transaction, resources: WorkerResources
) -> ExportUrl:
    """Export a month's invoices by tag as CSV; the link is valid for ten minutes."""
    url = await operations.export_invoices(db, caller, resources, "invoice-tag", month)
    return ExportUrl(url=url)


@post(
    "/exportcsv/billing-group",
    audiences=[Audience.core],
    role_actions=READ,
    basis=stated("CSV exports"),
    audited="export/billing-group",
    changes=Changes.billing_groups,
)
async def export_billing_group_csv(
    data: JSONBody[ExportRequest],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> ExportPath:
    """Export the billing groups as CSV; the link is valid for ten minutes."""
    path = await operations.export_billing_groups(
        db, caller, resources, "billing-group", redo=data.redo
    )
    return ExportPath(path=path)


@post(
    "/exportcsv/billing-group-setting",
    audiences=[Audience.core],
    role_actions=READ,
    basis=stated("CSV exports"),
    audited="export/billing-group-setting",
    changes=Changes.billing_groups,
)
async def export_billing_group_setting_csv(
    data: JSONBody[ExportRequest],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> ExportPath:
    """Export the billing groups' invoice settings as CSV; the link is valid for ten minutes."""
    path = await operations.export_billing_groups(
        db, caller, resources, "billing-group-setting", redo=data.redo
    )
    return ExportPath(path=path)


@get(
    "/d/{export_id:str}",
    audiences=Public("the link is signed, expires, and is bound to the rights of its creator"),
    role_actions=ANY_CALLER,
    basis=chosen("download-links"),
    media_type=CSV_TYPE,
)
async def download(
    export_id: FromPath[str], request: Request[Any, Any, Any], resources: WorkerResources
) -> Response[bytes]:
    """Download a file by its signed link."""
    path, _, _ = bytes(request.scope["raw_path"]).partition(b"?")
    link = verify_link(resources.encryptor, export_id, path, request.scope["query_string"])
    async with transaction(resources.engine, link.organisation_id) as db:
        file = await operations.find_file(db, link)
    return build_csv_download(file.file_name, file.content)


CORE_ROUTES = [
    export_invoice_account_csv,
    export_invoice_tag_csv,
    export_billing_group_csv,
    export_billing_group_setting_csv,
]
ROUTES = [download]
