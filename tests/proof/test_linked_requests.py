"""Chains of links know the values of the organisation, and count only their own invoices."""

import json

import pytest

from tests.contract.declared_routes import declared_app
from tests.proof.asgi_calls import Answer, Request
from tests.proof.known_values import MONTH, VENDOR, narrow_document
from tests.proof.linked_requests import ACCOUNTS, MONTH_END, Chain

ADDRESS = f"/m/core/invoices/{MONTH}/cmp_1/{VENDOR}"


def answer(status: int, body: object = None) -> Answer:
    return Answer(status, {}, json.dumps(body).encode(), 0.0, None)


def chain_with_invoice(company_id: str) -> Chain:
    chain = Chain()
    created = {"created": [{"company_id": company_id, "vendor": VENDOR}]}
    chain.record("create_invoices", Request("POST", b"/"), answer(200, created))
    return chain


@pytest.mark.parametrize(
    ("company_id", "status", "counts"),
    [("cmp_1", 200, True), ("cmp_1", 404, False), ("cmp_2", 200, False)],
)
@pytest.mark.parametrize(("operation", "end"), [("read_invoice", ""), ("print_invoice", "/pdf")])
def test_only_a_successful_reading_of_an_own_invoice_counts(
    company_id: str, status: int, counts: bool, operation: str, end: str
) -> None:
    chain = chain_with_invoice(company_id)

    counted = chain.record(operation, Request("GET", f"{ADDRESS}{end}".encode()), answer(status))

    assert counted is counts
    assert chain.path == ["create_invoices", *([operation] if status == 200 else [])]


def test_operations_of_the_month_end_wait_for_operations_of_the_month_end() -> None:
    assert {name for first in MONTH_END.values() for name in first} <= MONTH_END.keys()


def test_the_narrowed_document_has_only_values_that_the_organisation_knows() -> None:
    document = json.loads(declared_app().state.build_openapi_document())
    before = json.dumps(document)

    schemas = narrow_document(document, ACCOUNTS)["components"]["schemas"]

    account = schemas["CloudAccountCreate"]
    assert account["properties"]["vendor"]["enum"] == [VENDOR]
    assert account["properties"]["customer_id"]["enum"] == list(ACCOUNTS)
    assert account["additionalProperties"] is False
    assert "invoices" in schemas["BillingGroupCreate"]["required"]
    assert json.dumps(document) == before
