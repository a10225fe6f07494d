"""The totals of each account and the invoice total in dollars; each is rounded once."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    ONE,
    convert_currency,
    round_amount,
    sum_decimals,
    sum_exact,
    to_exact,
)
from nimbill.invoicing.calculation.charges import AppliedEntry, MonthlyCharges
from nimbill.invoicing.calculation.fees import ExactFee
from nimbill.invoicing.calculation.line_builder import number_enabled_items, sort_entries
from nimbill.invoicing.calculation.lines import AccountEntry, AccountTotal, EntryLine, UsageLine
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.calculation.usage import ExactUsage, total_charge

# See docs/choices.md, account-totals.

_Amounts = defaultdict[str, list[Decimal]]
_AppliedEntries = defaultdict[str, list[tuple[AppliedEntry, Decimal]]]


def calculate_pre_tax_usd(
    charges: MonthlyCharges,
    terms: Terms,
    usage: Sequence[ExactUsage],
    fees: Sequence[ExactFee | None],
) -> Decimal:
    """The amount before tax in USD, added up from exact amounts."""
    rate, net_share = to_exact(terms.exchange_rate), ONE - to_exact(terms.discount_rate)
    cost = total_charge(usage) * net_share + sum_exact(fee.after for fee in fees if fee)
    entries = sum_exact(
        entry.convert(Currency.usd, terms.exchange_rate) for entry in charges.entries
    )
    items = sum_exact(to_exact(item.total) for _, item in number_enabled_items(charges.items))
    total = (
        convert_currency(cost, charges.cost_currency, Currency.usd, rate)
        + entries
        + convert_currency(items, terms.currency, Currency.usd, rate)
    )
    return round_amount(total, Currency.usd, terms.rounding)


def calculate_account_totals(
    charges: MonthlyCharges, terms: Terms, lines: Sequence[UsageLine], entries: Sequence[EntryLine]
) -> tuple[AccountTotal, ...]:
    """Totals of every account with usage or an entry, in the order of their ids."""
    names = {(charge.customer_id, charge.customer_name) for charge in charges.usage}
    names |= {(entry.customer_id, entry.customer_name) for entry in charges.entries}
    rate, net_share = to_exact(terms.exchange_rate), ONE - to_exact(terms.discount_rate)
    usage, printed, applied = _Amounts(list), _Amounts(list), _AppliedEntries(list)
    for charge in charges.usage:
        usage[charge.customer_id].append(charge.amount)
    for line in lines:
        printed[line.customer_id].append(line.after)
    for entry, entry_line in zip(sort_entries(charges.entries), entries, strict=True):
        printed[entry.customer_id].append(entry_line.amount)
        applied[entry.customer_id].append((entry, entry_line.amount))

    def calculate_total(customer_id: str, currency: Currency) -> Decimal:
        """Usage after discount plus applied entries, in this currency."""
        after = to_exact(sum_decimals(usage[customer_id])) * net_share
        entry_total = sum_exact(
            entry.convert(currency, terms.exchange_rate) for entry, _ in applied[customer_id]
        )
        total = convert_currency(after, charges.cost_currency, currency, rate) + entry_total
        return round_amount(total, currency, terms.rounding)

    return tuple(
        AccountTotal(
            customer_id=customer_id,
            customer_name=name,
            total=calculate_total(customer_id, Currency.usd),
            total_exchanged=sum_decimals(printed[customer_id])
            if terms.calc_type == "account"
            else calculate_total(customer_id, terms.currency),
            entries=tuple(
                _build_account_entry(entry, printed_amount, terms)
                for entry, printed_amount in applied[customer_id]
            ),
        )
        for customer_id, name in sorted(dict(sorted(names, reverse=True)).items())
    )


def _build_account_entry(entry: AppliedEntry, printed: Decimal, terms: Terms) -> AccountEntry:
    amount_usd = entry.convert(Currency.usd, terms.exchange_rate)
    return AccountEntry(
        description=entry.description,
        amount=round_amount(amount_usd, Currency.usd, terms.rounding),
        amount_exchanged=printed,
    )
