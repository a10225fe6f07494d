"""Runs the Typst compiler with the invoice templates and font; it is loaded at the first use."""

from __future__ import annotations

from collections import deque
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from nimbill.foundation.errors import Unavailable
from nimbill.foundation.metrics import measure_pdf

if TYPE_CHECKING:
    import typst

LAYOUT = Path(str(files("nimbill.invoicing.pdf"))) / "layout"
FONTS = Path(str(files("nimbill.invoicing.pdf"))) / "fonts"
NO_PACKAGES = LAYOUT / "packages"  # does not exist, so that templates import only their own files

# A compiler serves one thread at a time. Idle compilers are reused, so that there are never more
# than concurrent renderings. A deque is thread-safe.
_idle_compilers: deque[typst.Compiler] = deque()


def compile_pdf(template_data: str, *, timestamp: int) -> bytes:
    """The template data is JSON; as an input, its texts cannot be interpreted as markup."""
    try:
        compiler = _idle_compilers.pop()
    except IndexError:
        compiler = new_compiler()
    with measure_pdf():
        pdf = compiler.compile(
            sys_inputs={"data": template_data}, format="pdf", timestamp=timestamp
        )
    _idle_compilers.append(compiler)  # a compiler that failed is not reused
    assert isinstance(pdf, bytes)
    return pdf


def new_compiler() -> typst.Compiler:
    import typst  # 80 MB of native code, loaded only by processes that render

    return typst.Compiler(
        LAYOUT / "main.typ",
        root=LAYOUT,
        font_paths=_load_fonts(),
        package_path=NO_PACKAGES,
        package_cache_path=NO_PACKAGES,
    )


@cache
def _load_fonts() -> typst.Fonts:
    """Our font, and Typst's own fonts for missing characters; no fonts of the machine."""
    import typst

    if not any(FONTS.glob("*.ttf")):
        # without the font, Japanese would be printed as boxes, and the PDF would be stored
        raise Unavailable(
            "font_missing",
            "The font for invoices is not installed on the server.",
            retry_after=60,
        )
    return typst.Fonts(include_system_fonts=False, font_paths=[FONTS])
