"""PDF files of invoices: compiled at the first request, then stored and returned unchanged."""

import asyncio
import zipfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import NotFound, not_found
from nimbill.foundation.ids import derive_id
from nimbill.foundation.prefetch import prefetch
from nimbill.invoicing.documents import invoiced_groups, stored_invoices, stored_pdfs
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.invoicing.documents.stored_invoices import StoredInvoice
from nimbill.invoicing.pdf import rendering
from nimbill.invoicing.pdf.compiler_pool import CompilerPool, open_compiler_pool

BATCH_SIZE = 50
# Two documents are compiled while the next is read and another is stored.
FILES_AHEAD = 4
# a fixed time, so that two archives of the same month are equal
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)

Documents = Sequence[InvoiceDocument]


@dataclass(frozen=True, slots=True)
class PrintableFile:
    """What a PDF file is called, the id it is stored with, and how to build what is compiled.

    `build_input` returns the template data and the time of the file.
    """

    name: str
    pdf_id: str
    build_input: Callable[[], tuple[str, int]]


@dataclass(frozen=True, slots=True)
class PdfPrinter:
    """Returns stored PDF files, and compiles and stores those that do not exist yet.

    No transaction is open while a document waits or is compiled.
    """

    engine: AsyncEngine
    compilers: CompilerPool

    async def load(self, scope: TenantScope, file: PrintableFile) -> bytes:
        async def load_or_compile() -> bytes:
            async with transaction(self.engine, scope.organisation_id) as db:
                stored = await stored_pdfs.find_pdfs(db, scope, [file.pdf_id])
            return stored.get(file.pdf_id) or await self._compile(scope, file)

        return await self.compilers.run_once(scope.organisation_id, file.pdf_id, load_or_compile)

    async def load_all(
        self, scope: TenantScope, files: Sequence[PrintableFile]
    ) -> AsyncGenerator[tuple[PrintableFile, bytes], None]:
        """Yield each file with its PDF, in order; those that are stored are looked up together."""
        async with transaction(self.engine, scope.organisation_id) as db:
            stored = await stored_pdfs.find_pdfs(db, scope, [file.pdf_id for file in files])

        async def load(file: PrintableFile) -> tuple[PrintableFile, bytes]:
            content = stored.pop(file.pdf_id, None) or await self.compilers.run_once(
                scope.organisation_id, file.pdf_id, partial(self._compile, scope, file)
            )
            return file, content

        loads = (partial(load, file) for file in files)
        async with aclosing(prefetch(loads, ahead=FILES_AHEAD)) as printed:
            async for file_and_content in printed:
                yield file_and_content

    async def _compile(self, scope: TenantScope, file: PrintableFile) -> bytes:
        # building the texts of a large invoice would block the event loop
        data, timestamp = await asyncio.to_thread(file.build_input)
        pdf = await self.compilers.compile(scope.organisation_id, data, timestamp=timestamp)
        async with transaction(self.engine, scope.organisation_id) as db:
            return await stored_pdfs.store_pdf(db, scope, file.pdf_id, pdf)

    async def print_sample(self, scope: TenantScope, document: InvoiceDocument) -> bytes:
        """Compile an invoice that is marked as a sample; it is not stored."""
        data, timestamp = await asyncio.to_thread(rendering.build_sample_input, document)
        return await self.compilers.compile(scope.organisation_id, data, timestamp=timestamp)


class NoInvoices(NotFound):
    """The month has no invoice that the caller may see."""


async def load_invoice_pdf(
    printer: PdfPrinter, scope: TenantScope, month: str, company_id: str, vendor: str
) -> tuple[str, bytes]:
    """Return the file name and the PDF."""
    (invoice,) = await _require_invoices(printer, scope, month, company_id, vendor)
    return await load_document_pdf(printer, scope, invoice.document)


async def load_document_pdf(
    printer: PdfPrinter, scope: TenantScope, document: InvoiceDocument
) -> tuple[str, bytes]:
    """Return the file name and the PDF of a stored document."""
    file = describe_invoice_file(document)
    return file.name, await printer.load(scope, file)


async def load_revision_pdf(
    printer: PdfPrinter,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    revision: int,
) -> tuple[str, bytes]:
    """Return the file name and the PDF of one revision, current or not."""
    async with transaction(printer.engine, scope.organisation_id) as db:
        rows = await stored_invoices.list_revisions(
            db, scope, period, company_id, revision=revision
        )
    if not rows:
        raise not_found()
    return await load_document_pdf(printer, scope, decode_document(rows[0].document))


