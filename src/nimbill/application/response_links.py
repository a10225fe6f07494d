"""Which operation takes the ids, months and vendors that a response contains.

A list is linked by its first record. The CSV exports have no links: they return a signed address,
from which no expression of OpenAPI takes the id.
"""

from nimbill.http.response_links import ResponseLink, ResponseLinks

PATH_MONTH = "$request.path.month"


def _link_group(company_id: str) -> list[ResponseLink]:
    in_path = {"company_id": company_id}
    return [
        ResponseLink("list_billing_group_details", in_path),
        ResponseLink("read_customer_history", in_path),
        ResponseLink("update_billing_group", in_path),
        ResponseLink("delete_billing_group", in_path),
        ResponseLink("update_invoice_setting", in_path),
        ResponseLink("update_invoice_template_of_group", in_path),
        ResponseLink("update_free_format", in_path),
        ResponseLink("delete_free_format", in_path),
        ResponseLink("delete_free_format_of_vendor", in_path),
        ResponseLink("list_contacts", in_path),
        ResponseLink("create_contact", in_path),
        ResponseLink("create_account", body={"company_id": company_id}),
        ResponseLink("create_or_list_resellers", body={"company_id": company_id}),
        ResponseLink("save_exchange_rates", body={"billing_groups": [company_id]}),
        ResponseLink("create_invoices", body={"group": [company_id], "bulk": False}),
    ]


def _link_account(record: str) -> list[ResponseLink]:
    customer_id, account_id = f"{record}/customer_id", f"{record}/account_id"
    vendor, company_id = f"{record}/vendor", f"{record}/company_id"
    both_ids = f"{{{customer_id}}}|{{{account_id}}}"
    return [
        ResponseLink(
            "update_account",
            {"customer_id": customer_id},
            {"vendor": vendor, "account_id": account_id, "company_id": company_id},
        ),
        ResponseLink("delete_account", {"vendor": vendor, "both_ids": both_ids}),
        ResponseLink("list_billing_group_details", {"company_id": company_id}),
    ]


def _link_import(import_id: str) -> list[ResponseLink]:
    return [
        ResponseLink("get_import", {"import_id": import_id}),
        ResponseLink("release_import", {"import_id": import_id}),
    ]


def _link_month(month: str, vendor: str) -> list[ResponseLink]:
    """The steps of the month end, beginning with the costs of a vendor."""
    both = {"month": month, "vendor": vendor}
    return [
        ResponseLink("read_month", both),
        ResponseLink("read_costs", both),
        ResponseLink("list_recalculation", both),
        ResponseLink("save_invoice_settings", {"month": month}, {"settings": {}, "internal": True}),
        *_link_listed_month(month),
        ResponseLink("print_month", both),
        ResponseLink("close_month", {"month": month}, {"vendor": vendor}),
        ResponseLink("reopen_month", {"month": month}, {"vendor": vendor}),
    ]


def _link_listed_month(month: str) -> list[ResponseLink]:
    in_path = {"month": month}
    return [
        ResponseLink("list_invoices", in_path),
        ResponseLink("list_account_totals", in_path),
        ResponseLink("list_invoice_runs", in_path),
        ResponseLink("list_exchange_rates", in_path),
        ResponseLink("list_findings", in_path),
        ResponseLink("read_tie_out", in_path),
        ResponseLink("list_projects_of_month", {"project_id_or_month": month}),
        ResponseLink("export_projects_of_month", in_path),
        ResponseLink("export_invoice_account_csv", in_path),
        ResponseLink("export_invoice_tag_csv", in_path),
    ]


def _link_saved_settings() -> list[ResponseLink]:
    return [
        ResponseLink("list_invoices", {"month": PATH_MONTH}),
        ResponseLink("save_exchange_rates", {"month": PATH_MONTH}),
        ResponseLink("create_invoices", {"month": PATH_MONTH}, {"group": [], "bulk": True}),
    ]


def _link_saved_months() -> list[ResponseLink]:
    path = {"company_id": "$request.path.company_id", "vendor": "$request.path.vendor"}
    return [ResponseLink("use_default_terms", {"month": f"{FIRST}/month"} | path)]


def _link_saved_rates() -> list[ResponseLink]:
    same_groups = {
        "vendor": "$request.body#/vendor",
        "group": "$request.body#/billing_groups",
        "bulk": False,
    }
    return [ResponseLink("create_invoices", {"month": PATH_MONTH}, same_groups)]


