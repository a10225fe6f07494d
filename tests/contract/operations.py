"""Every operation and its role actions; a new route needs an entry here."""

from collections.abc import Iterable
from typing import NamedTuple

from tests.contract.declared_routes import Route
from tests.legacy.contract_entries import LEGACY_OPERATIONS  # version 3


class OperationGroup(NamedTuple):
    group: str
    actions: tuple[str, ...]
    operations: tuple[str, ...]


# the table of the specification under "Authentication", with the operations of each row
SPECIFIED = (
    OperationGroup(
        "create, delete reseller; reseller password; reseller meta",
        ("ModifyReseller",),
        (
            "create_reseller",
            "delete_reseller",
            "change_reseller_password",
            "update_reseller_meta",
        ),
    ),
    OperationGroup("list resellers", ("ReadReseller", "ModifyReseller"), ("list_resellers",)),
    OperationGroup("list RI", ("ReadRi", "ModifyRi"), ("list_reserved_instances",)),
    OperationGroup(
        "move and remove RI",
        ("ModifyRi",),
        ("move_reserved_instance", "remove_reserved_instance"),
    ),
    OperationGroup(
        "invoice CSV (account, tag); account totals; invoice list",
        ("ReadInvoice", "ModifyInvoice"),
        (
            "export_invoice_account_csv",
            "export_invoice_tag_csv",
            "list_account_totals",
            "list_invoices",
        ),
    ),
    OperationGroup(
        "save invoice settings, save exchange rates, create invoice",
        ("ModifyInvoice",),
        ("save_invoice_settings", "save_exchange_rates", "create_invoices"),
    ),
    OperationGroup(
        "billing group CSV and setting CSV; billing group list, list details; recalculation list",
        ("ReadBillingGroup", "ModifyBillingGroup"),
        (
            "export_billing_group_csv",
            "export_billing_group_setting_csv",
            "list_billing_groups",
            "list_billing_group_details",
            "list_recalculation",
        ),
    ),
    OperationGroup(
        "billing group create, update, invoice setting, free format, invoice template, delete; "
        "apply recalculation",
        ("ModifyBillingGroup",),
        (
            "create_billing_group",
            "update_billing_group",
            "update_invoice_setting",
            "update_free_format",
            "delete_free_format",
            "update_invoice_template_of_group",
            "delete_billing_group",
            "apply_recalculation",
        ),
    ),
    OperationGroup(
        "create, update, delete customer account",
        ("ModifyAccount",),
        ("create_account", "update_account", "delete_account"),
    ),
    OperationGroup("list customer accounts", ("ReadAccount", "ModifyAccount"), ("list_accounts",)),
    OperationGroup(
        "create, edit, delete project",
        ("ModifyProject",),
        ("create_project", "edit_project", "delete_project"),
    ),
    OperationGroup(
        "project list, per month, export",
        ("ReadProject", "ModifyProject"),
        ("list_projects", "list_projects_of_month", "export_projects_of_month"),
    ),
)

