"""Bodies of replacing an invoice."""

from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body, text_length


class ReplacementRequest(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("replaced-invoices")

    reason: Annotated[str, text_length(1, 1_000)]
