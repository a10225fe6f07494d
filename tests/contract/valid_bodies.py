"""A valid body for each operation, with all fields and texts of the tenant."""

import base64
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

from nimbill.demo.logo import draw_logo
from nimbill.foundation import clock
from tests.contract.approval_factories import build_decision, build_rate_request
from tests.contract.drift_factories import make_late_import
from tests.contract.month_factories import (
    make_invoiced_group,
    make_recalculation_entry,
    make_saved_group,
)
from tests.contract.payment_factories import payment_file
from tests.contract.resource_factories import (
    make_reseller,
    make_role,
)
from tests.contract.sending_factories import make_mailable_group
from tests.contract.tenants import (
    PAYER,
    Tenant,
    make_account,
    make_billing_group,
    make_invoice_template,
    make_project,
    make_user,
    next_account_number,
)
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.identity.second_factors.authenticator import Authenticator, encode
from tests.legacy.contract_entries import LEGACY_BODIES  # version 3
from tests.running_service import PASSWORD

UPDATED_SETTING = VALID_SETTING | {
    "substitution_fee_calc_target": "cloudpayonly",
    "substitution_fee_target_usage": "discounted",
    "support_fee_calc_target": "cloudpaywithfee",
    "tax_rate": 0.08,
}


def billing_group_body(tenant: Tenant, referred: Tenant | None = None) -> dict[str, Any]:
    """The records it refers to are created by `referred`, by default the tenant itself."""
    owner = referred or tenant
    return {
        "billinggroup_id": tenant.word("b"),
        "billinggroup_name": tenant.word("b"),
        "company_name": tenant.word("b"),
        "phone": tenant.word("b"),
        "postal": tenant.word("b"),
        "address": tenant.word("b"),
        "billing_title": tenant.word("b"),
        "personal": tenant.word("b"),
        "remarks": tenant.word("b"),
        "inv_aggregate": False,
        "project_id": make_project(owner),
        "invoice_template_id": make_invoice_template(owner),
        "invoices": {"aws": VALID_SETTING},
        "language": "ja",
    }


def subuser_body(tenant: Tenant) -> dict[str, Any]:
    name = tenant.word("s")
    return {
        "username": name,
        "password": PASSWORD,
        "email": f"{name}@example.com",
        "notification": {"email": "false"},  # an encrypted invitation is never twice the same
    }


def second_factor_body(tenant: Tenant) -> dict[str, Any]:
    """A passkey for a registration that the root user has begun."""
    token, challenge = f"{tenant.organisation_id}.{secrets.token_urlsafe(32)}", b"c" * 32
    tenant.add(
        "second_factor_challenges",
        token_hash=sha256(token.encode()).digest(),
        user_id=tenant.organisation.root_user_id,
        purpose="registration",
        product="core",
        credential_epoch=1,
        kind="passkey",
        challenge=challenge,
        expire_time=clock.now() + timedelta(minutes=5),
    )
    options = {"rp_id": "localhost", "challenge": encode(challenge)}
    return {
        "registration_token": token,
        "name": tenant.word("f"),
        "passkey": Authenticator().create(options),
    }


def mapping_body(tenant: Tenant) -> dict[str, Any]:
    return {
        "roles": [{"namespace": "core", "role": make_role(tenant)}],
        "filters": [
            {
                "namespace": "core",
                "type": "billingGroup",
                "resource": [make_billing_group(tenant)],
            }
        ],
    }


def billing_bodies() -> dict[str, Callable[[Tenant], Any]]:
    """Bodies of billing administration."""
    template = {"name": "Standard", "company": "Aozora", "due_rule": "days", "due_days": 30}
    project = {"project_label": "label", "project_currency": "jpy"}
    redo = {"redo": False}
    return {
        "update_billing_group": lambda tenant: {
            **{name: tenant.word("b") for name in ("billinggroup_id", "billinggroup_name")},
            "company_name": tenant.word("b"),
            "project_id": make_project(tenant),
        },
        "update_invoice_setting": lambda _: {"vendor": "aws", "invoices": UPDATED_SETTING},
        "preview_terms": lambda _: {"vendor": "aws", "invoices": UPDATED_SETTING},
        "update_free_format": lambda tenant: {"additional_items": [free_format_item(tenant)]},
        "update_invoice_template_of_group": lambda tenant: {
            "invoice_template_id": make_invoice_template(tenant)
        },
        "create_project": lambda tenant: {"project_code": tenant.word("p"), **project},
        "edit_project": lambda tenant: {"project_code": tenant.word("p"), **project},
        "create_billing_groups_from_csv": billing_group_file,
        "create_accounts_from_csv": account_file,
        "record_payments_from_csv": payment_file,
        "create_invoice_template": lambda _: template,
        "preview_invoice_template": lambda _: template,
        "change_invoice_template": lambda _: template,
        "change_settings": lambda tenant: {
            "rounding": "down",
            "invoice_template_id": make_invoice_template(tenant),
        },
        "export_billing_group_csv": lambda _: redo,
        "export_billing_group_setting_csv": lambda _: redo,
        **account_bodies(),
    }


