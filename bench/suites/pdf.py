"""Rendering of PDF invoices, compared with bare Typst on the same page and prepared data."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count

import typst

from bench.example_invoices import build_long_invoice, build_short_invoice, render_invoice
from bench.rounds import Contender, Suite
from nimbill.foundation.language import Language
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf import rendering, typst_compiler

OURS, BARE, COLD = "nimbill", "bare Typst", "Typst, new compiler"
DESCRIPTIONS = {
    OURS: "from the stored document to the PDF, as in a request",
    BARE: "a reused compiler, the same page, prepared JSON data",
    COLD: "the same with `typst.compile`, which loads its fonts each time",
}
EXAMPLES: dict[str, Callable[[str], InvoiceDocument]] = {
    "one page": lambda number: build_short_invoice(Language.ja, invoice_no=number),
    "75 lines, 3 pages": lambda number: build_long_invoice(Language.ja, invoice_no=number),
    "303 lines, 9 pages": lambda number: build_long_invoice(
        Language.ja, invoice_no=number, accounts=25
    ),
}
Render = Callable[[], bytes]


def prepare_ours(document: InvoiceDocument) -> Render:
    return partial(render_invoice, document)


def prepare_bare(compiler: typst.Compiler, document: InvoiceDocument) -> Render:
    data = {"data": rendering.build_template_data([document])}

    def render() -> bytes:
        content = compiler.compile(sys_inputs=data, format="pdf", timestamp=0)
        assert isinstance(content, bytes)
        return content

    return render


def prepare_cold(document: InvoiceDocument) -> Render:
    data = {"data": rendering.build_template_data([document])}
    return lambda: typst.compile(
        typst_compiler.LAYOUT / "main.typ",
        root=typst_compiler.LAYOUT,
        font_paths=[typst_compiler.FONTS],
        ignore_system_fonts=True,
        sys_inputs=data,
        timestamp=0,
    )


@contextmanager
def contenders() -> Iterator[Sequence[Contender]]:
    preparations: dict[str, Callable[[InvoiceDocument], Render]] = {
        OURS: prepare_ours,
        BARE: partial(prepare_bare, typst_compiler.new_compiler()),
        COLD: prepare_cold,
    }
    numbers = count(1)
    yield [
        Contender(name, DESCRIPTIONS[name], partial(_measure, prepare, numbers))
        for name, prepare in preparations.items()
    ]


def _measure(
    prepare: Callable[[InvoiceDocument], Render], numbers: Iterator[int], case: str, seconds: float
) -> float:
    """Every invoice has another number, because Typst caches what it has rendered."""
    rendered, spent = 0, 0.0
    while spent < seconds:
        render = prepare(EXAMPLES[case](f"202610-{next(numbers):06}"))
        started = time.perf_counter()
        content = render()
        spent += time.perf_counter() - started
        assert content.startswith(b"%PDF"), case
        rendered += 1
    return rendered / spent


SUITE = Suite(
    name="pdf",
    description="invoices rendered as PDF, one after the other",
    unit="PDFs/s",
    cases=tuple(EXAMPLES),
    baseline=OURS,
    roles={BARE: "floor", COLD: "instead"},
    targets={BARE: 0.7},
    slice_seconds=2,
    contenders=contenders,
    summary_case="75 lines, 3 pages",
)
