"""Renders invoice documents as PDF; the same documents give the same bytes."""

import datetime
import json
from collections.abc import Sequence
from typing import Any

from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf import typst_compiler
from nimbill.invoicing.pdf.cover_page import build_cover_page
from nimbill.invoicing.pdf.invoice_page import build_invoice_page


def render_invoice(document: InvoiceDocument) -> bytes:
    """Render one invoice. It takes some ten milliseconds, without holding the interpreter lock."""
    return typst_compiler.compile_pdf(
        build_template_data([document]), timestamp=_to_unix_time(document.issue_date)
    )


def render_cover(documents: Sequence[InvoiceDocument]) -> bytes:
    """Render the invoices of one billing group and month behind a cover page with their sums."""
    cover = build_cover_page(documents)
    latest = max(document.issue_date for document in documents)
    return typst_compiler.compile_pdf(
        build_template_data(documents, cover=cover), timestamp=_to_unix_time(latest)
    )


def build_template_data(
    documents: Sequence[InvoiceDocument], *, cover: dict[str, Any] | None = None
) -> str:
    """Build the JSON for the Typst templates, which lay out texts and figures only."""
    invoices = [build_invoice_page(document) for document in documents]
    head = cover["head"] if cover else invoices[0]["head"]
    file = {"title": head["file_title"], "author": head["author"], "date": head["issue_date"]}
    return json.dumps({"file": file, "cover": cover, "invoices": invoices})


def _to_unix_time(date: str) -> int:
    """Use the issue date as the time of the file, so that its bytes do not depend on the clock."""
    day = datetime.date.fromisoformat(date)
    return int(datetime.datetime.combine(day, datetime.time(), datetime.UTC).timestamp())
