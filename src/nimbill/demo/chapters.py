"""The chapters of the story, in order; told again after a broken start, none does harm."""

import base64
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from nimbill.demo.accounts import DemoLogin
from nimbill.demo.calling import DemoClient
from nimbill.demo.contract_terms import USAGE_TABLE
from nimbill.demo.cost_chapters import decide_on_costs, hand_in_costs, hear_late, wait_for_costs
from nimbill.demo.cost_files import deliveries_of
from nimbill.demo.customers import Customer
from nimbill.demo.fixtures import (
    PEOPLE,
    PORTAL_LOGINS,
    TAG_KEY,
    accounts_of,
    projects_of,
    templates_of,
)
from nimbill.demo.invoice_chapters import bill, companies_of, get_ready, print_invoices
from nimbill.demo.stack_chapters import launch_stack
from nimbill.demo.story import AOZORA, Reseller
from nimbill.demo.story_months import CURRENT, ITEMS, LAST_CLOSED, MONTHS_MIN, OPEN

GROUPS = "/m/core/billinggroup"
TITLES = {"ja": "クラウド利用料 請求書", "en": "Invoice for cloud services"}

Chapters = dict[str, Callable[[DemoClient, Reseller], None]]


def settle_organisation(caller: DemoClient, reseller: Reseller) -> None:
    """How it rounds, by what table and which tag it bills."""
    settings = {
        "rounding": reseller.rounding,
        "usage_table": list(USAGE_TABLE),
        "cost_tag_key": TAG_KEY,
        "language": "ja",
    }
    caller.put("/m/core/settings", settings)


def add_projects(caller: DemoClient, reseller: Reseller) -> None:
    for project in projects_of(reseller):
        body = {
            "project_code": project.code,
            "project_label": project.label,
            "project_currency": project.currency,
        }
        caller.post("/m/core/project", body, key=f"demo-project-{project.code}")


def add_templates(caller: DemoClient, reseller: Reseller) -> None:
    """What is printed of the reseller, for customers at home and for those who read English."""
    for language, template in templates_of(reseller).items():
        caller.post("/m/core/invoicetemplate", template, key=f"demo-template-{language}")


def add_billing_groups(caller: DemoClient, reseller: Reseller) -> None:
    """Each with its terms, in its project, printed with its template."""
    codes = {one["project_code"]: one["project_id"] for one in caller.get("/m/core/project")}
    in_project = {
        group: codes[project.code]
        for project in projects_of(reseller)
        for group in project.billing_groups
    }
    kept = caller.get("/m/core/invoicetemplate")
    by_name = {one["name"]: one["invoice_template_id"] for one in kept}
    templates = {
        language: by_name[template["name"]] for language, template in templates_of(reseller).items()
    }
    for customer in reseller.customers:
        group = _billing_group(customer)
        group["invoice_template_id"] = templates[customer.language]
        if customer.billinggroup_id in in_project:
            group["project_id"] = in_project[customer.billinggroup_id]
        caller.post(GROUPS, group, key=f"demo-{customer.billinggroup_id}")


def _billing_group(customer: Customer) -> dict[str, Any]:
    return {
        "billinggroup_id": customer.billinggroup_id,
        "billinggroup_name": customer.name,
        "company_name": customer.company_name,
        "phone": customer.phone,
        "postal": customer.postal,
        "address": customer.address,
        "billing_title": TITLES[customer.language],
        "personal": customer.personal,
        "remarks": customer.remarks,
        "inv_aggregate": customer.inv_aggregate,
        "invoices": {vendor: dict(setting) for vendor, setting in customer.invoices.items()},
        "language": customer.language,
    }


def add_accounts(caller: DemoClient, reseller: Reseller) -> None:
    companies = companies_of(caller)
    for account in accounts_of(reseller):
        body = {
            "vendor": account.vendor,
            "customer_id": account.customer_id,
            "account_id": account.account_id,
            "company_id": companies[account.customer.billinggroup_id],
            "name": account.name,
        }
        caller.post("/m/core/accts", body, key=f"demo-account-{account.customer_id}")


