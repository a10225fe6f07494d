"""Renders the sample invoices in docs/images: `make pictures`."""

import struct
import tempfile
from pathlib import Path

import typst

from bench.example_invoices import build_long_invoice, build_short_invoice
from nimbill.foundation.language import Language
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf import rendering, typst_compiler

IMAGES = Path(__file__).parents[3] / "docs" / "images"
EXAMPLES = {
    "short": (build_short_invoice, 96),
    "long": (build_long_invoice, 72),
}  # and dots per inch
# The pages beside each other on a grey table, a dot for a dot.
TABLE = """
#set page(width: auto, height: auto, margin: 14pt, fill: rgb("#d5d9dd"))
#let widths = json(bytes(sys.inputs.widths))
#grid(columns: widths.len(), gutter: 12pt, ..widths.enumerate().map(((number, width)) => image(
  str(number) + ".png", width: width * 1pt,
)))
"""


def main() -> None:
    for language in Language:
        for name, (example, dots_per_inch) in EXAMPLES.items():
            file = IMAGES / f"invoice-{name}-{language}.png"
            file.write_bytes(picture(pages_of(example(language), dots_per_inch)))
            print(f"{file} {file.stat().st_size // 1024} KiB")


def pages_of(invoice: InvoiceDocument, dots_per_inch: int) -> list[bytes]:
    data = {"data": rendering.build_template_data([invoice])}
    made = typst_compiler.new_compiler().compile(sys_inputs=data, format="png", ppi=dots_per_inch)
    assert made is not None
    return made if isinstance(made, list) else [made]


def picture(pages: list[bytes]) -> bytes:
    widths = [struct.unpack(">I", page[16:20])[0] for page in pages]  # as a PNG begins
    with tempfile.TemporaryDirectory() as folder:
        for number, page in enumerate(pages):
            (Path(folder) / f"{number}.png").write_bytes(page)
        (Path(folder) / "table.typ").write_text(TABLE)
        made = typst.compile(
            Path(folder) / "table.typ", format="png", ppi=72, sys_inputs={"widths": str(widths)}
        )
    assert isinstance(made, bytes)
    return made


if __name__ == "__main__":
    main()
