"""The permissions that each route of the portal needs, by area."""

from __future__ import annotations

USAGE: dict[str, tuple[str, ...]] = {
    "who_am_i": (),
    "read_account_usage": ("ReadAccount",),
    "read_account_graph": ("ReadAccount",),
}

TAGS: dict[str, tuple[str, ...]] = {
    "read_tag_usage": ("ReadTags",),
    "read_tag_graph": ("ReadTags",),
    "read_cross_tag_usage": ("ReadTags",),
    "read_cross_tag_graph": ("ReadTags",),
}

ACCOUNTS_AND_INVOICES: dict[str, tuple[str, ...]] = {
    "list_account_groups": ("ReadGroups",),
    "create_account_group": ("ModifyGroups",),
    "change_account_group": ("ModifyGroups",),
    "delete_account_group": ("ModifyGroups",),
    "read_group_usage": ("ReadGroups",),
    "read_group_graph": ("ReadGroups",),
    "list_portal_accounts": ("ReadAccount", "ReadGroups", "ReadBudget"),
    "rename_account": ("ModifySettings",),
    "list_fees": ("ReadAccount",),
    "download_usage_report": ("DownloadReports",),
    "download_focus_file": ("DownloadReports",),
    "list_customer_invoices": ("ReadInvoice",),
    "read_customer_invoice": ("ReadInvoice",),
    "print_customer_invoice": ("ReadInvoice",),
    "download_discount_csv": ("ReadInvoice",),
    "download_merged_csv": ("ReadInvoice",),
    "list_saved_filters": ("ReadAccount",),
    "create_saved_filter": ("ReadAccount",),
    "delete_saved_filter": ("ReadAccount",),
}

BUDGETS_AND_FORECASTS: dict[str, tuple[str, ...]] = {
    "read_dashboard": ("ReadAccount",),
    "read_forecast": ("ReadAccount",),
    "list_anomalies": ("ReadAccount",),
    "read_budgets": ("ReadBudget",),
    "change_budgets": ("ModifyBudget",),
    "read_budget_alerts": ("ReadBudget",),
    "change_budget_alerts": ("ModifyBudget",),
}

STAFF_VIEWS: dict[str, tuple[str, ...]] = {
    "begin_portal_view": ("ModifyReseller",),
    "end_portal_view": (),
}

COMMITMENTS: dict[str, tuple[str, ...]] = {
    "list_portal_reservations": ("ReadRi",),
    "read_reservation_use": ("ReadRi",),
    "read_recommendations": ("ReadRi",),
    "list_savings_plans": ("ReadRi",),
}

PORTAL_OPERATIONS = (
    USAGE | TAGS | ACCOUNTS_AND_INVOICES | BUDGETS_AND_FORECASTS | STAFF_VIEWS | COMMITMENTS
)