# operations that the specification does not name; () means any caller with a token
ADDED: dict[str, tuple[str, ...]] = {
    "sign_out_of_core": (),
    "sign_out_of_portal": (),
    "create_subuser": ("ModifyUsers",),
    "list_subusers": ("ReadUsers", "ModifyUsers"),
    "delete_subuser": ("ModifyUsers",),
    "change_password": ("ModifyUsers",),
    "read_email": ("ModifyUsers",),
    "change_email": ("ModifyUsers",),
    "list_sessions": ("ModifyUsers",),
    "end_session": ("ModifyUsers",),
    "list_second_factors": ("ModifyUsers",),
    "remove_second_factors": ("ModifyUsers",),
    "begin_second_factor": (),
    "add_second_factor": (),
    "remove_second_factor": (),
    "create_api_client": ("ModifyApiClients",),
    "list_api_clients": ("ModifyApiClients",),
    "delete_api_client": ("ModifyApiClients",),
    "list_permissions": (),
    "create_role": ("ModifyRoles",),
    "list_roles": ("ReadRoles", "ModifyRoles"),
    "update_role": ("ModifyRoles",),
    "delete_role": ("ModifyRoles",),
    "map_roles": ("ModifyRoles",),
    "list_own_mappings": (),
    "list_mappings_of_subuser": ("ReadRoles", "ModifyRoles"),
    "list_permissions_of_subuser": ("ReadRoles", "ModifyRoles"),
    "read_access_of_subuser": ("ReadRoles", "ModifyRoles"),
    "read_signed_in_user": (),
    "read_own_branding": ("ReadSettings", "ModifySettings"),
    "store_portal_logo": ("ModifySettings",),
    "delete_portal_logo": ("ModifySettings",),
    "list_webhooks": ("ReadSettings", "ModifySettings"),
    "create_webhook": ("ModifySettings",),
    "read_webhook": ("ReadSettings", "ModifySettings"),
    "update_webhook": ("ModifySettings",),
    "delete_webhook": ("ModifySettings",),
    "rotate_webhook_secret": ("ModifySettings",),
    "send_test_webhook": ("ModifySettings",),
    "list_webhook_deliveries": ("ReadSettings", "ModifySettings"),
    "replay_webhook_delivery": ("ModifySettings",),
    "replay_failed_webhooks": ("ModifySettings",),
    "list_approvals": (),
    "request_approval": (),
    "read_approval": (),
    "approve_request": ("ApproveRequests",),
    "reject_request": ("ApproveRequests",),
    "withdraw_request": (),
    "search": (
        "ReadBillingGroup",
        "ModifyBillingGroup",
        "ReadAccount",
        "ModifyAccount",
        "ReadInvoice",
        "ModifyInvoice",
    ),
    "replace_mappings": ("ModifyRoles",),
    "list_audit_entries": ("ReadAudit",),
    "verify_audit_log": ("ReadAudit",),
    # creates with a body and lists without one; the handler decides which
    "create_or_list_resellers": ("ReadReseller", "ModifyReseller"),
    "list_reseller_sessions": ("ModifyReseller",),
    "end_reseller_session": ("ModifyReseller",),
    "remove_reseller_factors": ("ModifyReseller",),
    "delete_free_format_of_vendor": ("ModifyBillingGroup",),
    "create_billing_groups_from_csv": ("ModifyBillingGroup",),
    "create_accounts_from_csv": ("ModifyAccount",),
    "assign_accounts": ("ModifyAccount",),
    "list_unassigned_accounts": ("ReadAccount", "ModifyAccount"),
    "create_invoice_template": ("ModifyBillingGroup",),
    "list_invoice_templates": ("ReadBillingGroup", "ModifyBillingGroup"),
    "change_invoice_template": ("ModifyBillingGroup",),
    "delete_invoice_template": ("ModifyBillingGroup",),
    "read_settings": ("ReadSettings", "ModifySettings"),
    "change_settings": ("ModifySettings",),
    "close_month": ("ModifyInvoice",),
    "reopen_month": ("ModifyInvoice",),
    "list_months": ("ReadInvoice", "ModifyInvoice"),
    "read_month": ("ReadInvoice", "ModifyInvoice"),
    "save_exchange_rates_by_post": ("ModifyInvoice",),
    "use_default_terms": ("ModifyInvoice",),
    "list_saved_months": ("ReadInvoice", "ModifyInvoice"),
    "list_invoice_runs": ("ReadInvoice", "ModifyInvoice"),
    "read_tie_out": ("ReadInvoice", "ModifyInvoice"),
    "read_invoice": ("ReadInvoice", "ModifyInvoice"),
    "list_invoice_revisions": ("ReadInvoice", "ModifyInvoice"),
    "read_invoice_revision": ("ReadInvoice", "ModifyInvoice"),
    "list_contacts": ("ReadBillingGroup", "ModifyBillingGroup"),
    "create_contact": ("ModifyBillingGroup",),
    "create_contacts_from_csv": ("ModifyBillingGroup",),
    "replace_contact": ("ModifyBillingGroup",),
    "delete_contact": ("ModifyBillingGroup",),
    "read_invoice_state": ("ReadInvoice", "ModifyInvoice"),
    "mark_invoice_as_sent": ("ModifyInvoice",),
    "mark_invoices_as_sent": ("ModifyInvoice",),
    "cancel_invoice": ("ModifyInvoice",),
    "list_archived_documents": ("ReadInvoice", "ModifyInvoice"),
    "export_archive": ("ReadInvoice", "ModifyInvoice"),
    "get_archive_key": ("ReadInvoice", "ModifyInvoice"),
    "preview_sending": ("ModifyInvoice",),
    "send_invoices": ("ModifyInvoice",),
    "list_deliveries": ("ReadInvoice", "ModifyInvoice"),
    "list_deliveries_of_invoice": ("ReadInvoice", "ModifyInvoice"),
    "retry_delivery": ("ModifyInvoice",),
    "publish_invoice": ("ModifyInvoice",),
    "replace_invoice": ("ModifyInvoice",),
    "issue_credit_note": ("ModifyInvoice",),
    "preview_correction": ("ModifyInvoice",),
    "list_drift": ("ReadInvoice", "ModifyInvoice"),
    "decide_drift": ("ModifyInvoice",),
    "list_credit_notes_of_invoice": ("ReadInvoice", "ModifyInvoice"),
    "list_credit_notes": ("ReadInvoice", "ModifyInvoice"),
    "download_credit_notes": ("ReadInvoice", "ModifyInvoice"),
    "read_credit_note": ("ReadInvoice", "ModifyInvoice"),
    "print_credit_note": ("ReadInvoice", "ModifyInvoice"),
    "record_payment": ("ModifyInvoice",),
    "reverse_payment": ("ModifyInvoice",),
    "record_payments_from_csv": ("ModifyInvoice",),
    "list_payments_of_invoice": ("ReadInvoice", "ModifyInvoice"),
    "list_payments": ("ReadInvoice", "ModifyInvoice"),
    "list_receivables": ("ReadInvoice", "ModifyInvoice"),
    "sum_receivables": ("ReadInvoice", "ModifyInvoice"),
    "compare_invoice_revision": ("ReadInvoice", "ModifyInvoice"),
    "print_invoice_revision": ("ReadInvoice", "ModifyInvoice"),
    "print_invoice": ("ReadInvoice", "ModifyInvoice"),
    "print_covering_page": ("ReadInvoice", "ModifyInvoice"),
    "print_month": ("ReadInvoice", "ModifyInvoice"),
    "read_customer_history": ("ReadInvoice", "ModifyInvoice"),
    "list_exchange_rates": ("ReadInvoice", "ModifyInvoice"),
    "preview_invoice_template": ("ModifyBillingGroup",),
    "explain_invoice": ("ReadInvoice", "ModifyInvoice"),
    "list_findings": ("ReadInvoice", "ModifyInvoice"),
    "summarize_invoices": ("ReadInvoice", "ModifyInvoice"),
    "compare_invoice": ("ReadInvoice", "ModifyInvoice"),
    "preview_terms": ("ModifyBillingGroup",),
    "create_import": ("ModifyCost",),
    "list_imports": ("ReadCost", "ModifyCost"),
    "get_import": ("ReadCost", "ModifyCost"),
    "release_import": ("ModifyCost",),
    "read_costs": ("ReadCost", "ModifyCost"),
    "who_am_i": (),
    "read_account_usage": ("ReadAccount",),
    "read_account_graph": ("ReadAccount",),
    "read_tag_usage": ("ReadTags",),
    "read_tag_graph": ("ReadTags",),
    "read_cross_tag_usage": ("ReadTags",),
    "read_cross_tag_graph": ("ReadTags",),
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
    "read_dashboard": ("ReadAccount",),
    "read_forecast": ("ReadAccount",),
    "list_anomalies": ("ReadAccount",),
    "read_budgets": ("ReadBudget",),
    "change_budgets": ("ModifyBudget",),
    "read_budget_alerts": ("ReadBudget",),
    "change_budget_alerts": ("ModifyBudget",),
    "begin_portal_view": ("ModifyReseller",),
    "end_portal_view": (),
    "list_portal_reservations": ("ReadRi",),
    "read_reservation_use": ("ReadRi",),
    "read_recommendations": ("ReadRi",),
    "list_savings_plans": ("ReadRi",),
    **LEGACY_OPERATIONS,  # version 3
}

