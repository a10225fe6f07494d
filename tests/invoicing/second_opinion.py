"""An invoice worked out a second time, from the page on its arithmetic alone and in another shape.

Everything is a fraction of a dollar or a yen; what is printed is an integer of cents or yen. The
words of the setting are read as they were sent, the older ones first. Nothing here uses the code
under test: from it come the plain records that hold a month's charges, and nothing else.
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

# minimum, then how much of the amount up to each bound, and of what lies above the last
PLANS: dict[str, tuple[int, list[tuple[int, int]], int]] = {
    "aws_developer": (29, [], 3),
    "aws_business": (100, [(10_000, 10), (80_000, 7), (250_000, 5)], 3),
    "aws_enterprise": (15_000, [(150_000, 10), (500_000, 7), (1_000_000, 5)], 3),
}


class SecondOpinion:
    """What an invoice must say; `printed` and the rest are plain integers of yen or cents."""

    def __init__(
        self,
        month: MonthlyCharges,
        sent: Sequence[Mapping[str, Any]],
        *,
        exchange_rate: Decimal,
        rounding: str,
        usage_table: Sequence[tuple[Decimal | None, Decimal]],
    ) -> None:
        self.month = month
        self.said = sent[-1]
        self.sent = sent
        self.fx = Fraction(exchange_rate)
        self.rounding = rounding
        self.usage_table = usage_table
        self.cost, self.invoice = str(month.cost_currency), str(self.said["currency"])
        self.off = Fraction(self.said["discount_rate"])
        self.ties = 0
        self._work_out()

    # ── the words ────────────────────────────────────────────────────────────────────────────────

    def _agency_word(self, words: set[str]) -> str:
        said = {
            self.said["substitution_fee_calc_target"],
            self.said["substitution_fee_target_usage"],
        }
        (word,) = said & words
        return str(word)

    def _support_word(self, words: set[str]) -> str | None:
        """The last that was said about it, in whichever setting that was."""
        said = [one["support_fee_calc_target"] for one in self.sent]
        return next((word for word in reversed(said) if word in words), None)

    # ── money ────────────────────────────────────────────────────────────────────────────────────

    def _into(self, currency: str, amount: Fraction, of: str, rate: Fraction) -> Fraction:
        if of == currency:
            return amount
        return amount * rate if currency == "jpy" else amount / rate

    def _print(self, amount: Fraction, currency: str) -> int:
        above, below = abs(amount.numerator) * UNITS[currency], amount.denominator
        size, rest = divmod(above, below)
        self.ties += 2 * rest == below
        if self.rounding == "half_up":
            size += 2 * rest >= below
        elif self.rounding == "up":
            size += rest > 0
        return -size if amount < 0 else size

    def _print_cost(self, amount: Fraction) -> int:
        return self._print(self._into(self.invoice, amount, self.cost, self.fx), self.invoice)

    def _entry_in(self, entry: AppliedEntry, currency: str) -> Fraction:
        rate = Fraction(entry.exchange_rate) if entry.exchange_rate != 0 else self.fx
        return self._into(currency, Fraction(entry.amount), str(entry.currency), rate)

    # ── the page ─────────────────────────────────────────────────────────────────────────────────

    def _owner(self, charge: UsageCharge) -> str:
        return charge.tag if self.said["calc_type"] == "tag" else charge.customer_id

    def _work_out(self) -> None:
        usage: dict[tuple[str, str, bool], Fraction] = defaultdict(Fraction)
        for charge in self.month.usage:
            line = self._owner(charge), charge.service, charge.marketplace
            usage[line] += Fraction(charge.amount)
        self.usage = usage
        left = 1 - self.off
        self.lines = {
            line: (self._print_cost(amount), self._print_cost(amount * left))
            for line, amount in usage.items()
        }
        support = self._support()
        agency = self._agency(support)
        self.support = [self._print_cost(amount) for amount in support]
        self.agency = [self._print_cost(amount) for amount in agency]
        self.entries = {
            entry.entry_id: self._print(self._entry_in(entry, self.invoice), self.invoice)
            for entry in self.month.entries
        }
        items = [Fraction(item.total) for item in self.month.items if item.enabled]
        self.items = [self._print(item, self.invoice) for item in items]

        self.pre_tax = sum(after for _, after in self.lines.values())
        self.pre_tax += sum(self.support[1:]) + sum(self.agency[1:])
        self.pre_tax += sum(self.entries.values()) + sum(self.items)
        self.tax_free = sum(
            self.entries[one.entry_id] for one in self.month.entries if one.tax_free
        )
        unit = UNITS[self.invoice]
        taxed = Fraction(self.pre_tax - self.tax_free, unit) * Fraction(self.said["tax_rate"])
        self.tax = self._print(taxed, self.invoice)
        self.total = self.pre_tax + self.tax

        cost = sum(usage.values(), Fraction(0)) * left + sum(support[1:]) + sum(agency[1:])
        dollars = self._into("usd", Fraction(cost), self.cost, self.fx)
        dollars += sum(self._entry_in(entry, "usd") for entry in self.month.entries)
        dollars += self._into("usd", sum(items, Fraction(0)), self.invoice, self.fx)
        self.pre_tax_usd = self._print(dollars, "usd")
        self.accounts = self._accounts()

    def _support(self) -> list[Fraction]:
        """Before and after discount; nothing where there is no usage line."""
        if not self.usage:
            return []
        narrow = self.said["support_amount_target"] == "cloudpayonlywithfee"
        base = sum(
            (amount for (_, _, market), amount in self.usage.items() if not (narrow and market)),
            Fraction(0),
        )
        if self._support_word(BEFORE_OR_AFTER) == "discounted":
            base -= base * self.off
        scope = self._support_word(WITH_OR_WITHOUT)
        if (narrow and scope != "cloudpayonly") or scope == "cloudpaywithfee":
            for entry in self.month.entries:
                base += self._entry_in(entry, self.cost) if entry.calc_type == "Fee" else 0
        fee = self._support_kind(Fraction(0) if base < 0 else base)
        whole = self.said["discount_target_usage"] == "cloudpaywithfee"
        return [fee, fee - fee * self.off if whole else fee]

    def _support_kind(self, base: Fraction) -> Fraction:
        kind = self.said["support_fee"]
        if kind == "fix":
            return Fraction(self.said["support_fix"])
        if kind == "percent":
            return Fraction(self.said["support_rate"]) * base
        minimum, bounds, above = PLANS[kind]
        to_dollars = Fraction(1) if self.cost == "usd" else self.fx
        steps = [(Fraction(bound), Fraction(hundredths, 100)) for bound, hundredths in bounds]
        fee = stepped(steps, Fraction(above, 100), base / to_dollars)
        return max(Fraction(minimum), fee) * to_dollars

    def _agency(self, support: list[Fraction]) -> list[Fraction]:
        if not self.usage:
            return []
        basis = self._agency_word(BEFORE_OR_AFTER)
        extra = Fraction(0)
        if self._agency_word(WITH_OR_WITHOUT) == "cloudpaywithfee":
            extra = support[0 if basis == "nondiscount" else 1]
        by_owner: dict[str, Fraction] = defaultdict(Fraction)
        one_pot = self.said["substitution_fee_calc_type"] == "allsum"
        for (owner, _, _), amount in self.usage.items():
            by_owner["everybody" if one_pot else owner] += amount
        everything = sum(by_owner.values(), Fraction(0))
        fee = Fraction(0)
        for amount in by_owner.values():
            if everything == 0:
                mine = extra / len(by_owner)
            else:
                mine = extra * amount / everything
            base = (amount if basis == "nondiscount" else amount * (1 - self.off)) + mine
            fee += self._agency_kind(base if base > 0 else Fraction(0))
        whole = self.said["discount_calc_logic"] == "allamount"
        return [fee, fee * (1 - self.off) if whole else fee]

    def _agency_kind(self, base: Fraction) -> Fraction:
        kind = self.said["substitution_fee"]
        fixed, part = Fraction(self.said["substitution_fix"]), self.said["substitution_rate"]
        if kind == "fix":
            return fixed
        if kind == "usagetable":
            steps = [(Fraction(upto or 0), Fraction(rate)) for upto, rate in self.usage_table]
            return stepped(steps[:-1], steps[-1][1], base)
        share = Fraction(part) * base
        return share if kind == "percent" or share > fixed else fixed

    def _accounts(self) -> dict[str, tuple[int, int]]:
        """Of each account: in cents, and as it is printed."""
        whose = {one.customer_id for one in self.month.usage}
        whose |= {one.customer_id for one in self.month.entries}
        return {
            account: (self._account_in("usd", account), self._account_printed(account))
            for account in whose
        }

    def adjustments(self, account: str) -> list[tuple[str, int, int]]:
        """Its entries: what they are, in cents, and as they are printed."""
        return sorted(
            (one.description, self._print(self._entry_in(one, "usd"), "usd"), printed)
            for one in self.month.entries
            for printed in [self.entries[one.entry_id]]
            if one.customer_id == account
        )

    def _account_in(self, currency: str, account: str) -> int:
        spent = [Fraction(one.amount) for one in self.month.usage if one.customer_id == account]
        after = sum(spent, Fraction(0)) * (1 - self.off)
        moved = [
            self._entry_in(one, currency)
            for one in self.month.entries
            if one.customer_id == account
        ]
        in_all = self._into(currency, after, self.cost, self.fx) + sum(moved, Fraction(0))
        return self._print(in_all, currency)

    def _account_printed(self, account: str) -> int:
        if self.said["calc_type"] == "tag":
            return self._account_in(self.invoice, account)
        lines = [after for (owner, _, _), (_, after) in self.lines.items() if owner == account]
        own = [self.entries[e.entry_id] for e in self.month.entries if e.customer_id == account]
        return sum(lines) + sum(own)


def stepped(
    steps: Sequence[tuple[Fraction, Fraction]], above: Fraction, amount: Fraction
) -> Fraction:
    """Each bound takes back, of all that lies above it, what the next step does not charge."""
    rates = [*(rate for _, rate in steps), above]
    fee = rates[0] * amount
    for (bound, rate), following in zip(steps, rates[1:], strict=True):
        fee -= (rate - following) * max(amount - bound, Fraction(0))
    return fee
