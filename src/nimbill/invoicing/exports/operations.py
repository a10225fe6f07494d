"""Creates CSV files, or finds existing ones, and returns download links."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.credentials import load_caller_again
from nimbill.access.request_context import Resources
from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups.records import BillingGroupRecord, list_billing_groups
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.errors import TooManyRequests, not_found
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.latest_invoices import load_latest_pre_tax
from nimbill.invoicing.documents.stored_invoices import list_invoices
from nimbill.invoicing.exports import columns, records
from nimbill.invoicing.exports.csv_file import Cell, encode_csv
from nimbill.invoicing.exports.invoice_csv import (
    CsvRow,
    build_invoice_account_rows,
    build_invoice_tag_rows,
)
from nimbill.invoicing.exports.links import LINK_SECONDS, DownloadLink, build_signed_url

# See docs/choices.md, stored-exports.

# stored files of an organisation
FILES_MAX = 200
FILE_BYTES_MAX = 512 * 2**20

Rows = Iterable[Sequence[Cell]]
LoadRows = Callable[[AsyncConnection, TenantScope], Awaitable[Rows]]
BuildInvoiceRows = Callable[[Iterable[InvoiceDocument]], Iterator[CsvRow]]


async def _load_group_rows(db: AsyncConnection, scope: TenantScope) -> Rows:
    groups = await list_billing_groups(db, scope)
    return build_billing_group_rows(groups, await load_latest_pre_tax(db, scope))


async def _load_setting_rows(db: AsyncConnection, scope: TenantScope) -> Rows:
    return build_setting_rows(await list_billing_groups(db, scope))


BILLING_GROUP_FILES: dict[str, tuple[Sequence[str], LoadRows]] = {
    "billing-group": (columns.BILLING_GROUP, _load_group_rows),
    "billing-group-setting": (columns.BILLING_GROUP_SETTING, _load_setting_rows),
}

INVOICE_FILES: dict[str, tuple[Sequence[str], BuildInvoiceRows]] = {
    "invoice-account": (columns.INVOICE_ACCOUNT, build_invoice_account_rows),
    "invoice-tag": (columns.INVOICE_TAG, build_invoice_tag_rows),
}


# Who may create a file of this kind, and download it later.
READERS: Mapping[str, Sequence[RoleAction]] = {
    **dict.fromkeys(
        BILLING_GROUP_FILES, (RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup)
    ),
    **dict.fromkeys(INVOICE_FILES, (RoleAction.ReadInvoice, RoleAction.ModifyInvoice)),
    "project": (RoleAction.ReadProject, RoleAction.ModifyProject),
}


async def find_file(db: AsyncConnection, link: DownloadLink) -> Row:
    """Return the file of a link; 404 if its creator could no longer create the same file.

    The credentials, the permission and the visible billing groups must still be the same.
    """
    creator = await load_caller_again(
        db,
        Product.core,
        organisation_id=link.organisation_id,
        user_id=link.user_id,
        client_id=link.client_id,
        family_id=link.family_id or None,
        epoch=link.epoch,
    )
    if creator is None:
        raise not_found()
    file = await records.find_export(db, creator.scope, link.export_id)
    if file is None or not creator.may(READERS[file.kind]):
        raise not_found()
    return file


async def export_billing_groups(
    db: AsyncConnection, caller: Caller, resources: Resources, kind: str, *, redo: bool
) -> str:
    """With `redo`, return the newest existing file if there is one; otherwise create a file."""
    export_id = await records.find_newest_export(db, caller.scope, kind) if redo else None
    if export_id is not None:
        return build_link(caller, resources, export_id)
    header, rows = BILLING_GROUP_FILES[kind]
    content = encode_csv(header, await rows(db, caller.scope))
    return await store_file(db, caller, resources, kind, f"{clock.now():%Y%m%d}", content)


async def export_invoices(
    db: AsyncConnection, caller: Caller, resources: Resources, kind: str, month: str
) -> str:
    """Export the current invoices; without invoices the file has only the header."""
    header, rows = INVOICE_FILES[kind]
    created = await list_invoices(db, caller.scope, month, with_cancelled=False)
    documents = [invoice.document for invoice in created]
    # encoding a large month would block the event loop
    content = await asyncio.to_thread(lambda: encode_csv(header, rows(documents)))
    return await store_file(db, caller, resources, kind, month, content)


async def store_file(
    db: AsyncConnection,
    caller: Caller,
    resources: Resources,
    kind: str,
    name_suffix: str,
    content: bytes,
) -> str:
    """Store a new file and return the link to it."""
    export_id = new_id("exp")
    await records.add_export(
        db,
        caller.scope,
        export_id=export_id,
        kind=kind,
        file_name=f"{kind}-{name_suffix}.csv",
        content=content,
    )
    await _limit_stored_files(db, caller.scope)
    return build_link(caller, resources, export_id)


async def _limit_stored_files(db: AsyncConnection, scope: TenantScope) -> None:
    """Delete the oldest files, but none whose link is still valid."""
    within_limits = await records.delete_surplus_exports(
        db,
        scope,
        files_max=FILES_MAX,
        bytes_max=FILE_BYTES_MAX,
        before=clock.now() - timedelta(seconds=LINK_SECONDS),
    )
    if not within_limits:
        raise TooManyRequests(
            "too_many_exports",
            f"At most {FILES_MAX} exported files or {FILE_BYTES_MAX // 2**20} MiB of an "
            "organisation are kept. Try again when links have expired, after ten minutes.",
            retry_after=LINK_SECONDS,
        )


def build_link(caller: Caller, resources: Resources, export_id: str) -> str:
    link = DownloadLink(
        organisation_id=caller.scope.organisation_id,
        export_id=export_id,
        user_id=caller.user_id,
        client_id=caller.client_id,
        family_id=caller.family_id or "",
        epoch=caller.epoch,
        expires_at=clock.unix_seconds() + LINK_SECONDS,
    )
    return build_signed_url(resources.settings.link_url, resources.encryptor, link)


def build_billing_group_rows(
    groups: Iterable[BillingGroupRecord], costs: Mapping[str, Decimal]
) -> Iterator[tuple[Cell, ...]]:
    """One row per group; `costs` is keyed by company_id, and missing costs are empty cells."""
    for group in groups:
        yield (
            group.billinggroup_id,
            group.billinggroup_name,
            group.name,
            group.postal,
            group.address,
            group.phone,
            group.contact,
            group.title,
            costs.get(group.company_id),
            None,
        )


def build_setting_rows(
    groups: Iterable[BillingGroupRecord],
) -> Iterator[tuple[Cell, ...]]:
    """One row per group and vendor."""
    for group in groups:
        for vendor, setting in group.invoices.items():
            yield (
                group.billinggroup_id,
                group.billinggroup_name,
                vendor,
                setting.discount_rate,
                setting.tax_rate,
                setting.support_fee,
                setting.support_rate,
                setting.support_fix,
                setting.substitution_fee,
                setting.substitution_rate,
                setting.substitution_fix,
                setting.calc_type,
                setting.discount_target_usage,
                setting.substitution_fee_calc_target,
            )