# operations that the user named in the path may call without a role action
OPEN_TO_OWN_USER = {
    "change_password",
    "read_email",
    "change_email",
    "list_sessions",
    "list_second_factors",
    "end_session",
    "create_api_client",
    "list_api_clients",
    "delete_api_client",
    "list_mappings_of_subuser",
    "list_permissions_of_subuser",
    "read_access_of_subuser",
}

# operations of a person who has signed in to a console; API clients are refused
SESSION_ONLY = {"begin_second_factor", "add_second_factor", "remove_second_factor"}

OPERATIONS: dict[str, tuple[str, ...]] = {
    **{name: row.actions for row in SPECIFIED for name in row.operations},
    **ADDED,
}


def routes_without_operation(routes: Iterable[Route]) -> list[str]:
    return [
        f"{route.operation} has no row in tests/contract/operations.py"
        for route in routes
        if route.operation not in OPERATIONS
    ]


def routes_with_other_actions(routes: Iterable[Route]) -> list[str]:
    return [
        f"{route.operation} declares {', '.join(route.role_actions) or 'nothing'}, "
        f"its row says {', '.join(OPERATIONS[route.operation]) or 'nothing'}"
        for route in routes
        if route.operation in OPERATIONS
        and set(route.role_actions) != set(OPERATIONS[route.operation])
    ]
