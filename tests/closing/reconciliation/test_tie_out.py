"""The tie-out calculation: each amount is accounted for or listed as a difference."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from random import Random
from unittest.mock import patch

from nimbill.closing.reconciliation.tie_out import (
    AccountOwner,
    AmountDifference,
    ChargedAmount,
    EntryAmount,
    InvoicedUsage,
    ServiceKey,
    TieOutInput,
    TieOutResult,
    _TieOutCalculation,
    tie_out,
)

MONTHS = 500
KINDS = ("usage", "usage", "usage", "entry", "tax", "discount", "unknown")

OURS = AccountOwner(company_id="cmp_1", payer_id="P1")
EC2 = ServiceKey("A", "AmazonEC2", False, "USD")
RDS = ServiceKey("A", "AmazonRDS", False, "USD")


def charged(
    amount: str, what: ServiceKey = EC2, payer: str = "P1", kind: str = "usage"
) -> ChargedAmount:
    return ChargedAmount(payer_id=payer, kind=kind, key=what, amount=Decimal(amount))


def invoice(company_id: str = "cmp_1", **usage: str) -> InvoicedUsage:
    """Over these services of account A."""
    return InvoicedUsage(
        company_id=company_id,
        invoice_no="202609-0001",
        payers=("P1",),
        usage={
            ServiceKey("A", name, False, "USD"): Decimal(amount) for name, amount in usage.items()
        },
    )


def month(
    *charges: ChargedAmount,
    invoices: tuple[InvoicedUsage, ...] = (),
    entries: tuple[EntryAmount, ...] = (),
    moved: tuple[tuple[ServiceKey, Decimal], ...] = (),
    accounts: dict[str, AccountOwner] | None = None,
) -> TieOutInput:
    return TieOutInput(
        charges=charges,
        entries=entries,
        moved_fees=moved,
        invoices=invoices,
        accounts={"A": OURS} if accounts is None else accounts,
    )


def only(found: TieOutResult) -> AmountDifference:
    (one,) = found.differences
    assert not found.ties
    return one


def test_a_month_ties_if_all_charges_are_invoiced() -> None:
    found = tie_out(month(charged("1.1"), charged("0", RDS), invoices=(invoice(AmazonEC2="1.1"),)))

    statement = found.statements["P1", "USD"]
    assert found.ties
    assert statement.total == statement.invoiced == Decimal("1.1")
    assert statement.difference == 0


def test_an_empty_month_ties() -> None:
    assert tie_out(month()).ties


def test_a_change_after_the_invoice_is_listed_with_both_amounts() -> None:
    one = only(tie_out(month(charged("3"), invoices=(invoice(AmazonEC2="1"),))))

    assert one.reason == "amount_differs"
    assert [one.invoiced, one.charged, one.amount] == [1, 3, 2]
    assert (one.company_id, one.invoice_no, one.key) == ("cmp_1", "202609-0001", EC2)


def test_differences_that_cancel_each_other_out_do_not_tie() -> None:
    found = tie_out(
        month(charged("3"), charged("1", RDS), invoices=(invoice(AmazonEC2="1", AmazonRDS="3"),))
    )

    assert found.statements["P1", "USD"].difference == 0
    assert [difference.amount for difference in found.differences] == [2, -2]
    assert not found.ties


def test_added_and_removed_services_have_different_reasons() -> None:
    found = tie_out(month(charged("1", RDS), invoices=(invoice(AmazonEC2="1"),)))

    assert [(difference.key.service, difference.reason) for difference in found.differences] == [
        ("AmazonEC2", "not_in_costs"),
        ("AmazonRDS", "not_on_invoice"),
    ]


def test_a_missing_invoice_is_listed_even_for_an_amount_of_zero() -> None:
    for amount in ("5", "0"):
        one = only(tie_out(month(charged(amount))))

        assert (one.reason, one.company_id, one.invoice_no) == ("invoice_missing", "cmp_1", None)
        assert one.amount == Decimal(amount)


def test_accounts_in_no_group_are_accounted_for_and_listed() -> None:
    found = tie_out(month(charged("5"), charged("1", RDS), accounts={}))

    assert found.ties
    assert found.statements["P1", "USD"].in_no_group == 6
    assert found.in_no_group == {("P1", "A", "USD"): 6}


def test_an_account_that_left_its_group_stays_on_its_invoice() -> None:
    found = tie_out(month(charged("5"), invoices=(invoice(AmazonEC2="5"),), accounts={}))

    assert found.ties
    assert found.in_no_group == {}


def test_an_account_invoiced_by_two_groups_is_a_difference() -> None:
    twice = (invoice(AmazonEC2="5"), invoice("cmp_2", AmazonEC2="5"))

    assert only(tie_out(month(charged("5"), invoices=twice))).amount == -5


def test_tax_discounts_and_unknown_lines_need_no_invoice() -> None:
    lines = [charged("5"), *(charged("-1", kind=kind) for kind in ("tax", "discount", "unknown"))]

    found = tie_out(month(*lines, invoices=(invoice(AmazonEC2="5"),)))

    assert found.ties
    assert found.statements["P1", "USD"].total == 2


def test_applied_and_unapplied_entries_are_accounted_for() -> None:
    entries = tuple(
        EntryAmount(
            payer_id="P1", customer_id="A", currency="USD", amount=Decimal(amount), applied=done
        )
        for amount, done in (("2", True), ("3", False))
    )

    found = tie_out(month(charged("5", kind="entry"), entries=entries))
    lost = only(tie_out(month(charged("5", kind="entry"), entries=entries[:1])))

    statement = found.statements["P1", "USD"]
    assert found.ties
    assert [statement.entries_applied, statement.entries_unapplied] == [2, 3]
    assert (lost.reason, lost.company_id) == ("entries_differ", "cmp_1")
    assert lost.amount == 3


def test_a_difference_of_an_account_in_no_group_has_no_company_id() -> None:
    lost = only(tie_out(month(charged("5", kind="entry"), accounts={})))

    assert lost.company_id is None


def test_a_moved_fee_is_shifted_between_payers() -> None:
    other = ServiceKey("B", "AmazonEC2", False, "USD")
    accounts = {"A": OURS, "B": AccountOwner(company_id="cmp_2", payer_id="P2")}
    bills = (
        invoice(AmazonEC2="6"),
        InvoicedUsage(
            company_id="cmp_2",
            invoice_no="202609-0002",
            payers=("P2",),
            usage={other: Decimal(5)},
        ),
    )
    moved = ((EC2, Decimal(-4)), (other, Decimal(4)))
    lines = (charged("10"), charged("1", other, payer="P2"))

    found = tie_out(month(*lines, invoices=bills, moved=moved, accounts=accounts))

    assert found.ties
    fees = [statement.moved_fees for statement in found.statements.values()]
    assert fees == [-4, 4]


def test_a_fee_moved_to_an_account_without_costs_belongs_to_its_payer() -> None:
    other = ServiceKey("B", "AmazonEC2", False, "USD")
    accounts = {"A": OURS, "B": AccountOwner(company_id="cmp_2", payer_id="P2")}

    found = tie_out(
        month(
            charged("10"),
            invoices=(invoice(AmazonEC2="6"),),
            moved=((EC2, Decimal(-4)), (other, Decimal(4))),
            accounts=accounts,
        )
    )

    assert (only(found).reason, only(found).payer_id) == ("invoice_missing", "P2")
    assert found.statements["P2", "USD"].difference == 4


def test_an_account_charged_to_two_payers_ties_for_both() -> None:
    lines = (charged("1"), charged("2", payer="P0"))

    found = tie_out(month(*lines, invoices=(invoice(AmazonEC2="3"),)))
    less = tie_out(month(*lines, invoices=(invoice(AmazonEC2="2"),)))

    assert found.ties
    assert [statement.invoiced for statement in found.statements.values()] == [2, 1]
    assert only(less).payer_id == "P1"
    assert only(less).amount == 1
    assert less.statements["P0", "USD"].difference == 0


def test_the_payer_of_usage_without_costs_comes_from_the_invoice() -> None:
    found = tie_out(month(invoices=(invoice(AmazonEC2="1"),), accounts={}))

    assert only(found).payer_id == "P1"
    assert only(found).amount == -1


def test_for_any_month_the_listed_differences_add_up_to_the_total_difference() -> None:
    random = Random(20261115)
    seen = set()
    for _ in range(MONTHS):
        found = tie_out(_any_month(random))
        listed: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
        for difference in found.differences:
            listed[difference.payer_id, difference.key.currency] += difference.amount
            seen.add(difference.reason)
        for key, statement in found.statements.items():
            assert statement.difference == listed.pop(key, 0), key
        assert listed == {}
        assert sum(statement.moved_fees for statement in found.statements.values()) == 0

    assert seen == {
        "amount_differs",
        "invoice_missing",
        "not_on_invoice",
        "not_in_costs",
        "entries_differ",
    }


def test_equal_amounts_are_compared_as_one_by_one() -> None:
    random = Random(20261117)
    skipped = 0
    for _ in range(MONTHS):
        data = _invoice_some_charges(random, _any_month(random))
        found = tie_out(data)
        with patch.object(_TieOutCalculation, "_is_charged_so", return_value=False):
            one_by_one = tie_out(data)

        assert found == one_by_one
        skipped += sum(len(invoice.usage) for invoice in data.invoices)
    assert skipped > MONTHS


def _invoice_some_charges(random: Random, data: TieOutInput) -> TieOutInput:
    """Put charges on the invoices with their own amounts, some of them on several invoices."""
    charges = {charge.key: charge.amount for charge in data.charges if charge.kind == "usage"}
    invoices = [
        replace(
            bill,
            usage={
                **bill.usage,
                **{key: amount for key, amount in charges.items() if random.random() < 0.6},
            },
        )
        for bill in data.invoices
    ]
    return replace(data, invoices=invoices)


def _any_month(random: Random) -> TieOutInput:
    whats = [
        ServiceKey(name, service, False, currency)
        for name in "ABC"
        for service in ("AmazonEC2", "AmazonRDS")
        for currency in ("USD", "JPY")
    ]
    lines = [
        charged(_amount(random), random.choice(whats), random.choice("PQ"), random.choice(KINDS))
        for _ in range(random.randrange(12))
    ]
    invoices = [
        InvoicedUsage(
            company_id=f"cmp_{number}",
            invoice_no=f"202609-{number:04}",
            payers=("P",),
            usage={what: Decimal(_amount(random)) for what in random.sample(whats, 2)},
        )
        for number in range(random.randrange(3))
    ]
    entries = [
        EntryAmount(
            payer_id=line.payer_id,
            customer_id=line.key.customer_id,
            currency=line.key.currency,
            amount=line.amount,
            applied=random.random() < 0.5,
        )
        for line in lines
        if line.kind == "entry" and random.random() < 0.8
    ]
    moved = []
    for _ in range(random.randrange(3)):
        given, taken = random.sample([what for what in whats if what.currency == "USD"], 2)
        fee = Decimal(_amount(random))
        moved += [(given, fee), (taken, -fee)]
    accounts = {
        name: AccountOwner(company_id=f"cmp_{random.randrange(4)}", payer_id=random.choice("PQR"))
        for name in random.sample("ABC", random.randrange(4))
    }
    return TieOutInput(
        charges=lines, entries=entries, moved_fees=moved, invoices=invoices, accounts=accounts
    )


def _amount(random: Random) -> str:
    return f"{random.randrange(-10, 1000)}.{random.randrange(10**10):010}"
