"""Extracts the text of a PDF as a person would copy it."""

import re
from collections.abc import Mapping
from decimal import Decimal

from pypdfium2 import PdfDocument

HYPHEN_AT_LINE_END = "\ufffe"  # so named by PDFium, which joins the lines
FIGURE = r"[▲-]?[\d,]+(?:\.\d+)?"


def extract_pages(pdf: bytes) -> list[str]:
    with PdfDocument(pdf) as document:
        pages = [page.get_textpage().get_text_range() for page in document]
    return [page.replace("\r\n", "\n").replace(HYPHEN_AT_LINE_END, "-") for page in pages]


def extract_text(pdf: bytes) -> str:
    return "\n".join(extract_pages(pdf))


def read_properties(pdf: bytes) -> Mapping[str, str]:
    """The properties of the file, such as Title and Author, without empty ones."""
    with PdfDocument(pdf) as document:
        properties: dict[str, str] = document.get_metadata_dict(skip_empty=True)
    return properties


def read_attachments(pdf: bytes) -> list[bytes]:
    with PdfDocument(pdf) as document:
        numbers = range(document.count_attachments())
        return [bytes(document.get_attachment(number).get_data()) for number in numbers]


def find_right_edge(pdf: bytes) -> float:
    """Of the character that is furthest to the right, in points."""
    with PdfDocument(pdf) as document:
        texts = [page.get_textpage() for page in document]
        edges: list[float] = [
            text.get_charbox(index)[2] for text in texts for index in range(text.count_chars())
        ]
    return max(edges)


def remove_whitespace(text: str) -> str:
    """Where a line ends depends on its width; a copied word may be in two lines."""
    return re.sub(r"\s+", "", text)


def parse_figure(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("▲", "-"))


def find_figure(name: str, text: str) -> Decimal:
    """The last figure of the line that begins with this name."""
    (line,) = re.findall(rf"^{re.escape(name)}\s.*?({FIGURE})$", text, re.MULTILINE)
    return parse_figure(line)
