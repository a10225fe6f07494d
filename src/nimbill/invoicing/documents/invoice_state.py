"""The state of an invoice between its creation and its end."""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum


class InvoiceState(StrEnum):
    created = "created"
    approved = "approved"  # by a second person, and not sent yet
    sent = "sent"
    credited = "credited"  # sent, and returned in full by credit notes
    replaced = "replaced"  # by another invoice, which is the current one
    cancelled = "cancelled"


def find_state(
    sent_time: datetime | None,
    cancelled_time: datetime | None,
    *,
    is_approved: bool = False,
    total: Decimal | None = None,
    credited: Decimal | None = None,
) -> InvoiceState:
    """`credited` is the sum of the credit notes, tax included; None without any."""
    if cancelled_time is not None:
        return InvoiceState.cancelled
    if credited is not None and credited == total:
        return InvoiceState.credited
    if sent_time is not None:
        return InvoiceState.sent
    return InvoiceState.approved if is_approved else InvoiceState.created
