"""The hash that binds an approval to the invoice in place of another one."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from nimbill.corrections.replacements.review import hash_document
from nimbill.invoicing.documents.document import InvoiceDocument
from tests.invoicing.random_documents import build_random_document


def build_document() -> InvoiceDocument:
    """A document with several usage lines."""
    random = Random(1)
    while True:
        document = build_random_document(random)
        if len(set(document.charges.usage)) > 2:
            return document


def test_the_order_in_which_the_database_returns_usage_does_not_count() -> None:
    document = build_document()
    reversed_usage = document.charges.usage[::-1]
    charges = msgspec.structs.replace(document.charges, usage=reversed_usage)

    assert reversed_usage != document.charges.usage
    assert hash_document(msgspec.structs.replace(document, charges=charges)) == hash_document(
        document
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("memo", "another memo"), ("title", "Invoice"), ("revision", 7), ("replaces", "202610-0002")],
)
def test_everything_on_the_invoice_counts(field: str, value: object) -> None:
    document = build_document()

    changed = msgspec.structs.replace(document, **{field: value})

    assert hash_document(changed) != hash_document(document)


def test_an_amount_of_usage_counts() -> None:
    document = build_document()
    charges = msgspec.structs.replace(document.charges, usage=document.charges.usage[1:])

    changed = msgspec.structs.replace(document, charges=charges)

    assert hash_document(changed) != hash_document(document)


@pytest.mark.parametrize("field", ["invoice_no", "issue_date", "due_date"])
def test_what_is_given_later_does_not_count(field: str) -> None:
    document = build_document()

    changed = msgspec.structs.replace(document, **{field: "2026-12-01"})

    assert hash_document(changed) == hash_document(document)
