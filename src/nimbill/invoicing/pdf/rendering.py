"""Builds the compiler's input from invoice documents; the same documents give the same bytes."""

import datetime
import json
from collections.abc import Sequence
from typing import Any

from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf.cover_page import build_cover_page
from nimbill.invoicing.pdf.invoice_page import build_invoice_page


def build_compiler_input(
    documents: Sequence[InvoiceDocument], *, with_cover: bool
) -> tuple[str, int]:
    """Return the template data and the time of the file."""
    cover = build_cover_page(documents) if with_cover else None
    latest = max(document.issue_date for document in documents)
    return build_template_data(documents, cover=cover), _to_unix_time(latest)


def build_sample_input(document: InvoiceDocument) -> tuple[str, int]:
    """Like build_compiler_input, for an invoice that is marked as a sample on every page."""
    page = build_invoice_page(document)
    page["head"]["sample"] = page["labels"]["sample"]
    return build_page_input(page, document.issue_date)


def build_page_input(page: dict[str, Any], issue_date: str) -> tuple[str, int]:
    """Like build_compiler_input, for one page that has the layout of an invoice."""
    return _format_file(page["head"], None, [page]), _to_unix_time(issue_date)


def build_template_data(
    documents: Sequence[InvoiceDocument], *, cover: dict[str, Any] | None = None
) -> str:
    """Build the JSON for the Typst templates, which lay out texts and figures only."""
    invoices = [build_invoice_page(document) for document in documents]
    return _format_file(cover["head"] if cover else invoices[0]["head"], cover, invoices)


def _format_file(
    head: dict[str, Any], cover: dict[str, Any] | None, invoices: Sequence[dict[str, Any]]
) -> str:
    file = {"title": head["file_title"], "author": head["author"], "date": head["issue_date"]}
    return json.dumps({"file": file, "cover": cover, "invoices": invoices})


def _to_unix_time(date: str) -> int:
    """Use the issue date as the time of the file, so that its bytes do not depend on the clock."""
    day = datetime.date.fromisoformat(date)
    return int(datetime.datetime.combine(day, datetime.time(), datetime.UTC).timestamp())
