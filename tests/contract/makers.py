"""Tenants full of canaries, the records a request can name, and one sound request per operation.

A new route needs: a maker in SLOTS for every record it names, or a reason in NOT_A_RECORD, and a
body in BODIES where it takes one. The completeness tests of test_tenants.py say which is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from nimbill.ids import new_id
from nimbill.organisations.operations import NewOrganisation, create_organisation
from tests.billing_groups.bodies import SOUND_SETTING
from tests.contract.behind_the_walls import Superuser
from tests.running_service import PASSWORD, Service


@dataclass
class Tenant:
    """An organisation every string of which carries its canary."""

    service: Service
    superuser: Superuser
    organisation: NewOrganisation
    canary: str
    group: str | None = None  # the one billing group to name, where one must be visible
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def organisation_id(self) -> str:
        return self.organisation.organisation_id

    def word(self, kind: str) -> str:
        """A text of this tenant's own, at most 18 characters, never the same twice."""
        return f"{self.canary}-{kind}{next(self.numbers)}"

    def add(self, table: str, **values: Any) -> None:
        self.superuser.add(table, organisation_id=self.organisation_id, **values)


def new_tenant(service: Service, superuser: Superuser, canary: str) -> Tenant:
    resources = service.resources
    organisation = service.run(
        lambda: create_organisation(
            resources.engine,
            resources.sealer,
            name=f"{canary} Ltd",
            username=f"{canary}-root",
            password=PASSWORD,
        )
    )
    return Tenant(service, superuser, organisation, canary)


# ── records ──────────────────────────────────────────────────────────────────────────────────────


def make_billing_group(tenant: Tenant) -> str:
    if tenant.group is not None:
        return tenant.group
    company_id = new_id("cmp")
    text = {
        name: tenant.word("g")
        for name in (
            "billinggroup_id",
            "billinggroup_name",
            "company_name",
            "phone",
            "postal",
            "address",
            "billing_title",
            "personal",
            "remarks",
        )
    }
    tenant.add(
        "billing_groups",
        company_id=company_id,
        inv_aggregate=True,
        project_id=make_project(tenant),
        invoice_template_id=make_invoice_template(tenant),
        **text,
    )
    return company_id


def make_project(tenant: Tenant) -> str:
    project_id = new_id("prj")
    tenant.add(
        "projects",
        project_id=project_id,
        project_code=tenant.word("c"),
        project_label=tenant.word("l"),
        project_currency="jpy",
    )
    return project_id


def make_invoice_template(tenant: Tenant) -> str:
    invoice_template_id = new_id("tpl")
    content = f'{{"company": "{tenant.word("t")}"}}'
    tenant.add("invoice_templates", invoice_template_id=invoice_template_id, content=content)
    return invoice_template_id


def make_user(tenant: Tenant) -> str:
    user_id = new_id("usr")
    username = tenant.word("u")
    tenant.add(
        "users",
        user_id=user_id,
        root_user=tenant.organisation.root_user_id,
        kind="subuser",
        username=username,
        email=f"{username}@example.com",
        password_hash="!",
    )
    return user_id


def make_username(tenant: Tenant) -> str:
    user_id = make_user(tenant)
    found = tenant.superuser.sql("SELECT username FROM users WHERE user_id = $1", user_id)
    return str(found[0]["username"])


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
    tenant.add("directory", kind="api_client", key=client_id)
    return client_id


def make_role(tenant: Tenant) -> str:
    """In namespace core, as PLAIN_VALUES has it."""
    name = tenant.word("r")
    tenant.add(
        "roles",
        root_user=tenant.organisation.root_user_id,
        namespace="core",
        name=name,
        permissions=["ReadUsers"],
    )
    return name


@dataclass(frozen=True)
class Slot:
    """A place in a request that names a record: how to make one, and where it is stored."""

    make: Callable[[Tenant], str]
    table: str
    column: str
    narrowed: bool = False  # a billingGroup filter hides such a record
    before: str = ""  # what stands before the id
    also: Slot | None = None  # the same record, named in another way

    def spelled(self, tenant: Tenant) -> str:
        return self.before + self.make(tenant)

    def delete(self, tenant: Tenant, spelled: str) -> None:
        record = spelled.removeprefix(self.before)
        tenant.superuser.take(self.table, tenant.organisation_id, **{self.column: record})


GROUP = Slot(make_billing_group, "billing_groups", "company_id", narrowed=True)
PROJECT = Slot(make_project, "projects", "project_id")
TEMPLATE = Slot(make_invoice_template, "invoice_templates", "invoice_template_id")
USER = Slot(make_user, "users", "user_id")
USERNAME = Slot(make_username, "users", "username", also=USER)
CLIENT = Slot(make_api_client, "api_clients", "client_id")
ROLE = Slot(make_role, "roles", "name")

# parameter or body field to what it names; "operation.name" goes before the name alone
SLOTS: Mapping[str, Slot] = {
    "company_id": GROUP,
    "project_id": PROJECT,
    "invoice_template_id": TEMPLATE,
    "user_id": USER,
    "user": USERNAME,
    "subuser": USERNAME,
    "replace_mappings.subuser": USER,
    "client_id": CLIENT,
    "rolename": ROLE,
    "role": ROLE,
    "map_roles.resource": GROUP,
    "replace_mappings.resource": GROUP,
    "list_audit_entries.actor": USER,
    "list_audit_entries.resource": Slot(
        make_billing_group, "billing_groups", "company_id", narrowed=True, before="billinggroup/"
    ),
}

# parameters and suspicious body fields that name no record, and why
NOT_A_RECORD: Mapping[str, str] = {
    "billinggroup_id": "the caller's own word for a group, free to choose",
    "namespace": "core or portal",
    "from": "a time",
    "to": "a time",
    "before": "a number",
    "permissions": "words we offer",
}

# what stands in a path where no record is named
PLAIN_VALUES: Mapping[str, str] = {"namespace": "core", "month": "2026-01", "vendor": "aws"}


def slot_of(operation: str, name: str) -> Slot | None:
    return SLOTS.get(f"{operation}.{name}") or SLOTS.get(name)


# ── one sound body per operation, every field of it given ────────────────────────────────────────


def billing_group_body(tenant: Tenant) -> dict[str, Any]:
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
        "project_id": make_project(tenant),
        "invoice_template_id": make_invoice_template(tenant),
        "invoices": {"aws": SOUND_SETTING},
        "language": "ja",
    }


def subuser_body(tenant: Tenant) -> dict[str, Any]:
    name = tenant.word("s")
    return {
        "username": name,
        "password": PASSWORD,
        "email": f"{name}@example.com",
        "notification": {"email": "true"},
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


BODIES: Mapping[str, Callable[[Tenant], dict[str, Any]]] = {
    "create_billing_group": billing_group_body,
    "create_subuser": subuser_body,
    "change_password": lambda _: {"password": PASSWORD, "old_password": PASSWORD},
    "create_api_client": lambda tenant: {"name": tenant.word("k")},
    "create_role": lambda tenant: {
        "name": tenant.word("r"),
        "namespace": "core",
        "permissions": ["ReadUsers"],
    },
    "update_role": lambda tenant: {"name": tenant.word("r"), "permissions": ["ReadUsers"]},
    "map_roles": lambda tenant: {"user_id": make_user(tenant), **mapping_body(tenant)},
    "replace_mappings": mapping_body,
}
