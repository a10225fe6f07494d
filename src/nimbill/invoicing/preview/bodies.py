"""Bodies of the preview of terms."""

from decimal import Decimal
from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, described
from nimbill.invoicing.calculation.sheet import InvoiceSheet


class TermsDifference(Body, frozen=True, kw_only=True):
    """The amounts of the preview minus the current ones, in the currency of both."""

    basis: ClassVar[Basis] = chosen("terms-preview")

    usage_charge: Annotated[Decimal, described("usage before discount")]
    usage_after: Annotated[Decimal, described("usage after discount")]
    support: Annotated[Decimal, described("support fee after discount")]
    agency: Annotated[Decimal, described("agency fee after discount")]
    pre_tax: Annotated[Decimal, described("sum of all amounts before tax")]
    tax: Annotated[Decimal, described("tax, rounded once per invoice")]
    total: Annotated[Decimal, described("amount before tax plus tax")]


class TermsPreview(Body, frozen=True, kw_only=True):
    """The month's invoice under the saved terms and under those sent."""

    basis: ClassVar[Basis] = chosen("terms-preview")

    company_id: str
    month: str
    vendor: BilledVendor
    exchange_rate: Annotated[Decimal, described("the month's saved rate, yen per dollar")]
    current: Annotated[InvoiceSheet, described("lines and totals under the month's saved terms")]
    preview: Annotated[InvoiceSheet, described("lines and totals under the terms sent")]
    vendor_cost: Annotated[
        Decimal, described("what the vendor charged, without tax, in the currency of the preview")
    ]
    margin: Annotated[Decimal, described("pre_tax of the preview - vendor_cost")]
    current_margin: Annotated[
        Decimal, described("the same under the saved terms, in the currency of current")
    ]
    difference: Annotated[
        TermsDifference | None,
        described("preview minus current; null if the terms change the currency of the invoice"),
    ]
