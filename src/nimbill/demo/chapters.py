"""The chapters of the story, in order; each looks first at what is there already."""

import base64
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from nimbill.demo.accounts import Account
from nimbill.demo.calling import Caller
from nimbill.demo.cost_chapters import decide_on_costs, hand_in_costs, wait_for_costs
from nimbill.demo.estate import PEOPLE, PORTAL_LOGINS, accounts_of, projects_of, template_of
from nimbill.demo.story import AOZORA, Customer, Reseller

GROUPS = "/m/core/billinggroup"


def add_billing_groups(caller: Caller, reseller: Reseller) -> None:
    for customer in reseller.customers:
        caller.post(GROUPS, _billing_group(customer), key=f"demo-{customer.billinggroup_id}")


def _billing_group(customer: Customer) -> dict[str, Any]:
    return {
        "billinggroup_id": customer.billinggroup_id,
        "billinggroup_name": customer.name,
        "company_name": customer.company_name,
        "phone": customer.phone,
        "postal": customer.postal,
        "address": customer.address,
        "billing_title": "Cloud services" if customer.language == "en" else "クラウド利用料",
        "personal": customer.personal,
        "remarks": customer.remarks,
        "inv_aggregate": customer.inv_aggregate,
        "invoices": {vendor: dict(setting) for vendor, setting in customer.invoices.items()},
        "language": customer.language,
    }


def add_projects(caller: Caller, reseller: Reseller) -> None:
    """Each with some of the billing groups."""
    companies, customers = _companies(caller), _customers(reseller)
    for project in projects_of(reseller):
        body = {
            "project_code": project.code,
            "project_label": project.label,
            "project_currency": project.currency,
        }
        caller.post("/m/core/project", body, key=f"demo-project-{project.code}")
    made = {one["project_code"]: one["project_id"] for one in caller.get("/m/core/project")}
    for project in projects_of(reseller):
        for group in project.billing_groups:
            body = {
                "billinggroup_id": group,
                "billinggroup_name": customers[group].name,
                "company_name": customers[group].company_name,
                "project_id": made[project.code],
            }
            caller.post(f"{GROUPS}/{companies[group]}", body, key=f"demo-in-project-{group}")


def add_template(caller: Caller, reseller: Reseller) -> None:
    """One for all billing groups."""
    caller.post("/m/core/invoicetemplate", template_of(reseller), key="demo-template")
    (first, *_) = caller.get("/m/core/invoicetemplate")
    for group, company in _companies(caller).items():
        link = {"invoice_template_id": first["invoice_template_id"]}
        caller.post(f"{GROUPS}/{company}/invoicetemplate", link, key=f"demo-template-{group}")


def add_accounts(caller: Caller, reseller: Reseller) -> None:
    companies = _companies(caller)
    for place, customer in enumerate(reseller.customers, start=1):
        for account in accounts_of(customer, place):
            body = {
                "vendor": account.vendor,
                "customer_id": account.customer_id,
                "account_id": account.account_id,
                "company_id": companies[customer.billinggroup_id],
                "name": account.name,
            }
            caller.post("/m/core/accts", body, key=f"demo-account-{account.customer_id}")


def add_portal_logins(caller: Caller, reseller: Reseller) -> None:
    """Letters are written into the outbox folder: there is no mail server in the demo."""
    companies = _companies(caller)
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


def add_people(caller: Caller, reseller: Reseller) -> None:
    """Subusers who may do some things, one of them with some groups alone."""
    companies = _companies(caller)
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


def password_of(account: Account, name: str) -> str:
    """The same at every start, another in every demo."""
    made = sha256(f"{account.client_secret} {name}".encode()).digest()
    return base64.urlsafe_b64encode(made).decode()[:16]


def _companies(caller: Caller) -> dict[str, str]:
    return {one["billinggroup_id"]: one["company_id"] for one in caller.get(GROUPS)}


def _customers(reseller: Reseller) -> dict[str, Customer]:
    return {customer.billinggroup_id: customer for customer in reseller.customers}


# In order; each is told once to each reseller, also where an older demo left its data.
CHAPTERS: Mapping[str, Callable[[Caller, Reseller], None]] = {
    "billing groups": add_billing_groups,
    "projects": add_projects,
    "template": add_template,
    "accounts": add_accounts,
    "cost files": hand_in_costs,
    "portal logins": add_portal_logins,
    "people": add_people,
    "costs": wait_for_costs,
    "decisions on costs": decide_on_costs,
}
