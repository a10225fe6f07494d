"""Creates credit notes, which a service issues only for sent invoices."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from nimbill.credit_notes.credit_note_rules import CreditKind
from nimbill.credit_notes.document import (
    CreditedAmount,
    CreditedTax,
    CreditNoteDocument,
    encode_note,
)
from nimbill.foundation.currency import Currency
from nimbill.foundation.ids import new_id
from nimbill.foundation.language import Language
from nimbill.invoicing.documents.document import Addressee
from tests.contract.month_factories import make_invoiced_group
from tests.contract.tenants import PLAIN_VALUES, Tenant


def make_credit_note(tenant: Tenant) -> str:
    """A note over 1 yen, issued in the month of PLAIN_VALUES."""
    return _add_note(tenant, make_invoiced_group(tenant))


def make_credited_group(tenant: Tenant) -> str:
    company_id = make_invoiced_group(tenant)
    _add_note(tenant, company_id)
    return company_id


def _add_note(tenant: Tenant, company_id: str) -> str:
    (row,) = tenant.superuser.sql(
        "SELECT coalesce(max(number), 0) + 1 AS number FROM credit_notes"
        " WHERE organisation_id = $1",
        tenant.organisation_id,
    )
    note = _build_note(tenant, company_id, row["number"])
    tenant.add(
        "credit_notes",
        credit_note_id=note.credit_note_id,
        issue_month=PLAIN_VALUES["month"],
        number=row["number"],
        issue_date=note.issue_date,
        counterparty=note.addressee.company_name,
        month=note.month,
        company_id=company_id,
        vendor=note.vendor,
        currency=note.currency.value,
        pre_tax=note.pre_tax,
        tax=note.tax,
        total=note.total,
        document=encode_note(note),
        create_time=datetime.now(UTC),
        created_by="root",
    )
    return note.credit_note_id


def _build_note(tenant: Tenant, company_id: str, number: int) -> CreditNoteDocument:
    month, one = PLAIN_VALUES["month"], Decimal(1)
    return CreditNoteDocument(
        credit_note_id=new_id("crn"),
        credit_note_no=f"CN{month.replace('-', '')}-{number:04}",
        kind=CreditKind.manual,
        reason=tenant.word("n"),
        issue_date=f"{month}-31",
        language=Language.ja,
        invoice_no=f"{month.replace('-', '')}-0001",
        revision=1,
        invoice_date=f"{month}-31",
        month=month,
        vendor=PLAIN_VALUES["vendor"],
        vendor_name="AWS",
        company_id=company_id,
        billinggroup_id=tenant.word("n"),
        billinggroup_name=tenant.word("n"),
        addressee=Addressee(
            company_name=tenant.word("n"), contact=None, postal=None, address=None, phone=None
        ),
        issuer=None,
        currency=Currency.jpy,
        amounts=[
            CreditedAmount(line=None, description=tenant.word("n"), amount=one, tax_free=False)
        ],
        taxes=[CreditedTax(tax_rate=Decimal("0.10"), pre_tax=one, tax=Decimal(0))],
        pre_tax=one,
        tax=Decimal(0),
        total=one,
    )
