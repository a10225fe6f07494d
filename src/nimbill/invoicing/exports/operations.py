"""Making a file, or finding the one already made, and the link to it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.request_context import Resources
from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.latest_invoices import latest_pre_tax
from nimbill.invoicing.documents.stored_invoices import created_of_month
from nimbill.invoicing.exports import columns, records
from nimbill.invoicing.exports.billing_group_csv import (
    billing_group_rows,
    billing_group_setting_rows,
)
from nimbill.invoicing.exports.csv_file import Cell, csv_file
from nimbill.invoicing.exports.invoice_csv import Row, invoice_account_rows, invoice_tag_rows
from nimbill.invoicing.exports.links import LINK_SECONDS, Link, signed_address
from nimbill.invoicing.exports.project_csv import project_rows
from nimbill.invoicing.profit.project_months import projects_of_month

Rows = Iterable[Sequence[Cell]]
RowsOfGroups = Callable[[AsyncConnection, TenantScope], Awaitable[Rows]]
RowsOfInvoices = Callable[[Iterable[InvoiceDocument]], Iterator[Row]]


async def _of_groups(db: AsyncConnection, scope: TenantScope) -> Rows:
    groups = await list_billing_groups(db, scope)
    return billing_group_rows(groups, await latest_pre_tax(db, scope))


async def _of_settings(db: AsyncConnection, scope: TenantScope) -> Rows:
    return billing_group_setting_rows(await list_billing_groups(db, scope))


FILES: dict[str, tuple[Sequence[str], RowsOfGroups]] = {
    "billing-group": (columns.BILLING_GROUP, _of_groups),
    "billing-group-setting": (columns.BILLING_GROUP_SETTING, _of_settings),
}

INVOICE_FILES: dict[str, tuple[Sequence[str], RowsOfInvoices]] = {
    "invoice-account": (columns.INVOICE_ACCOUNT, invoice_account_rows),
    "invoice-tag": (columns.INVOICE_TAG, invoice_tag_rows),
}


async def export_billing_groups(
    db: AsyncConnection, caller: Caller, resources: Resources, kind: str, *, redo: bool
) -> str:
    """`redo` true: the file made before, made now only if there is none; false: a new one."""
    export_id = await records.newest_export(db, caller.scope, kind) if redo else None
    if export_id is not None:
        return link_to(caller, resources, export_id)
    header, rows = FILES[kind]
    content = csv_file(header, await rows(db, caller.scope))
    return await _kept(db, caller, resources, kind, f"{clock.now():%Y%m%d}", content)


async def export_invoices(
    db: AsyncConnection, caller: Caller, resources: Resources, kind: str, month: str
) -> str:
    """The invoices that count; the header alone where there are none."""
    header, rows = INVOICE_FILES[kind]
    created = await created_of_month(db, caller.scope, month)
    documents = [one.document for one in created]
    # a large month takes a while, and others want to be answered meanwhile
    content = await asyncio.to_thread(lambda: csv_file(header, rows(documents)))
    return await _kept(db, caller, resources, kind, month, content)


async def export_projects(
    db: AsyncConnection, caller: Caller, resources: Resources, month: str
) -> str:
    projects = await projects_of_month(db, caller.scope, month)
    content = csv_file(columns.PROJECT, project_rows(projects))
    return await _kept(db, caller, resources, "project", month, content)


async def _kept(
    db: AsyncConnection,
    caller: Caller,
    resources: Resources,
    kind: str,
    of: str,
    content: bytes,
) -> str:
    """A new file and the link to it."""
    export_id = new_id("exp")
    await records.add_export(
        db,
        caller.scope,
        export_id=export_id,
        kind=kind,
        file_name=f"{kind}-{of}.csv",
        content=content,
    )
    return link_to(caller, resources, export_id)


def link_to(caller: Caller, resources: Resources, export_id: str) -> str:
    link = Link(
        organisation_id=caller.scope.organisation_id,
        export_id=export_id,
        user_id=caller.user_id,
        client_id=caller.client_id,
        epoch=caller.epoch,
        expires_at=clock.unix_seconds() + LINK_SECONDS,
    )
    return signed_address(resources.settings.link_url, resources.sealer, link)