def add_items(caller: DemoClient, reseller: Reseller) -> None:
    """What is charged beside the cloud, every month."""
    companies = companies_of(caller)
    for (group, vendor), items in ITEMS.items() if reseller is AOZORA else ():
        body = {
            "additional_items": [
                {
                    "enabled": enabled,
                    "label": label,
                    "unit_cost": Decimal(price),
                    "quantity": Decimal(number),
                    "total": Decimal(price) * Decimal(number),
                }
                for label, price, number, enabled in items
            ]
        }
        path = f"{GROUPS}/{companies[group]}/freeformat/{vendor}"
        caller.post(path, body, key=f"demo-items-{group}-{vendor}")


def add_portal_logins(caller: DemoClient, reseller: Reseller) -> None:
    """Letters are written into the outbox folder: there is no mail server in the demo."""
    companies = companies_of(caller)
    for group, email in PORTAL_LOGINS.items() if reseller is AOZORA else ():
        body = {
            "email": email,
            "company_id": companies[group],
            "input_type": "Custom",
            "password": password_of(caller.account, email),
            "notification": True,
            "meta": {"dashboard_graph": False},
        }
        caller.post("/m/core/reseller", body, key=f"demo-portal-{group}")


def add_people(caller: DemoClient, reseller: Reseller) -> None:
    """Subusers who may do some things, one of them with some groups alone."""
    companies = companies_of(caller)
    for person in PEOPLE if reseller is AOZORA else ():
        role = {
            "name": person.role,
            "namespace": "core",
            "permissions": list(person.permissions),
        }
        caller.post("/m/auth/rbac/roles", role, key=f"demo-role-{person.role}")
        subuser = {
            "username": person.username,
            "password": password_of(caller.account, person.username),
            "notification": {"email": "false"},
        }
        caller.post("/m/u/users", subuser, key=f"demo-user-{person.username}")
        known = {one["username"]: one["user_id"] for one in caller.get("/m/u/users")}
        seen = [companies[group] for group in person.billing_groups]
        mapping = {
            "user_id": known[person.username],
            "roles": [{"namespace": "core", "role": person.role}],
            "filters": [{"namespace": "core", "type": "billingGroup", "resource": seen}]
            if seen
            else [],
        }
        caller.post("/m/auth/rbac/userroles", mapping, key=f"demo-mapping-{person.username}")


def password_of(account: DemoLogin, name: str) -> str:
    """The same at every start, another in every demo."""
    made = sha256(f"{account.client_secret} {name}".encode()).digest()
    return base64.urlsafe_b64encode(made).decode()[:16]


class Parts(NamedTuple):
    """Of the story, in order; a guide is printed before the last one is told."""

    beginning: Chapters  # while it is told, costs are taken in
    last_months: Chapters
    months_before: Chapters


def chapters_of(reseller: Reseller, months: Sequence[str]) -> Parts:
    """Each is told once; with more months than before, what is new is told."""
    last, before = months[-MONTHS_MIN:], months[:-MONTHS_MIN]
    return Parts(
        beginning={
            "settings": settle_organisation,
            "projects": add_projects,
            "invoice templates": add_templates,
            "billing groups": add_billing_groups,
            # accounts come first: an import reports those that are in no group yet
            "accounts": add_accounts,
            "cost files": partial(hand_in_costs, months=last),
            "free format items": add_items,
            "portal logins": add_portal_logins,
            "people": add_people,
            "a stack of version 3": launch_stack,
        },
        last_months=_of_months(reseller, last) | _of_last_months(reseller),
        months_before=_before(reseller, before) if reseller is AOZORA else {},
    )


def _of_months(reseller: Reseller, months: Sequence[str]) -> Chapters:
    chapters: Chapters = {}
    for month in months:
        if deliveries_of(reseller, [month]):
            chapters[f"costs of {month}"] = partial(wait_for_costs, month=month)
            if month != CURRENT:
                chapters[f"decisions on {month}"] = partial(decide_on_costs, month=month)
                chapters[f"invoices of {month}"] = partial(bill, month=month)
    return chapters


def _of_last_months(reseller: Reseller) -> Chapters:
    chapters: Chapters = {}
    if reseller is AOZORA:
        chapters[f"settings of {CURRENT}"] = get_ready
        chapters[f"a late change of {LAST_CLOSED}"] = hear_late
    chapters[f"printed invoices of {OPEN}"] = print_invoices
    return chapters


def _before(reseller: Reseller, months: Sequence[str]) -> Chapters:
    if not months:
        return {}
    handed_in: Chapters = {f"cost files from {months[0]} on": partial(hand_in_costs, months=months)}
    return handed_in | _of_months(reseller, months)
