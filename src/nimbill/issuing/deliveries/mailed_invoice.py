"""What a mail tells of an invoice: some fields of the stored document, with the same names."""

from decimal import Decimal

import msgspec

from nimbill.foundation.currency import Currency
from nimbill.foundation.vendor_names import label_vendor
from nimbill.invoicing.documents.document import Addressee, Issuer


class MailedSheet(msgspec.Struct, frozen=True, kw_only=True):
    total: Decimal


class MailedInvoice(msgspec.Struct, frozen=True, kw_only=True):
    """Decoding only these fields takes a tenth of the time."""

    invoice_no: str
    revision: int
    month: str
    vendor: str
    due_date: str | None
    addressee: Addressee
    issuer: Issuer | None
    currency: Currency
    sheet: MailedSheet
    vendor_label: str | None = None

    @property
    def vendor_name(self) -> str:
        return self.vendor_label or label_vendor(self.vendor, {})


def decode_mailed_invoice(text: str) -> MailedInvoice:
    return _decoder.decode(text)


_decoder = msgspec.json.Decoder(MailedInvoice)
