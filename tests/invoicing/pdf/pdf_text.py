"""Extracts the text of a PDF as a person would copy it."""

import io
import re
from decimal import Decimal

from pypdf import PdfReader

FIGURE = r"[▲-]?[\d,]+(?:\.\d+)?"


def open_pdf(pdf: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(pdf))


def extract_pages(pdf: bytes) -> list[str]:
    return [page.extract_text() for page in open_pdf(pdf).pages]


def extract_text(pdf: bytes) -> str:
    return "\n".join(extract_pages(pdf))


def remove_whitespace(text: str) -> str:
    """Where a line ends depends on its width; a copied word may be in two lines."""
    return re.sub(r"\s+", "", text)


def parse_figure(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("▲", "-"))


def find_figure(name: str, text: str) -> Decimal:
    """The last figure of the line that begins with this name."""
    (line,) = re.findall(rf"^{re.escape(name)}\s.*?({FIGURE})$", text, re.MULTILINE)
    return parse_figure(line)
