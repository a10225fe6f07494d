"""The permissions that each route of the portal needs, by area."""

from __future__ import annotations

USAGE: dict[str, tuple[str, ...]] = {
    "who_am_i": (),
    "read_account_usage": ("ReadAccount",),
    "read_account_graph": ("ReadAccount",),
}

TAGS: dict[str, tuple[str, ...]] = {}

ACCOUNTS_AND_INVOICES: dict[str, tuple[str, ...]] = {}

BUDGETS_AND_FORECASTS: dict[str, tuple[str, ...]] = {
    "read_dashboard": ("ReadAccount",),
    "read_forecast": ("ReadAccount",),
    "list_anomalies": ("ReadAccount",),
    "read_budgets": ("ReadBudget",),
    "change_budgets": ("ModifyBudget",),
    "read_budget_alerts": ("ReadBudget",),
    "change_budget_alerts": ("ModifyBudget",),
}

COMMITMENTS: dict[str, tuple[str, ...]] = {}

PORTAL_OPERATIONS = USAGE | TAGS | ACCOUNTS_AND_INVOICES | BUDGETS_AND_FORECASTS | COMMITMENTS
