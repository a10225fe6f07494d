"""The permissions that each route of the portal needs, by area."""

from __future__ import annotations

USAGE: dict[str, tuple[str, ...]] = {
    "who_am_i": (),
    "read_account_usage": ("ReadAccount",),
    "read_account_graph": ("ReadAccount",),
}

TAGS: dict[str, tuple[str, ...]] = {}

ACCOUNTS_AND_INVOICES: dict[str, tuple[str, ...]] = {}

BUDGETS_AND_FORECASTS: dict[str, tuple[str, ...]] = {}

COMMITMENTS: dict[str, tuple[str, ...]] = {
    "list_portal_reservations": ("ReadRi",),
    "read_reservation_use": ("ReadRi",),
    "read_recommendations": ("ReadRi",),
    "list_savings_plans": ("ReadRi",),
}

PORTAL_OPERATIONS = USAGE | TAGS | ACCOUNTS_AND_INVOICES | BUDGETS_AND_FORECASTS | COMMITMENTS
