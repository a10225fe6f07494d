"""Response bodies of the search."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body


class FoundGroup(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("search")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    name: str


class FoundAccount(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("search")

    vendor: BilledVendor
    customer_id: str
    customer_name: str
    company_id: str
    billinggroup_name: str


class FoundInvoice(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("search")

    invoice_no: str
    month: str
    vendor: BilledVendor
    company_id: str
    billinggroup_name: str


class SearchResult(Body, frozen=True, kw_only=True):
    """At most ten of each kind; none of a kind that the caller may not read."""

    basis: ClassVar[Basis] = chosen("search")

    billing_groups: list[FoundGroup]
    accounts: list[FoundAccount]
    invoices: list[FoundInvoice]