def account_bodies() -> dict[str, Callable[[Tenant], Any]]:
    """Bodies of cloud accounts and of customers' logins."""
    return {
        "create_account": lambda tenant: {
            **account_body(tenant),
            "customer_id": next_account_number(tenant),
        },
        "update_account": account_body,
        "assign_accounts": lambda tenant: {
            "company_id": make_billing_group(tenant),
            "accounts": [
                {
                    "vendor": "aws",
                    "customer_id": next_account_number(tenant),
                    "account_id": PAYER,
                    "name": tenant.word("a"),
                }
            ],
        },
        "create_or_list_resellers": lambda tenant: {
            "email": f"{tenant.word('e')}@example.com",
            "company_id": make_billing_group(tenant),
            "input_type": "Custom",
            "notification": False,
            "password": PASSWORD,
            "meta": {"invoice": True},
        },
        "change_reseller_password": lambda _: {
            "input_type": "Custom",
            "notification": False,
            "password": PASSWORD,
        },
        "update_reseller_meta": lambda _: {"meta": {"invoice": True}},
        "begin_portal_view": view_body,
        "store_portal_logo": lambda _: {"content": base64.b64encode(draw_logo("#1a5fb4")).decode()},
        "request_approval": build_rate_request,
        "approve_request": build_decision,
        "reject_request": lambda tenant: {"reason": tenant.word("r")},
        "create_webhook": first_webhook_body,
        "update_webhook": webhook_body,
        "replay_failed_webhooks": lambda _: {"since": "2026-01-01T00:00:00Z"},
    }


def first_webhook_body(tenant: Tenant) -> dict[str, Any]:
    """An organisation has few endpoints at most, and other tests have added many."""
    tenant.superuser.sql(
        "DELETE FROM webhook_endpoints WHERE organisation_id = $1", tenant.organisation_id
    )
    return webhook_body(tenant)


def webhook_body(tenant: Tenant) -> dict[str, Any]:
    return {
        "url": f"https://{tenant.word('w')}.invalid/",
        "description": tenant.word("w"),
        "event_types": ["month.closed"],
        "enabled": True,
    }


def view_body(tenant: Tenant) -> dict[str, Any]:
    """A company with one of its reseller accounts."""
    company_id = make_billing_group(tenant)
    return {
        "company_id": company_id,
        "user_id": make_reseller(replace(tenant, group=company_id)),
    }


def month_bodies() -> dict[str, Callable[[Tenant], dict[str, Any]]]:
    """Bodies of month-end operations."""
    return {
        "apply_recalculation": lambda tenant: {
            "data": [make_recalculation_entry(tenant)],
            "month": "2026-01",
            "exchange_rate": 0,
            "tax_free": False,
            "apply": True,
            "vendor": "aws",
        },
        "move_reserved_instance": lambda tenant: {
            "customer_id": make_account(tenant),
            "number": 1,
            "vendor": "aws",
        },
        "save_invoice_settings": lambda tenant: {
            "settings": {make_billing_group(tenant): {"aws": {**VALID_SETTING, "memo": "m"}}},
            "internal": False,
        },
        "save_exchange_rates": exchange_rate_body,
        "save_exchange_rates_by_post": exchange_rate_body,
        "create_invoices": lambda tenant: {
            "vendor": "aws",
            "group": [make_saved_group(tenant)],
            "bulk": False,
        },
        "mark_invoice_as_sent": lambda _: {"revision": 1},
        "issue_credit_note": lambda tenant: {
            "kind": "manual",
            "reason": tenant.word("c"),
            "amounts": [{"description": tenant.word("c"), "amount": 1, "tax_free": False}],
        },
        "record_payment": lambda tenant: {
            "amount": 1,
            "paid_on": "2026-02-01",
            "note": tenant.word("n"),
        },
        "reverse_payment": lambda tenant: {"reason": tenant.word("n")},
        "preview_correction": lambda tenant: {"import_id": make_late_import(tenant)},
        "replace_invoice": lambda tenant: {"reason": tenant.word("c")},
        "decide_drift": lambda tenant: {"decision": "dismissed", "reason": tenant.word("c")},
        "cancel_invoice": lambda tenant: {"reason": tenant.word("c")},
        "close_month": lambda tenant: {
            "vendor": "aws",
            "reason": tenant.word("m"),
            "override": True,
        },
        "reopen_month": lambda tenant: {"vendor": "aws", "reason": tenant.word("m")},
        "create_import": lambda tenant: {"vendor": "aws", "source": tenant.word("i")},
        "release_import": lambda tenant: {"reason": tenant.word("i")},
    }


def billing_group_file(tenant: Tenant) -> str:
    word = tenant.word("b")
    return f"billinggroup_id,billinggroup_name,company_name\n{word},{word},{word}\n"


