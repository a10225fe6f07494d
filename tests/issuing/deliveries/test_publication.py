"""From when customers see an invoice in the portal."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation import clock
from tests.customers.resellers.reseller_accounts import Reseller, create_reseller
from tests.invoicing.month_end import MONTH
from tests.issuing.deliveries.mailed_month import MailedMonth
from tests.portal.portal_customer import ALL_FLAGS, PORTAL
from tests.problem_responses import read_problem, read_violations
from tests.temporary_database import execute_sql

INVOICE = f"/invoices/{MONTH}/aws"
OF_ONE_INVOICE = (
    INVOICE,
    f"{INVOICE}/pdf",
    f"{INVOICE}/csv/discount",
    f"{INVOICE}/csv/merged",
    f"/usage/focus?month={MONTH}",
)


@pytest.fixture
def customer(month: MailedMonth) -> Reseller:
    return create_reseller(month.service, month.group, meta=ALL_FLAGS)


def in_days(days: int) -> str:
    return clock.format_seconds(clock.now() + timedelta(days=days))


def publish(month: MailedMonth, publish_time: Any, headers: Any = None) -> Any:
    path = f"/invoices/{MONTH}/{month.group}/aws/publication"
    return month.put(path, {"publish_time": publish_time}, headers)


def is_visible(month: MailedMonth, customer: Reseller) -> bool:
    """Whether the portal shows the invoice; all of its files or none."""
    http = month.service.http
    heads = http.get(f"{PORTAL}/invoices", headers=customer.portal).json()
    found = [http.get(PORTAL + path, headers=customer.portal) for path in OF_ONE_INVOICE]
    statuses = {response.status_code for response in found}
    assert statuses == ({200} if heads else {404})
    return bool(heads)


def test_customers_see_invoices_from_their_creation_by_default(
    month: MailedMonth, customer: Reseller
) -> None:
    assert is_visible(month, customer)

    month.send(month.group)

    assert is_visible(month, customer)


def test_customers_see_invoices_once_they_were_sent_by_the_setting(
    month: MailedMonth, customer: Reseller
) -> None:
    month.put("/settings", {"portal_invoices": "sent"})
    before = is_visible(month, customer)

    month.put(f"/invoices/{MONTH}/{month.group}/aws/sent", {"revision": 1})

    assert before is False
    assert is_visible(month, customer)


@pytest.mark.parametrize("setting", ["created", "sent"])
def test_a_chosen_time_hides_the_sent_invoice_until_then(
    month: MailedMonth, customer: Reseller, setting: str
) -> None:
    month.put("/settings", {"portal_invoices": setting})
    chosen = in_days(3)

    sent = month.send(month.group, publish_time=chosen)

    assert sent.status_code == 200, sent.text
    assert month.read_state(month.group)["publish_time"] == chosen
    assert not is_visible(month, customer)
    assert publish(month, in_days(-1)).status_code == 200
    assert is_visible(month, customer)


def test_the_pdf_is_mailed_at_once_and_a_link_when_it_leads_to_the_invoice(
    month: MailedMonth, customer: Reseller
) -> None:
    sent = month.send(month.group, method="link", publish_time=in_days(3))
    assert sent.status_code == 200, sent.text
    (queued,) = month.list_deliveries()

    later = publish(month, in_days(2)).json()
    (still_queued,) = month.list_deliveries()
    publish(month, in_days(0))
    delivered = month.wait_for_state("delivered")

    assert queued["state"] == still_queued["state"] == "queued"
    assert later["publish_time"] < in_days(3)
    assert delivered["attempts"] == 1
    assert is_visible(month, customer)


def test_only_sent_invoices_are_published(month: MailedMonth) -> None:
    assert read_problem(publish(month, in_days(1)), 409)["code"] == "not_sent"

    month.send(month.group)
    month.put(f"/invoices/{MONTH}/{month.group}/aws/cancelled", {"reason": "wrong"})

    assert read_problem(publish(month, in_days(1)), 409)["code"] == "invoice_cancelled"


def test_bad_times_are_refused(month: MailedMonth) -> None:
    month.send(month.group)
    before = month.read_state(month.group)

    for bad in ("", "tomorrow", "2026-10-05T09:00:00", in_days(400), 7):
        ((field, _),) = read_violations(publish(month, bad))
        assert field == "publish_time"
    assert month.read_state(month.group) == before


def test_others_do_not_publish(month: MailedMonth) -> None:
    month.send(month.group)
    other = month.create_group("BG-2")
    restricted = month.service.caller(RoleAction.ModifyInvoice, billing_groups=[other])

    read_problem(publish(month, in_days(1), restricted), 404)
    read_problem(publish(month, in_days(1), month.service.caller(RoleAction.ReadInvoice)), 403)


def test_publishing_changes_nothing_else_in_the_row(month: MailedMonth, superuser: Address) -> None:
    month.send(month.group)

    change = "UPDATE invoices SET number = 7, publish_time = now() + interval '1 day'"
    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, f"{change} WHERE company_id = $1", month.group)


def test_the_same_time_can_be_chosen_again(month: MailedMonth) -> None:
    path = f"/invoices/{MONTH}/{month.group}/aws"
    assert month.put(f"{path}/sent", {"revision": 1}).status_code == 200
    chosen = in_days(2)

    first, second = publish(month, chosen), publish(month, chosen)

    assert first.status_code == second.status_code == 200, second.text
    assert first.json() == second.json()
