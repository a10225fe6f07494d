"""Typst, kept warm: loaded when something is first printed, with our layout and our font."""

from __future__ import annotations

from collections import deque
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from nimbill.foundation.errors import Unavailable

if TYPE_CHECKING:
    import typst

LAYOUT = Path(str(files("nimbill.invoicing.pdf"))) / "layout"
FONTS = Path(str(files("nimbill.invoicing.pdf"))) / "fonts"
NO_PACKAGES = LAYOUT / "packages"  # is not there: a layout imports its own files alone

# A compiler serves one thread at a time; those at rest are kept, and there are never more than
# prints under way. deque is safe to share among threads.
_at_rest: deque[typst.Compiler] = deque()


def pdf(paper: str, *, moment: int) -> bytes:
    """`paper` is JSON; it is handed over as data, so that nothing in it can be read as markup."""
    try:
        compiler = _at_rest.pop()
    except IndexError:
        compiler = new_compiler()
    made = compiler.compile(sys_inputs={"paper": paper}, format="pdf", timestamp=moment)
    _at_rest.append(compiler)  # one that failed is not used again
    assert isinstance(made, bytes)
    return made


def new_compiler() -> typst.Compiler:
    import typst  # 80 MB of native code, which a server that prints nothing need not load

    return typst.Compiler(
        LAYOUT / "main.typ",
        root=LAYOUT,
        font_paths=_fonts(),
        package_path=NO_PACKAGES,
        package_cache_path=NO_PACKAGES,
    )


@cache
def _fonts() -> typst.Fonts:
    """Ours, and those inside Typst for signs that ours lacks; none of the machine's."""
    import typst

    if not any(FONTS.glob("*.ttf")):
        # without it Japanese would be printed as boxes, and kept so
        raise Unavailable("font_missing", "the font of invoices is not installed", retry_after=60)
    return typst.Fonts(include_system_fonts=False, font_paths=[FONTS])
