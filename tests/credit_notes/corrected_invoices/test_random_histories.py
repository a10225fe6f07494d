"""Whatever happens after an invoice was sent, its documents add up to the final costs and terms.

Random histories of late costs, corrected terms, notes by hand and transactions that fail, compared
with a second implementation after each step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

import msgspec
import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit import records as audit
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.invoicing.documents.document import InvoiceDocument, decode_document
from nimbill.invoicing.documents.late_cost import LateCost
from nimbill.invoicing.documents.stored_invoices import list_revisions
from tests.costs.months.month_requests import close_month
from tests.credit_notes.corrected_invoices.independent_corrections import CorrectedInvoice
from tests.credit_notes.corrected_invoices.late_deliveries import (
    REASON,
    path_of,
    read,
    send_invoice,
)
from tests.held_locks import in_transaction
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, PAYER, SETTING, MonthEnd
from tests.problem_responses import HttpResponse

HISTORIES = 4
STEPS = 8
DISCOUNTS = range(10, 1000, 13)  # in thousandths
ACCOUNTS = ("111111111111", "222222222222")
SERVICES = ("AmazonEC2", "AmazonS3")
NEXT_MONTH = "2026-10"
REFUSED = {
    "corrected_by_entry",
    "corrected_is_higher",
    "has_credit_notes",
    "nothing_to_correct",
    "nothing_to_credit",
    "too_much",
}
# pre-tax amount and tax by rate
Sums = dict[Decimal | None, tuple[Decimal, Decimal]]


@dataclass
class Customer:
    """What the documents of a customer must add up to."""

    company_id: str
    account: str
    sent: list[InvoiceDocument]  # each that was sent; the last one counts
    setting: dict[str, Any]
    late_costs: tuple[LateCost, ...] = ()
    by_hand: Sums = field(default_factory=dict)  # returned since the last correction
    by_entries: Decimal | None = None

    def corrected(self) -> Sums:
        """The invoice as it was sent first, with the settled costs and the corrected terms."""
        setting = msgspec.convert(self.setting, type(self.sent[0].setting))
        invoice = msgspec.structs.replace(self.sent[0], setting=setting)
        sums = CorrectedInvoice(invoice, self.late_costs).corrected_sums()
        return {rate: (each.pre_tax, each.tax) for rate, each in sums.items()}


class History:
    def __init__(self, month_end: MonthEnd, seed: int) -> None:
        self.month_end, self.random = month_end, Random(seed)
        self.costs = {
            (account, service): Decimal(self.random.randrange(100_000, 2_000_000)) / 1000
            for account in ACCOUNTS
            for service in SERVICES
        }
        self.discounts = iter(DISCOUNTS)
        self.customers = self.bill()

    def draw_late_cost(self, cost: Decimal) -> Decimal:
        """Mostly lower, because a note cannot charge more."""
        return cost * Decimal(self.random.randrange(700, 1020)) / 1000

    def draw_setting(self) -> dict[str, Any]:
        """The discount grows, so that most corrections return something."""
        fee = self.random.choice(["0", "0.03", "0.03", "0.03", "0.075"])
        return SETTING | {
            "discount_rate": Decimal(next(self.discounts)) / 1000,
            "substitution_rate": Decimal(fee),
        }

    def list_lines(self, costs: dict[tuple[str, str], Decimal]) -> list[dict[str, str]]:
        return [
            report_line(str(cost), UsageAccountId=account, ProductCode=service)
            for (account, service), cost in costs.items()
        ]

    def bill(self) -> list[Customer]:
        """Create the invoices, some of them twice, send them and close the month."""
        month_end = self.month_end
        groups = [month_end.create_group(f"BG-{a}", a) for a in ACCOUNTS]
        month_end.import_costs(*self.list_lines(self.costs))
        customers = []
        for group, account in zip(groups, ACCOUNTS, strict=True):
            revisions = self.random.randint(1, 2)
            for _ in range(revisions):
                setting = self.draw_setting()
                month_end.prepare_groups(group, **setting)
                assert month_end.create_invoices(group).status_code == 200
            send_invoice(month_end, group, revisions)
            customers.append(Customer(group, account, [self.load_invoice(group)], setting))
        assert close_month(month_end.service, MONTH).status_code == 200
        for group in groups:
            next_month = MonthEnd(month_end.service, month_end.folder, month=NEXT_MONTH)
            next_month.prepare_groups(group)
        return customers

    def load_invoice(self, company_id: str) -> InvoiceDocument:
        async def load(db: AsyncConnection, scope: TenantScope) -> InvoiceDocument:
            period = BillingPeriod(MONTH, "aws")
            (newest, *_) = await list_revisions(db, scope, period, company_id)
            return decode_document(newest.document)

        document: InvoiceDocument = in_transaction(self.month_end.service, load)()
        return document

    # ── steps ────────────────────────────────────────────────────────────────────────────────────

    def deliver_late_costs(self) -> None:
        """Sometimes the vendor takes its changes back."""
        changed = {
            key: self.draw_late_cost(cost)
            for key, cost in self.costs.items()
            if self.random.random() < 0.6
        }
        delivered = self.costs | changed
        record = self.month_end.import_costs(*self.list_lines(delivered))
        if record["state"] == "unchanged":
            return
        assert record["state"] == "drift", record
        path = f"/costs/imports/{record['import_id']}/drift"
        listed = {each["company_id"] for each in read(self.month_end.get(path))}
        for customer in self.customers:
            late_costs = self.list_late_costs(customer, delivered)
            assert (customer.company_id in listed) == bool(late_costs or customer.late_costs)
            if customer.company_id in listed:
                self.decide(customer, f"{path}/{customer.company_id}", late_costs)

    def list_late_costs(
        self, customer: Customer, delivered: dict[tuple[str, str], Decimal]
    ) -> tuple[LateCost, ...]:
        return tuple(
            LateCost(
                payer_id=PAYER,
                customer_id=customer.account,
                service=service,
                marketplace=False,
                currency="USD",
                amount=cost - self.costs[account, service],
                description="",
                one_off=False,
            )
            for (account, service), cost in delivered.items()
            if account == customer.account and cost != self.costs[account, service]
        )

    def decide(self, customer: Customer, path: str, late_costs: tuple[LateCost, ...]) -> None:
        """Try the decisions in a random order until one is accepted; it is accepted once.

        After an entry there are no notes any more, so that a note is tried first in most cases.
        """
        decisions = ["credit_note", "entry", "replacement", "dismissed"]
        if self.random.random() < 0.3:
            self.random.shuffle(decisions)
        for decision in decisions:
            body = {"decision": decision, "reason": REASON}
            if decision == "entry":
                body["entry_month"] = NEXT_MONTH
            response = self.attempt(path, body)
            if is_accepted(response):
                break
        assert self.month_end.post(path, body).json()["code"] == "already_decided"
        if decision == "dismissed":
            return
        customer.late_costs, customer.by_hand = late_costs, {}
        if decision == "entry":
            settled = customer.by_entries or Decimal(0)
            customer.by_entries = settled + read(response, 201)["pre_tax"]
        elif decision == "replacement":
            (number,) = {read(response, 201)["replacement_no"]}
            replacement = self.load_invoice(customer.company_id)
            assert replacement.invoice_no == number
            send_invoice(self.month_end, customer.company_id, replacement.revision)
            customer.sent.append(replacement)

    def correct_terms(self) -> None:
        customer = self.random.choice(self.customers)
        setting = self.draw_setting()
        terms = {"vendor": "aws", "invoices": setting}
        if is_accepted(self.issue(customer, kind="correction", terms=terms)):
            customer.setting, customer.by_hand = setting, {}

    def credit_by_hand(self) -> None:
        customer = self.random.choice(self.customers)
        amount = self.random.randrange(1, 2_000)
        amounts = [{"description": "d", "amount": amount, "tax_free": False}]
        response = self.issue(customer, kind="manual", amounts=amounts)
        if is_accepted(response):
            (tax,) = read(response, 201)["taxes"]
            before = customer.by_hand.get(tax["tax_rate"], (Decimal(0), Decimal(0)))
            pair = (before[0] + tax["pre_tax"], before[1] + tax["tax"])
            customer.by_hand[tax["tax_rate"]] = pair

    def issue(self, customer: Customer, **body: Any) -> HttpResponse:
        path = path_of(customer.company_id, "/credit-notes")
        return self.attempt(path, {"reason": REASON, **body})

    def attempt(self, path: str, body: Any) -> HttpResponse:
        """Send the request; now and then, its transaction fails at the end and it is repeated."""
        if self.random.random() < 0.3:
            before = self.list_documents()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(audit, "append_entry", fail)
                assert self.month_end.post(path, body).status_code in (409, 500)
            assert self.list_documents() == before
        return self.month_end.post(path, body)

    # ── what must hold ───────────────────────────────────────────────────────────────────────────

    def list_documents(self) -> list[Any]:
        paths = [
            path_of(customer.company_id, rest)
            for customer in self.customers
            for rest in ("/revisions", "/credit-notes", "/state")
        ]
        return [read(self.month_end.get(path)) for path in paths]

    def check(self) -> None:
        for customer in self.customers:
            self.check_sums(customer)
            self.check_sent_documents(customer)
        self.check_numbers()

    def check_sums(self, customer: Customer) -> None:
        notes = self.list_notes(customer)
        current = customer.sent[-1]
        owed: Sums = {current.sheet.tax_rate: (current.sheet.pre_tax, current.sheet.tax)}
        owed = subtract(
            owed, *[{t["tax_rate"]: (t["pre_tax"], t["tax"])} for n in notes for t in n["taxes"]]
        )
        expected = subtract(customer.corrected(), customer.by_hand)
        if customer.by_entries is None:
            assert owed == expected
        else:  # the tax of an entry belongs to the invoice on which it is printed
            ((pre_tax, _),) = owed.values()
            ((expected_pre_tax, _),) = expected.values()
            assert pre_tax + customer.by_entries == expected_pre_tax

    def list_notes(self, customer: Customer) -> list[Any]:
        """Return the notes of the invoice that counts; a replaced one has none."""
        listed = read(self.month_end.get(path_of(customer.company_id, "/credit-notes")))
        paths = [f"/credit-notes/{note['credit_note_id']}" for note in listed]
        notes = [read(self.month_end.get(path)) for path in paths]
        assert {note["invoice_no"] for note in notes} <= {customer.sent[-1].invoice_no}
        return notes

    def check_sent_documents(self, customer: Customer) -> None:
        for document in customer.sent:
            path = path_of(customer.company_id, f"/revisions/{document.revision}")
            stored = read(self.month_end.get(path))
            assert stored["invoice_no"] == document.invoice_no
            assert stored["sheet"]["total"] == document.sheet.total

    def check_numbers(self) -> None:
        """Numbers of both series begin with 1 and have no gap."""
        sent = [each.invoice_no for customer in self.customers for each in customer.sent]
        notes = [n["credit_note_no"] for c in self.customers for n in self.list_notes(c)]
        for numbers in (sent, notes):
            counted = sorted(int(number.rpartition("-")[2]) for number in numbers)
            assert counted == list(range(1, len(numbers) + 1))


def is_accepted(response: HttpResponse) -> bool:
    if response.status_code == 409:
        assert response.json()["code"] in REFUSED, response.text
    return bool(response.status_code == 201)


def subtract(sums: Sums, *others: Sums) -> Sums:
    result = dict(sums)
    for other in others:
        for rate, (pre_tax, tax) in other.items():
            before = result.get(rate, (Decimal(0), Decimal(0)))
            result[rate] = (before[0] - pre_tax, before[1] - tax)
    return result


async def fail(*_: Any, **__: Any) -> None:
    raise RuntimeError("the process dies before the commit")


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_documents_add_up_to_the_final_costs_and_terms(month_end: MonthEnd, seed: int) -> None:
    history = History(month_end, seed)
    steps = [history.deliver_late_costs, history.correct_terms, history.credit_by_hand]

    for _ in range(STEPS):
        history.random.choice(steps)()
        history.check()
