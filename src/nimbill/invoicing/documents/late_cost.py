"""Costs that arrived after their month was closed, as far as an invoice contains them."""

from decimal import Decimal

import msgspec

from nimbill.foundation.ids import derive_id


class LateCost(msgspec.Struct, frozen=True, kw_only=True):
    """A vendor cost that changed after the month was closed: delivered minus what counts."""

    payer_id: str
    customer_id: str
    service: str
    marketplace: bool
    currency: str  # a code such as USD
    amount: Decimal
    description: str
    one_off: bool  # charged like an applied entry instead of usage

    @property
    def entry_id(self) -> str:
        """The id of the entry on an invoice that charges a one-off line."""
        parts = (self.payer_id, self.customer_id, self.service, self.currency)
        return derive_id("lat", *parts, self.marketplace)
