"""Which invoices a searched text names."""

from __future__ import annotations

import pytest

from nimbill.closing.search.invoice_number_rules import NamedInvoices, parse_invoice_number


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("202609-0012", NamedInvoices("2026-09", 12)),
        ("2026-09-0012", NamedInvoices("2026-09", 12)),
        ("202609", NamedInvoices("2026-09", None)),
        ("0012", NamedInvoices(None, 12)),
        ("202613", NamedInvoices(None, 202613)),
        ("1234567890", None),
        ("Aozora", None),
    ],
)
def test_a_text_names_invoices(text: str, named: NamedInvoices | None) -> None:
    assert parse_invoice_number(text) == named
