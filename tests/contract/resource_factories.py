"""The records that requests can refer to, and how to create them.

A new route needs an entry in REFERENCES for every record it names, or a reason in NOT_A_RECORD.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from tests.contract.approval_factories import APPROVAL_REFERENCES
from tests.contract.credit_note_factories import make_credit_note, make_credited_group
from tests.contract.drift_factories import (
    make_corrected_group,
    make_drift_import,
    make_drifting_group,
    make_late_import,
)
from tests.contract.month_factories import (
    OF_INVOICES,
    make_closed_month,
    make_import,
    make_invoiced_group,
    make_moved_instance,
    make_open_month,
    make_recalculation_entry,
    make_reserved_instance,
    make_saved_group,
    make_sent_group,
    make_tagged_cost,
)
from tests.contract.payment_factories import find_last_payment, make_paid_group
from tests.contract.sending_factories import (
    OF_SENT_INVOICES,
    make_delivery,
    make_mailable_group,
)
from tests.contract.tenants import (
    PAYER,
    RecordReference,
    Tenant,
    make_account,
    make_billing_group,
    make_contact,
    make_invoice_template,
    make_project,
    make_second_factor,
    make_user,
    make_username,
)
from tests.contract.webhook_factories import make_webhook, make_webhook_delivery
from tests.legacy.contract_entries import LEGACY_REFERENCES, NOT_A_LEGACY_RECORD  # version 3

# ── records ──────────────────────────────────────────────────────────────────────────────────────


def make_reseller(tenant: Tenant) -> str:
    user_id, email = new_id("usr"), f"{tenant.word('e')}@example.com"
    tenant.add(
        "users",
        user_id=user_id,
        root_user=user_id,
        kind="reseller",
        username=email,
        email=email,
        password_hash="!",
    )
    tenant.add(
        "resellers",
        user_id=user_id,
        company_id=make_billing_group(tenant),
        meta='{"invoice": true}',
    )
    return user_id


def make_api_client(tenant: Tenant, owner: str | None = None) -> str:
    client_id = new_id("cl")
    tenant.add(
        "api_clients",
        client_id=client_id,
        user_id=owner or make_user(tenant),
        name=tenant.word("k"),
        secret_hash=b"none",
        create_time_ns=1,
    )
    tenant.add("tenant_lookups", kind="api_client", key=client_id)
    return client_id


def make_session(tenant: Tenant, owner: str | None = None, product: str = "core") -> str:
    family_id = new_id("ses")
    tenant.add(
        "token_families",
        family_id=family_id,
        user_id=owner or make_user(tenant),
        product=product,
        subject_type="user",
        credential_epoch=1,
        create_time=clock.now(),
    )
    return family_id


def make_role(tenant: Tenant) -> str:
    """A role in the namespace of PLAIN_VALUES."""
    name = tenant.word("r")
    tenant.add(
        "roles",
        root_user=tenant.organisation.root_user_id,
        namespace="core",
        name=name,
        permissions=["ReadUsers"],
    )
    return name


def make_account_group(tenant: Tenant) -> str:
    """A group of one account of the portal."""
    group_id, customer_id = new_id("agr"), make_account(tenant)
    company_id = tenant.superuser.sql(
        "SELECT company_id FROM cloud_accounts WHERE organisation_id = $1 AND customer_id = $2",
        tenant.organisation_id,
        customer_id,
    )[0]["company_id"]
    name = tenant.word("g")
    tenant.add("account_groups", group_id=group_id, company_id=company_id, name=name)
    tenant.add("account_group_members", group_id=group_id, customer_id=customer_id)
    return group_id


def make_saved_filter(tenant: Tenant) -> str:
    filter_id = new_id("flt")
    tenant.add(
        "saved_filters",
        filter_id=filter_id,
        user_id=tenant.organisation.root_user_id,
        name=tenant.word("f"),
        content="{}",
    )
    return filter_id


def make_portal_view(tenant: Tenant) -> str:
    """A view of the root user."""
    view_id = new_id("view")
    tenant.add(
        "portal_views",
        view_id=view_id,
        user_id=tenant.organisation.root_user_id,
        client_id=tenant.organisation.client_id,
        credential_epoch=1,
        account_id=make_reseller(tenant),
        create_time=clock.now(),
        expire_time=clock.now() + timedelta(minutes=15),
    )
    return view_id


GROUP = RecordReference(make_billing_group, "billing_groups", "company_id", filtered=True)
PROJECT = RecordReference(make_project, "projects", "project_id")
TEMPLATE = RecordReference(make_invoice_template, "invoice_templates", "invoice_template_id")
USER = RecordReference(make_user, "users", "user_id")
USERNAME = RecordReference(make_username, "users", "username", alternative=USER)
ACCOUNT = RecordReference(make_account, "cloud_accounts", "customer_id", filtered=True)
BOTH_IDS = RecordReference(
    make_account, "cloud_accounts", "customer_id", filtered=True, suffix=f"|{PAYER}"
)
ENTRY = RecordReference(
    make_recalculation_entry, "recalculation_entries", "entry_id", filtered=True
)
RESERVATION = RecordReference(make_reserved_instance, "reserved_instances", "ri_id", filtered=True)
MOVED = RecordReference(make_moved_instance, "reservation_moves", "move_id", filtered=True)
RESELLER = RecordReference(make_reseller, "users", "user_id", filtered=True)
IMPORT = RecordReference(make_import, "cost_imports", "import_id", filtered=True)
DRIFT = RecordReference(make_drift_import, "cost_imports", "import_id", filtered=True)
LATE = RecordReference(make_late_import, "cost_imports", "import_id", filtered=True)
CORRECTED = RecordReference(make_corrected_group, "billing_groups", "company_id", filtered=True)
DRIFTING = RecordReference(make_drifting_group, "billing_groups", "company_id", filtered=True)
SAVED = RecordReference(make_saved_group, "billing_groups", "company_id", filtered=True)
SENT = RecordReference(make_sent_group, "billing_groups", "company_id", filtered=True)
CREDITED = RecordReference(make_credited_group, "billing_groups", "company_id", filtered=True)
CREDIT_NOTE = RecordReference(make_credit_note, "credit_notes", "credit_note_id", filtered=True)
PAID = RecordReference(make_paid_group, "billing_groups", "company_id", filtered=True)
PAYMENT = RecordReference(find_last_payment, "payments", "payment_id", filtered=True)
INVOICED = RecordReference(make_invoiced_group, "billing_groups", "company_id", filtered=True)
DELIVERY = RecordReference(make_delivery, "invoice_deliveries", "delivery_id", filtered=True)
MAILABLE = RecordReference(make_mailable_group, "billing_groups", "company_id", filtered=True)
CONTACT = RecordReference(make_contact, "contacts", "contact_id", filtered=True)
ACCOUNT_GROUP = RecordReference(make_account_group, "account_groups", "group_id", filtered=True)
WEBHOOK = RecordReference(make_webhook, "webhook_endpoints", "endpoint_id", filtered=True)
WEBHOOK_DELIVERY = RecordReference(
    make_webhook_delivery, "webhook_deliveries", "delivery_id", filtered=True
)
PORTAL_VIEW = RecordReference(make_portal_view, "portal_views", "view_id")
SAVED_FILTER = RecordReference(make_saved_filter, "saved_filters", "filter_id")
CLIENT = RecordReference(make_api_client, "api_clients", "client_id")
SESSION = RecordReference(make_session, "token_families", "family_id")
ROLE = RecordReference(make_role, "roles", "name")
FACTOR = RecordReference(make_second_factor, "second_factors", "factor_id")

RESELLER_SIGN_IN = "list_reseller_sessions", "end_reseller_session", "remove_reseller_factors"
# parameter or body field: the record it refers to; "operation.name" takes precedence over "name"
REFERENCES: Mapping[str, RecordReference] = {
    "company_id": GROUP,
    "project_id": PROJECT,
    "invoice_template_id": TEMPLATE,
    "user_id": USER,
    **dict.fromkeys(("user", "subuser"), USERNAME),
    "replace_mappings.subuser": USER,
    "client_id": CLIENT,
    "session_id": SESSION,
    "factor_id": FACTOR,
    **dict.fromkeys(("rolename", "role"), ROLE),
    **dict.fromkeys(("map_roles.resource", "replace_mappings.resource"), GROUP),
    "update_account.customer_id": ACCOUNT,
    "both_ids": BOTH_IDS,
    "apply_recalculation.data": ENTRY,
    "ri_id": RESERVATION,
    "remove_reserved_instance.ri_id": MOVED,
    "move_reserved_instance.customer_id": ACCOUNT,
    "import_id": IMPORT,
    "save_invoice_settings.settings": GROUP,
    "billing_groups": SAVED,
    "group": SAVED,
    **dict.fromkeys(("preview_terms.company_id", "use_default_terms.company_id"), SAVED),
    **{f"{operation}.company_id": INVOICED for operation in OF_INVOICES},
    **{f"{operation}.company_id": SENT for operation in OF_SENT_INVOICES},
    **dict.fromkeys(("list_drift.import_id", "decide_drift.import_id"), DRIFT),
    "decide_drift.company_id": DRIFTING,
    "preview_correction.import_id": LATE,
    "preview_correction.company_id": CORRECTED,
    "list_credit_notes_of_invoice.company_id": CREDITED,
    "credit_note_id": CREDIT_NOTE,
    "list_archived_documents.counterparty": CREDITED,
    "export_archive.counterparty": CREDITED,
    "record_payment.company_id": SENT,
    **{f"{name}.company_id": PAID for name in ("reverse_payment", "list_payments_of_invoice")},
    "payment_id": PAYMENT,
    "contact_id": CONTACT,
    "delivery_id": DELIVERY,
    "company_ids": MAILABLE,
    "mark_invoices_as_sent.revisions": INVOICED,
    "group_id": ACCOUNT_GROUP,
    "filter_id": SAVED_FILTER,
    "view_id": PORTAL_VIEW,
    "endpoint_id": WEBHOOK,
    **APPROVAL_REFERENCES,
    "replay_webhook_delivery.delivery_id": WEBHOOK_DELIVERY,
    "begin_portal_view.user_id": RESELLER,
    "rename_account.customer_id": ACCOUNT,
    **{f"{verb}_account_group.customer_ids": ACCOUNT for verb in ("create", "change")},
    **LEGACY_REFERENCES,  # version 3
    **{f"{verb}.user_id": RESELLER for verb in ("delete_reseller", "change_reseller_password")},
    "update_reseller_meta.user_id": RESELLER,
    **{f"{operation}.user_id": RESELLER for operation in RESELLER_SIGN_IN},
    "read_costs.by": RecordReference(
        make_tagged_cost, "cost_tag_sums", "tag_key", filtered=True, prefix="tag:"
    ),
    "list_audit_entries.actor": USER,
    "list_audit_entries.resource": RecordReference(
        make_billing_group, "billing_groups", "company_id", filtered=True, prefix="billinggroup/"
    ),
}

# parameters and body fields that look like references but are none, and why
NOT_A_RECORD: Mapping[str, str] = {
    "credential_id": "of a passkey, which the proof of its signature belongs to",
    "billinggroup_id": "chosen freely by the caller",
    "customer_id": "account number of the vendor",
    "account_id": "payer number of the vendor",
    "vendor": "aws or azure",
    "budget_id": "one of the company's own list",
    "target_id": "an account, a group or a tag of the company; checked in test_budgets.py",
    "code": "the code of a finding",
    "months": "a number",
    "language": "ja or en",
    "line": "a line of an invoice",
    "revision": "the number of an invoice's revision",
    **dict.fromkeys(("limit", "offset"), "a number"),
    **NOT_A_LEGACY_RECORD,  # version 3
    "namespace": "core or portal",
    **dict.fromkeys(("from", "to"), "a time"),
    **dict.fromkeys(("date_from", "date_to", "amount_from", "amount_to"), "a limit of a range"),
    **dict.fromkeys(("currency", "document_kind"), "a fixed list"),
    "interval": "day or month",
    "before": "a number",
    "search": "a text",
    "search_actions": "names of operations",
    "sort": "a column of the list",
    "state": "a fixed list of states",
    "approval_kind": "a fixed list",
    **dict.fromkeys(("target", "body"), "of an operation; checked in tests/approvals"),
    "object_type": "the kind of record",
    "object_id": "an id that is looked for in the log alone",
    "action": "the name of an operation",
    **dict.fromkeys(("force", "etags", "details", "steps", "applied", "invoiced"), "true or false"),
    "balance": "a fixed list of filters",
    "by": "account or group",
    "permissions": "fixed list of permissions",
}

# parameters that name no record and need a new value in every request
FRESH_VALUES: Mapping[str, Callable[[Tenant], str]] = {
    "close_month.month": make_open_month,
    "reopen_month.month": make_closed_month,
}


def find_reference(operation: str, name: str) -> RecordReference | None:
    return REFERENCES.get(f"{operation}.{name}") or REFERENCES.get(name)
