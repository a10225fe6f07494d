"""Response bodies of the customer's invoices.

They repeat what is printed, and name each field: a field of the stored document that is not here,
such as the vendor's cost or the explanation of an amount, is not shown.
"""

from decimal import Decimal
from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.currency import Currency
from nimbill.http.request_bodies import Body, described
from nimbill.invoicing.calculation.lines import EntryLine, Fee, ItemLine, UsageLine
from nimbill.invoicing.documents.document import Addressee, InvoiceDocument, Issuer
from nimbill.invoicing.documents.invoice_state import InvoiceState
from nimbill.receivables.payments.payment_rules import PaymentState


class CustomerPayment(Body, frozen=True, kw_only=True):
    """What is left to pay of a sent invoice."""

    basis: ClassVar[Basis] = chosen("portal-invoices")

    state: PaymentState
    open_balance: Decimal
    overdue: bool


class CustomerReplacedInvoice(Body, frozen=True, kw_only=True):
    """An invoice that the customer received earlier and does not owe any more."""

    basis: ClassVar[Basis] = chosen("portal-invoices")

    invoice_no: str
    state: InvoiceState
    replacement_no: Annotated[str, described("the number of the invoice in its place")]
    replaced_time: str


class CustomerInvoiceHead(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-invoices")

    company_id: str
    month: str
    vendor: str
    invoice_no: str
    issue_date: str
    due_date: str | None
    currency: Currency
    pre_tax: Decimal
    tax: Decimal
    total: Decimal
    payment: CustomerPayment | None
    cancelled: bool  # not owed any more
    state: InvoiceState
    replaced: Annotated[
        list[CustomerReplacedInvoice],
        described("the earlier invoices of the month that it replaces, the newest first"),
    ]


class PrintedParty(Body, frozen=True, kw_only=True):
    """The issuer or the addressee."""

    basis: ClassVar[Basis] = chosen("portal-invoices")

    company: str
    contact: str | None
    postal: str | None
    address: str | None
    phone: str | None


class PrintedIssuer(PrintedParty, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-invoices")

    registration_number: str | None
    bank_account: str | None
    notes: str | None


class PrintedLine(Body, frozen=True, kw_only=True):
    """`charge` is the printed amount before the discount, `amount` the one after it."""

    basis: ClassVar[Basis] = chosen("portal-invoices")

    customer_id: str
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    charge: Decimal
    amount: Decimal


class PrintedFee(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-invoices")

    charge: Decimal
    amount: Decimal


class PrintedEntry(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-invoices")

    customer_id: str
    customer_name: str
    calc_type: str
    description: str
    amount: Decimal
    tax_free: bool


class PrintedItem(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-invoices")

    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class CustomerInvoice(CustomerInvoiceHead, frozen=True, kw_only=True):
    """`exchange_rate` is null if it is not printed, because nothing was converted."""

    basis: ClassVar[Basis] = chosen("portal-invoices")

    revision: int
    vendor_name: str
    title: str | None
    remarks: str | None
    issuer: PrintedIssuer | None
    addressee: PrintedParty
    exchange_rate: Decimal | None
    provisional: bool
    lines: list[PrintedLine]
    support: PrintedFee | None
    agency: PrintedFee | None
    entries: list[PrintedEntry]
    items: list[PrintedItem]
    tax_free: Decimal
    taxable: Decimal
    tax_rate: Decimal


def show_invoice(
    document: InvoiceDocument,
    payment: CustomerPayment | None,
    state: InvoiceState,
    replaced: list[CustomerReplacedInvoice],
) -> CustomerInvoice:
    sheet = document.sheet
    is_converted = document.currency != document.cost_currency
    return CustomerInvoice(
        company_id=document.company_id,
        month=document.month,
        vendor=document.vendor,
        invoice_no=document.invoice_no,
        issue_date=document.issue_date,
        due_date=document.due_date,
        currency=document.currency,
        pre_tax=sheet.pre_tax,
        tax=sheet.tax,
        total=sheet.total,
        payment=payment,
        cancelled=state is InvoiceState.cancelled,
        state=state,
        replaced=replaced,
        revision=document.revision,
        vendor_name=document.vendor_name,
        title=document.title,
        remarks=document.remarks,
        issuer=None if document.issuer is None else _show_issuer(document.issuer),
        addressee=_show_addressee(document.addressee),
        exchange_rate=document.exchange_rate if is_converted else None,
        provisional=any(payer_import.provisional for payer_import in document.imports),
        lines=[_show_line(line) for line in sheet.lines],
        support=_show_fee(sheet.support),
        agency=_show_fee(sheet.agency),
        entries=[_show_entry(entry) for entry in sheet.entries],
        items=[_show_item(item) for item in sheet.items],
        tax_free=sheet.tax_free,
        taxable=sheet.taxable,
        tax_rate=sheet.tax_rate,
    )


def _show_issuer(issuer: Issuer) -> PrintedIssuer:
    return PrintedIssuer(
        company=issuer.company,
        contact=issuer.contact,
        postal=issuer.postal,
        address=issuer.address,
        phone=issuer.phone,
        registration_number=issuer.registration_number,
        bank_account=issuer.bank_account,
        notes=issuer.notes,
    )


def _show_addressee(addressee: Addressee) -> PrintedParty:
    return PrintedParty(
        company=addressee.company_name,
        contact=addressee.contact,
        postal=addressee.postal,
        address=addressee.address,
        phone=addressee.phone,
    )


def _show_line(line: UsageLine) -> PrintedLine:
    return PrintedLine(
        customer_id=line.customer_id,
        customer_name=line.customer_name,
        tag=line.tag,
        service=line.name,
        marketplace=line.marketplace,
        charge=line.charge,
        amount=line.after,
    )


def _show_fee(fee: Fee | None) -> PrintedFee | None:
    return None if fee is None else PrintedFee(charge=fee.charge, amount=fee.after)


def _show_entry(entry: EntryLine) -> PrintedEntry:
    return PrintedEntry(
        customer_id=entry.customer_id,
        customer_name=entry.customer_name,
        calc_type=entry.calc_type,
        description=entry.description,
        amount=entry.amount,
        tax_free=entry.tax_free,
    )


def _show_item(item: ItemLine) -> PrintedItem:
    return PrintedItem(
        label=item.label, unit_cost=item.unit_cost, quantity=item.quantity, total=item.total
    )