def account_file(tenant: Tenant) -> str:
    line = f"aws,{next_account_number(tenant)},{PAYER},{tenant.word('a')}"
    return f"vendor,customer_id,account_id,name,company_id\n{line},{make_billing_group(tenant)}\n"


def exchange_rate_body(tenant: Tenant) -> dict[str, Any]:
    return {"vendor": "aws", "billing_groups": [make_saved_group(tenant)], "exchange_rate": 150}


def account_body(tenant: Tenant) -> dict[str, Any]:
    return {
        "vendor": "aws",
        "account_id": PAYER,
        "company_id": make_billing_group(tenant),
        "name": tenant.word("a"),
        "note": tenant.word("a"),
    }


def free_format_item(tenant: Tenant) -> dict[str, Any]:
    return {
        "enabled": True,
        "label": tenant.word("f"),
        "unit_cost": 1,
        "quantity": 2,
        "total": 2,
    }


def account_group_body(tenant: Tenant) -> dict[str, Any]:
    company_id = make_billing_group(tenant)
    return {
        "company_id": company_id,
        "name": tenant.word("g"),
        "customer_ids": [make_account(replace(tenant, group=company_id))],
    }


def changed_group_body(tenant: Tenant) -> dict[str, Any]:
    """An account of the company whose group was created last, which is the one in the path."""
    rows = tenant.superuser.sql(
        "SELECT company_id FROM account_groups WHERE organisation_id = $1"
        " ORDER BY create_time DESC LIMIT 1",
        tenant.organisation_id,
    )
    account = make_account(replace(tenant, group=str(rows[0]["company_id"])))
    return {"name": tenant.word("g"), "customer_ids": [account]}


def contact_body(tenant: Tenant) -> dict[str, Any]:
    return {
        "name": tenant.word("c"),
        "email": f"{tenant.word('c')}@example.com",
        "send_as": "to",
        "receives_invoices": True,
        "language": "ja",
    }


def contact_file(tenant: Tenant) -> str:
    (row,) = tenant.superuser.sql(
        "SELECT billinggroup_id FROM billing_groups WHERE organisation_id = $1 AND company_id = $2",
        tenant.organisation_id,
        make_billing_group(tenant),
    )
    email = f"{tenant.word('c')}@example.com"
    return f"billinggroup_id,name,email\n{row['billinggroup_id']},{tenant.word('c')},{email}\n"


def sending_body(tenant: Tenant) -> dict[str, Any]:
    company_id = make_mailable_group(tenant)
    return {
        "vendor": "aws",
        "method": "pdf",
        "company_ids": [company_id],
        "publish_time": clock.format_seconds(clock.now()),
    }


BODIES: Mapping[str, Callable[[Tenant], Any]] = {
    "create_billing_group": billing_group_body,
    **billing_bodies(),
    **month_bodies(),
    "change_budgets": lambda tenant: {
        "budgets": [
            {
                "name": tenant.word("b"),
                "target": "tag",
                "target_id": f"Team={tenant.word('b')}",
                "amount": 100,
                "currency": "jpy",
                "thresholds": [{"percent": 80, "of": "actual"}],
            }
        ]
    },
    "change_budget_alerts": lambda tenant: {
        "enabled": True,
        "recipients": [f"{tenant.word('e')}@example.com"],
        "language": "en",
    },
    "create_account_group": account_group_body,
    "change_account_group": changed_group_body,
    "rename_account": lambda tenant: {"name": tenant.word("a")},
    "create_saved_filter": lambda tenant: {
        "name": tenant.word("f"),
        "content": {"services": [tenant.word("s")]},
    },
    "create_contact": contact_body,
    "create_contacts_from_csv": contact_file,
    "replace_contact": contact_body,
    "preview_sending": sending_body,
    "send_invoices": sending_body,
    "mark_invoices_as_sent": lambda tenant: {
        "vendor": "aws",
        "revisions": {make_invoiced_group(tenant): 1},
    },
    "publish_invoice": lambda _: {
        "publish_time": clock.format_seconds(clock.now() + timedelta(days=1))
    },
    "create_subuser": subuser_body,
    "change_password": lambda _: {"password": PASSWORD, "old_password": PASSWORD},
    "change_email": lambda tenant: {
        "email": f"{tenant.word('e')}@example.com",
        "old_password": PASSWORD,
    },
    "begin_second_factor": lambda _: {"kind": "passkey", "old_password": PASSWORD},
    "add_second_factor": second_factor_body,
    "remove_second_factor": lambda _: {"old_password": PASSWORD},
    "create_api_client": lambda tenant: {"name": tenant.word("k")},
    "create_role": lambda tenant: {
        "name": tenant.word("r"),
        "namespace": "core",
        "permissions": ["ReadUsers"],
    },
    "update_role": lambda tenant: {"name": tenant.word("r"), "permissions": ["ReadUsers"]},
    "map_roles": lambda tenant: {"user_id": make_user(tenant), **mapping_body(tenant)},
    "replace_mappings": mapping_body,
    **LEGACY_BODIES,  # version 3
}
