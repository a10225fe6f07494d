"""Rendering is reproducible: the same document gives the same bytes."""

import hashlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pypdfium2 import PdfDocument
from pypdfium2.raw import FPDF_PAGEOBJ_TEXT

from bench.example_invoices import build_long_invoice, build_short_invoice, render_invoice
from nimbill.foundation.errors import Unavailable
from nimbill.foundation.language import Language
from nimbill.invoicing.documents.document import decode_document, encode_document
from nimbill.invoicing.pdf import typst_compiler
from tests.invoicing.pdf.pdf_text import read_properties

IN_ANOTHER_PROCESS = """
import hashlib, sys
from bench.example_invoices import render_invoice
from nimbill.invoicing.documents.document import decode_document
print(hashlib.sha256(render_invoice(decode_document(sys.stdin.read()))).hexdigest())
"""


@pytest.mark.parametrize("language", Language)
def test_rendering_a_document_twice_gives_the_same_bytes(language: Language) -> None:
    first = render_invoice(build_long_invoice(language))
    render_invoice(build_short_invoice(language))  # something else in between

    assert render_invoice(build_long_invoice(language)) == first


def test_a_decoded_document_gives_the_same_bytes() -> None:
    invoice = build_long_invoice(Language.ja)

    assert render_invoice(decode_document(encode_document(invoice))) == render_invoice(invoice)


def test_another_process_and_environment_give_the_same_bytes() -> None:
    invoice = build_short_invoice(Language.ja)

    response = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS],
        input=encode_document(invoice),
        env={"TZ": "America/New_York", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert response.stdout.strip() == hashlib.sha256(render_invoice(invoice)).hexdigest()


def test_concurrent_threads_give_the_same_bytes() -> None:
    invoices = [build_short_invoice(Language.ja, invoice_no=f"202610-{n:04}") for n in range(16)]
    one_by_one = [render_invoice(invoice) for invoice in invoices]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(render_invoice, invoices)) == one_by_one


def test_rendering_releases_the_interpreter_lock() -> None:
    """Another thread that sleeps a millisecond at a time continues to run."""
    invoice = build_long_invoice(Language.ja, accounts=25, invoice_no="202610-0777")
    turns = 0

    with ThreadPoolExecutor(1) as threads:
        printing = threads.submit(render_invoice, invoice)
        while not printing.done():
            time.sleep(0.001)
            turns += 1

    assert turns > 20


def test_the_file_properties_contain_title_author_and_date() -> None:
    about = read_properties(render_invoice(build_short_invoice(Language.ja)))

    assert about["Title"] == "請求書 202610-0001"
    assert about["Author"] == "株式会社みなとクラウド"
    assert about["CreationDate"].startswith("D:20261105")


def test_without_issuer_the_file_has_no_author() -> None:
    about = read_properties(render_invoice(build_short_invoice(Language.en, issuer=None)))

    assert "Title" in about
    assert "Author" not in about


def test_the_font_is_embedded() -> None:
    with PdfDocument(render_invoice(build_long_invoice(Language.ja))) as document:
        for page in document:
            fonts = [text.get_font() for text in page.get_objects(filter=[FPDF_PAGEOBJ_TEXT])]
            assert fonts
            assert all("BIZUDPGothic" in font.get_base_name() for font in fonts)
            assert all(font.is_embedded for font in fonts)


def test_system_fonts_are_not_used() -> None:
    families = set(typst_compiler._load_fonts().families())

    assert families == {
        "BIZ UDPGothic",
        "DejaVu Sans Mono",
        "Libertinus Serif",
        "New Computer Modern",
        "New Computer Modern Math",
    }


def test_files_stay_small() -> None:
    assert len(render_invoice(build_short_invoice(Language.ja))) < 120_000
    assert len(render_invoice(build_long_invoice(Language.ja, accounts=25))) < 600_000


LOADED_MODULES = """
import sys
import nimbill.invoicing.pdf.compiler_process
print([name for name in ("sqlalchemy", "typst") if name in sys.modules])
import nimbill.invoicing.pdf.rendering
print([name for name in ("typst",) if name in sys.modules])
"""


def test_the_compiler_process_loads_no_database_library_and_typst_only_for_rendering() -> None:
    process = subprocess.run(
        [sys.executable, "-c", LOADED_MODULES], capture_output=True, text=True, check=True
    )

    assert process.stdout.splitlines() == ["[]", "[]"]


def test_without_the_font_rendering_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typst_compiler, "FONTS", tmp_path)
    typst_compiler._load_fonts.cache_clear()

    with pytest.raises(Unavailable):
        typst_compiler.new_compiler()

    typst_compiler._load_fonts.cache_clear()
