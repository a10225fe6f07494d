"""Recalculates a stored invoice with late costs or corrected terms. Pure functions.

Whatever is not corrected is read from the stored document: the other charges, the terms, the
exchange rate, the rounding. Records that were changed since then have no effect.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec

from nimbill.customers.billing_groups.fee_targets import FeeTargets, resolve_fee_targets
from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.foundation.currency import CURRENCIES, Currency
from nimbill.foundation.money import add_decimals, format_decimal, subtract_decimals
from nimbill.invoicing.calculation.charges import (
    AppliedEntry,
    MonthlyCharges,
    UsageCharge,
)
from nimbill.invoicing.calculation.sheet import calculate_invoice
from nimbill.invoicing.calculation.terms import CannotBeBilled, Terms, build_terms
from nimbill.invoicing.documents.document import InvoiceDocument, VendorCharge
from nimbill.invoicing.documents.late_cost import LateCost

ZERO = Decimal(0)


class _LateKey(NamedTuple):
    one_off: bool
    customer_id: str
    service: str
    marketplace: bool
    currency: str


class ChangedTerm(msgspec.Struct, frozen=True, kw_only=True):
    """A field of the terms, with its values as text."""

    field: str
    before: str | None
    after: str | None


def correct_costs(
    invoice: InvoiceDocument, late_costs: Iterable[LateCost], account_names: Mapping[str, str]
) -> InvoiceDocument:
    """Return the invoice with these late costs instead of those that it contains.

    Raises CannotBeBilled if the late costs have another currency than the invoice's costs.
    """
    late_costs = tuple(late_costs)
    usage, one_off = _find_changes(invoice.late_costs, late_costs)
    charges = MonthlyCharges(
        cost_currency=_find_cost_currency(invoice.charges, usage),
        usage=tuple(_change_usage(invoice.charges.usage, usage, account_names)),
        entries=tuple(_change_entries(invoice, late_costs, one_off, account_names)),
        items=invoice.charges.items,
    )
    return msgspec.structs.replace(
        invoice,
        cost_currency=charges.cost_currency,
        charges=charges,
        late_costs=late_costs,
        stock=_change_stock(invoice.stock, usage | one_off),
        sheet=calculate_invoice(charges, invoice.terms),
    )


def _find_changes(
    before: Iterable[LateCost], after: Iterable[LateCost]
) -> tuple[dict[_LateKey, Decimal], dict[_LateKey, Decimal]]:
    """Return what changes: usage, and one-off lines.

    Late costs that add up to zero are usage all the same: a fixed fee is due for it.
    """
    changes: dict[_LateKey, Decimal] = {}
    for costs, combine in ((after, add_decimals), (before, subtract_decimals)):
        for cost in costs:
            key = _LateKey(
                cost.one_off, cost.customer_id, cost.service, cost.marketplace, cost.currency
            )
            changes[key] = combine(changes.get(key, ZERO), cost.amount)
    return (
        {key: amount for key, amount in changes.items() if not key.one_off},
        {key: amount for key, amount in changes.items() if key.one_off},
    )


def _find_cost_currency(charges: MonthlyCharges, changes: Mapping[_LateKey, Decimal]) -> Currency:
    """All usage of an invoice has one currency."""
    codes = {key.currency for key in changes}
    if not codes <= CURRENCIES.keys():
        raise CannotBeBilled("unsupported_currency")
    currencies = {CURRENCIES[code] for code in codes}
    if charges.usage:
        currencies.add(charges.cost_currency)
    if len(currencies) > 1:
        raise CannotBeBilled("mixed_currency")
    return currencies.pop() if currencies else charges.cost_currency


def _change_usage(
    usage: Iterable[UsageCharge],
    changes: Mapping[_LateKey, Decimal],
    account_names: Mapping[str, str],
) -> list[UsageCharge]:
    """Add each change to the charge of its account and service.

    The tags of late costs are unknown, so that they belong to the charge without a tag.
    """
    remaining = {
        (key.customer_id, key.service, key.marketplace): amount for key, amount in changes.items()
    }
    changed = []
    for charge in usage:
        key = (charge.customer_id, charge.service, charge.marketplace)
        amount = add_decimals(charge.amount, ZERO if charge.tag else remaining.pop(key, ZERO))
        changed.append(msgspec.structs.replace(charge, amount=amount))
    for (customer_id, service, marketplace), amount in sorted(remaining.items()):
        changed.append(
            UsageCharge(
                customer_id=customer_id,
                customer_name=account_names.get(customer_id, ""),
                tag="",
                service=service,
                marketplace=marketplace,
                amount=amount,
            )
        )
    return changed


def _change_entries(
    invoice: InvoiceDocument,
    late_costs: Iterable[LateCost],
    changes: Mapping[_LateKey, Decimal],
    account_names: Mapping[str, str],
) -> list[AppliedEntry]:
    """One-off lines are charged like entries, at the rate of the invoice and with tax."""
    if not {key.currency for key in changes} <= CURRENCIES.keys():
        raise CannotBeBilled("unsupported_currency")
    contained = {cost.entry_id for cost in invoice.late_costs if cost.one_off}
    kept = [entry for entry in invoice.charges.entries if entry.entry_id not in contained]
    late = [
        AppliedEntry(
            entry_id=cost.entry_id,
            customer_id=cost.customer_id,
            customer_name=account_names.get(cost.customer_id, ""),
            calc_type="Fee" if cost.amount > 0 else "Credit",
            description=cost.description,
            amount=cost.amount,
            currency=CURRENCIES[cost.currency],
            exchange_rate=ZERO,
            tax_free=False,
        )
        for cost in late_costs
        if cost.one_off
    ]
    return kept + late


def _change_stock(
    stock: Iterable[VendorCharge], changes: Mapping[_LateKey, Decimal]
) -> list[VendorCharge]:
    amounts = {charge.currency: charge.amount for charge in stock}
    for key, amount in changes.items():
        amounts[key.currency] = add_decimals(amounts.get(key.currency, ZERO), amount)
    return [
        VendorCharge(currency=currency, amount=amount)
        for currency, amount in sorted(amounts.items())
    ]


def correct_terms(
    invoice: InvoiceDocument, setting: InvoiceSetting, support: tuple[str, str | None] | None = None
) -> InvoiceDocument:
    """Return the invoice under another setting, with its own costs, exchange rate and rounding.

    `support` is basis and scope of the support fee. Without it, what the setting leaves open stays
    as it was on the invoice.
    """
    fields = {name: getattr(setting, name) for name in InvoiceSetting.__struct_fields__}
    terms = build_terms(
        fields,
        _resolve_targets(invoice.terms, fields, support),
        exchange_rate=invoice.terms.exchange_rate,
        rounding=invoice.terms.rounding,
        usage_table=invoice.terms.usage_table,
        month=invoice.terms.month,
    )
    return apply_terms(invoice, InvoiceSetting(**fields), terms)


def apply_terms(invoice: InvoiceDocument, setting: InvoiceSetting, terms: Terms) -> InvoiceDocument:
    """Return the invoice under terms that were resolved before."""
    return msgspec.structs.replace(
        invoice,
        currency=terms.currency,
        setting=setting,
        terms=terms,
        sheet=calculate_invoice(invoice.charges, terms),
    )


def _resolve_targets(
    terms: Terms, setting: Mapping[str, Any], support: tuple[str, str | None] | None
) -> FeeTargets:
    names = FeeTargets.__dataclass_fields__
    resolved = resolve_fee_targets(
        setting, FeeTargets(**{name: getattr(terms, name) for name in names})
    )
    if support is None:
        return resolved
    return FeeTargets(
        substitution_basis=resolved.substitution_basis,
        substitution_scope=resolved.substitution_scope,
        support_basis=support[0],
        support_scope=support[1],
    )


def list_changed_terms(before: Terms, after: Terms) -> list[ChangedTerm]:
    """What two terms differ in, by the names of their fields."""
    pairs = [
        (name, getattr(before, name), getattr(after, name)) for name in Terms.__struct_fields__
    ]
    return [
        ChangedTerm(field=name, before=_format_term(old), after=_format_term(new))
        for name, old, new in pairs
        if old != new
    ]


def _format_term(value: str | Decimal | None) -> str | None:
    return format_decimal(value) if isinstance(value, Decimal) else value
