"""The rows of the two invoice files, by account and by tag; they add up to the invoice."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby

from nimbill.foundation.money import subtract_decimals, sum_decimals
from nimbill.invoicing.calculation.lines import EntryLine, Fee, UsageLine
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.exports.csv_file import Cell

# See docs/choices.md, invoice-csv.

ZERO = Decimal(0)

CsvRow = tuple[Cell, ...]
RowOwner = tuple[str, ...]  # account id and name, or the tag


def build_invoice_account_rows(documents: Iterable[InvoiceDocument]) -> Iterator[CsvRow]:
    """The rows of invoices with calc_type account."""
    return _build_rows(documents, "account")


def build_invoice_tag_rows(documents: Iterable[InvoiceDocument]) -> Iterator[CsvRow]:
    """The rows of invoices with calc_type tag."""
    return _build_rows(documents, "tag")


def _build_rows(documents: Iterable[InvoiceDocument], calc_type: str) -> Iterator[CsvRow]:
    for document in documents:
        if document.terms.calc_type == calc_type:
            yield from _InvoiceRows(document).rows()


class _InvoiceRows:
    """All amounts are the printed amounts of the invoice."""

    def __init__(self, document: InvoiceDocument) -> None:
        self.sheet = document.sheet
        self.by_tag = document.terms.calc_type == "tag"
        self.group = (
            document.billinggroup_id,
            document.billinggroup_name,
            document.addressee.company_name,
            document.vendor,
        )

    def rows(self) -> Iterator[CsvRow]:
        for line in self.sheet.lines:
            yield self._build_row(
                self._line_owner(line), "Service", line.name, line.charge, line.after
            )
        for owner, lines in groupby(self.sheet.lines, key=self._line_owner):
            charge, after = _sum_lines(list(lines))
            yield self._build_row(owner, "Account", "_ACCOUNT_TOTAL", charge, after)
        yield self._build_fee_row("_SUPPORT", self.sheet.support)
        yield self._build_fee_row("_SUBSTITUTION", self.sheet.agency)
        for entry in self.sheet.entries:
            yield self._build_entry_row(entry)
        yield self._build_total_row()

    def _line_owner(self, line: UsageLine) -> RowOwner:
        return (line.tag,) if self.by_tag else (line.customer_id, line.customer_name)

    @property
    def _no_owner(self) -> RowOwner:
        return ("",) if self.by_tag else ("", "")

    def _build_fee_row(self, name: str, fee: Fee | None) -> CsvRow:
        charge, after = (fee.charge, fee.after) if fee else (ZERO, ZERO)
        return self._build_row(self._no_owner, "Product", name, charge, after)

    def _build_entry_row(self, entry: EntryLine) -> CsvRow:
        owner = self._no_owner if self.by_tag else (entry.customer_id, entry.customer_name)
        taxed = ZERO if entry.tax_free else entry.amount
        return self._build_row(
            owner, "Product", entry.description, entry.amount, entry.amount, taxed
        )

    def _build_total_row(self) -> CsvRow:
        sheet = self.sheet
        items = sum_decimals(item.total for item in sheet.items)
        fees = [fee for fee in (sheet.support, sheet.agency) if fee]
        entries = [entry.amount for entry in sheet.entries]
        charge = sum_decimals([sheet.usage_charge, *(fee.charge for fee in fees), *entries])
        return self._build_row(
            self._no_owner,
            "Product",
            "_TOTAL",
            charge,
            subtract_decimals(sheet.pre_tax, items),
            subtract_decimals(sheet.taxable, items),
            totals=(items, sheet.tax, sheet.total),
        )

    def _build_row(
        self,
        owner: RowOwner,
        kind: str,
        name: str,
        charge: Decimal,
        after: Decimal,
        taxed: Decimal | None = None,
        *,
        totals: tuple[Cell, Cell, Cell] = (None, None, None),
    ) -> CsvRow:
        items, tax, total = totals
        taxed = after if taxed is None else taxed
        custom_service = 0
        return (
            *self.group,
            *owner,
            kind,
            name,
            charge,
            after,
            taxed,
            items,
            custom_service,
            tax,
            total,
        )


def _sum_lines(lines: list[UsageLine]) -> tuple[Decimal, Decimal]:
    return sum_decimals(line.charge for line in lines), sum_decimals(line.after for line in lines)
