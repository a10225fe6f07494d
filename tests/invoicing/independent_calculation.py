"""A second, independent calculation of an invoice, written from its documentation.

Amounts are fractions of a dollar or a yen; printed amounts are integers of cents or yen. Settings
are read in the order sent. Of the code under test, only the structs of the charges are used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from nimbill.invoicing.calculation.charges import AppliedEntry, MonthlyCharges, UsageCharge

BEFORE_OR_AFTER = {"nondiscount", "discounted"}
WITH_OR_WITHOUT = {"cloudpayonly", "cloudpaywithfee"}
UNITS = {"usd": 100, "jpy": 1}  # printed units in one unit of the currency

# the minimum, the percentage up to each limit, and the percentage above the last limit
PLANS: dict[str, tuple[int, list[tuple[int, int]], int]] = {
    "aws_developer": (29, [], 3),
    "aws_business": (100, [(10_000, 10), (80_000, 7), (250_000, 5)], 3),
    "aws_enterprise": (15_000, [(150_000, 10), (500_000, 7), (1_000_000, 5)], 3),
}


class IndependentInvoice:
    """The expected amounts of an invoice, as integers of yen or cents."""

    def __init__(
        self,
        month: MonthlyCharges,
        settings: Sequence[Mapping[str, Any]],
        *,
        exchange_rate: Decimal,
        rounding: str,
        usage_table: Sequence[tuple[Decimal | None, Decimal]],
    ) -> None:
        self.month = month
        self.setting = settings[-1]
        self.settings = settings
        self.exchange_rate = Fraction(exchange_rate)
        self.rounding = rounding
        self.usage_table = usage_table
        self.cost, self.invoice = str(month.cost_currency), str(self.setting["currency"])
        self.discount_rate = Fraction(self.setting["discount_rate"])
        self.ties = 0
        self._calculate()

    # ── settings ──────────────────────────────────────────────────────────────────────────────────

    def _find_agency_value(self, values: set[str]) -> str:
        sent = {
            self.setting["substitution_fee_calc_target"],
            self.setting["substitution_fee_target_usage"],
        }
        (value,) = sent & values
        return str(value)

    def _find_support_value(self, values: set[str]) -> str | None:
        """The last of these values that any of the settings contains."""
        sent = [setting["support_fee_calc_target"] for setting in self.settings]
        return next((value for value in reversed(sent) if value in values), None)

    # ── money ─────────────────────────────────────────────────────────────────────────────────────

    def _convert(self, currency: str, amount: Fraction, of: str, rate: Fraction) -> Fraction:
        if of == currency:
            return amount
        return amount * rate if currency == "jpy" else amount / rate

    def _round_to_units(self, amount: Fraction, currency: str) -> int:
        above, below = abs(amount.numerator) * UNITS[currency], amount.denominator
        size, rest = divmod(above, below)
        self.ties += 2 * rest == below
        if self.rounding == "half_up":
            size += 2 * rest >= below
        elif self.rounding == "up":
            size += rest > 0
        return -size if amount < 0 else size

    def _round_cost(self, amount: Fraction) -> int:
        return self._round_to_units(
            self._convert(self.invoice, amount, self.cost, self.exchange_rate), self.invoice
        )

    def _convert_entry(self, entry: AppliedEntry, currency: str) -> Fraction:
        rate = Fraction(entry.exchange_rate) if entry.exchange_rate != 0 else self.exchange_rate
        return self._convert(currency, Fraction(entry.amount), str(entry.currency), rate)

    # ── invoice ───────────────────────────────────────────────────────────────────────────────────

    def _owner_key(self, charge: UsageCharge) -> str:
        return charge.tag if self.setting["calc_type"] == "tag" else charge.customer_id

    def _calculate(self) -> None:
        usage: dict[tuple[str, str, bool], Fraction] = defaultdict(Fraction)
        for charge in self.month.usage:
            line = self._owner_key(charge), charge.service, charge.marketplace
            usage[line] += Fraction(charge.amount)
        self.usage = usage
        left = 1 - self.discount_rate
        self.lines = {
            line: (self._round_cost(amount), self._round_cost(amount * left))
            for line, amount in usage.items()
        }
        support = self._calculate_support()
        agency = self._calculate_agency(support)
        self.support = [self._round_cost(amount) for amount in support]
        self.agency = [self._round_cost(amount) for amount in agency]
        self.entries = {
            entry.entry_id: self._round_to_units(
                self._convert_entry(entry, self.invoice), self.invoice
            )
            for entry in self.month.entries
        }
        items = [Fraction(item.total) for item in self.month.items if item.enabled]
        self.items = [self._round_to_units(item, self.invoice) for item in items]

        self.pre_tax = sum(after for _, after in self.lines.values())
        self.pre_tax += sum(self.support[1:]) + sum(self.agency[1:])
        self.pre_tax += sum(self.entries.values()) + sum(self.items)
        self.tax_free = sum(
            self.entries[entry.entry_id] for entry in self.month.entries if entry.tax_free
        )
        unit = UNITS[self.invoice]
        taxed = Fraction(self.pre_tax - self.tax_free, unit) * Fraction(self.setting["tax_rate"])
        self.tax = self._round_to_units(taxed, self.invoice)
        self.total = self.pre_tax + self.tax

        cost = sum(usage.values(), Fraction(0)) * left + sum(support[1:]) + sum(agency[1:])
        dollars = self._convert("usd", Fraction(cost), self.cost, self.exchange_rate)
        dollars += sum(self._convert_entry(entry, "usd") for entry in self.month.entries)
        dollars += self._convert("usd", sum(items, Fraction(0)), self.invoice, self.exchange_rate)
        self.pre_tax_usd = self._round_to_units(dollars, "usd")
        self.accounts = self._calculate_accounts()

    def _calculate_support(self) -> list[Fraction]:
        """Before and after discount; nothing where there is no usage line."""
        if not self.usage:
            return []
        narrow = self.setting["support_amount_target"] == "cloudpayonlywithfee"
        base = sum(
            (amount for (_, _, market), amount in self.usage.items() if not (narrow and market)),
            Fraction(0),
        )
        if self._find_support_value(BEFORE_OR_AFTER) == "discounted":
            base -= base * self.discount_rate
        scope = self._find_support_value(WITH_OR_WITHOUT)
        if (narrow and scope != "cloudpayonly") or scope == "cloudpaywithfee":
            for entry in self.month.entries:
                base += self._convert_entry(entry, self.cost) if entry.calc_type == "Fee" else 0
        fee = self._apply_support_formula(Fraction(0) if base < 0 else base)
        whole = self.setting["discount_target_usage"] == "cloudpaywithfee"
        return [fee, fee - fee * self.discount_rate if whole else fee]

    def _apply_support_formula(self, base: Fraction) -> Fraction:
        kind = self.setting["support_fee"]
        if kind == "fix":
            return Fraction(self.setting["support_fix"])
        if kind == "percent":
            return Fraction(self.setting["support_rate"]) * base
        minimum, bounds, above = PLANS[kind]
        to_dollars = Fraction(1) if self.cost == "usd" else self.exchange_rate
        steps = [(Fraction(bound), Fraction(hundredths, 100)) for bound, hundredths in bounds]
        fee = apply_steps(steps, Fraction(above, 100), base / to_dollars)
        return max(Fraction(minimum), fee) * to_dollars

    def _calculate_agency(self, support: list[Fraction]) -> list[Fraction]:
        if not self.usage:
            return []
        basis = self._find_agency_value(BEFORE_OR_AFTER)
        extra = Fraction(0)
        if self._find_agency_value(WITH_OR_WITHOUT) == "cloudpaywithfee":
            extra = support[0 if basis == "nondiscount" else 1]
        by_owner: dict[str, Fraction] = defaultdict(Fraction)
        one_pot = self.setting["substitution_fee_calc_type"] == "allsum"
        for (owner, _, _), amount in self.usage.items():
            by_owner["everybody" if one_pot else owner] += amount
        everything = sum(by_owner.values(), Fraction(0))
        fee = Fraction(0)
        for amount in by_owner.values():
            if everything == 0:
                mine = extra / len(by_owner)
            else:
                mine = extra * amount / everything
            base = (amount if basis == "nondiscount" else amount * (1 - self.discount_rate)) + mine
            fee += self._apply_agency_formula(base if base > 0 else Fraction(0))
        whole = self.setting["discount_calc_logic"] == "allamount"
        return [fee, fee * (1 - self.discount_rate) if whole else fee]

    def _apply_agency_formula(self, base: Fraction) -> Fraction:
        kind = self.setting["substitution_fee"]
        fixed, part = Fraction(self.setting["substitution_fix"]), self.setting["substitution_rate"]
        if kind == "fix":
            return fixed
        if kind == "usagetable":
            steps = [(Fraction(upto or 0), Fraction(rate)) for upto, rate in self.usage_table]
            return apply_steps(steps[:-1], steps[-1][1], base)
        share = Fraction(part) * base
        return share if kind == "percent" or share > fixed else fixed

    def _calculate_accounts(self) -> dict[str, tuple[int, int]]:
        """Of each account: in cents, and as it is printed."""
        whose = {charge.customer_id for charge in self.month.usage}
        whose |= {entry.customer_id for entry in self.month.entries}
        return {
            account: (self._account_total("usd", account), self._printed_account_total(account))
            for account in whose
        }

    def list_adjustments(self, account: str) -> list[tuple[str, int, int]]:
        """Its entries: what they are, in cents, and as they are printed."""
        return sorted(
            (
                entry.description,
                self._round_to_units(self._convert_entry(entry, "usd"), "usd"),
                printed,
            )
            for entry in self.month.entries
            for printed in [self.entries[entry.entry_id]]
            if entry.customer_id == account
        )

    def _account_total(self, currency: str, account: str) -> int:
        spent = [
            Fraction(charge.amount) for charge in self.month.usage if charge.customer_id == account
        ]
        after = sum(spent, Fraction(0)) * (1 - self.discount_rate)
        moved = [
            self._convert_entry(entry, currency)
            for entry in self.month.entries
            if entry.customer_id == account
        ]
        in_all = self._convert(currency, after, self.cost, self.exchange_rate) + sum(
            moved, Fraction(0)
        )
        return self._round_to_units(in_all, currency)

    def _printed_account_total(self, account: str) -> int:
        if self.setting["calc_type"] == "tag":
            return self._account_total(self.invoice, account)
        lines = [after for (owner, _, _), (_, after) in self.lines.items() if owner == account]
        own = [self.entries[e.entry_id] for e in self.month.entries if e.customer_id == account]
        return sum(lines) + sum(own)


def apply_steps(
    steps: Sequence[tuple[Fraction, Fraction]], above: Fraction, amount: Fraction
) -> Fraction:
    """Each bound takes back, of all that lies above it, what the next step does not charge."""
    rates = [*(rate for _, rate in steps), above]
    fee = rates[0] * amount
    for (bound, rate), following in zip(steps, rates[1:], strict=True):
        fee -= (rate - following) * max(amount - bound, Fraction(0))
    return fee
