"""The stored invoice document: everything it was calculated from and everything printed on it.

The API response, the CSV file and the PDF read only this document, so that they show what was sent
even after the records have changed.
"""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

import msgspec

from nimbill.customers.billing_groups.fee_targets import FeeTargets
from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.foundation import exact_json
from nimbill.foundation.currency import CURRENCIES, Currency
from nimbill.foundation.language import Language
from nimbill.foundation.money import (
    ExactAmount,
    Rounding,
    convert_currency,
    round_amount,
    sum_exact,
    to_exact,
)
from nimbill.foundation.vendor_names import label_vendor
from nimbill.invoicing.calculation.charges import (
    AppliedEntry,
    FreeItem,
    MonthlyCharges,
)
from nimbill.invoicing.calculation.sheet import InvoiceSheet
from nimbill.invoicing.calculation.terms import Terms
from nimbill.invoicing.documents.late_cost import LateCost

COMPARED_ITEM_FIELDS = ("label", "unit_cost", "quantity", "total")
FORM_VERSION = 1  # increased when the format changes; older documents stay readable


class _FrozenStruct(msgspec.Struct, frozen=True, kw_only=True):
    pass


class Addressee(_FrozenStruct, frozen=True, kw_only=True):
    company_name: str
    contact: str | None
    postal: str | None
    address: str | None
    phone: str | None


class Issuer(_FrozenStruct, frozen=True, kw_only=True):
    """A copy of the invoice template."""

    invoice_template_id: str
    company: str
    postal: str | None = None
    address: str | None = None
    phone: str | None = None
    contact: str | None = None
    registration_number: str | None = None
    bank_account: str | None = None
    notes: str | None = None
    accent_colour: str | None = None


class InvoiceProject(_FrozenStruct, frozen=True, kw_only=True):
    project_id: str
    project_code: str
    project_label: str
    project_currency: str


class PayerImport(_FrozenStruct, frozen=True, kw_only=True):
    """The import that a payer's costs come from."""

    payer_id: str
    import_id: str
    provisional: bool


class VendorCharge(_FrozenStruct, frozen=True, kw_only=True):
    """The vendor's charges for the accounts without vendor tax, in one currency."""

    currency: str
    amount: Decimal


class InvoiceDocument(_FrozenStruct, frozen=True, kw_only=True):
    form: int = FORM_VERSION

    invoice_no: str
    revision: int  # 1 for the first
    month: str
    vendor: str
    issue_date: str  # yyyy-mm-dd in the organisation's time zone
    due_date: str | None
    language: Language

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    inv_aggregate: bool
    addressee: Addressee
    title: str | None
    remarks: str | None
    memo: str | None
    issuer: Issuer | None
    project: InvoiceProject | None

    currency: Currency
    cost_currency: Currency
    exchange_rate: Decimal
    setting: InvoiceSetting  # as saved
    tag_key: str | None
    imports: list[PayerImport]
    stock: list[VendorCharge]  # the vendor cost

    terms: Terms
    charges: MonthlyCharges
    sheet: InvoiceSheet

    vendor_label: str | None = None  # as printed; None in documents without it
    replaces: str | None = None  # the number of the invoice in whose place this one was created
    late_costs: tuple[LateCost, ...] = ()  # contained in the charges, but not in what counts

    @property
    def pre_tax(self) -> Decimal:
        return self.sheet.pre_tax

    @property
    def vendor_name(self) -> str:
        return self.vendor_label or label_vendor(self.vendor, {})


def encode_document(document: InvoiceDocument) -> str:
    """Encode as JSON; decimals keep their digits."""
    return exact_json.encode(document).decode()


def encode_saved_inputs(document: InvoiceDocument) -> str:
    """Encode what people saved for the invoice: terms, exchange rate, memo and enabled items."""
    fields = {name: getattr(document.setting, name) for name in InvoiceSetting.__struct_fields__}
    targets = {name: getattr(document.terms, name) for name in FeeTargets.__dataclass_fields__}
    items = [
        {name: getattr(item, name) for name in COMPARED_ITEM_FIELDS}
        for item in document.charges.items
        if item.enabled
    ]
    others = {"exchange_rate": document.exchange_rate, "memo": document.memo, "items": items}
    return exact_json.encode(fields | targets | others).decode()


class InvoiceWarningCode(StrEnum):
    """What an invoice lacks that its recipient may need; it is created all the same."""

    issuer_missing = "issuer_missing"
    registration_number_missing = "registration_number_missing"


def find_warnings(document: InvoiceDocument) -> tuple[InvoiceWarningCode, ...]:
    """A qualified invoice names its issuer and the issuer's registration number."""
    if document.issuer is None:
        return (InvoiceWarningCode.issuer_missing,)
    if not document.issuer.registration_number:
        return (InvoiceWarningCode.registration_number_missing,)
    return ()


class InvoiceDraft(NamedTuple):
    """An encoded document without its number; it needs a fraction of the document's memory."""

    company_id: str
    lines: int
    columns: Mapping[str, object]  # of the table of revisions
    text: str

    def encode_with_number(self, invoice_no: str, revision: int) -> str:
        """Insert the number; its placeholder comes before any text that users can enter."""
        number = f'"invoice_no":"{invoice_no}","revision":{revision},'
        return self.text.replace(_NUMBER_PLACEHOLDER, number, 1)


