"""Request and response bodies of staff views."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body


class StaffViewStart(Body, frozen=True, kw_only=True):
    """`user_id` names one of the reseller accounts of the company; without it, the oldest."""

    basis: ClassVar[Basis] = chosen("staff-view")

    company_id: str
    user_id: str | None = None


class StaffView(Body, frozen=True, kw_only=True):
    """The access token is a token of `portal` that reads only and cannot be refreshed."""

    basis: ClassVar[Basis] = chosen("staff-view")

    view_id: str
    company_id: str
    user_id: str
    email: str
    access_token: str
    expires_in: int
    expire_time: str
