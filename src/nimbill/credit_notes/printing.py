"""PDF files of credit notes: compiled at the first request, then stored and returned unchanged."""

from functools import partial

from nimbill.credit_notes.credit_note_page import build_credit_note_page
from nimbill.credit_notes.document import CreditNoteDocument
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.ids import derive_id
from nimbill.invoicing.pdf.pdf_cache import PdfPrinter, PrintableFile
from nimbill.invoicing.pdf.rendering import build_page_input


async def load_note_pdf(
    printer: PdfPrinter, scope: TenantScope, note: CreditNoteDocument
) -> tuple[str, bytes]:
    """Return the file name and the PDF."""
    file = describe_note_file(note)
    return file.name, await printer.load(scope, file)


def describe_note_file(note: CreditNoteDocument) -> PrintableFile:
    return PrintableFile(
        f"{note.credit_note_no}.pdf",
        derive_id("pap", "credit note", note.credit_note_id),
        partial(build_note_input, note),
    )


def build_note_input(note: CreditNoteDocument) -> tuple[str, int]:
    """Return the template data and the time of the file."""
    return build_page_input(build_credit_note_page(note), note.issue_date)
