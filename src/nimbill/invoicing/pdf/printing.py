"""What the routes that print invoices have in common."""

from typing import Any

from litestar import Request, Response

from nimbill.access.request_context import get_request_context
from nimbill.invoicing.pdf.pdf_cache import PdfPrinter

PDF = "application/pdf"


async def pause_for_printing(request: Request[Any, Any, Any]) -> PdfPrinter:
    """Return the request's connection to the pool: compiling takes a while."""
    await get_request_context(request.scope).pause()
    state = request.app.state
    return PdfPrinter(state.resources.engine, state.pdf_compilers)


def build_pdf_response(name: str, content: bytes) -> Response[bytes]:
    headers = {"Content-Disposition": f'inline; filename="{name}"'}
    return Response(content, media_type=PDF, headers=headers)
