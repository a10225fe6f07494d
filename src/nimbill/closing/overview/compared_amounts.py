"""Compares two invoices of a billing group amount by amount. Pure functions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from nimbill.closing.overview.bodies import (
    CausedChange,
    ChangeCause,
    ComparedAmount,
    InvoiceComparison,
)
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    ONE,
    ExactAmount,
    Rounding,
    add_decimals,
    convert_currency,
    divide_decimals,
    round_amount,
    subtract_decimals,
    sum_decimals,
    sum_exact,
    to_exact,
)
from nimbill.invoicing.documents.document import InvoiceDocument

RATE_UNIT = Decimal("0.0001")
ZERO = Decimal(0)
Kind = Literal["usage", "support", "agency", "entry", "item"]
AmountKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Amount:
    """A printed amount and what it is called."""

    kind: Kind
    line: str
    label: str
    amount: Decimal
    customer_id: str | None = None
    customer_name: str | None = None
    tag: str | None = None
    service: str | None = None
    cost: Decimal | None = None


def compare_invoices(
    invoice: InvoiceDocument, before: InvoiceDocument | None, month_before: str
) -> InvoiceComparison:
    """Without an earlier invoice every amount is new."""
    sheet = invoice.sheet
    old = None if before is None else read_totals(before, invoice.currency)
    change = subtract_decimals(sheet.total, old.total if old else ZERO)
    return InvoiceComparison(
        company_id=invoice.company_id,
        vendor=invoice.vendor,
        month=invoice.month,
        month_before=month_before,
        invoice_no=invoice.invoice_no,
        invoice_no_before=before.invoice_no if before else None,
        currency=invoice.currency,
        cost_currency=invoice.cost_currency,
        exchange_rate=invoice.exchange_rate,
        exchange_rate_before=before.exchange_rate if before else None,
        discount_rate=invoice.terms.discount_rate,
        discount_rate_before=before.terms.discount_rate if before else None,
        pre_tax=sheet.pre_tax,
        pre_tax_before=old.pre_tax if old else None,
        tax=sheet.tax,
        tax_before=old.tax if old else None,
        total=sheet.total,
        total_before=old.total if old else None,
        change=change,
        change_rate=divide_decimals(change, old.total, RATE_UNIT) if old and old.total else None,
        causes=list_causes(invoice, before),
        amounts=list(compare_amounts(invoice, before)),
    )


class InvoiceTotals(NamedTuple):
    pre_tax: Decimal
    tax: Decimal
    total: Decimal


def read_totals(document: InvoiceDocument, currency: Currency) -> InvoiceTotals:
    sheet = document.sheet
    pre_tax = convert_amount(document, sheet.pre_tax, currency)
    tax = convert_amount(document, sheet.tax, currency)
    return InvoiceTotals(pre_tax, tax, add_decimals(pre_tax, tax))


def convert_amount(document: InvoiceDocument, amount: Decimal, currency: Currency) -> Decimal:
    if document.currency is currency:
        return amount
    rate = to_exact(document.exchange_rate)
    exact = convert_currency(to_exact(amount), document.currency, currency, rate)
    return round_amount(exact, currency, Rounding.half_up)


# ── amounts ───────────────────────────────────────────────────────────────────────────────────────


def compare_amounts(
    invoice: InvoiceDocument, before: InvoiceDocument | None
) -> Iterator[ComparedAmount]:
    new = _list_amounts(invoice, invoice.currency)
    old = _list_amounts(before, invoice.currency) if before else {}
    compared = [_compare(new.get(key), old.get(key)) for key in {**new, **old}]
    yield from sorted(compared, key=lambda amount: abs(amount.change), reverse=True)


def _compare(new: _Amount | None, old: _Amount | None) -> ComparedAmount:
    shown = new or old
    assert shown is not None, "an amount is on one of the invoices"
    return ComparedAmount(
        kind=shown.kind,
        label=shown.label,
        customer_id=shown.customer_id,
        customer_name=shown.customer_name,
        tag=shown.tag,
        service=shown.service,
        amount=new.amount if new else None,
        amount_before=old.amount if old else None,
        change=subtract_decimals(new.amount if new else ZERO, old.amount if old else ZERO),
        cost=new.cost if new else None,
        cost_before=old.cost if old else None,
        line=new.line if new else None,
        line_before=old.line if old else None,
    )


def _list_amounts(document: InvoiceDocument, currency: Currency) -> Mapping[AmountKey, _Amount]:
    """Amounts of the same name are told apart by their order."""
    amounts: dict[AmountKey, _Amount] = {}
    for key, amount in _read_amounts(document, currency):
        number, unique = 0, key
        while unique in amounts:
            number += 1
            unique = (*key, str(number))
        amounts[unique] = amount
    return amounts


def _read_amounts(
    document: InvoiceDocument, currency: Currency
) -> Iterator[tuple[AmountKey, _Amount]]:
    sheet, by_tag = document.sheet, document.terms.calc_type == "tag"
    for number, line in enumerate(sheet.lines, start=1):
        owner = f"tag {line.tag}" if by_tag else f"account {line.customer_id}"
        yield (
            ("usage", owner, line.service, str(line.marketplace)),
            _Amount(
                "usage",
                f"usage-{number}",
                line.name,
                convert_amount(document, line.after, currency),
                customer_id=line.customer_id or None,
                customer_name=line.customer_name or None,
                tag=line.tag if by_tag else None,
                service=line.service,
                cost=line.cost,
            ),
        )
    if sheet.support is not None:
        amount = convert_amount(document, sheet.support.after, currency)
        yield ("support",), _Amount("support", "support", "support", amount)
    if sheet.agency is not None:
        amount = convert_amount(document, sheet.agency.after, currency)
        yield ("agency",), _Amount("agency", "agency", "agency", amount)
    for number, entry in enumerate(sheet.entries, start=1):
        yield (
            ("entry", entry.customer_id, entry.description),
            _Amount(
                "entry",
                f"entry-{number}",
                entry.description,
                convert_amount(document, entry.amount, currency),
                customer_id=entry.customer_id,
                customer_name=entry.customer_name,
            ),
        )
    for number, item in enumerate(sheet.items, start=1):
        amount = convert_amount(document, item.total, currency)
        yield ("item", item.label), _Amount("item", f"item-{number}", item.label, amount)


# ── causes ────────────────────────────────────────────────────────────────────────────────────────


def list_causes(invoice: InvoiceDocument, before: InvoiceDocument | None) -> list[CausedChange]:
    """Split the change of the total; the parts add up to it exactly."""
    parts = _split_change(invoice, before)
    causes = [CausedChange(cause=cause, amount=amount) for cause, amount in parts.items() if amount]
    return sorted(causes, key=lambda caused: abs(caused.amount), reverse=True)


def _split_change(
    invoice: InvoiceDocument, before: InvoiceDocument | None
) -> dict[ChangeCause, Decimal]:
    if before is not None and before.currency is not invoice.currency:
        old = read_totals(before, invoice.currency)
        return {ChangeCause.currency: subtract_decimals(invoice.sheet.total, old.total)}
    new_sums, old_sums = _read_sums(invoice), _read_sums(before) if before else {}
    changes = {
        cause: subtract_decimals(amount, old_sums.get(cause, ZERO))
        for cause, amount in new_sums.items()
    }
    if before is not None:
        changes |= _split_usage(invoice, before, changes[ChangeCause.usage])
    return changes


def _read_sums(document: InvoiceDocument) -> dict[ChangeCause, Decimal]:
    sheet = document.sheet
    return {
        ChangeCause.usage: sheet.usage_after,
        ChangeCause.support: sheet.support.after if sheet.support else ZERO,
        ChangeCause.agency: sheet.agency.after if sheet.agency else ZERO,
        ChangeCause.entries: sum_decimals(entry.amount for entry in sheet.entries),
        ChangeCause.items: sum_decimals(item.total for item in sheet.items),
        ChangeCause.tax: sheet.tax,
    }


def _split_usage(
    invoice: InvoiceDocument, before: InvoiceDocument, change: Decimal
) -> dict[ChangeCause, Decimal]:
    """Costs at the earlier rate and discount, then the new rate, then the new discount.

    The last cause that changed takes what rounding each line leaves over.
    """
    if invoice.cost_currency is not before.cost_currency:
        return {ChangeCause.usage: change}
    at_old_rate = _price(invoice, before.exchange_rate, before)
    at_new_rate = _price(invoice, invoice.exchange_rate, before)
    priced_before = _price(before, before.exchange_rate, before)
    usage = _round(at_old_rate - priced_before, invoice)
    exchange_rate = _round(at_new_rate - at_old_rate, invoice)
    rest = subtract_decimals(change, add_decimals(usage, exchange_rate))
    if invoice.terms.discount_rate != before.terms.discount_rate:
        last = ChangeCause.discount
    elif exchange_rate:
        last = ChangeCause.exchange_rate
    else:
        last = ChangeCause.usage
    split = {ChangeCause.usage: usage, ChangeCause.exchange_rate: exchange_rate}
    split[last] = add_decimals(split.get(last, ZERO), rest)
    return split


def _price(document: InvoiceDocument, rate: Decimal, terms_of: InvoiceDocument) -> ExactAmount:
    """The document's costs at this rate, with the discount of `terms_of`, not rounded."""
    costs = sum_exact(to_exact(line.cost) for line in document.sheet.lines)
    net_share = ONE - to_exact(terms_of.terms.discount_rate)
    return convert_currency(
        costs * net_share, document.cost_currency, document.currency, to_exact(rate)
    )


def _round(amount: ExactAmount, invoice: InvoiceDocument) -> Decimal:
    return round_amount(amount, invoice.currency, Rounding.half_up)
