"""Request and response bodies of the customer's accounts."""

from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body, text_length


class AccountName(Body, frozen=True, kw_only=True):
    """The name has the length that it has in billing administration."""

    basis: ClassVar[Basis] = chosen("portal-accounts")

    name: Annotated[str, text_length(3, 100)]


class NamedAccount(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("portal-accounts")

    vendor: str
    customer_id: str
    company_id: str
    name: str
