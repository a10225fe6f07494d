"""Tenants full of canaries, the records a request can name, and one sound request per operation.

A new route needs: a maker in SLOTS for every record it names, or a reason in NOT_A_RECORD, and a
body in sound_bodies.py where it takes one. The completeness tests of test_tenants.py say which is
missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import count
from typing import Any

from nimbill.ids import new_id
from nimbill.organisations.operations import NewOrganisation, create_organisation
from nimbill.reserved_instances.records import TEXTS as RI_TEXTS
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
    content = f'{{"name": "{tenant.word("t")}", "company": "{tenant.word("t")}"}}'
    tenant.add("invoice_templates", invoice_template_id=invoice_template_id, content=content)
    return invoice_template_id


def make_account(tenant: Tenant) -> str:
    """At AWS, as PLAIN_VALUES has it, paid by PAYER."""
    customer_id = next_account_number(tenant)
    tenant.add(
        "cloud_accounts",
        customer_id=customer_id,
        vendor="aws",
        account_id=PAYER,
        company_id=make_billing_group(tenant),
        name=tenant.word("a"),
        note=tenant.word("a"),
    )
    return customer_id


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


def make_recalculation_entry(tenant: Tenant) -> str:
    """Of the month and the vendor that PLAIN_VALUES has."""
    entry_id = new_id("rce")
    words = ("platform_type", "description", "product_name", "product_code", "time_interval")
    tenant.add(
        "recalculation_entries",
        entry_id=entry_id,
        vendor="aws",
        payer_id=PAYER,
        month=PLAIN_VALUES["month"],
        customer_id=make_account(tenant),
        calc_type="Fee",
        **{name: tenant.word("d") for name in words},
        currency_code="USD",
        unblended_cost=1,
        usage_start=datetime(2026, 1, 1, tzinfo=UTC),
        delivered=True,
    )
    return entry_id


def make_reserved_instance(tenant: Tenant) -> str:
    ri_id = new_id("ri")
    tenant.add(
        "reserved_instances",
        ri_id=ri_id,
        vendor="aws",
        reservation_id=tenant.word("i"),
        customer_id=make_account(tenant),
        arn=tenant.word("i"),
        **{name: tenant.word("i") for name in RI_TEXTS},
        **dict.fromkeys(("normalization_factor", "unblended_rate", "upfront_value"), 1),
        number=10,
    )
    return ri_id


def make_moved_instance(tenant: Tenant) -> str:
    move_id, customer_id = new_id("ri"), make_account(tenant)
    tenant.add(
        "reservation_moves",
        move_id=move_id,
        ri_id=make_reserved_instance(tenant),
        position=1,
        dest_customer_id=customer_id,
        number=1,
        made_after=0,
        account_in_use=customer_id,
    )
    return move_id


def make_open_month(tenant: Tenant) -> str:
    """One that is used nowhere else, since closing it would close it for everybody."""
    return f"{next(tenant.numbers) + 3000:04}-12"


def make_closed_month(tenant: Tenant) -> str:
    month = make_open_month(tenant)
    tenant.add("month_states", vendor="aws", month=month, closed=True, closing=1)
    return month


def make_import(tenant: Tenant) -> str:
    """One that was refused by the check and waits to be released, without a line in it."""
    import_id, month = new_id("imp"), make_open_month(tenant)
    tenant.add(
        "cost_imports",
        import_id=import_id,
        vendor="aws",
        month=month,
        sources=[tenant.word("i")],
        uploaded=False,
        state="parked",
        parked_reason=tenant.word("i"),
        made_by=tenant.organisation.root_user_id,
    )
    return import_id


def make_tagged_cost(tenant: Tenant) -> str:
    """A line of one of the tenant's accounts, in the month of PLAIN_VALUES; its tag's key."""
    tag_key = new_id("key")
    line = {
        "vendor": "aws",
        "payer_id": PAYER,
        "month": PLAIN_VALUES["month"],
        "customer_id": make_account(tenant),
        "line_type": tenant.word("l"),
        "kind": "usage",
        "service": tenant.word("s"),
        "marketplace": False,
        "currency": "USD",
        "cost": 1,
        "lines": 1,
    }
    tenant.add("cost_sums", **line, day=date(2026, 1, 1))
    tenant.add("cost_tag_sums", **line, tag_key=tag_key, tag_value=tenant.word("v"))
    return tag_key


PAYER = "836060457634"


def next_account_number(tenant: Tenant) -> str:
    """Twelve digits, the first of them a zero."""
    return f"{next(tenant.numbers):012d}"


@dataclass(frozen=True)
class Slot:
    """A place in a request that names a record: how to make one, and where it is stored."""

    make: Callable[[Tenant], str]
    table: str
    column: str
    narrowed: bool = False  # a billingGroup filter hides such a record
    before: str = ""  # what stands before the id
    after: str = ""  # and what behind it
    also: Slot | None = None  # the same record, named in another way

    def spelled(self, tenant: Tenant) -> str:
        return self.before + self.make(tenant) + self.after

    def delete(self, tenant: Tenant, spelled: str) -> None:
        record = spelled.removeprefix(self.before).removesuffix(self.after)
        tenant.superuser.take(self.table, tenant.organisation_id, **{self.column: record})


GROUP = Slot(make_billing_group, "billing_groups", "company_id", narrowed=True)
PROJECT = Slot(make_project, "projects", "project_id")
TEMPLATE = Slot(make_invoice_template, "invoice_templates", "invoice_template_id")
USER = Slot(make_user, "users", "user_id")
USERNAME = Slot(make_username, "users", "username", also=USER)
ACCOUNT = Slot(make_account, "cloud_accounts", "customer_id", narrowed=True)
BOTH_IDS = Slot(make_account, "cloud_accounts", "customer_id", narrowed=True, after=f"|{PAYER}")
ENTRY = Slot(make_recalculation_entry, "recalculation_entries", "entry_id", narrowed=True)
RESERVATION = Slot(make_reserved_instance, "reserved_instances", "ri_id", narrowed=True)
MOVED = Slot(make_moved_instance, "reservation_moves", "move_id", narrowed=True)
RESELLER = Slot(make_reseller, "users", "user_id", narrowed=True)
IMPORT = Slot(make_import, "cost_imports", "import_id", narrowed=True)
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
    "update_account.customer_id": ACCOUNT,
    "both_ids": BOTH_IDS,
    "apply_recalculation.data": ENTRY,
    "ri_id": RESERVATION,
    "remove_reserved_instance.ri_id": MOVED,
    "move_reserved_instance.customer_id": ACCOUNT,
    "import_id": IMPORT,
    "delete_reseller.user_id": RESELLER,
    "change_reseller_password.user_id": RESELLER,
    "update_reseller_meta.user_id": RESELLER,
    "read_costs.by": Slot(
        make_tagged_cost, "cost_tag_sums", "tag_key", narrowed=True, before="tag:"
    ),
    "list_audit_entries.actor": USER,
    "list_audit_entries.resource": Slot(
        make_billing_group, "billing_groups", "company_id", narrowed=True, before="billinggroup/"
    ),
}

# parameters and suspicious body fields that name no record, and why
NOT_A_RECORD: Mapping[str, str] = {
    "billinggroup_id": "the caller's own word for a group, free to choose",
    "customer_id": "the vendor's own number of an account",
    "account_id": "the vendor's own number of a payer",
    "vendor": "aws or azure",
    "limit": "a number",
    "offset": "a number",
    "namespace": "core or portal",
    "from": "a time",
    "to": "a time",
    "before": "a number",
    "permissions": "words we offer",
}

# what stands in a path where no record is named
PLAIN_VALUES: Mapping[str, str] = {"namespace": "core", "month": "2026-01", "vendor": "aws"}

# the same, where every request needs one of its own
FRESH_VALUES: Mapping[str, Callable[[Tenant], str]] = {
    "close_month.month": make_open_month,
    "reopen_month.month": make_closed_month,
}


def slot_of(operation: str, name: str) -> Slot | None:
    return SLOTS.get(f"{operation}.{name}") or SLOTS.get(name)
