"""Whether what the vendor charged is all accounted for, line by line; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from nimbill.foundation.basis import chosen
from nimbill.foundation.money import difference, total_of

basis = chosen("tie-out")

NOTHING = Decimal(0)

AMOUNT_DIFFERS = "amount_differs"
INVOICE_MISSING = "invoice_missing"
NOT_ON_INVOICE = "not_on_invoice"
NOT_IN_COSTS = "not_in_costs"
ENTRIES_DIFFER = "entries_differ"

Amounts = defaultdict[str, Decimal]


@dataclass(frozen=True, slots=True, order=True)
class Service:
    """What an invoice has one amount at cost for."""

    customer_id: str
    service: str
    marketplace: bool
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """A sum of the vendor's lines of one kind."""

    payer_id: str
    kind: str
    what: Service
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A recalculation entry of the month; `applied` into whatever month."""

    payer_id: str
    customer_id: str
    currency: str
    amount: Decimal
    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoice:
    """Its usage at cost; what several lines of a service cost is one amount."""

    company_id: str
    invoice_no: str
    payers: tuple[str, ...]
    usage: Mapping[Service, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    company_id: str
    payer_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """Everything of one vendor and one month that has to agree."""

    charged: Iterable[Charged]
    entries: Iterable[Entry]
    moved: Iterable[tuple[Service, Decimal]]  # fees of reservations; together nothing
    invoices: Iterable[Invoice]
    accounts: Mapping[str, Account]  # those in a billing group


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    payer_id: str
    reason: str
    company_id: str | None
    invoice_no: str | None
    what: Service
    invoiced: Decimal
    counts: Decimal

    @property
    def amount(self) -> Decimal:
        return difference(self.counts, self.invoiced)


@dataclass(slots=True)
class Statement:
    """Of one payer in one currency."""

    by_kind: Amounts = field(default_factory=lambda: Amounts(Decimal))
    moved_fees: Decimal = NOTHING  # to the payer's accounts from those of others
    invoiced: Decimal = NOTHING
    in_no_group: Decimal = NOTHING
    entries_applied: Decimal = NOTHING
    entries_unapplied: Decimal = NOTHING

    @property
    def total(self) -> Decimal:
        return total_of(self.by_kind.values())

    @property
    def difference(self) -> Decimal:
        """What the vendor charged and nothing accounts for."""
        apart = [self.by_kind[kind] for kind in ("tax", "discount", "unknown")]
        entries = [self.entries_applied, self.entries_unapplied]
        found = total_of([self.invoiced, self.in_no_group, *entries, *apart])
        return difference(total_of([self.total, self.moved_fees]), found)


@dataclass(slots=True)
class TiedOut:
    statements: dict[tuple[str, str], Statement]  # by payer and currency
    differences: list[Difference]
    in_no_group: dict[tuple[str, str, str], Decimal]  # by payer, account and currency

    @property
    def ties(self) -> bool:
        """Nothing differs, also where differences would cancel each other."""
        return not self.differences and not any(one.difference for one in self.statements.values())


def tie_out(month: Month) -> TiedOut:
    return _TieOut(month).done()


class _TieOut:
    def __init__(self, month: Month) -> None:
        self.month = month
        self.statements: defaultdict[tuple[str, str], Statement] = defaultdict(Statement)
        self.differences: list[Difference] = []
        self.in_no_group: defaultdict[tuple[str, str, str], Decimal] = defaultdict(Decimal)
        self.paid: defaultdict[Service, Amounts] = defaultdict(lambda: Amounts(Decimal))
        self.payers: defaultdict[str, set[str]] = defaultdict(set)  # of an account
        self.on_invoices: defaultdict[Service, list[tuple[Invoice, Decimal]]] = defaultdict(list)
        self.invoice_of: dict[str, Invoice] = {}  # of an account
        self.invoice_of_group: dict[str, Invoice] = {}

    def done(self) -> TiedOut:
        self._read_charged()
        self._read_invoices()
        self._read_moved()
        for what in sorted(self.paid.keys() | self.on_invoices.keys()):
            self._usage(what)
        self._entries()
        self.differences.sort(key=lambda one: (one.payer_id, one.what, one.reason))
        return TiedOut(
            statements=dict(sorted(self.statements.items())),
            differences=self.differences,
            in_no_group=dict(sorted(self.in_no_group.items())),
        )

    def _read_charged(self) -> None:
        for one in self.month.charged:
            kinds = self.statements[one.payer_id, one.what.currency].by_kind
            kinds[one.kind] = total_of([kinds[one.kind], one.amount])
            if one.kind == "usage":
                self.payers[one.what.customer_id].add(one.payer_id)
                paid = self.paid[one.what]
                paid[one.payer_id] = total_of([paid[one.payer_id], one.amount])

    def _read_invoices(self) -> None:
        for invoice in self.month.invoices:
            self.invoice_of_group[invoice.company_id] = invoice
            for what, amount in invoice.usage.items():
                self.on_invoices[what].append((invoice, amount))
                self.invoice_of[what.customer_id] = invoice

    def _read_moved(self) -> None:
        """Counted as if the payer of the new owner had paid them."""
        for what, amount in self.month.moved:
            payer = self._payer_of(what.customer_id)
            statement, paid = self.statements[payer, what.currency], self.paid[what]
            statement.moved_fees = total_of([statement.moved_fees, amount])
            paid[payer] = total_of([paid[payer], amount])

    def _payer_of(self, customer_id: str) -> str:
        """The account's own, if it paid; else the first who did, or is said to."""
        account, invoice = self.month.accounts.get(customer_id), self.invoice_of.get(customer_id)
        paying = self.payers.get(customer_id, set())
        if account is not None and (account.payer_id in paying or not paying):
            return account.payer_id
        return min(paying or (invoice.payers if invoice else ()), default="")

    def _usage(self, what: Service) -> None:
        account = self.month.accounts.get(what.customer_id)
        group = account.company_id if account else None
        invoice = self.invoice_of.get(what.customer_id) or self.invoice_of_group.get(group or "")
        if invoice is not None:
            self._compare(what, invoice)
        elif group is not None:
            for payer, amount in self.paid[what].items():
                self._differs(payer, INVOICE_MISSING, group, None, what, NOTHING, amount)
        else:
            for payer, amount in self.paid[what].items():
                key, statement = (payer, what.customer_id, what.currency), self._of(payer, what)
                statement.in_no_group = total_of([statement.in_no_group, amount])
                self.in_no_group[key] = total_of([self.in_no_group[key], amount])

    def _compare(self, what: Service, invoice: Invoice) -> None:
        """Where several paid, a difference is with the account's own payer; the others agree."""
        own, paid = self._payer_of(what.customer_id), dict(self.paid[what])
        billed = self.on_invoices[what]
        invoiced = total_of(amount for _, amount in billed)
        for payer, amount in paid.items():
            if payer != own:
                invoiced = difference(invoiced, amount)
                statement = self._of(payer, what)
                statement.invoiced = total_of([statement.invoiced, amount])
        counts = paid.get(own, NOTHING)
        statement = self._of(own, what)
        statement.invoiced = total_of([statement.invoiced, invoiced])
        if not billed:
            reason = NOT_ON_INVOICE
        elif not paid:
            reason = NOT_IN_COSTS
        else:
            reason = AMOUNT_DIFFERS
        of = billed[0][0] if billed else invoice
        self._differs(own, reason, of.company_id, of.invoice_no, what, invoiced, counts)

    def _of(self, payer: str, what: Service) -> Statement:
        return self.statements[payer, what.currency]

    def _differs(
        self,
        payer: str,
        reason: str,
        company_id: str | None,
        invoice_no: str | None,
        what: Service,
        invoiced: Decimal,
        counts: Decimal,
    ) -> None:
        """Listed, unless there is no difference; a missing invoice is one even over nothing."""
        if invoiced != counts or reason == INVOICE_MISSING:
            self.differences.append(
                Difference(
                    payer_id=payer,
                    reason=reason,
                    company_id=company_id,
                    invoice_no=invoice_no,
                    what=what,
                    invoiced=invoiced,
                    counts=counts,
                )
            )

    def _entries(self) -> None:
        """Each one-off line is an entry; that none was lost is looked at account by account."""
        kept: defaultdict[tuple[str, Service], Decimal] = defaultdict(Decimal)
        lines: defaultdict[tuple[str, Service], Decimal] = defaultdict(Decimal)
        for entry in self.month.entries:
            statement = self.statements[entry.payer_id, entry.currency]
            if entry.applied:
                statement.entries_applied = total_of([statement.entries_applied, entry.amount])
            else:
                statement.entries_unapplied = total_of([statement.entries_unapplied, entry.amount])
            key = entry.payer_id, Service(entry.customer_id, "", False, entry.currency)
            kept[key] = total_of([kept[key], entry.amount])
        for one in self.month.charged:
            if one.kind == "entry":
                key = one.payer_id, Service(one.what.customer_id, "", False, one.what.currency)
                lines[key] = total_of([lines[key], one.amount])
        for payer, what in sorted(kept.keys() | lines.keys()):
            account = self.month.accounts.get(what.customer_id)
            company_id = account.company_id if account else None
            had, has = kept[payer, what], lines[payer, what]
            self._differs(payer, ENTRIES_DIFFER, company_id, None, what, had, has)
