"""Every amount of random invoices is explained, and its parts add up to its base."""

from __future__ import annotations

from decimal import Decimal
from random import Random

from nimbill.foundation.money import sum_decimals
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.explanation.bodies import ExplainedAmount
from nimbill.invoicing.explanation.explained_amounts import InvoiceExplainer
from tests.invoicing.random_documents import build_random_document

DOCUMENTS = [build_random_document(Random(number)) for number in range(100)]


def explain(document: InvoiceDocument) -> dict[str, ExplainedAmount]:
    return {amount.line: amount for amount in InvoiceExplainer(document).explain()}


def test_parts_add_up_to_the_base_exactly() -> None:
    kinds = set()
    for document in DOCUMENTS:
        for amount in explain(document).values():
            assert amount.parts is not None
            if amount.base is None:
                assert amount.parts == [], amount
                continue
            assert sum_decimals(part.amount for part in amount.parts) == amount.base, amount
            assert {part.currency for part in amount.parts} <= {amount.base_currency}, amount
            kinds |= {(amount.kind, part.kind) for part in amount.parts}

    assert kinds >= {
        ("usage", "usage"),
        ("support", "usage"),
        ("support", "entry"),
        ("agency", "usage"),
        ("agency", "support"),
        ("agency", "remainder"),
        ("entry", "entry"),
        ("item", "item"),
        ("tax", "line"),
    }


def test_every_printed_amount_is_explained_with_its_exact_amount() -> None:
    for document in DOCUMENTS:
        sheet, amounts = document.sheet, explain(document)
        fees = [fee for fee in (sheet.support, sheet.agency) if fee is not None]
        printed = [
            *(line.after for line in sheet.lines),
            *(fee.after for fee in fees),
            *(entry.amount for entry in sheet.entries),
            *(item.total for item in sheet.items),
            *(sheet.pre_tax, sheet.tax, sheet.total),
        ]

        assert [amount.amount for amount in amounts.values()] == printed
        unit = Decimal("0.01") if document.currency == "usd" else Decimal(1)
        for amount in amounts.values():
            assert abs(amount.unrounded - amount.amount) < unit, amount
            assert amount.rule_text, amount


def test_totals_refer_to_their_lines() -> None:
    for document in DOCUMENTS[:30]:
        amounts = explain(document)
        for amount in amounts.values():
            named = [part for part in amount.parts or [] if part.kind == "line"]
            for part in named:
                assert part.line is not None
                assert part.amount == amounts[part.line].amount
        lines = [part.line for part in amounts["pre_tax"].parts or []]
        assert lines == list(amounts)[:-3]
