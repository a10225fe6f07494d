"""Printed invoices: made when first asked for, and the same bytes for everybody from then on."""

import asyncio
import zipfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import IO

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import not_found
from nimbill.foundation.ids import derived_id
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.stored_invoices import Created

basis = chosen("printed-invoices")

PAPERS_AT_ONCE = 50
# the time in a zip is of no meaning here, and would make two of the same month differ
_NO_TIME = (1980, 1, 1, 0, 0, 0)


async def printed_invoice(
    db: AsyncConnection, scope: TenantScope, month: str, company_id: str, vendor: str
) -> tuple[str, bytes]:
    """Its file name and the PDF."""
    (created,) = await _created(db, scope, month, company_id, vendor)
    return _file_name(created), await _kept(db, scope, [created], covered=False)


async def printed_covering(
    db: AsyncConnection, scope: TenantScope, month: str, company_id: str
) -> tuple[str, bytes]:
    """A page over the vendors' invoices, for groups that have them in bulk."""
    created = await _created(db, scope, month, company_id, None)
    if not any(one.document.inv_aggregate for one in created):
        raise not_found()
    by_vendor = sorted(created, key=lambda one: one.vendor)
    name = f"{by_vendor[0].invoice_no}.pdf"
    return name, await _kept(db, scope, by_vendor, covered=True)


async def _created(
    db: AsyncConnection, scope: TenantScope, month: str, company_id: str, vendor: str | None
) -> list[Created[InvoiceDocument]]:
    found = await stored_invoices.created_of_month(
        db, scope, month, vendor=vendor, company_ids=[company_id]
    )
    if not found:
        raise not_found()
    return found


def _file_name(created: Created[InvoiceDocument]) -> str:
    return f"{created.invoice_no}-{created.vendor}.pdf"


async def _kept(
    db: AsyncConnection,
    scope: TenantScope,
    created: Sequence[Created[InvoiceDocument]],
    *,
    covered: bool,
) -> bytes:
    from nimbill.invoicing import pdf as paper  # with what it prints by, when something is printed

    documents = [one.document for one in created]
    revisions = [f"{one.month}/{one.company_id}/{one.vendor}/{one.revision}" for one in documents]
    paper_id = derived_id("pap", "cover" if covered else "invoice", *revisions)
    found = await stored_invoices.find_paper(db, scope, paper_id)
    if found is not None:
        return found
    if covered:
        made = await asyncio.to_thread(paper.covering_pdf, documents)
    else:
        made = await asyncio.to_thread(paper.pdf_of, documents[0])
    return await stored_invoices.keep_paper(db, scope, paper_id, made)


async def zip_of_month(
    engine: AsyncEngine, scope: TenantScope, month: str, vendor: str | None, file: IO[bytes]
) -> None:
    """Every invoice of the month that the caller may see."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        async for name, content in _papers(engine, scope, month, vendor):
            await asyncio.to_thread(archive.writestr, zipfile.ZipInfo(name, _NO_TIME), content)


async def print_month(engine: AsyncEngine, scope: TenantScope, month: str, into: Path) -> list[str]:
    """The same as files in a folder; their names."""
    names = []
    async for name, content in _papers(engine, scope, month, None):
        await asyncio.to_thread((into / name).write_bytes, content)
        names.append(name)
    return names


async def _papers(
    engine: AsyncEngine, scope: TenantScope, month: str, vendor: str | None
) -> AsyncIterator[tuple[str, bytes]]:
    """Some at a time, so that memory stays, each lot in a transaction of its own."""
    async with transaction(engine, scope.organisation_id) as db:
        company_ids = await stored_invoices.invoiced_groups(db, scope, month, vendor)
    for start in range(0, len(company_ids), PAPERS_AT_ONCE):
        async with transaction(engine, scope.organisation_id) as db:
            created = await stored_invoices.created_of_month(
                db,
                scope,
                month,
                vendor=vendor,
                company_ids=company_ids[start : start + PAPERS_AT_ONCE],
            )
            papers = [
                (_file_name(one), await _kept(db, scope, [one], covered=False)) for one in created
            ]
        for paper in papers:
            yield paper
