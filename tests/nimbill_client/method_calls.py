"""One call or more of every method of the client, with every parameter of the method."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill_client import (
    AccountGroupCreate,
    ApprovalRequestBody,
    Band,
    BillingGroupCreate,
    BillingGroupUpdate,
    Client,
    CloudAccountCreate,
    CloudAccountUpdate,
    ContactBody,
    FilteringRule,
    FreeFormatItem,
    InvoiceSetting,
    InvoiceTemplateBody,
    ManualCredit,
    MonthlyInvoiceSetting,
    Notification,
    OrganisationSettingsChange,
    PaymentRequest,
    ProjectBody,
    ResellerCreate,
    ResellerPassword,
    Role,
    RoleReference,
    SendInvoicesRequest,
    SubuserCreate,
    SupportFeeTarget,
    WebhookEndpointBody,
)
from tests.invoicing.month_end import SETTING as TERMS

FILE = Path("file")
MONTH = "2026-09"
SETTING = InvoiceSetting(**TERMS)
CONTACT = ContactBody(name="花子", email="h@example.com", receives_invoices=True)
SENDING = SendInvoicesRequest(vendor="aws", method="link", company_ids=["com"])
GROUP: dict[str, Any] = {
    "billinggroup_id": "BG-1",
    "billinggroup_name": "One",
    "company_name": "One Ltd",
}
TEMPLATE = InvoiceTemplateBody(name="ja", company="Reseller", due_days=30)
ITEM = FreeFormatItem(
    enabled=True, label="Support", unit_cost=Decimal(1), quantity=Decimal(2), total=Decimal(2)
)
APPROVAL = ApprovalRequestBody(kind="rates", target={"month": "2026-09"}, body={}, comment="x")
WEBHOOK = WebhookEndpointBody(url="https://example.com/", event_types=["month.closed"])
PROJECT = ProjectBody(project_code="P", project_label="Project", project_currency="jpy")
ROLES = [RoleReference(namespace="core", role="reader")]
FILTERS = [FilteringRule(namespace="core", type="billingGroup", resource=["com"])]

TARGET = SupportFeeTarget(usage="discounted", scope="cloudpayonly")

METHOD_CALLS: dict[str, Callable[[Client], Any]] = {
    "settings.read": lambda c: c.settings.read(),
    "settings.save_logo": lambda c: c.settings.save_logo(b"a picture"),
    "settings.delete_logo": lambda c: c.settings.delete_logo(),
    "settings.change": lambda c: c.settings.change(
        OrganisationSettingsChange(usage_table=[Band(upto=None, rate=Decimal("0.1"))])
    ),
    "billing_groups.list_all": lambda c: list(c.billing_groups.list_all()),
    "billing_groups.find": lambda c: c.billing_groups.find("BG-1"),
    "billing_groups.read": lambda c: c.billing_groups.read("com"),
    "billing_groups.create": lambda c: c.billing_groups.create(
        BillingGroupCreate(**GROUP, inv_aggregate=True, invoices={"aws": SETTING})
    ),
    "billing_groups.create_from_csv": lambda c: c.billing_groups.create_from_csv(b"x"),
    "billing_groups.update": lambda c: c.billing_groups.update("com", BillingGroupUpdate(**GROUP)),
    "billing_groups.delete": lambda c: c.billing_groups.delete("com"),
    "billing_groups.save_invoice_setting": lambda c: c.billing_groups.save_invoice_setting(
        "com",
        "aws",
        SETTING,
        support_fee_target=TARGET,
    ),
    "billing_groups.save_items": lambda c: c.billing_groups.save_items("com", "aws", [ITEM]),
    "billing_groups.delete_items": lambda c: c.billing_groups.delete_items("com"),
    "billing_groups.delete_items of a vendor": lambda c: c.billing_groups.delete_items(
        "com", "aws"
    ),
    "billing_groups.link_invoice_template": lambda c: c.billing_groups.link_invoice_template(
        "com", None
    ),
    "billing_groups.export_csv": lambda c: c.billing_groups.export_csv(FILE),
    "billing_groups.export_settings_csv": lambda c: c.billing_groups.export_settings_csv(FILE),
    "accounts.list_all": lambda c: list(c.accounts.list_all("oracle")),
    "accounts.create": lambda c: c.accounts.create(
        CloudAccountCreate(
            vendor="oracle", customer_id="1", account_id="2", company_id="com", name="n", note="x"
        )
    ),
    "accounts.create_from_csv": lambda c: c.accounts.create_from_csv(b"x"),
    "accounts.update": lambda c: c.accounts.update(
        "1",
        CloudAccountUpdate(vendor="aws", account_id="2", company_id="com", name="n", note="x"),
    ),
    "accounts.delete": lambda c: c.accounts.delete("aws", "1", "2"),
    "imports.list_all": lambda c: list(c.imports.list_all()),
    "imports.read": lambda c: c.imports.read("imp"),
    "archive.search": lambda c: list(
        c.archive.search(date_from="2026-01-01", amount_from=Decimal("1.50"), counterparty="a")
    ),
    "archive.export": lambda c: c.archive.export(
        FILE, date_to="2026-12-31", document_kind="invoice"
    ),
    "archive.read_key": lambda c: c.archive.read_key(),
    "corrections.preview_terms": lambda c: c.corrections.preview_terms(
        MONTH, "com", "aws", SETTING, support_fee_target=TARGET
    ),
    "corrections.preview_late_costs": lambda c: c.corrections.preview_late_costs(
        MONTH, "com", "aws", "imp", one_off_lines=True
    ),
    "corrections.credit_terms": lambda c: c.corrections.credit_terms(
        MONTH, "com", "aws", SETTING, "wrong", support_fee_target=TARGET
    ),
    "corrections.replace": lambda c: c.corrections.replace(MONTH, "com", "aws", "wrong"),
    "corrections.list_late_costs": lambda c: c.corrections.list_late_costs("imp"),
    "corrections.decide": lambda c: c.corrections.decide(
        "imp", "com", "entry", "late", entry_month=MONTH
    ),
    "credit_notes.issue_in_full": lambda c: c.credit_notes.issue_in_full(
        MONTH, "com", "aws", "wrong"
    ),
    "credit_notes.issue_for_lines": lambda c: c.credit_notes.issue_for_lines(
        MONTH, "com", "aws", ["usage-1"], "wrong"
    ),
    "credit_notes.issue_by_hand": lambda c: c.credit_notes.issue_by_hand(
        MONTH, "com", "aws", [ManualCredit(description="refund", amount=Decimal(1))], "wrong"
    ),
    "credit_notes.list_of_invoice": lambda c: c.credit_notes.list_of_invoice(MONTH, "com", "aws"),
    "credit_notes.list_month": lambda c: c.credit_notes.list_month(MONTH),
    "credit_notes.read": lambda c: c.credit_notes.read("crn"),
    "credit_notes.download_pdf": lambda c: c.credit_notes.download_pdf("crn", FILE),
    "credit_notes.export_csv": lambda c: c.credit_notes.export_csv(MONTH, FILE),
    "payments.record": lambda c: c.payments.record(
        MONTH,
        "com",
        "aws",
        PaymentRequest(amount=Decimal(1), paid_on="2026-10-05"),
    ),
    "payments.record_from_csv": lambda c: c.payments.record_from_csv(b"x"),
    "payments.reverse": lambda c: c.payments.reverse(MONTH, "com", "aws", "pay", "bounced"),
    "payments.read_invoice": lambda c: c.payments.read_invoice(MONTH, "com", "aws"),
    "payments.list_all": lambda c: list(
        c.payments.list_all(first_day="2026-10-01", last_day="2026-10-31", company_id="com")
    ),
    "payments.list_receivables": lambda c: list(
        c.payments.list_receivables(balance="overdue", company_id="com", vendor="aws")
    ),
    "payments.sum_receivables": lambda c: c.payments.sum_receivables(
        balance="all", company_id="com", vendor="aws"
    ),
    "contacts.list_all": lambda c: c.contacts.list_all("com"),
    "contacts.create": lambda c: c.contacts.create("com", CONTACT),
    "contacts.create_from_csv": lambda c: c.contacts.create_from_csv(b"x"),
    "contacts.replace": lambda c: c.contacts.replace("com", "con", CONTACT),
    "contacts.delete": lambda c: c.contacts.delete("com", "con"),
    "deliveries.preview": lambda c: c.deliveries.preview(MONTH, SENDING),
    "deliveries.send": lambda c: c.deliveries.send(MONTH, SENDING),
    "deliveries.list_month": lambda c: c.deliveries.list_month(MONTH, vendor="aws", state="failed"),
    "deliveries.list_of_invoice": lambda c: c.deliveries.list_of_invoice(MONTH, "com", "aws"),
    "deliveries.retry": lambda c: c.deliveries.retry("dlv"),
    "deliveries.publish": lambda c: c.deliveries.publish(
        MONTH, "com", "aws", "2026-10-01T00:00:00Z"
    ),
    "imports.upload": lambda c: c.imports.upload("oracle", [FILE], MONTH),
    "imports.start": lambda c: c.imports.start("aws", "folder", MONTH),
    "imports.wait": lambda c: c.imports.wait("imp", seconds_max=0),
    "imports.release": lambda c: c.imports.release("imp", "checked"),
    "costs.read": lambda c: c.costs.read(MONTH, "aws", by="account"),
    "costs.list_sums": lambda c: list(c.costs.list_sums(MONTH, "gcp")),
    "months.list_all": lambda c: list(c.months.list_all()),
    "months.read": lambda c: c.months.read(MONTH, "aws"),
    "months.tie_out": lambda c: c.months.tie_out(MONTH, "gcp"),
    "months.close": lambda c: c.months.close(MONTH, "aws", override=True, reason="agreed"),
    "months.reopen": lambda c: c.months.reopen(MONTH, "aws", "late bill"),
    "invoices.list_month": lambda c: c.invoices.list_month(MONTH),
    "invoices.read_totals": lambda c: c.invoices.read_totals(MONTH),
    "invoices.save_settings": lambda c: c.invoices.save_settings(
        MONTH, {"com": {"aws": MonthlyInvoiceSetting(**TERMS, memo="once")}}
    ),
    "invoices.save_default_settings": lambda c: c.invoices.save_default_settings(MONTH),
    "invoices.use_default_terms": lambda c: c.invoices.use_default_terms(MONTH, "com", "aws"),
    "invoices.list_saved_months": lambda c: c.invoices.list_saved_months("com", "aws"),
    "invoices.save_exchange_rate": lambda c: c.invoices.save_exchange_rate(
        MONTH, "aws", ["com"], Decimal("150.25")
    ),
    "invoices.preview_terms": lambda c: c.invoices.preview_terms(
        MONTH, "com", "aws", SETTING, support_fee_target=TARGET
    ),
    "invoices.create": lambda c: c.invoices.create(MONTH, "aws", ["com"]),
    "invoices.list_runs": lambda c: c.invoices.list_runs(MONTH),
    "invoices.read": lambda c: c.invoices.read(MONTH, "com", "aws"),
    "invoices.read_revision": lambda c: c.invoices.read_revision(MONTH, "com", "aws", 1),
    "invoices.read_state": lambda c: c.invoices.read_state(MONTH, "com", "aws"),
    "invoices.mark_as_sent": lambda c: c.invoices.mark_as_sent(MONTH, "com", "aws", 1),
    "invoices.mark_all_as_sent": lambda c: c.invoices.mark_all_as_sent(MONTH, "aws", {"com": 1}),
    "invoices.cancel": lambda c: c.invoices.cancel(MONTH, "com", "aws", "wrong"),
    "invoices.compare_revisions": lambda c: c.invoices.compare_revisions(MONTH, "com", "aws", 2),
    "invoices.list_revisions": lambda c: c.invoices.list_revisions(MONTH, "com", "aws"),
    "invoices.download_pdf": lambda c: (
        c.invoices.download_pdf(MONTH, "com", "aws", FILE),
        c.invoices.download_pdf(MONTH, "com", None, FILE),
    ),
    "invoices.download_zip": lambda c: c.invoices.download_zip(MONTH, FILE, "aws"),
    "invoices.export_accounts_csv": lambda c: c.invoices.export_accounts_csv(MONTH, FILE),
    "invoices.export_tags_csv": lambda c: c.invoices.export_tags_csv(MONTH, FILE),
    "recalculation.list_all": lambda c: c.recalculation.list_all(MONTH, "aws"),
    "recalculation.apply": lambda c: c.recalculation.apply(
        ["ent"], MONTH, "aws", exchange_rate=Decimal(150), tax_free=True
    ),
    "recalculation.unapply": lambda c: c.recalculation.unapply(["ent"], MONTH, "aws"),
    "reserved_instances.list_all": lambda c: c.reserved_instances.list_all("aws"),
    "reserved_instances.move": lambda c: c.reserved_instances.move("ri", "1", 2),
    "reserved_instances.remove_move": lambda c: c.reserved_instances.remove_move("ri"),
    "projects.list_all": lambda c: c.projects.list_all(),
    "projects.create": lambda c: c.projects.create(PROJECT),
    "projects.update": lambda c: c.projects.update("prj", PROJECT),
    "projects.delete": lambda c: c.projects.delete("prj"),
    "projects.read_profit": lambda c: c.projects.read_profit(MONTH),
    "projects.export_csv": lambda c: c.projects.export_csv(MONTH, FILE),
    "invoice_templates.list_all": lambda c: c.invoice_templates.list_all(),
    "invoice_templates.create": lambda c: c.invoice_templates.create(TEMPLATE),
    "invoice_templates.update": lambda c: c.invoice_templates.update("tpl", TEMPLATE),
    "invoice_templates.delete": lambda c: c.invoice_templates.delete("tpl"),
    "portal_logins.list_all": lambda c: c.portal_logins.list_all(),
    "portal_logins.create": lambda c: c.portal_logins.create(
        ResellerCreate(
            email="a@example.com",
            company_id="com",
            input_type="Custom",
            notification=True,
            password="secret word 1",
            meta={"dashboard_graph": True},
        )
    ),
    "portal_logins.delete": lambda c: c.portal_logins.delete("usr"),
    "portal_logins.change_password": lambda c: c.portal_logins.change_password(
        "usr", ResellerPassword(input_type="Custom", notification=False, password="secret word 1")
    ),
    "portal_logins.change_meta": lambda c: c.portal_logins.change_meta("usr", {"x": True}),
    "portal_logins.list_sessions": lambda c: c.portal_logins.list_sessions("usr"),
    "portal_logins.end_session": lambda c: c.portal_logins.end_session("usr", "ses"),
    "portal_logins.remove_second_factors": lambda c: c.portal_logins.remove_second_factors("usr"),
    "portal.read_me": lambda c: c.portal.read_me(),
    "portal.read_dashboard": lambda c: c.portal.read_dashboard(
        first=MONTH, last=MONTH, company_id="com"
    ),
    "portal.read_account_usage": lambda c: (
        c.portal.read_account_usage(MONTH, company_id="com"),
        c.portal.read_account_usage(first=MONTH, last=MONTH),
    ),
    "portal.read_tag_usage": lambda c: (
        c.portal.read_tag_usage("Team", MONTH, company_id="com"),
        c.portal.read_tag_usage("Team", first=MONTH, last=MONTH),
    ),
    "portal.list_account_groups": lambda c: c.portal.list_account_groups("com"),
    "portal.create_account_group": lambda c: c.portal.create_account_group(
        AccountGroupCreate(name="Research", customer_ids=["1"], company_id="com")
    ),
    "portal.list_invoices": lambda c: list(c.portal.list_invoices("com")),
    "portal.read_invoice": lambda c: c.portal.read_invoice(MONTH, "aws", "com"),
    "portal.download_invoice_pdf": lambda c: c.portal.download_invoice_pdf(
        MONTH, "aws", FILE, "com"
    ),
    "users.list_all": lambda c: c.users.list_all(),
    "users.create": lambda c: c.users.create(
        SubuserCreate(
            username="ann",
            password="secret word 1",
            email="a@example.com",
            notification=Notification(email="false"),
        )
    ),
    "users.delete": lambda c: c.users.delete("usr"),
    "users.change_password": lambda c: c.users.change_password("usr", "new", old_password="old"),
    "users.list_api_clients": lambda c: c.users.list_api_clients("usr"),
    "users.create_api_client": lambda c: c.users.create_api_client("usr", "nightly"),
    "users.delete_api_client": lambda c: c.users.delete_api_client("usr", "cli"),
    "users.list_sessions": lambda c: c.users.list_sessions("usr"),
    "users.end_session": lambda c: c.users.end_session("usr", "ses"),
    "users.list_second_factors": lambda c: c.users.list_second_factors("usr"),
    "users.remove_second_factors": lambda c: c.users.remove_second_factors("usr"),
    "roles.list_all": lambda c: c.roles.list_all("core"),
    "roles.create": lambda c: c.roles.create(
        Role(name="reader", namespace="core", permissions=["ReadCost"])
    ),
    "roles.update": lambda c: c.roles.update(
        "core", "reader", new_name="viewer", permissions=["ReadCost"]
    ),
    "roles.delete": lambda c: c.roles.delete("core", "reader"),
    "roles.list_permissions": lambda c: (
        c.roles.list_permissions(),
        c.roles.list_permissions("usr"),
    ),
    "roles.list_mappings": lambda c: (c.roles.list_mappings(), c.roles.list_mappings("usr")),
    "roles.give": lambda c: c.roles.give("usr", ROLES, FILTERS),
    "roles.replace": lambda c: c.roles.replace("usr", ROLES, FILTERS),
    "audit.list_entries": lambda c: list(
        c.audit.list_entries(
            since="2026-09-01",
            until="2026-09-30",
            actor="usr",
            resource="r",
            action="close_month",
            company_id="com",
            search="rate",
            search_actions=["save_exchange_rate"],
        )
    ),
    "approvals.list_all": lambda c: list(c.approvals.list_all(state="expired", kind="rates")),
    "approvals.read": lambda c: c.approvals.read("apr"),
    "approvals.request": lambda c: c.approvals.request(APPROVAL),
    "approvals.approve": lambda c: c.approvals.approve("apr", "0" * 64),
    "approvals.reject": lambda c: c.approvals.reject("apr", "not yet"),
    "approvals.withdraw": lambda c: c.approvals.withdraw("apr"),
    "webhooks.list_all": lambda c: c.webhooks.list_all(),
    "webhooks.read": lambda c: c.webhooks.read("whe"),
    "webhooks.create": lambda c: c.webhooks.create(WEBHOOK),
    "webhooks.update": lambda c: c.webhooks.update("whe", WEBHOOK),
    "webhooks.delete": lambda c: c.webhooks.delete("whe"),
    "webhooks.rotate_secret": lambda c: c.webhooks.rotate_secret("whe"),
    "webhooks.send_test": lambda c: c.webhooks.send_test("whe"),
    "webhooks.list_deliveries": lambda c: list(c.webhooks.list_deliveries("whe", state="failed")),
    "webhooks.replay": lambda c: c.webhooks.replay("whe", "whd"),
    "webhooks.replay_failed": lambda c: c.webhooks.replay_failed("whe", "2026-09-01T00:00:00Z"),
}