_NUMBER_PLACEHOLDER = '"invoice_no":"","revision":0,'


def build_draft(document: InvoiceDocument) -> InvoiceDraft:
    sheet, text = document.sheet, encode_document(document)
    assert text.startswith(f'{{"form":{FORM_VERSION},{_NUMBER_PLACEHOLDER}'), (
        "the document has a number already"
    )
    return InvoiceDraft(document.company_id, len(sheet.lines), _list_columns(document), text)


def _list_columns(document: InvoiceDocument) -> dict[str, object]:
    """The values that queries need without decoding the document, by column of the revision."""
    sheet = document.sheet
    return {
        "counterparty": document.addressee.company_name,
        "currency": sheet.currency.value,
        "pre_tax": sheet.pre_tax,
        "taxable": sheet.taxable,
        "tax_rate": sheet.tax_rate,
        "tax": sheet.tax,
        "total": sheet.total,
        "pre_tax_usd": sheet.pre_tax_usd,
        "discount_rate": document.terms.discount_rate,
        "exchange_rate": document.exchange_rate,
        "vendor_cost": round_vendor_cost(document),
        "cost_currency": sheet.cost_currency.value,
        "issue_date": document.issue_date,
        "due_date": document.due_date,
        "warnings": find_warnings(document),
        "saved_inputs": encode_saved_inputs(document),
        "vendor_charges": exact_json.encode(document.stock).decode(),
    }


def decode_document(text: str) -> InvoiceDocument:
    return _document_decoder.decode(text)


_document_decoder = msgspec.json.Decoder(InvoiceDocument)


# ── summaries: decoding only some fields takes a tenth of the time ────────────────────────────────


class _SummarySheet(_FrozenStruct, frozen=True, kw_only=True):
    total: Decimal


class _SummaryCharges(_FrozenStruct, frozen=True, kw_only=True):
    items: tuple[FreeItem, ...]


class InvoiceSummary(_FrozenStruct, frozen=True, kw_only=True):
    """Some fields of InvoiceDocument, with the same names."""

    invoice_no: str
    exchange_rate: Decimal
    memo: str | None
    setting: InvoiceSetting
    charges: _SummaryCharges
    sheet: _SummarySheet


def decode_summary(text: str) -> InvoiceSummary:
    return _summary_decoder.decode(text)


_summary_decoder = msgspec.json.Decoder(InvoiceSummary)


class _InvoicedUsageCharge(_FrozenStruct, frozen=True, kw_only=True):
    customer_id: str
    service: str
    marketplace: bool
    amount: Decimal


class _InvoicedCharges(_FrozenStruct, frozen=True, kw_only=True):
    usage: tuple[_InvoicedUsageCharge, ...]
    entries: tuple[AppliedEntry, ...]


class InvoicedAmounts(_FrozenStruct, frozen=True, kw_only=True):
    """What the tie-out compares: some fields of InvoiceDocument, with the same names."""

    revision: int
    cost_currency: Currency
    imports: list[PayerImport]
    charges: _InvoicedCharges
    late_costs: tuple[LateCost, ...] = ()


def decode_invoiced_amounts(text: str) -> InvoicedAmounts:
    return _amounts_decoder.decode(text)


_amounts_decoder = msgspec.json.Decoder(InvoicedAmounts)


# ── margins ──────────────────────────────────────────────────────────────────────────────────────


class InvoiceAmounts(NamedTuple):
    """What the totals of many invoices need, without their documents."""

    company_id: str
    vendor: str
    invoice_no: str
    currency: Currency
    exchange_rate: Decimal
    pre_tax: Decimal
    stock: list[VendorCharge]
    is_cancelled: bool


def decode_vendor_charges(text: str) -> list[VendorCharge]:
    return _charges_decoder.decode(text)


_charges_decoder = msgspec.json.Decoder(list[VendorCharge])


def convert_sales(document: InvoiceDocument | InvoiceAmounts, currency: Currency) -> ExactAmount:
    """The invoiced amount before tax, converted at the invoice's rate; not rounded."""
    rate = to_exact(document.exchange_rate)
    return convert_currency(to_exact(document.pre_tax), document.currency, currency, rate)


def round_vendor_cost(document: InvoiceDocument) -> Decimal:
    """The vendor's charges without tax, in the currency of the invoice."""
    currency = document.sheet.currency
    return round_amount(convert_vendor_cost(document, currency), currency, Rounding.half_up)


def convert_vendor_cost(
    document: InvoiceDocument | InvoiceAmounts, currency: Currency
) -> ExactAmount:
    """The vendor's charges without tax, converted at the invoice's rate; not rounded."""
    rate = to_exact(document.exchange_rate)
    return sum_exact(
        convert_currency(to_exact(charge.amount), CURRENCIES[charge.currency], currency, rate)
        for charge in document.stock
        if charge.currency in CURRENCIES
    )
