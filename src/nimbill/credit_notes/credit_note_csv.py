"""The credit notes of a month as CSV, one row for each note and tax rate."""

from collections.abc import Iterable

from nimbill.credit_notes.document import CreditNoteDocument
from nimbill.foundation.money import add_decimals
from nimbill.invoicing.exports.csv_file import Cell, encode_csv

HEADER = (
    "返還請求書番号",
    "発行日",
    "請求書番号",
    "取引年月",
    "請求グループID",
    "請求グループ名",
    "ベンダー",
    "通貨",
    "税率",
    "返還金額（税抜）",
    "消費税",
    "返還金額（税込）",
    "理由",
)


def encode_credit_notes(notes: Iterable[CreditNoteDocument]) -> bytes:
    return encode_csv(HEADER, (row for note in notes for row in _list_rows(note)))


def _list_rows(note: CreditNoteDocument) -> Iterable[list[Cell]]:
    """The tax rate of what is not subject to tax is empty."""
    for each in note.taxes:
        yield [
            note.credit_note_no,
            note.issue_date,
            note.invoice_no,
            note.month,
            note.billinggroup_id,
            note.billinggroup_name,
            note.vendor,
            note.currency.value,
            each.tax_rate,
            each.pre_tax,
            each.tax,
            add_decimals(each.pre_tax, each.tax),
            note.reason,
        ]
