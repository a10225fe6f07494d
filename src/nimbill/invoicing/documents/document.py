"""An invoice as it is kept: all that it was worked out from and all that stands on it, frozen.

The answer, the CSV and the printed page read this and nothing else, so that what is shown years
later is what was sent, whatever became of the records since.
"""

from decimal import Decimal
from typing import NamedTuple

import msgspec

from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.foundation import exact_json
from nimbill.foundation.vocabulary import Currency, Language
from nimbill.invoicing.calculation.charges import FreeItem, MonthlyCharges
from nimbill.invoicing.calculation.sheet import InvoiceSheet
from nimbill.invoicing.calculation.terms import Terms

FORM = 1  # of the document; a later form is a new number, and old ones stay readable


class _Frozen(msgspec.Struct, frozen=True, kw_only=True):
    pass


class Addressee(_Frozen, frozen=True, kw_only=True):
    company_name: str
    contact: str | None
    postal: str | None
    address: str | None
    phone: str | None


class Issuer(_Frozen, frozen=True, kw_only=True):
    """The invoice template as it stood; see there for the rules of its fields."""

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


class Project(_Frozen, frozen=True, kw_only=True):
    project_id: str
    project_code: str
    project_label: str
    project_currency: str


class ImportOfPayer(_Frozen, frozen=True, kw_only=True):
    """Which import of which payer the costs are from."""

    payer_id: str
    import_id: str
    provisional: bool


class VendorCharge(_Frozen, frozen=True, kw_only=True):
    """What the vendor charged for the accounts without its tax, in one currency."""

    currency: str
    amount: Decimal


class InvoiceDocument(_Frozen, frozen=True, kw_only=True):
    form: int = FORM

    invoice_no: str
    revision: int  # 1 for the first
    month: str
    vendor: str
    issue_date: str  # yyyy-mm-dd, in the organisation's time zone
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
    project: Project | None

    currency: Currency
    cost_currency: Currency
    exchange_rate: Decimal
    setting: InvoiceSetting  # as it was saved
    tag_key: str | None
    imports: list[ImportOfPayer]
    stock: list[VendorCharge]

    terms: Terms
    charges: MonthlyCharges
    sheet: InvoiceSheet


def written(document: InvoiceDocument) -> str:
    """As JSON text, decimals with the digits they have."""
    return exact_json.write(document).decode()


class Draft(NamedTuple):
    """A document but for its number, as it will be kept: a fraction of the size in memory."""

    company_id: str
    lines: int
    currency: str
    pre_tax: Decimal
    tax: Decimal
    total: Decimal
    pre_tax_usd: Decimal
    text: str

    def numbered(self, invoice_no: str, revision: int) -> str:
        """The text of the document with these two, which stand before all that anybody wrote."""
        own = f'"invoice_no":"{invoice_no}","revision":{revision},'
        return self.text.replace(_UNNUMBERED, own, 1)


_UNNUMBERED = '"invoice_no":"","revision":0,'


def draft_of(document: InvoiceDocument) -> Draft:
    sheet, text = document.sheet, written(document)
    assert text.startswith(f'{{"form":{FORM},{_UNNUMBERED}'), "drawn up, and not numbered yet"
    return Draft(
        company_id=document.company_id,
        lines=len(sheet.lines),
        currency=sheet.currency.value,
        pre_tax=sheet.pre_tax,
        tax=sheet.tax,
        total=sheet.total,
        pre_tax_usd=sheet.pre_tax_usd,
        text=text,
    )


def read(text: str) -> InvoiceDocument:
    return _decoder.decode(text)


_decoder = msgspec.json.Decoder(InvoiceDocument)


# ── a month of them at a glance: the rest of each is skipped, which takes a tenth of the time ─────


class _Sums(_Frozen, frozen=True, kw_only=True):
    pre_tax: Decimal
    total: Decimal


class _Items(_Frozen, frozen=True, kw_only=True):
    items: tuple[FreeItem, ...]


class Glance(_Frozen, frozen=True, kw_only=True):
    """The same fields by the same names, but few of them."""

    invoice_no: str
    vendor: str
    currency: Currency
    exchange_rate: Decimal
    memo: str | None
    setting: InvoiceSetting
    stock: list[VendorCharge]
    charges: _Items
    sheet: _Sums


def glance(text: str) -> Glance:
    return _glancing.decode(text)


_glancing = msgspec.json.Decoder(Glance)
