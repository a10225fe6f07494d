"""From kept documents to PDF: the same documents give the same bytes."""

import datetime
import json
from collections.abc import Sequence
from typing import Any

from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf import typst_compiler
from nimbill.invoicing.pdf.contents import invoice_page
from nimbill.invoicing.pdf.cover import covering_page


def pdf_of(document: InvoiceDocument) -> bytes:
    """One invoice. Takes some ten milliseconds of a thread; others run meanwhile."""
    return typst_compiler.pdf(paper_of([document]), moment=_moment(document.issue_date))


def covering_pdf(documents: Sequence[InvoiceDocument]) -> bytes:
    """The invoices of one group and month under a covering page that adds them up."""
    cover = covering_page(documents)
    latest = max(document.issue_date for document in documents)
    return typst_compiler.pdf(paper_of(documents, cover=cover), moment=_moment(latest))


def paper_of(documents: Sequence[InvoiceDocument], *, cover: dict[str, Any] | None = None) -> str:
    """All that the layout is given, as JSON: it reads words and figures and works out nothing."""
    invoices = [invoice_page(document) for document in documents]
    head = cover["head"] if cover else invoices[0]["head"]
    file = {"title": head["file_title"], "author": head["author"], "date": head["issue_date"]}
    return json.dumps({"file": file, "cover": cover, "invoices": invoices})


def _moment(date: str) -> int:
    """Of the file: when the invoice was issued, so that the clock does not get into the bytes."""
    day = datetime.date.fromisoformat(date)
    return int(datetime.datetime.combine(day, datetime.time(), datetime.UTC).timestamp())