def _link_listed_invoices() -> list[ResponseLink]:
    company_id = "$response.body#/billinggroup/0/company_id"
    in_path = {"month": PATH_MONTH}
    return [
        ResponseLink("list_billing_group_details", {"company_id": company_id}),
        ResponseLink("save_exchange_rates", in_path, {"billing_groups": [company_id]}),
        ResponseLink("create_invoices", in_path, {"group": [company_id], "bulk": False}),
        ResponseLink("print_covering_page", {**in_path, "company_id": company_id}),
    ]


def _link_invoice(month: str, company_id: str, vendor: str) -> list[ResponseLink]:
    invoice = {"month": month, "company_id": company_id, "vendor": vendor}
    return [
        ResponseLink("print_invoice", invoice),
        ResponseLink("explain_invoice", invoice),
        ResponseLink("list_invoice_revisions", invoice),
        ResponseLink("read_invoice_state", invoice),
        ResponseLink("list_credit_notes_of_invoice", invoice),
        ResponseLink("list_payments_of_invoice", invoice),
        ResponseLink("list_saved_months", {"company_id": company_id, "vendor": vendor}),
        ResponseLink("print_covering_page", {"month": month, "company_id": company_id}),
    ]


def _link_created_invoices() -> list[ResponseLink]:
    first = "$response.body#/created/0"
    company_id, vendor = f"{first}/company_id", f"{first}/vendor"
    invoice = {"month": PATH_MONTH, "company_id": company_id, "vendor": vendor}
    return [
        ResponseLink("read_invoice", invoice),
        *_link_invoice(PATH_MONTH, company_id, vendor),
        *_link_listed_month(PATH_MONTH),
        ResponseLink("print_month", {"month": PATH_MONTH, "vendor": vendor}),
        ResponseLink("close_month", {"month": PATH_MONTH}, {"vendor": vendor}),
    ]


def _link_project(project_id: str) -> list[ResponseLink]:
    in_path = {"project_id_or_month": project_id}
    return [
        ResponseLink("edit_project", in_path),
        ResponseLink("delete_project", in_path),
        ResponseLink("create_billing_group", body={"project_id": project_id}),
    ]


def _link_invoice_template(invoice_template_id: str) -> list[ResponseLink]:
    in_path = {"invoice_template_id": invoice_template_id}
    return [
        ResponseLink("change_invoice_template", in_path),
        ResponseLink("delete_invoice_template", in_path),
        ResponseLink("create_billing_group", body=in_path),
        ResponseLink("change_settings", body=in_path),
    ]


def _link_reseller(user_id: str) -> list[ResponseLink]:
    in_path = {"user_id": user_id}
    return [
        ResponseLink("update_reseller_meta", in_path),
        ResponseLink("change_reseller_password", in_path),
        ResponseLink("list_reseller_sessions", in_path),
        ResponseLink("remove_reseller_factors", in_path),
        ResponseLink("delete_reseller", in_path),
    ]


def _link_role(record: str) -> list[ResponseLink]:
    namespace, name = f"{record}/namespace", f"{record}/name"
    in_path = {"namespace": namespace, "rolename": name}
    return [
        ResponseLink("update_role", in_path),
        ResponseLink("delete_role", in_path),
        ResponseLink("map_roles", body={"roles": [{"namespace": namespace, "role": name}]}),
    ]


def _link_subuser(record: str) -> list[ResponseLink]:
    user_id, username = f"{record}/user_id", f"{record}/username"
    return [
        ResponseLink("change_password", {"user_id": user_id}),
        ResponseLink("read_email", {"user_id": user_id}),
        ResponseLink("change_email", {"user_id": user_id}),
        ResponseLink("list_sessions", {"user_id": user_id}),
        ResponseLink("list_second_factors", {"user_id": user_id}),
        ResponseLink("remove_second_factors", {"user_id": user_id}),
        ResponseLink("delete_subuser", {"user_id": user_id}),
        ResponseLink("create_api_client", {"user": user_id}),
        ResponseLink("list_api_clients", {"user": user_id}),
        ResponseLink("map_roles", body={"user_id": user_id}),
        ResponseLink("replace_mappings", {"subuser": user_id}),
        ResponseLink("list_mappings_of_subuser", {"subuser": username}),
        ResponseLink("list_permissions_of_subuser", {"subuser": username}),
        ResponseLink("read_access_of_subuser", {"subuser": username}),
    ]


def _link_api_client(record: str) -> list[ResponseLink]:
    user, client_id = f"{record}/user_id", f"{record}/client_id"
    return [
        ResponseLink("delete_api_client", {"user": user, "client_id": client_id}),
        ResponseLink("list_api_clients", {"user": user}),
    ]


