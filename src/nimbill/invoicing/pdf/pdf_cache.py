"""PDF files of invoices: compiled at the first request, then stored and returned unchanged."""

import asyncio
import zipfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import NotFound, not_found
from nimbill.foundation.ids import derive_id
from nimbill.invoicing.documents import invoiced_groups, stored_invoices, stored_pdfs
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.invoicing.documents.stored_invoices import StoredInvoice
from nimbill.invoicing.pdf import rendering
from nimbill.invoicing.pdf.compiler_pool import CompilerPool, open_compiler_pool
from nimbill.invoicing.pdf.print_in_order import print_in_order

basis = chosen("printed-invoices")

BATCH_SIZE = 50
# a fixed time, so that two archives of the same month are equal
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)

Documents = Sequence[InvoiceDocument]


@dataclass(frozen=True, slots=True)
class PdfPrinter:
    """Returns stored PDF files, and compiles and stores those that do not exist yet.

    No transaction is open while a document waits or is compiled.
    """

    engine: AsyncEngine
    compilers: CompilerPool

    async def load(self, scope: TenantScope, documents: Documents, *, with_cover: bool) -> bytes:
        pdf_id = _build_pdf_id(documents, with_cover=with_cover)
        return await self.load_file(
            scope,
            pdf_id,
            lambda: rendering.build_compiler_input(documents, with_cover=with_cover),
        )

    async def load_file(
        self, scope: TenantScope, pdf_id: str, build_input: Callable[[], tuple[str, int]]
    ) -> bytes:
        """`build_input` returns the template data and the time of the file."""

        async def load_or_compile() -> bytes:
            async with transaction(self.engine, scope.organisation_id) as db:
                stored = await stored_pdfs.find_pdfs(db, scope, [pdf_id])
            return stored.get(pdf_id) or await self._compile(scope, pdf_id, build_input)

        return await self.compilers.run_once(scope.organisation_id, pdf_id, load_or_compile)

    async def compile_invoice(self, scope: TenantScope, document: InvoiceDocument) -> bytes:
        """Like `load` for an invoice of which the caller knows that its PDF is not stored."""
        pdf_id = _build_pdf_id([document], with_cover=False)
        return await self.compilers.run_once(
            scope.organisation_id,
            pdf_id,
            lambda: self._compile(
                scope,
                pdf_id,
                lambda: rendering.build_compiler_input([document], with_cover=False),
            ),
        )

    async def _compile(
        self, scope: TenantScope, pdf_id: str, build_input: Callable[[], tuple[str, int]]
    ) -> bytes:
        # building the texts of a large invoice would block the event loop
        data, timestamp = await asyncio.to_thread(build_input)
        pdf = await self.compilers.compile(scope.organisation_id, data, timestamp=timestamp)
        async with transaction(self.engine, scope.organisation_id) as db:
            return await stored_pdfs.store_pdf(db, scope, pdf_id, pdf)

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
    return _file_name(document), await printer.load(scope, [document], with_cover=False)


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
    name = f"{by_vendor[0].invoice_no}.pdf"
    return name, await printer.load(scope, documents, with_cover=True)


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


def _file_name(document: InvoiceDocument) -> str:
    """Each revision has its own name, so that none replaces another in a folder."""
    revision = "" if document.revision == 1 else f"-r{document.revision}"
    return f"{document.invoice_no}-{document.vendor}{revision}.pdf"


def _build_pdf_id(documents: Documents, *, with_cover: bool) -> str:
    revisions = [
        f"{document.month}/{document.company_id}/{document.vendor}/{document.revision}"
        for document in documents
    ]
    return derive_id("pap", "cover" if with_cover else "invoice", *revisions)


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
        total = len(await stored_invoices.list_invoice_summaries(db, scope, month))
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
            pdf_ids = [_build_pdf_id([invoice.document], with_cover=False) for invoice in invoices]
            stored = await stored_pdfs.find_pdfs(db, scope, pdf_ids)

        async def print_one(
            invoice: StoredInvoice[InvoiceDocument], content: bytes | None
        ) -> tuple[str, bytes]:
            if content is None:
                content = await printer.compile_invoice(scope, invoice.document)
            return _file_name(invoice.document), content

        printings = [
            partial(print_one, invoice, stored.pop(pdf_id, None))
            for invoice, pdf_id in zip(invoices, pdf_ids, strict=True)
        ]
        async with aclosing(print_in_order(printings)) as files:
            async for file in files:
                yield file
