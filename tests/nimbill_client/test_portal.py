"""A customer reads its own costs and invoices with the client."""

from __future__ import annotations

from pathlib import Path

import pytest

from nimbill_client import (
    Client,
    LoginFailed,
    NotFound,
    Notification,
    Role,
    RoleReference,
    SubuserCreate,
)
from tests.customers.resellers.reseller_accounts import CUSTOM_PASSWORD
from tests.invoicing.month_end import MONTH
from tests.nimbill_client.service_client import connect
from tests.portal.portal_scene import PortalScene, scene

__all__ = ["scene"]  # a fixture


@pytest.fixture(scope="module")
def client(scene: PortalScene) -> Client:
    """Log in with the portal login of the customer."""
    return connect(
        scene.service,
        scene.service.organisation,
        username=scene.customer.reseller.email,
        password=CUSTOM_PASSWORD,
    )


def test_the_customer_sees_its_company_and_flags(scene: PortalScene, client: Client) -> None:
    me = client.portal.read_me()

    assert me.company is not None
    assert me.company.company_id == scene.customer.company_id
    assert me.flags is not None
    assert all(me.flags.values())


def test_usage_and_dashboard_have_the_same_totals(scene: PortalScene, client: Client) -> None:
    by_account = client.portal.read_account_usage(MONTH)
    by_tag = client.portal.read_tag_usage("Team", first=MONTH, last=MONTH)
    dashboard = client.portal.read_dashboard(first=MONTH, last=MONTH)

    (total,) = by_account.totals
    assert total.amount == sum(row.amount for row in by_account.rows) > 0
    assert by_tag.totals == by_account.totals
    (of_month,) = dashboard.totals
    assert (of_month.month, of_month.amount) == (MONTH, total.amount)
    expected = scene.customer.get("/usage/account", month=MONTH)
    assert [row.amount for row in by_account.rows] == [row["amount"] for row in expected["rows"]]


def test_an_invoice_is_listed_read_and_printed(
    scene: PortalScene, client: Client, tmp_path: Path
) -> None:
    (head,) = client.portal.list_invoices()

    invoice = client.portal.read_invoice(head.month, head.vendor)
    file = client.portal.download_invoice_pdf(head.month, head.vendor, tmp_path / "invoice.pdf")

    assert (head.month, head.vendor) == (MONTH, "aws")
    assert (invoice.invoice_no, invoice.total) == (head.invoice_no, head.total)
    stored = scene.customer.month_end.get_invoice(scene.customer.company_id)
    assert invoice.total == stored["sheet"]["total"]
    assert file.read_bytes().startswith(b"%PDF-")


def test_a_customer_sees_nothing_else(scene: PortalScene, client: Client) -> None:
    with pytest.raises(NotFound):
        client.portal.read_account_usage(MONTH, company_id=scene.other_company)
    with pytest.raises(NotFound):
        client.portal.read_invoice("2026-08", "aws")
    with pytest.raises(LoginFailed):
        list(client.billing_groups.list_all())


def test_the_organisation_chooses_a_company(scene: PortalScene) -> None:
    with connect(scene.service, scene.service.organisation) as organisation:
        me = organisation.portal.read_me()
        usage = organisation.portal.read_account_usage(MONTH, company_id=scene.other_company)

        assert me.company is None
        assert {row.customer_id for row in usage.rows} == {"333333333333"}
        assert len(list(organisation.portal.list_invoices())) == 2
        assert len(list(organisation.billing_groups.list_all())) == 2


def test_the_customer_manages_its_own_people(scene: PortalScene, client: Client) -> None:
    client.portal.roles.create(
        Role(namespace="portal", name="reader", permissions=["ReadInvoice"]), key="role"
    )
    body = SubuserCreate(
        username="accountant",
        password="a long password 4",
        notification=Notification(email="false"),
    )
    person = client.portal.users.create(body, key="person")
    reader = RoleReference(namespace="portal", role="reader")
    client.portal.roles.give(person.user_id, [reader], [], key="mapping")

    listed = {each.username: each.user_id for each in client.portal.users.list_all()}
    with connect(
        scene.service, scene.service.organisation, username="accountant", password=body.password
    ) as subuser:
        (head,) = subuser.portal.list_invoices()

    assert listed["accountant"] == person.user_id
    assert head.month == MONTH
    client.portal.users.delete(person.user_id)
