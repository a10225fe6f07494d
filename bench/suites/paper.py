"""Printed invoices, beside bare Typst that is given the same page and its data ready made."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count

import typst

from bench.example_invoices import long_invoice, short_invoice
from bench.rounds import Contender, Suite
from nimbill.foundation.vocabulary import Language
from nimbill.invoicing import pdf
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.pdf import rendering, typst_compiler

OURS, BARE, COLD = "nimbill", "bare Typst", "… started anew"
WHAT = {
    OURS: "from the kept document to the PDF, as a route asks for it",
    BARE: "a compiler that is kept, the same page, its data as JSON that was there before",
    COLD: "the same by `typst.compile`, which looks for its fonts each time",
}
EXAMPLES: dict[str, Callable[[str], InvoiceDocument]] = {
    "one page": lambda number: short_invoice(Language.ja, invoice_no=number),
    "75 lines, 3 pages": lambda number: long_invoice(Language.ja, invoice_no=number),
    "303 lines, 9 pages": lambda number: long_invoice(Language.ja, invoice_no=number, accounts=25),
}
Print = Callable[[], bytes]


def ours(document: InvoiceDocument) -> Print:
    return partial(pdf.pdf_of, document)


def bare(compiler: typst.Compiler, document: InvoiceDocument) -> Print:
    data = {"paper": rendering.paper_of([document])}

    def press_it() -> bytes:
        made = compiler.compile(sys_inputs=data, format="pdf", timestamp=0)
        assert isinstance(made, bytes)
        return made

    return press_it


def cold(document: InvoiceDocument) -> Print:
    data = {"paper": rendering.paper_of([document])}
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
    ways: dict[str, Callable[[InvoiceDocument], Print]] = {
        OURS: ours,
        BARE: partial(bare, typst_compiler.new_compiler()),
        COLD: cold,
    }
    numbers = count(1)
    yield [
        Contender(name, WHAT[name], partial(_measure, prepare, numbers))
        for name, prepare in ways.items()
    ]


def _measure(
    prepare: Callable[[InvoiceDocument], Print], numbers: Iterator[int], case: str, seconds: float
) -> float:
    """Each is printed once: Typst remembers parts of what it has set before."""
    printed, spent = 0, 0.0
    while spent < seconds:
        print_it = prepare(EXAMPLES[case](f"202610-{next(numbers):06}"))
        began = time.perf_counter()
        made = print_it()
        spent += time.perf_counter() - began
        assert made.startswith(b"%PDF"), case
        printed += 1
    return printed / spent


SUITE = Suite(
    name="paper",
    what="invoices printed as PDF, one after the other",
    unit="PDFs/s",
    cases=tuple(EXAMPLES),
    ours=OURS,
    aims={BARE: 0.7},
    slice_seconds=2,
    contenders=contenders,
)
