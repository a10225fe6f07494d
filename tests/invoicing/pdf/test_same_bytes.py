"""The same document gives the same file: whenever, wherever and however many at once."""

import hashlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bench.example_invoices import long_invoice, short_invoice
from nimbill.foundation.errors import Unavailable
from nimbill.foundation.vocabulary import Language
from nimbill.invoicing import pdf
from nimbill.invoicing.documents.document import read, written
from nimbill.invoicing.pdf import typst_compiler
from tests.invoicing.pdf.reading import reader

IN_ANOTHER_PROCESS = """
import hashlib, sys
from nimbill.invoicing.documents import paper
from nimbill.invoicing.documents.document import read
print(hashlib.sha256(paper.pdf_of(read(sys.stdin.read()))).hexdigest())
"""


@pytest.mark.parametrize("language", Language)
def test_twice_the_same_document_twice_the_same_bytes(language: Language) -> None:
    first = pdf.pdf_of(long_invoice(language))
    pdf.pdf_of(short_invoice(language))  # something else in between

    assert pdf.pdf_of(long_invoice(language)) == first


def test_a_document_that_was_stored_and_read_again_gives_the_same_bytes() -> None:
    invoice = long_invoice(Language.ja)

    assert pdf.pdf_of(read(written(invoice))) == pdf.pdf_of(invoice)


def test_another_process_with_other_surroundings_gives_the_same_bytes() -> None:
    invoice = short_invoice(Language.ja)

    answer = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS],
        input=written(invoice),
        env={"TZ": "America/New_York", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout.strip() == hashlib.sha256(pdf.pdf_of(invoice)).hexdigest()


def test_threads_print_side_by_side() -> None:
    invoices = [short_invoice(Language.ja, invoice_no=f"202610-{n:04}") for n in range(16)]
    one_by_one = [pdf.pdf_of(invoice) for invoice in invoices]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(pdf.pdf_of, invoices)) == one_by_one


def test_others_run_while_something_is_printed() -> None:
    """The interpreter's lock is free: whoever waits a millisecond at a time gets his turns."""
    invoice = long_invoice(Language.ja, accounts=25, invoice_no="202610-0777")
    turns = 0

    with ThreadPoolExecutor(1) as threads:
        printing = threads.submit(pdf.pdf_of, invoice)
        while not printing.done():
            time.sleep(0.001)
            turns += 1

    assert turns > 20


def test_the_file_says_what_it_is_and_who_wrote_it() -> None:
    about = reader(pdf.pdf_of(short_invoice(Language.ja))).metadata

    assert about is not None
    assert about.title == "請求書 202610-0001"
    assert about.author == "株式会社みなとクラウド"
    assert str(about.creation_date_raw).startswith("D:20261105")


def test_without_an_issuer_the_file_has_no_author() -> None:
    about = reader(pdf.pdf_of(short_invoice(Language.en, issuer=None))).metadata

    assert about is not None
    assert about.author is None


def test_the_font_is_ours_and_travels_in_the_file() -> None:
    for page in reader(pdf.pdf_of(long_invoice(Language.ja))).pages:
        resources: Any = page["/Resources"]
        fonts = [font.get_object() for font in resources["/Font"].values()]
        assert fonts
        for font in fonts:
            assert "BIZUDPGothic" in font["/BaseFont"]
            (inner,) = font["/DescendantFonts"]
            assert {"/FontFile2", "/FontFile3"} & set(inner.get_object()["/FontDescriptor"])
            assert "/ToUnicode" in font


def test_fonts_of_the_machine_are_not_asked() -> None:
    families = set(typst_compiler._fonts().families())

    assert families == {
        "BIZ UDPGothic",
        "DejaVu Sans Mono",
        "Libertinus Serif",
        "New Computer Modern",
        "New Computer Modern Math",
    }


def test_files_stay_small() -> None:
    assert len(pdf.pdf_of(short_invoice(Language.ja))) < 120_000
    assert len(pdf.pdf_of(long_invoice(Language.ja, accounts=25))) < 600_000


def test_the_press_is_loaded_only_when_something_is_printed() -> None:
    ask = "import sys, nimbill.invoicing.pdf; sys.exit('typst' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", ask], check=False).returncode == 0


def test_without_its_font_nothing_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typst_compiler, "FONTS", tmp_path)
    typst_compiler._fonts.cache_clear()

    with pytest.raises(Unavailable):
        typst_compiler.new_compiler()

    typst_compiler._fonts.cache_clear()
