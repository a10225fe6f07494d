"""Printed invoices over HTTP; paths are relative to /m/core."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Annotated, Any

from litestar import Request, Response
from litestar.params import FromPath, QueryParameter
from litestar.response import Stream

from nimbill.access.gate import Audience
from nimbill.access.request_context import request_context_of
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.routing import CallerOfRequest, MonthOfPath, ResourcesOfWorker, Transaction, get
from nimbill.invoicing.pdf import pdf_cache

READ = [RoleAction.ReadInvoice, RoleAction.ModifyInvoice]
PDF, ZIP = "application/pdf", "application/zip"
CHUNK = 1 << 18


@get(
    "/invoices/{month:str}/{company_id:str}/{vendor:str}/pdf",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("printed-invoices"),
    media_type=PDF,
)
async def print_invoice(
    month: MonthOfPath,
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: CallerOfRequest,
    db: Transaction,
) -> Response[bytes]:
    """One invoice as a PDF, in the group's language."""
    file = await pdf_cache.printed_invoice(db, caller.scope, month, company_id, vendor)
    return _pdf(*file)


@get(
    "/invoices/{month:str}/{company_id:str}/pdf",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("printed-invoices"),
    media_type=PDF,
)
async def print_covering_page(
    month: MonthOfPath, company_id: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> Response[bytes]:
    """The vendors' invoices of a group under one covering page, where inv_aggregate is true."""
    return _pdf(*await pdf_cache.printed_covering(db, caller.scope, month, company_id))


def _pdf(name: str, content: bytes) -> Response[bytes]:
    headers = {"Content-Disposition": f'inline; filename="{name}"'}
    return Response(content, media_type=PDF, headers=headers)


@get(
    "/invoices/{month:str}/zip",
    audiences=[Audience.core],
    role_actions=READ,
    basis=chosen("printed-invoices"),
    media_type=ZIP,
)
async def print_month(
    month: MonthOfPath,
    caller: CallerOfRequest,
    resources: ResourcesOfWorker,
    request: Request[Any, Any, Any],
    vendor: Annotated[BilledVendor | None, QueryParameter()] = None,
) -> Stream:
    """All invoices of a month in one zip, those of one vendor if it is named."""
    await request_context_of(request.scope).pause()  # printing a thousand takes a while
    file = await asyncio.to_thread(_nameless_file, resources.settings.data)
    try:
        await pdf_cache.zip_of_month(resources.engine, caller.scope, month, vendor, file)
    except BaseException:
        file.close()
        raise
    headers = {"Content-Disposition": f'attachment; filename="invoices-{month}.zip"'}
    return Stream(_contents(file), media_type=ZIP, headers=headers)


def _nameless_file(folder: Path) -> IO[bytes]:
    """Whatever becomes of the request, nothing is left behind."""
    return tempfile.TemporaryFile(dir=folder)  # closed once it is sent


async def _contents(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        file.seek(0)
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk


ROUTES = [print_invoice, print_covering_page, print_month]
