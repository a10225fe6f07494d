"""Response bodies of the portal routes."""

from typing import ClassVar

from nimbill.customers.portal_branding.branding import Branding
from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.language import Language
from nimbill.http.request_bodies import Body


class Company(Body, frozen=True, kw_only=True):
    """The billing group of a reseller account."""

    basis: ClassVar[Basis] = chosen("portal-routes")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    name: str


class View(Body, frozen=True, kw_only=True):
    """Who sees the portal as the customer does, and until when."""

    basis: ClassVar[Basis] = chosen("staff-view")

    view_id: str
    viewer: str
    expire_time: str


class Me(Body, frozen=True, kw_only=True):
    """`company` and `flags` are null for users of the organisation: no flag restricts them.

    `language` is that of the company's invoices. `newest_month` has costs; it is null before the
    first import. `filtered` says that the caller sees a part of its
    company only. `view` is null for the customer itself.
    """

    basis: ClassVar[Basis] = chosen("portal-routes")

    user_id: str
    username: str
    company: Company | None
    flags: dict[str, bool] | None
    permissions: list[str]
    language: Language
    report_tag_keys: list[str]
    newest_month: str | None
    filtered: bool
    view: View | None
    branding: Branding
