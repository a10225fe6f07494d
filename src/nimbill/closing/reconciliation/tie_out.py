"""Ties out a month: checks that all charges of the vendor are accounted for. Pure functions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from nimbill.foundation.money import add_decimals, subtract_decimals, sum_decimals

ZERO = Decimal(0)

AMOUNT_DIFFERS = "amount_differs"
INVOICE_MISSING = "invoice_missing"
INVOICE_CANCELLED = "invoice_cancelled"
NOT_ON_INVOICE = "not_on_invoice"
NOT_IN_COSTS = "not_in_costs"
ENTRIES_DIFFER = "entries_differ"

Amounts = defaultdict[str, Decimal]


# Named tuples are hashed and compared without Python code; a month has 100,000 of them and more.
class ServiceKey(NamedTuple):
    """An invoice has one amount at cost for each key."""

    customer_id: str
    service: str
    marketplace: bool
    currency: str


class ChargedAmount(NamedTuple):
    """A sum of the vendor's lines of one kind."""

    payer_id: str
    kind: str
    key: ServiceKey
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryAmount:
    """A sum of recalculation entries of the month; they may be applied to any month."""

    payer_id: str
    customer_id: str
    currency: str
    amount: Decimal
    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoicedUsage:
    """The usage on an invoice at cost."""

    company_id: str
    invoice_no: str
    payers: tuple[str, ...]
    usage: Mapping[ServiceKey, Decimal]


class AccountOwner(NamedTuple):
    company_id: str
    payer_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TieOutInput:
    """The stored data of one period."""

    charges: Iterable[ChargedAmount]
    entries: Iterable[EntryAmount]
    moved_fees: Iterable[tuple[ServiceKey, Decimal]]  # they add up to zero
    invoices: Iterable[InvoicedUsage]
    accounts: Mapping[str, AccountOwner]  # accounts in a billing group, by customer_id
    cancelled_groups: Collection[str] = ()  # whose invoice counts for nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountDifference:
    payer_id: str
    reason: str
    company_id: str | None
    invoice_no: str | None
    key: ServiceKey
    invoiced: Decimal
    charged: Decimal

    @property
    def amount(self) -> Decimal:
        return subtract_decimals(self.charged, self.invoiced)


@dataclass(slots=True)
class PayerStatement:
    """The amounts of one payer in one currency."""

    by_kind: Amounts = field(default_factory=lambda: Amounts(Decimal))
    moved_fees: Decimal = ZERO  # moved to the payer's accounts from accounts of other payers
    invoiced: Decimal = ZERO
    in_no_group: Decimal = ZERO
    entries_applied: Decimal = ZERO
    entries_unapplied: Decimal = ZERO

    @property
    def total(self) -> Decimal:
        return sum_decimals(self.by_kind.values())

    @property
    def difference(self) -> Decimal:
        """Charges of the vendor that are not accounted for."""
        not_invoiced = [self.by_kind[kind] for kind in ("tax", "discount", "unknown")]
        entries = [self.entries_applied, self.entries_unapplied]
        accounted = sum_decimals([self.invoiced, self.in_no_group, *entries, *not_invoiced])
        return subtract_decimals(add_decimals(self.total, self.moved_fees), accounted)


@dataclass(slots=True)
class TieOutResult:
    statements: dict[tuple[str, str], PayerStatement]  # by payer and currency
    differences: list[AmountDifference]
    in_no_group: dict[tuple[str, str, str], Decimal]  # by payer, account and currency

    @property
    def ties(self) -> bool:
        """False also if differences cancel each other out."""
        return not self.differences and not any(
            statement.difference for statement in self.statements.values()
        )


def tie_out(data: TieOutInput) -> TieOutResult:
    return _TieOutCalculation(data).run()


