"""The body of reopening a month."""

from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, text_length

REASON = text_length(1, 1000)


class MonthReopening(Body, frozen=True, kw_only=True):
    """The reason is required and kept in the audit log."""

    basis: ClassVar[Basis] = chosen("closed-months")

    vendor: BilledVendor
    reason: Annotated[str, REASON]
