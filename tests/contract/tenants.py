"""Organisations for isolation tests, whose texts contain their canary word, and their records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from nimbill.foundation import clock
from nimbill.foundation.ids import new_id
from nimbill.identity.organisations.operations import NewOrganisation
from tests.contract.superuser import Superuser
from tests.running_service import Service

PAYER = "836060457634"

# values of parameters that name no record
PLAIN_VALUES: Mapping[str, str] = {
    "revision": "1",
    "namespace": "core",
    "month": "2026-01",
    "vendor": "aws",
    "version_id": "latest",
    "flag": "web",
    "kind": "fee",
    "q": "kanari",
    "key": "team",
    "keys": "team,stage",  # those of REPORT_TAG_KEYS
}
REPORT_TAG_KEYS = ["team", "stage"]


@dataclass
class Tenant:
    """An organisation whose texts all contain its canary."""

    service: Service
    superuser: Superuser
    organisation: NewOrganisation
    canary: str
    group: str | None = None  # the billing group to use instead of a new one
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def organisation_id(self) -> str:
        return self.organisation.organisation_id

    @property
    def account_prefix(self) -> str:
        """The canary in account numbers, which have only digits; canaries differ at their end.

        If two tenants had the same numbers, a leak would look like a coincidence.
        """
        return f"05{ord(self.canary[-1]):03d}"

    def find_canaries(self, text: str) -> list[str]:
        """Return the texts and account numbers of this tenant that occur in a text."""
        number = rf"(?<![0-9]){self.account_prefix}[0-9]{{7}}(?![0-9])"
        return re.findall(rf"{self.canary}[a-z0-9-]*|{number}", text)

    def word(self, kind: str) -> str:
        """A unique text of this tenant of at most 18 characters."""
        return f"{self.canary}-{kind}{next(self.numbers)}"

    def add(self, table: str, **values: Any) -> None:
        self.superuser.add(table, organisation_id=self.organisation_id, **values)


@dataclass(frozen=True)
class RecordReference:
    """How a request refers to a record, how to create one, and where it is stored."""

    make: Callable[[Tenant], str]
    table: str
    column: str
    filtered: bool = False  # a billingGroup filter can hide the record
    prefix: str = ""  # text in front of the id
    suffix: str = ""  # text after the id
    alternative: RecordReference | None = None  # another way to refer to the same record

    def create(self, tenant: Tenant) -> str:
        return self.prefix + self.make(tenant) + self.suffix

    def delete(self, tenant: Tenant, reference: str) -> None:
        key = reference.removeprefix(self.prefix).removesuffix(self.suffix)
        tenant.superuser.delete_rows(self.table, tenant.organisation_id, **{self.column: key})


def new_tenant(service: Service, superuser: Superuser, canary: str) -> Tenant:
    organisation = service.new_organisation(f"{canary} Ltd", username=f"{canary}-root")
    tenant = Tenant(service, superuser, organisation, canary)
    settings = {"report_tag_keys": REPORT_TAG_KEYS}
    tenant.add("organisation_settings", settings=json.dumps(settings))
    return tenant


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


def make_contact(tenant: Tenant) -> str:
    contact_id = new_id("con")
    tenant.add(
        "contacts",
        contact_id=contact_id,
        company_id=make_billing_group(tenant),
        name=tenant.word("c"),
        email=f"{tenant.word('c')}@example.com",
        send_as="to",
        receives_invoices=True,
    )
    return contact_id


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
    """An account of the vendor in PLAIN_VALUES, paid by PAYER."""
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


def next_account_number(tenant: Tenant) -> str:
    """Twelve digits, beginning with zero, that no tenant with another canary has."""
    return f"{tenant.account_prefix}{next(tenant.numbers):07d}"


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
    rows = tenant.superuser.sql("SELECT username FROM users WHERE user_id = $1", user_id)
    return str(rows[0]["username"])


def make_second_factor(tenant: Tenant) -> str:
    """A passkey of the root user."""
    factor_id = new_id("fct")
    tenant.add(
        "second_factors",
        factor_id=factor_id,
        user_id=tenant.organisation.root_user_id,
        kind="passkey",
        name=tenant.word("f"),
        credential_id=factor_id.encode(),
        public_key=b"unused",
        sign_count=0,
        create_time=clock.now(),
    )
    return factor_id
