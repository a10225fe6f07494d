"""Draws the invoices of docs/images from example documents: `make pictures`."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import typst

from bench.example_invoices import long_invoice, short_invoice
from nimbill.invoices import paper
from nimbill.invoices.document import Document
from nimbill.vocabulary import Language
from tests.invoices.paper.reading import reader

IMAGES = Path(__file__).parents[3] / "docs" / "images"
DOTS_PER_INCH = 96
# The pages beside each other on a grey table.
TABLE = """
#set page(width: auto, height: auto, margin: 14pt, fill: rgb("#d5d9dd"))
#let pages = range(1, int(sys.inputs.pages) + 1)
#grid(columns: pages.len(), gutter: 12pt, ..pages.map(number => box(
  fill: white, image("invoice.pdf", page: number, width: eval(sys.inputs.width)),
)))
"""


def main() -> None:
    for language in Language:
        made: Mapping[str, Document] = {
            "short": short_invoice(language),
            "long": long_invoice(language),
        }
        for name, invoice in made.items():
            file = IMAGES / f"invoice-{name}-{language}.png"
            file.write_bytes(picture(paper.pdf_of(invoice)))
            print(f"{file} {file.stat().st_size // 1024} KiB")


def picture(pdf: bytes) -> bytes:
    pages = len(reader(pdf).pages)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "invoice.pdf").write_bytes(pdf)
        (Path(folder) / "table.typ").write_text(TABLE)
        made = typst.compile(
            Path(folder) / "table.typ",
            format="png",
            ppi=DOTS_PER_INCH,
            sys_inputs={"pages": str(pages), "width": "595pt" if pages == 1 else "430pt"},
        )
    assert isinstance(made, bytes)
    return made


if __name__ == "__main__":
    main()
