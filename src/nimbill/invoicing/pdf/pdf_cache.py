"""PDF files of invoices: rendered at the first request, then stored and returned unchanged."""

import asyncio
import zipfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import IO

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import not_found
from nimbill.foundation.ids import derive_id
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.stored_invoices import StoredInvoice
from nimbill.invoicing.pdf import rendering

basis = chosen("printed-invoices")

BATCH_SIZE = 50
# a fixed time, so that two archives of the same month are equal
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


async def load_invoice_pdf(
    db: AsyncConnection, scope: TenantScope, month: str, company_id: str, vendor: str
) -> tuple[str, bytes]:
    """Return the file name and the PDF."""
    (invoice,) = await _require_invoices(db, scope, month, company_id, vendor)
    return _file_name(invoice), await _load_or_render(db, scope, [invoice], with_cover=False)


async def load_cover_pdf(
    db: AsyncConnection, scope: TenantScope, month: str, company_id: str
) -> tuple[str, bytes]:
    """Return the file name and the PDF with a cover page, for groups with inv_aggregate."""
    invoices = await _require_invoices(db, scope, month, company_id, None)
    if not any(invoice.document.inv_aggregate for invoice in invoices):
        raise not_found()
    by_vendor = sorted(invoices, key=lambda invoice: invoice.vendor)
    name = f"{by_vendor[0].invoice_no}.pdf"
    return name, await _load_or_render(db, scope, by_vendor, with_cover=True)


async def _require_invoices(
    db: AsyncConnection, scope: TenantScope, month: str, company_id: str, vendor: str | None
) -> list[StoredInvoice[InvoiceDocument]]:
    invoices = await stored_invoices.list_invoices(
        db, scope, month, vendor=vendor, company_ids=[company_id]
    )
    if not invoices:
        raise not_found()
    return invoices


def _file_name(invoice: StoredInvoice[InvoiceDocument]) -> str:
    return f"{invoice.invoice_no}-{invoice.vendor}.pdf"


async def _load_or_render(
    db: AsyncConnection,
    scope: TenantScope,
    invoices: Sequence[StoredInvoice[InvoiceDocument]],
    *,
    with_cover: bool,
) -> bytes:
    documents = [invoice.document for invoice in invoices]
    revisions = [
        f"{document.month}/{document.company_id}/{document.vendor}/{document.revision}"
        for document in documents
    ]
    pdf_id = derive_id("pap", "cover" if with_cover else "invoice", *revisions)
    stored = await stored_invoices.find_pdf(db, scope, pdf_id)
    if stored is not None:
        return stored
    if with_cover:
        pdf = await asyncio.to_thread(rendering.render_cover, documents)
    else:
        pdf = await asyncio.to_thread(rendering.render_invoice, documents[0])
    return await stored_invoices.store_pdf(db, scope, pdf_id, pdf)


async def write_zip(
    engine: AsyncEngine, scope: TenantScope, month: str, vendor: str | None, file: IO[bytes]
) -> None:
    """Write every invoice of the month that the caller may see into a zip archive."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        async for name, content in _iterate_pdfs(engine, scope, month, vendor):
            await asyncio.to_thread(archive.writestr, zipfile.ZipInfo(name, _ZIP_TIME), content)


async def write_pdf_files(
    engine: AsyncEngine,
    scope: TenantScope,
    month: str,
    into: Path,
    on_progress: Callable[[int, int], None] = lambda _finished, _total: None,
) -> list[str]:
    """Write the same invoices as files into a folder; return their names.

    `on_progress` receives the number of written and of all invoices.
    """
    async with transaction(engine, scope.organisation_id) as db:
        total = len(await stored_invoices.list_invoice_summaries(db, scope, month))
    names: list[str] = []
    async for name, content in _iterate_pdfs(engine, scope, month, None):
        await asyncio.to_thread((into / name).write_bytes, content)
        names.append(name)
        on_progress(len(names), total)
    return names


async def _iterate_pdfs(
    engine: AsyncEngine, scope: TenantScope, month: str, vendor: str | None
) -> AsyncIterator[tuple[str, bytes]]:
    """Yield file names and PDFs, in batches with their own transaction to limit memory."""
    async with transaction(engine, scope.organisation_id) as db:
        company_ids = await stored_invoices.list_invoiced_groups(db, scope, month, vendor)
    for start in range(0, len(company_ids), BATCH_SIZE):
        async with transaction(engine, scope.organisation_id) as db:
            invoices = await stored_invoices.list_invoices(
                db,
                scope,
                month,
                vendor=vendor,
                company_ids=company_ids[start : start + BATCH_SIZE],
            )
            files = [
                (_file_name(invoice), await _load_or_render(db, scope, [invoice], with_cover=False))
                for invoice in invoices
            ]
        for file in files:
            yield file
