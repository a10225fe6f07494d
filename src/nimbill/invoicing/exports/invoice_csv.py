"""The two files about a month's invoices, by account and by tag: rows that foot to the page."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby

from nimbill.foundation.basis import chosen
from nimbill.foundation.money import difference, total_of
from nimbill.invoicing.calculation.lines import EntryLine, Fee, UsageLine
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.exports.csv_file import Cell

basis = chosen("invoice-csv")

NOTHING = Decimal(0)

Row = tuple[Cell, ...]
Whose = tuple[str, ...]  # account and its name, or the tag


def invoice_account_rows(documents: Iterable[InvoiceDocument]) -> Iterator[Row]:
    """Of the invoices whose lines are accounts'."""
    return _rows(documents, "account")


def invoice_tag_rows(documents: Iterable[InvoiceDocument]) -> Iterator[Row]:
    """Of the invoices whose lines are tags'."""
    return _rows(documents, "tag")


def _rows(documents: Iterable[InvoiceDocument], calc_type: str) -> Iterator[Row]:
    for document in documents:
        if document.terms.calc_type == calc_type:
            yield from _Invoice(document).rows()


class _Invoice:
    """Amounts as printed; beside each other in a row, below each other in the file."""

    def __init__(self, document: InvoiceDocument) -> None:
        self.sheet = document.sheet
        self.by_tag = document.terms.calc_type == "tag"
        self.group = (
            document.billinggroup_id,
            document.billinggroup_name,
            document.addressee.company_name,
            document.vendor,
        )

    def rows(self) -> Iterator[Row]:
        for line in self.sheet.lines:
            yield self._row(self._of_line(line), "Service", line.service, line.charge, line.after)
        for whose, lines in groupby(self.sheet.lines, key=self._of_line):
            charge, after = _sums(list(lines))
            yield self._row(whose, "Account", "_ACCOUNT_TOTAL", charge, after)
        yield self._fee("_SUPPORT", self.sheet.support)
        yield self._fee("_SUBSTITUTION", self.sheet.agency)
        for entry in self.sheet.entries:
            yield self._entry(entry)
        yield self._total()

    def _of_line(self, line: UsageLine) -> Whose:
        return (line.tag,) if self.by_tag else (line.customer_id, line.customer_name)

    @property
    def _nobody(self) -> Whose:
        return ("",) if self.by_tag else ("", "")

    def _fee(self, name: str, fee: Fee | None) -> Row:
        charge, after = (fee.charge, fee.after) if fee else (NOTHING, NOTHING)
        return self._row(self._nobody, "Product", name, charge, after)

    def _entry(self, entry: EntryLine) -> Row:
        whose = self._nobody if self.by_tag else (entry.customer_id, entry.customer_name)
        taxed = NOTHING if entry.tax_free else entry.amount
        return self._row(whose, "Product", entry.description, entry.amount, entry.amount, taxed)

    def _total(self) -> Row:
        sheet = self.sheet
        items = total_of(item.total for item in sheet.items)
        fees = [fee for fee in (sheet.support, sheet.agency) if fee]
        entries = [entry.amount for entry in sheet.entries]
        charge = total_of([sheet.usage_charge, *(fee.charge for fee in fees), *entries])
        return self._row(
            self._nobody,
            "Product",
            "_TOTAL",
            charge,
            difference(sheet.pre_tax, items),
            difference(sheet.taxable, items),
            at_the_end=(items, sheet.tax, sheet.total),
        )

    def _row(
        self,
        whose: Whose,
        kind: str,
        name: str,
        charge: Decimal,
        after: Decimal,
        taxed: Decimal | None = None,
        *,
        at_the_end: tuple[Cell, Cell, Cell] = (None, None, None),
    ) -> Row:
        items, tax, total = at_the_end
        taxed = after if taxed is None else taxed
        of_service = 0
        return (
            *self.group,
            *whose,
            kind,
            name,
            charge,
            after,
            taxed,
            items,
            of_service,
            tax,
            total,
        )


def _sums(lines: list[UsageLine]) -> tuple[Decimal, Decimal]:
    return total_of(line.charge for line in lines), total_of(line.after for line in lines)
