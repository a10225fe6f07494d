"""A billing group with everything that a group can have, so that nothing is hidden by chance."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.approval_factories import make_approval
from tests.contract.credit_note_factories import make_credit_note
from tests.contract.month_factories import (
    add_cost,
    create_invoice,
    make_commitment_usage,
    make_moved_instance,
    make_recalculation_entry,
    make_reserved_instance,
    make_tagged_cost,
    mark_as_sent,
    save_setting,
)
from tests.contract.payment_factories import add_payment
from tests.contract.resource_factories import make_account_group, make_reseller
from tests.contract.sending_factories import add_delivery
from tests.contract.tenants import PLAIN_VALUES, Tenant, make_contact
from tests.contract.valid_bodies import billing_group_body, free_format_item

TAG_KEY = "team"  # of invoices by tag


def make_full_group(tenant: Tenant, canary: str) -> Tenant:
    """The tenant with a new group: accounts, costs, entries, reservations, invoices, a reseller.

    The group is created by a request, so that the audit log has a row about it. Its project and
    template belong to the organisation and do not have its canary.
    """
    headers = tenant.service.root(tenant.organisation)
    own = replace(tenant, canary=canary)
    body = billing_group_body(own, tenant) | {"inv_aggregate": True}
    response = tenant.service.http.post("/m/core/billinggroup", json=body, headers=headers)
    assert response.status_code == 200, response.text
    group = replace(own, group=str(response.json()["company_id"]))
    items = tenant.service.http.post(
        f"/m/core/billinggroup/{group.group}/freeformat/aws",
        json={"additional_items": [free_format_item(group)]},
        headers=headers,
    )
    assert items.status_code == 200, items.text
    _apply_entry(group, make_recalculation_entry(group))
    make_recalculation_entry(group)
    make_reserved_instance(group)
    make_moved_instance(group)
    make_commitment_usage(group)
    make_tagged_cost(group)
    make_contact(group)
    make_reseller(group)
    make_account_group(group)
    make_credit_note(group)
    add_delivery(group)
    make_invoice_by_tag(group)
    make_paid_invoice(group)
    make_approval(group)
    return group


def make_paid_invoice(group: Tenant) -> None:
    """Create a second revision, send it and add a payment; it cannot be created again then."""
    assert group.group is not None
    create_invoice(group, group.group)
    mark_as_sent(group, group.group)
    add_payment(group, group.group)


def _apply_entry(group: Tenant, entry_id: str) -> None:
    """Apply the entry, so that the invoice and its files show it."""
    body = {
        "data": [entry_id],
        "month": PLAIN_VALUES["month"],
        "exchange_rate": 0,
        "tax_free": False,
        "apply": True,
        "vendor": "aws",
    }
    response = group.service.http.post(
        "/m/core/billinggroup/recalculation",
        json=body,
        headers=group.service.root(group.organisation),
    )
    assert response.status_code == 200, response.text


def make_invoice_by_tag(group: Tenant) -> None:
    """An invoice of the other vendor, because a group has one invoice per month and vendor."""
    assert group.group is not None
    settings = group.service.http.put(
        "/m/core/settings",
        json={"cost_tag_key": TAG_KEY},
        headers=group.service.root(group.organisation),
    )
    assert settings.status_code == 200, settings.text
    subscription = f"{group.word('z')}-subscription"
    group.add(
        "cloud_accounts",
        customer_id=subscription,
        vendor="azure",
        account_id="0000042",
        company_id=group.group,
        name=group.word("a"),
        note=group.word("a"),
    )
    add_cost(group, subscription, TAG_KEY, "azure")
    save_setting(group, group.group, "azure", "tag")
    create_invoice(group, group.group, "azure")
