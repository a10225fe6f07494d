"""The page about what happens after an invoice is created describes every route and field of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.bodies import Approval, ApprovalRequestBody, ApprovalState, ShortApproval
from nimbill.corrections.drift.bodies import DriftDecision, DriftDecisionRequest, DriftOfGroup
from nimbill.credit_notes.bodies import (
    LINES_MAX,
    CorrectedRate,
    CorrectionPreview,
    CreditNoteRequest,
    ShortCreditNote,
)
from nimbill.credit_notes.document import CreditNoteDocument
from nimbill.customers.contacts.bodies import Contact, ContactBody
from nimbill.invoicing.documents.invoice_state import InvoiceState
from nimbill.issuing.archive.archive_file import DOCUMENTS_MAX
from nimbill.issuing.archive.bodies import ArchivedDocument, ArchiveKey
from nimbill.issuing.deliveries.bodies import (
    DeliveryState,
    InvoiceDelivery,
    PreviewedMail,
    SendInvoicesRequest,
)
from nimbill.issuing.deliveries.problem_rules import DeliveryProblem
from nimbill.issuing.sending.bodies import INVOICES_MAX, InvoiceStatus, ReplacedInvoice
from nimbill.issuing.sending.publish_time_rules import DAYS_MAX
from nimbill.receivables.payments.bodies import (
    InvoicePayments,
    Payment,
    PaymentRequest,
    Receivable,
    ReceivableTotal,
)
from nimbill.receivables.payments.payment_rules import PaymentState
from nimbill.webhooks.bodies import WebhookDelivery, WebhookEndpoint, WebhookEndpointBody
from tests.contract.declared_routes import Route, all_routes
from tests.contract.specification import (
    collapse_whitespace,
    find_section,
    parse_table,
    parse_tables,
    read_page,
)

PAGE = "after-the-invoice.md"
CHOICES = {
    "approvals",
    "approved-invoices",
    "cancelled-invoices",
    "contacts",
    "corrections",
    "credit-notes",
    "document-archive",
    "drift-decisions",
    "mailed-invoices",
    "payments",
    "published-invoices",
    "replaced-invoices",
    "sent-invoices",
    "webhook-replay",
    "webhook-signatures",
    "webhooks",
}
REQUESTS: dict[str, Any] = {
    "Contact of a billing group": ContactBody,
    "Sending of invoices": SendInvoicesRequest,
    "Request of a credit note": CreditNoteRequest,
    "Decision about late costs": DriftDecisionRequest,
    "Approval request": ApprovalRequestBody,
    "Payment of an invoice": PaymentRequest,
    "Endpoint for events": WebhookEndpointBody,
}
RECORDS: dict[str, Any] = {
    "status": InvoiceStatus,
    "replaced": ReplacedInvoice,
    "contact": Contact,
    "previewed mail": PreviewedMail,
    "mail": InvoiceDelivery,
    "note": CreditNoteDocument,
    "short note": ShortCreditNote,
    "comparison": CorrectionPreview,
    "rate of a comparison": CorrectedRate,
    "customer with late costs": DriftOfGroup,
    "decision": DriftDecision,
    "short request": ShortApproval,
    "request": Approval,
    "payment": Payment,
    "balance": InvoicePayments,
    "receivable": Receivable,
    "total": ReceivableTotal,
    "document": ArchivedDocument,
    "key": ArchiveKey,
    "endpoint": WebhookEndpoint,
    "delivery": WebhookDelivery,
}


def list_described_routes() -> set[tuple[str, str, int]]:
    """Method, path and status of each row of the tables of operations."""
    invoice = "/invoices/{month}/{company_id}/{vendor}"
    return {
        (row[0], f"/m/core{row[1].replace('{invoice}', invoice)}", int(row[3].split(",")[0][:3]))
        for header, rows in parse_tables(read_page(PAGE))
        if header[:2] == ["Method", "Path"]
        for row in rows
    }


def is_described_here(route: Route) -> bool:
    basis = str(route.handler.opt["basis"]).removeprefix("chosen: ")
    return route.path.startswith("/m/core/") and basis in CHOICES


def test_every_route_is_described_with_its_status() -> None:
    declared = {
        (route.method, route.path, int(route.handler.status_code or 200))
        for route in all_routes()
        if is_described_here(route)
    }

    assert list_described_routes() == declared


@pytest.mark.parametrize("heading", REQUESTS)
def test_every_field_of_a_request_is_described(heading: str) -> None:
    rows = parse_table(find_section(read_page(PAGE), heading), "Field")

    assert [row[0] for row in rows] == list(REQUESTS[heading].__struct_fields__)


def test_every_field_of_a_response_is_listed() -> None:
    described = {
        row[0]: row[1].split(", ")
        for header, rows in parse_tables(read_page(PAGE))
        if header == ["Record", "Fields"]
        for row in rows
    }

    assert described == {name: list(body.__struct_fields__) for name, body in RECORDS.items()}


def test_states_and_kinds_are_complete() -> None:
    states = parse_table(read_page(PAGE), "State")
    kinds = parse_table(read_page(PAGE), "Kind")

    assert {row[0].strip("`") for row in states} == set(InvoiceState)
    assert {row[0].strip("`") for row in kinds} == set(ApprovalKind)


LIMITS: dict[tuple[str, str, int], list[int]] = {
    ("States of an invoice", "/invoices/{month}/sent", 2): [1, INVOICES_MAX],
    ("Archive of documents", "/archive/zip", 3): [200, DOCUMENTS_MAX],
    ("Approval by a second person", "`invoice_issue`", 2): [1, INVOICES_MAX],
    ("Request of a credit note", "lines", 2): [1, LINES_MAX, 1],
    ("Sending of invoices", "publish_time", 2): [3339, DAYS_MAX],
}


@pytest.mark.parametrize(("heading", "row", "column"), LIMITS)
def test_limits_are_those_of_the_code(heading: str, row: str, column: int) -> None:
    section = find_section(read_page(PAGE), heading)
    (cell,) = (
        cells[column] for _, rows in parse_tables(section) for cells in rows if row in cells[:2]
    )

    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\b", cell)]
    assert numbers == LIMITS[heading, row, column]


def read_permissions(heading: str, paths: str) -> dict[bool, list[str]]:
    """The role actions of routes that change something, and of those that read."""
    text = collapse_whitespace(find_section(read_page(PAGE), heading))
    (reading, changing) = re.findall(paths, text)[0]
    actions = r"\b(?:Read|Modify|Approve)[A-Z]\w+"
    return {False: re.findall(actions, reading), True: re.findall(actions, changing)}


@pytest.mark.parametrize(
    ("prefix", "heading", "sentence"),
    [
        (
            "/m/core/invoices/",
            "After the invoice is created",
            r"Reading needs (.*?) and changing (\w+)",
        ),
        (
            "/m/core/billinggroup/{company_id}/contacts",
            "Contacts and mails",
            r"Contacts need (.*?) to be read, (\w+) to be changed",
        ),
        (
            "/m/core/webhooks",
            "Events for other programs",
            r"Reading needs (.*?), changing (\w+)\.",
        ),
    ],
)
def test_routes_need_the_described_permissions(prefix: str, heading: str, sentence: str) -> None:
    described = read_permissions(heading, sentence)
    routes = [
        route
        for route in all_routes()
        if is_described_here(route) and route.path.startswith(prefix)
    ]

    assert len(routes) > 3
    for route in routes:
        assert sorted(route.role_actions) == sorted(described[route.is_mutating]), route


def test_approving_and_rejecting_need_the_described_permission() -> None:
    text = collapse_whitespace(find_section(read_page(PAGE), "Approval by a second person"))
    described = re.findall(r"approving and rejecting need (\w+)", text)

    for route in all_routes():
        if route.path.endswith(("/approve", "/reject")):
            assert list(route.role_actions) == described, route


@pytest.mark.parametrize(
    ("heading", "sentence", "words"),
    [
        ("Sending of invoices", r"A mail is (.*?);", DeliveryState),
        ("Sending of invoices", r"Problems: (.*?)\.", [*DeliveryProblem, "no_invoice"]),
        ("Approval request", r"The state is (.*?)\.", ApprovalState),
        ("Payment of an invoice", r"The state is (.*?)\.", PaymentState),
    ],
)
def test_states_and_problems_are_those_of_the_code(heading: str, sentence: str, words: Any) -> None:
    text = collapse_whitespace(find_section(read_page(PAGE), heading))

    assert set(re.findall(r"`(\w+)`", re.findall(sentence, text)[0])) == set(words)
