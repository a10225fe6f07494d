"""The two CSV files of a customer's invoice; all amounts are printed amounts.

The discount file has the rows of billing administration. The merged file has one row for each
service in place of one for each account (or tag) and service.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

import msgspec

from nimbill.foundation.language import Language
from nimbill.foundation.money import sum_decimals
from nimbill.invoicing.calculation.lines import UsageLine
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.exports.columns import INVOICE_ACCOUNT, INVOICE_TAG
from nimbill.invoicing.exports.csv_file import encode_csv
from nimbill.invoicing.exports.invoice_csv import (
    build_invoice_account_rows,
    build_invoice_tag_rows,
)
from nimbill.portal.csv_headings import translate_headings

EncodeInvoice = Callable[[InvoiceDocument, Language | None], bytes]


def encode_discount_csv(document: InvoiceDocument, language: Language | None = None) -> bytes:
    """Encode the rows of the invoice, which is by account or by tag."""
    by_tag = document.terms.calc_type == "tag"
    header = translate_headings(INVOICE_TAG if by_tag else INVOICE_ACCOUNT, language)
    build_rows = build_invoice_tag_rows if by_tag else build_invoice_account_rows
    return encode_csv(header, build_rows([document]))


def encode_merged_csv(document: InvoiceDocument, language: Language | None = None) -> bytes:
    """Encode the same rows after adding up each service over all accounts or tags."""
    lines = tuple(_merge_lines(document.sheet.lines))
    sheet = msgspec.structs.replace(document.sheet, lines=lines)
    return encode_discount_csv(msgspec.structs.replace(document, sheet=sheet), language)


def _merge_lines(lines: Iterable[UsageLine]) -> Iterator[UsageLine]:
    ordered = sorted(lines, key=_get_service)
    for _, group in groupby(ordered, key=_get_service):
        same_service = list(group)
        yield msgspec.structs.replace(
            same_service[0],
            customer_id="",
            customer_name="",
            tag="",
            charge=sum_decimals(line.charge for line in same_service),
            after=sum_decimals(line.after for line in same_service),
        )


def _get_service(line: UsageLine) -> tuple[str, bool]:
    """Marketplace lines of a service stay apart, as on the invoice."""
    return line.name, line.marketplace