def _link_entry(record: str) -> list[ResponseLink]:
    known = {"data": [f"{record}/id"], "month": PATH_MONTH, "vendor": f"{record}/vendor"}
    return [ResponseLink("apply_recalculation", body=known)]


def _link_reserved_instance(record: str) -> list[ResponseLink]:
    ri_id, vendor = f"{record}/id", f"{record}/vendor"
    return [
        ResponseLink("move_reserved_instance", {"ri_id": ri_id}, {"vendor": vendor}),
        ResponseLink("remove_reserved_instance", {"ri_id": ri_id, "vendor": vendor}),
    ]


def _link_webhook(endpoint_id: str) -> list[ResponseLink]:
    in_path = {"endpoint_id": endpoint_id}
    return [
        ResponseLink("read_webhook", in_path),
        ResponseLink("update_webhook", in_path),
        ResponseLink("rotate_webhook_secret", in_path),
        ResponseLink("send_test_webhook", in_path),
        ResponseLink("list_webhook_deliveries", in_path),
        ResponseLink("replay_failed_webhooks", in_path),
        ResponseLink("delete_webhook", in_path),
    ]


def _link_approval(approval_id: str) -> list[ResponseLink]:
    in_path = {"approval_id": approval_id}
    return [
        ResponseLink("read_approval", in_path),
        ResponseLink("approve_request", in_path),
        ResponseLink("reject_request", in_path),
        ResponseLink("withdraw_request", in_path),
    ]


def _link_webhook_delivery(delivery_id: str) -> list[ResponseLink]:
    in_path = {"endpoint_id": "$request.path.endpoint_id", "delivery_id": delivery_id}
    return [ResponseLink("replay_webhook_delivery", in_path)]


BODY, FIRST = "$response.body#", "$response.body#/0"

RESPONSE_LINKS: ResponseLinks = {
    "create_billing_group": _link_group(f"{BODY}/company_id"),
    "create_billing_groups_from_csv": _link_group(f"{BODY}/created/0/company_id"),
    "list_billing_groups": _link_group(f"{FIRST}/company_id"),
    "create_account": _link_account("$request.body#"),
    "list_accounts": _link_account(FIRST),
    "create_import": _link_import(f"{BODY}/import_id"),
    "release_import": [ResponseLink("get_import", {"import_id": f"{BODY}/import_id"})],
    "list_imports": [
        *_link_import(f"{FIRST}/import_id"),
        *_link_month(f"{FIRST}/month", f"{FIRST}/vendor"),
    ],
    "get_import": _link_month(f"{BODY}/month", f"{BODY}/vendor"),
    "list_months": _link_month(f"{FIRST}/month", f"{FIRST}/vendor"),
    "save_invoice_settings": _link_saved_settings(),
    "list_saved_months": _link_saved_months(),
    "save_exchange_rates": _link_saved_rates(),
    "save_exchange_rates_by_post": _link_saved_rates(),
    "list_invoices": _link_listed_invoices(),
    "create_invoices": _link_created_invoices(),
    "read_invoice": _link_invoice(f"{BODY}/month", f"{BODY}/company_id", f"{BODY}/vendor"),
    "list_recalculation": _link_entry(FIRST),
    "list_reserved_instances": _link_reserved_instance(FIRST),
    "create_project": _link_project(f"{BODY}/project_id"),
    "list_projects": _link_project(f"{FIRST}/project_id"),
    "create_invoice_template": _link_invoice_template(f"{BODY}/invoice_template_id"),
    "list_invoice_templates": _link_invoice_template(f"{FIRST}/invoice_template_id"),
    "create_or_list_resellers": _link_reseller(f"{BODY}/user_id"),
    "list_resellers": _link_reseller(f"{FIRST}/user_id"),
    "create_role": _link_role(BODY),
    "list_roles": _link_role(FIRST),
    "create_subuser": _link_subuser(BODY),
    "list_subusers": _link_subuser(FIRST),
    "create_api_client": _link_api_client(BODY),
    "list_api_clients": _link_api_client(FIRST),
    "request_approval": _link_approval(f"{BODY}/approval_id"),
    "list_approvals": _link_approval(f"{FIRST}/approval_id"),
    "create_webhook": _link_webhook(f"{BODY}/endpoint_id"),
    "list_webhooks": _link_webhook(f"{FIRST}/endpoint_id"),
    "send_test_webhook": _link_webhook_delivery(f"{BODY}/delivery_id"),
    "list_webhook_deliveries": _link_webhook_delivery(f"{FIRST}/delivery_id"),
}
