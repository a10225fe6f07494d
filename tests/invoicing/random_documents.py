"""Documents of random invoices, for tests of the files that are made of them."""

from __future__ import annotations

from random import Random

import msgspec

from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.foundation.language import Language
from nimbill.invoicing.calculation.sheet import calculate_invoice
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents.document import Addressee, InvoiceDocument
from tests.invoicing.random_invoices import random_case


def build_random_document(random: Random) -> InvoiceDocument:
    """Build the document of a random invoice."""
    while True:
        case = random_case(random)
        terms = case.terms()
        try:
            sheet = calculate_invoice(case.charges, terms)
        except CannotBeBilled:
            continue
        return InvoiceDocument(
            invoice_no="202610-0001",
            revision=1,
            month="2026-10",
            vendor="aws",
            issue_date="2026-11-15",
            due_date=None,
            language=Language.ja,
            company_id="cmp_1",
            billinggroup_id="BG-1",
            billinggroup_name="さくら",
            inv_aggregate=False,
            addressee=Addressee(
                company_name="さくら商事", contact=None, postal=None, address=None, phone=None
            ),
            title=None,
            remarks=None,
            memo=None,
            issuer=None,
            project=None,
            currency=terms.currency,
            cost_currency=case.charges.cost_currency,
            exchange_rate=terms.exchange_rate,
            setting=msgspec.convert(case.settings[-1], InvoiceSetting),
            tag_key=None,
            imports=[],
            stock=[],
            terms=terms,
            charges=case.charges,
            sheet=sheet,
        )