async def load_cover_pdf(
    printer: PdfPrinter, scope: TenantScope, month: str, company_id: str
) -> tuple[str, bytes]:
    """Return the file name and the PDF with a cover page, for groups with inv_aggregate.

    Cancelled invoices are left out.
    """
    invoices = [
        invoice
        for invoice in await _require_invoices(printer, scope, month, company_id, None)
        if not invoice.is_cancelled
    ]
    if not any(invoice.document.inv_aggregate for invoice in invoices):
        raise not_found()
    by_vendor = sorted(invoices, key=lambda invoice: invoice.vendor)
    documents = [invoice.document for invoice in by_vendor]
    file = PrintableFile(
        f"{by_vendor[0].invoice_no}.pdf",
        _build_pdf_id("cover", documents),
        partial(rendering.build_compiler_input, documents, with_cover=True),
    )
    return file.name, await printer.load(scope, file)


async def _require_invoices(
    printer: PdfPrinter, scope: TenantScope, month: str, company_id: str, vendor: str | None
) -> list[StoredInvoice[InvoiceDocument]]:
    async with transaction(printer.engine, scope.organisation_id) as db:
        invoices = await stored_invoices.list_invoices(
            db, scope, month, vendor=vendor, company_ids=[company_id]
        )
    if not invoices:
        raise not_found()
    return invoices


def describe_invoice_file(document: InvoiceDocument) -> PrintableFile:
    """Each revision has its own name, so that none replaces another in a folder."""
    revision = "" if document.revision == 1 else f"-r{document.revision}"
    return PrintableFile(
        f"{document.invoice_no}-{document.vendor}{revision}.pdf",
        _build_pdf_id("invoice", [document]),
        partial(rendering.build_compiler_input, [document], with_cover=False),
    )


def _build_pdf_id(kind: Literal["cover", "invoice"], documents: Documents) -> str:
    revisions = [
        f"{document.month}/{document.company_id}/{document.vendor}/{document.revision}"
        for document in documents
    ]
    return derive_id("pap", kind, *revisions)


async def write_zip(
    printer: PdfPrinter, scope: TenantScope, month: str, vendor: str | None, file: IO[bytes]
) -> None:
    """Write every invoice of the month that the caller may see into a zip archive."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        async with aclosing(_iterate_pdfs(printer, scope, month, vendor)) as files:
            async for name, content in files:
                info = zipfile.ZipInfo(name, _ZIP_TIME)
                await asyncio.to_thread(archive.writestr, info, content)


async def write_pdf_files(
    engine: AsyncEngine,
    scope: TenantScope,
    month: str,
    into: Path,
    on_progress: Callable[[int, int], None] = lambda _finished, _total: None,
) -> list[str]:
    """Write the same invoices as files into a folder, which is created; return their names.

    `on_progress` receives the number of written and of all invoices.
    """
    async with transaction(engine, scope.organisation_id) as db:
        total = len(await stored_invoices.list_invoice_amounts(db, scope, month))
    names: list[str] = []
    async with open_compiler_pool() as compilers:
        printer = PdfPrinter(engine, compilers)
        async with aclosing(_iterate_pdfs(printer, scope, month, None)) as files:
            async for name, content in files:
                await asyncio.to_thread(into.mkdir, parents=True, exist_ok=True)
                await asyncio.to_thread((into / name).write_bytes, content)
                names.append(name)
                on_progress(len(names), total)
    return names


async def _iterate_pdfs(
    printer: PdfPrinter, scope: TenantScope, month: str, vendor: str | None
) -> AsyncGenerator[tuple[str, bytes], None]:
    """Yield file names and PDFs, in batches with their own transaction to limit memory.

    Raise NoInvoices if there is none: an empty archive or folder looks like a success.
    """
    async with transaction(printer.engine, scope.organisation_id) as db:
        company_ids = await invoiced_groups.list_invoiced_groups(db, scope, month, vendor)
    if not company_ids:
        of_vendor = "" if vendor is None else " of this vendor"
        raise NoInvoices("no_invoices", f"No invoice{of_vendor} was created for this month.")
    for start in range(0, len(company_ids), BATCH_SIZE):
        batch = company_ids[start : start + BATCH_SIZE]
        async with transaction(printer.engine, scope.organisation_id) as db:
            invoices = await stored_invoices.list_invoices(
                db, scope, month, vendor=vendor, company_ids=batch
            )
        files = [describe_invoice_file(invoice.document) for invoice in invoices]
        async with aclosing(printer.load_all(scope, files)) as printed:
            async for file, content in printed:
                yield file.name, content
