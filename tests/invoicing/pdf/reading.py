"""Reads a printed invoice back the way a person would copy from it."""

import io
import re
from decimal import Decimal

from pypdf import PdfReader

FIGURE = r"[▲-]?[\d,]+(?:\.\d+)?"


def reader(pdf: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(pdf))


def pages_of(pdf: bytes) -> list[str]:
    return [page.extract_text() for page in reader(pdf).pages]


def text_of(pdf: bytes) -> str:
    return "\n".join(pages_of(pdf))


def without_breaks(text: str) -> str:
    """Where a line ends depends on its width; a copied word may be in two lines."""
    return re.sub(r"\s+", "", text)


def figure(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace("▲", "-"))


def figure_after(name: str, text: str) -> Decimal:
    """The last figure of the line that begins with this name."""
    (line,) = re.findall(rf"^{re.escape(name)}\s.*?({FIGURE})$", text, re.MULTILINE)
    return figure(line)
