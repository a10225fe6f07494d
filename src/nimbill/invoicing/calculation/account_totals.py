"""What falls to each account, and the whole in dollars: added exactly, rounded once."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from nimbill.foundation.basis import chosen
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

basis = chosen("account-totals")

_Amounts = defaultdict[str, list[Decimal]]
_Applied = defaultdict[str, list[tuple[AppliedEntry, Decimal]]]


def calculate_pre_tax_usd(
    month: MonthlyCharges,
    terms: Terms,
    usage: Sequence[ExactUsage],
    fees: Sequence[ExactFee | None],
) -> Decimal:
    """The components of the pre-tax amount, in USD."""
    rate, kept = to_exact(terms.exchange_rate), ONE - to_exact(terms.discount_rate)
    of_cost = total_charge(usage) * kept + sum_exact(fee.after for fee in fees if fee)
    of_entries = sum_exact(
        entry.convert(Currency.usd, terms.exchange_rate) for entry in month.entries
    )
    of_items = sum_exact(to_exact(item.total) for _, item in number_enabled_items(month.items))
    whole = (
        convert_currency(of_cost, month.cost_currency, Currency.usd, rate)
        + of_entries
        + convert_currency(of_items, terms.currency, Currency.usd, rate)
    )
    return round_amount(whole, Currency.usd, terms.rounding)


def calculate_account_totals(
    month: MonthlyCharges, terms: Terms, lines: Sequence[UsageLine], entries: Sequence[EntryLine]
) -> tuple[AccountTotal, ...]:
    """Of every account that has usage or an entry, in the order of their ids."""
    names = {(charge.customer_id, charge.customer_name) for charge in month.usage}
    names |= {(entry.customer_id, entry.customer_name) for entry in month.entries}
    rate, kept = to_exact(terms.exchange_rate), ONE - to_exact(terms.discount_rate)
    spent, printed, applied = _Amounts(list), _Amounts(list), _Applied(list)
    for charge in month.usage:
        spent[charge.customer_id].append(charge.amount)
    for line in lines:
        printed[line.customer_id].append(line.after)
    for entry, shown in zip(sort_entries(month.entries), entries, strict=True):
        printed[entry.customer_id].append(shown.amount)
        applied[entry.customer_id].append((entry, shown.amount))

    def whole(customer_id: str, currency: Currency) -> Decimal:
        """Usage after discount and applied entries, in this currency."""
        after = to_exact(sum_decimals(spent[customer_id])) * kept
        of_usage = convert_currency(after, month.cost_currency, currency, rate)
        of_entries = sum_exact(
            entry.convert(currency, terms.exchange_rate) for entry, _ in applied[customer_id]
        )
        return round_amount(of_usage + of_entries, currency, terms.rounding)

    return tuple(
        AccountTotal(
            customer_id=customer_id,
            customer_name=name,
            total=whole(customer_id, Currency.usd),
            total_exchanged=sum_decimals(printed[customer_id])
            if terms.calc_type == "account"
            else whole(customer_id, terms.currency),
            entries=tuple(
                _build_account_entry(entry, shown, terms) for entry, shown in applied[customer_id]
            ),
        )
        for customer_id, name in sorted(dict(sorted(names, reverse=True)).items())
    )


def _build_account_entry(entry: AppliedEntry, printed: Decimal, terms: Terms) -> AccountEntry:
    dollars = entry.convert(Currency.usd, terms.exchange_rate)
    return AccountEntry(
        description=entry.description,
        amount=round_amount(dollars, Currency.usd, terms.rounding),
        amount_exchanged=printed,
    )