class _TieOutCalculation:
    def __init__(self, data: TieOutInput) -> None:
        self.data = data
        self.statements: defaultdict[tuple[str, str], PayerStatement] = defaultdict(PayerStatement)
        self.differences: list[AmountDifference] = []
        self.in_no_group: defaultdict[tuple[str, str, str], Decimal] = defaultdict(Decimal)
        # Most usage is charged once and is on one invoice with the same amount. A large month has
        # 100,000 such keys, so they are kept apart, without a dictionary or list for each.
        self.charged_once: dict[ServiceKey, tuple[str, Decimal]] = {}  # payer and amount
        self.equal: dict[ServiceKey, InvoicedUsage] = {}  # those of them that are invoiced so
        # the others: charges and moved fees by payer, and what invoices have
        self.charged: defaultdict[ServiceKey, Amounts] = defaultdict(lambda: Amounts(Decimal))
        self.invoiced: defaultdict[ServiceKey, list[tuple[InvoicedUsage, Decimal]]] = defaultdict(
            list
        )
        self.payers_by_account: dict[str, tuple[str, ...]] = {}
        self.invoice_by_account: dict[str, InvoicedUsage] = {}
        self.invoice_by_group: dict[str, InvoicedUsage] = {}

    def run(self) -> TieOutResult:
        self._add_charges()
        self._index_invoices()
        self._add_moved_fees()
        self._add_equal_amounts()
        for key in self.charged.keys() | self.invoiced.keys():
            self._check_usage(key)
        self._check_entries()
        self.differences.sort(key=lambda found: (found.payer_id, found.key, found.reason))
        return TieOutResult(
            statements=dict(sorted(self.statements.items())),
            differences=self.differences,
            in_no_group=dict(sorted(self.in_no_group.items())),
        )

    def _add_charges(self) -> None:
        by_kind: defaultdict[tuple[str, str, str], list[Decimal]] = defaultdict(list)
        for payer, kind, key, amount in self.data.charges:
            by_kind[payer, key.currency, kind].append(amount)
            if kind == "usage":
                payers = self.payers_by_account.get(key.customer_id, ())
                if payer not in payers:
                    self.payers_by_account[key.customer_id] = (*payers, payer)
                if key in self.charged_once or key in self.charged:
                    self._keep_by_payer(key)
                    charged = self.charged[key]
                    charged[payer] = add_decimals(charged[payer], amount)
                else:
                    self.charged_once[key] = payer, amount
        for (payer, currency, kind), amounts in by_kind.items():
            self.statements[payer, currency].by_kind[kind] = sum_decimals(amounts)

    def _keep_by_payer(self, key: ServiceKey) -> None:
        """Move a key to those that are compared one by one."""
        if key in self.charged_once:
            payer, amount = self.charged_once.pop(key)
            self.charged[key][payer] = amount
            if key in self.equal:
                self.invoiced[key].append((self.equal.pop(key), amount))

    def _index_invoices(self) -> None:
        for invoice in self.data.invoices:
            self.invoice_by_group[invoice.company_id] = invoice
            for key, amount in invoice.usage.items():
                self.invoice_by_account[key.customer_id] = invoice
                if key not in self.equal and self._is_charged_so(key, amount):
                    self.equal[key] = invoice
                else:
                    self._keep_by_payer(key)
                    self.invoiced[key].append((invoice, amount))

    def _is_charged_so(self, key: ServiceKey, amount: Decimal) -> bool:
        once = self.charged_once.get(key)
        return (
            once is not None
            and once[1] == amount
            and len(self.payers_by_account[key.customer_id]) == 1
        )

    def _add_moved_fees(self) -> None:
        """Treat moved fees as charges to the payer of the new owner."""
        for key, amount in self.data.moved_fees:
            payer = self._find_payer(key.customer_id)
            statement = self.statements[payer, key.currency]
            statement.moved_fees = add_decimals(statement.moved_fees, amount)
            self._keep_by_payer(key)
            self.charged[key][payer] = add_decimals(self.charged[key][payer], amount)

    def _add_equal_amounts(self) -> None:
        equal_amounts: defaultdict[tuple[str, str], list[Decimal]] = defaultdict(list)
        for key in list(self.charged_once):
            if key in self.equal:
                payer, amount = self.charged_once[key]
                equal_amounts[payer, key.currency].append(amount)
            else:
                self._keep_by_payer(key)
        for (payer, currency), amounts in equal_amounts.items():
            self._add_invoiced(payer, currency, sum_decimals(amounts))

    def _find_payer(self, customer_id: str) -> str:
        """The account's registered payer unless only others are charged for it.

        Otherwise, and for unknown accounts: the first payer charged, or else named on an invoice.
        """
        account = self.data.accounts.get(customer_id)
        invoice = self.invoice_by_account.get(customer_id)
        payers = self.payers_by_account.get(customer_id, ())
        if account is not None and (account.payer_id in payers or not payers):
            return account.payer_id
        return min(payers or (invoice.payers if invoice else ()), default="")

    def _check_usage(self, key: ServiceKey) -> None:
        account = self.data.accounts.get(key.customer_id)
        company_id = account.company_id if account else None
        invoice = self.invoice_by_account.get(key.customer_id)
        invoice = invoice or self.invoice_by_group.get(company_id or "")
        if invoice is not None:
            self._compare_with_invoice(key, invoice)
        elif company_id is not None:
            is_cancelled = company_id in self.data.cancelled_groups
            reason = INVOICE_CANCELLED if is_cancelled else INVOICE_MISSING
            for payer, amount in self.charged[key].items():
                self._add_difference(payer, reason, company_id, None, key, ZERO, amount)
        else:
            self._add_usage_in_no_group(key)

    def _add_usage_in_no_group(self, key: ServiceKey) -> None:
        for payer, amount in self.charged[key].items():
            statement = self.statements[payer, key.currency]
            statement.in_no_group = add_decimals(statement.in_no_group, amount)
            account_key = (payer, key.customer_id, key.currency)
            self.in_no_group[account_key] = add_decimals(self.in_no_group[account_key], amount)

    def _compare_with_invoice(self, key: ServiceKey, invoice: InvoicedUsage) -> None:
        """If several payers are charged, a difference is assigned to the account's own payer."""
        own_payer = self._find_payer(key.customer_id)
        charged: Mapping[str, Decimal] = self.charged.get(key, {})
        invoices = self.invoiced.get(key, [])
        invoiced = sum_decimals([amount for _, amount in invoices])
        for payer, amount in charged.items():
            if payer != own_payer:
                invoiced = subtract_decimals(invoiced, amount)
                self._add_invoiced(payer, key.currency, amount)
        self._add_invoiced(own_payer, key.currency, invoiced)
        if invoiced == charged.get(own_payer, ZERO):
            return
        if not invoices:
            reason = NOT_ON_INVOICE
        elif not charged:
            reason = NOT_IN_COSTS
        else:
            reason = AMOUNT_DIFFERS
        if invoices:
            invoice = invoices[0][0]
        self._add_difference(
            own_payer,
            reason,
            invoice.company_id,
            invoice.invoice_no,
            key,
            invoiced,
            charged.get(own_payer, ZERO),
        )

    def _add_invoiced(self, payer: str, currency: str, amount: Decimal) -> None:
        statement = self.statements[payer, currency]
        statement.invoiced = add_decimals(statement.invoiced, amount)

    def _add_difference(
        self,
        payer: str,
        reason: str,
        company_id: str | None,
        invoice_no: str | None,
        key: ServiceKey,
        invoiced: Decimal,
        charged: Decimal,
    ) -> None:
        """Equal amounts are no difference, except that a missing invoice is one even over zero."""
        if invoiced != charged or reason in (INVOICE_MISSING, INVOICE_CANCELLED):
            self.differences.append(
                AmountDifference(
                    payer_id=payer,
                    reason=reason,
                    company_id=company_id,
                    invoice_no=invoice_no,
                    key=key,
                    invoiced=invoiced,
                    charged=charged,
                )
            )

    def _check_entries(self) -> None:
        """Compare one-off lines with the entries created from them, account by account."""
        entries: defaultdict[tuple[str, ServiceKey], Decimal] = defaultdict(Decimal)
        lines: defaultdict[tuple[str, ServiceKey], Decimal] = defaultdict(Decimal)
        for entry in self.data.entries:
            self._add_entry(entry)
            key = entry.payer_id, ServiceKey(entry.customer_id, "", False, entry.currency)
            entries[key] = add_decimals(entries[key], entry.amount)
        for charge in self.data.charges:
            if charge.kind == "entry":
                account_key = ServiceKey(charge.key.customer_id, "", False, charge.key.currency)
                key = charge.payer_id, account_key
                lines[key] = add_decimals(lines[key], charge.amount)
        for payer, account_key in sorted(entries.keys() | lines.keys()):
            account = self.data.accounts.get(account_key.customer_id)
            self._add_difference(
                payer,
                ENTRIES_DIFFER,
                account.company_id if account else None,
                None,
                account_key,
                entries[payer, account_key],
                lines[payer, account_key],
            )

    def _add_entry(self, entry: EntryAmount) -> None:
        statement = self.statements[entry.payer_id, entry.currency]
        if entry.applied:
            statement.entries_applied = add_decimals(statement.entries_applied, entry.amount)
        else:
            statement.entries_unapplied = add_decimals(statement.entries_unapplied, entry.amount)
