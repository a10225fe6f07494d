"""What falls to each account, and the whole in dollars: added exactly, rounded once."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from nimbill.foundation.basis import chosen
from nimbill.foundation.money import ONE, exact, exchanged, rounded, sum_of, total_of
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.calculation.charges import AppliedEntry, MonthlyCharges
from nimbill.invoicing.calculation.fees import ExactFee
from nimbill.invoicing.calculation.lines import AccountEntry, AccountTotal, EntryLine, UsageLine
from nimbill.invoicing.calculation.page import in_order, numbered
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.calculation.usage import Usage, charged

basis = chosen("account-totals")

_Amounts = defaultdict[str, list[Decimal]]
_Applied = defaultdict[str, list[tuple[AppliedEntry, Decimal]]]


def pre_tax_in_dollars(
    month: MonthlyCharges, terms: Terms, usage: Sequence[Usage], fees: Sequence[ExactFee | None]
) -> Decimal:
    """The components of the pre-tax amount, in USD."""
    rate, kept = exact(terms.exchange_rate), ONE - exact(terms.discount_rate)
    of_cost = charged(usage) * kept + sum_of(fee.after for fee in fees if fee)
    of_entries = sum_of(entry.worth(Currency.usd, terms.exchange_rate) for entry in month.entries)
    of_items = sum_of(exact(item.total) for _, item in numbered(month.items))
    whole = (
        exchanged(of_cost, month.cost_currency, Currency.usd, rate)
        + of_entries
        + exchanged(of_items, terms.currency, Currency.usd, rate)
    )
    return rounded(whole, Currency.usd, terms.rounding)


def account_totals(
    month: MonthlyCharges, terms: Terms, lines: Sequence[UsageLine], entries: Sequence[EntryLine]
) -> tuple[AccountTotal, ...]:
    """Of every account that has usage or an entry, in the order of their ids."""
    names = {(charge.customer_id, charge.customer_name) for charge in month.usage}
    names |= {(entry.customer_id, entry.customer_name) for entry in month.entries}
    rate, kept = exact(terms.exchange_rate), ONE - exact(terms.discount_rate)
    spent, printed, applied = _Amounts(list), _Amounts(list), _Applied(list)
    for charge in month.usage:
        spent[charge.customer_id].append(charge.amount)
    for line in lines:
        printed[line.customer_id].append(line.after)
    for entry, shown in zip(in_order(month.entries), entries, strict=True):
        printed[entry.customer_id].append(shown.amount)
        applied[entry.customer_id].append((entry, shown.amount))

    def whole(customer_id: str, currency: Currency) -> Decimal:
        """Usage after discount and applied entries, in this currency."""
        after = exact(total_of(spent[customer_id])) * kept
        of_usage = exchanged(after, month.cost_currency, currency, rate)
        of_entries = sum_of(
            entry.worth(currency, terms.exchange_rate) for entry, _ in applied[customer_id]
        )
        return rounded(of_usage + of_entries, currency, terms.rounding)

    return tuple(
        AccountTotal(
            customer_id=customer_id,
            customer_name=name,
            total=whole(customer_id, Currency.usd),
            total_exchanged=total_of(printed[customer_id])
            if terms.calc_type == "account"
            else whole(customer_id, terms.currency),
            entries=tuple(_entry(entry, shown, terms) for entry, shown in applied[customer_id]),
        )
        for customer_id, name in sorted(dict(sorted(names, reverse=True)).items())
    )


def _entry(entry: AppliedEntry, printed: Decimal, terms: Terms) -> AccountEntry:
    dollars = entry.worth(Currency.usd, terms.exchange_rate)
    return AccountEntry(
        description=entry.description,
        amount=rounded(dollars, Currency.usd, terms.rounding),
        amount_exchanged=printed,
    )
