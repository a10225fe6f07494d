"""POST /m/core/invoices/{month}/deliveries and its preview"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.customers.contacts.contacts import add_contact, list_contacts, path_of
from tests.invoicing.invoice_runs import list_missing_reasons
from tests.invoicing.month_end import MONTH
from tests.issuing.deliveries.mailed_month import MailedMonth
from tests.mail.outbox_messages import read_outbox
from tests.problem_responses import read_problem, read_violations


def add_group(month: MailedMonth, name: str = "BG-2", account: str = "000000000002") -> str:
    """A second group with an invoice, without contacts."""
    company_id = month.create_group(name, account)
    month.prepare_groups(company_id)
    assert month.create_invoices(company_id).status_code == 200
    return company_id


def delete_contacts(month: MailedMonth) -> None:
    for contact in list_contacts(month.service, month.group):
        path = path_of(month.group, contact["contact_id"])
        month.service.http.delete(path, headers=month.service.root())


def list_problems(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200, response.text
    return {mail["company_id"]: mail["problems"] for mail in response.json()["mails"]}


def test_the_preview_shows_the_mail_and_stores_nothing(month: MailedMonth) -> None:
    add_contact(month.service, month.group, email="copy@example.com", send_as="cc")
    add_contact(month.service, month.group, email="no@example.com", receives_invoices=False)
    other = add_group(month)

    preview = month.preview().json()

    first, second = preview["mails"]
    assert (preview["month"], preview["vendor"], preview["method"]) == (MONTH, "aws", "pdf")
    assert preview["ready"] == 1
    assert (first["company_id"], second["company_id"]) == (month.group, other)
    assert (first["invoice_no"], first["revision"], first["language"]) == ("202609-0001", 1, "ja")
    assert [(each["email"], each["send_as"]) for each in first["recipients"]] == [
        ("hanako@example.com", "to"),
        ("copy@example.com", "cc"),
    ]
    assert "山田 花子 様" in first["text"]
    assert "202609-0001" in first["subject"]
    assert first["attachment"] == "202609-0001_company.pdf"
    assert (first["problems"], second["problems"]) == ([], ["no_contact"])
    assert month.list_deliveries() == []
    assert month.read_state(month.group)["state"] == "created"


def test_a_sent_invoice_is_marked_and_mailed(month: MailedMonth) -> None:
    sent = month.send(month.group).json()

    (mail,) = sent["sent"]
    assert sent["skipped"] == []
    assert (mail["company_id"], mail["invoice_no"]) == (month.group, "202609-0001")
    state = month.read_state(month.group)
    assert (state["state"], state["sent_by"]) == ("sent", "root")
    assert state["publish_time"] == state["sent_time"]
    delivery = month.wait_for_state("delivered")
    assert delivery["delivery_id"] == mail["delivery_id"]
    (message,) = read_outbox(
        month.service.settings.data, month.service.organisation.organisation_id
    )
    assert message["Message-ID"] == f"<{delivery['message_id']}>"
    assert message["To"] == "山田 花子 <hanako@example.com>"


def test_invoices_with_problems_are_skipped_unless_they_are_named(month: MailedMonth) -> None:
    other = add_group(month)

    named = month.send(month.group, other)

    assert read_problem(named, 409)["code"] == "not_ready"
    assert list_missing_reasons(named) == {other: "no_contact"}
    assert month.read_state(month.group)["state"] == "created"
    sent = month.send().json()
    assert [mail["company_id"] for mail in sent["sent"]] == [month.group]
    assert sent["skipped"] == [{"company_id": other, "problems": ["no_contact"]}]
    assert month.read_state(other)["state"] == "created"


def test_a_group_without_invoice_is_refused(month: MailedMonth) -> None:
    other = month.create_group("BG-2")

    assert list_missing_reasons(month.send(month.group, other)) == {other: "no_invoice"}
    assert list_problems(month.preview(other)) == {}


def test_unknown_groups_are_refused(month: MailedMonth) -> None:
    for request in (month.send, month.preview):
        response = request(month.group, "cmp_unknown")
        assert read_violations(response) == [("company_ids", "existing billing groups")]
    assert month.list_deliveries() == []


def test_contacts_of_copies_alone_do_not_suffice(month: MailedMonth) -> None:
    delete_contacts(month)
    add_contact(month.service, month.group, send_as="cc")

    assert list_problems(month.preview()) == {month.group: ["no_contact"]}


def test_another_revision_than_the_seen_one_is_not_sent(month: MailedMonth) -> None:
    month.save_settings(month.group, discount_rate=Decimal(0))
    outdated = month.preview(revisions={month.group: 1})
    month.create_invoices(month.group)

    response = month.send(month.group, revisions={month.group: 1})

    assert list_problems(outdated) == {month.group: ["outdated"]}
    assert list_missing_reasons(response) == {month.group: "revision_changed"}
    assert month.send(revisions={month.group: 1}).json()["sent"] == []
    sent = month.send(month.group, revisions={month.group: 2}).json()["sent"]
    assert [mail["revision"] for mail in sent] == [2]


def test_a_sent_invoice_is_mailed_again_only_on_demand(month: MailedMonth) -> None:
    month.send(month.group)
    first = month.wait_for_state("delivered")
    state = month.read_state(month.group)

    assert list_missing_reasons(month.send(month.group)) == {month.group: "already_sent"}
    again = month.send(month.group, again=True)

    assert again.status_code == 200, again.text
    newest = month.wait_for(
        lambda each: each["delivery_id"] != first["delivery_id"] and each["state"] == "delivered"
    )
    assert newest["message_id"] == first["message_id"]
    assert month.read_state(month.group) == state
    assert len(month.list_deliveries()) == 2


def test_a_cancelled_invoice_is_not_mailed(month: MailedMonth) -> None:
    month.send(month.group)
    month.put(f"/invoices/{MONTH}/{month.group}/aws/cancelled", {"reason": "wrong"})

    problems = list_problems(month.preview(again=True))

    assert problems[month.group][0] == "cancelled"


def test_a_link_needs_somebody_who_can_follow_it(month: MailedMonth) -> None:
    assert list_problems(month.preview(method="link")) == {month.group: ["no_portal_login"]}
    assert list_problems(month.preview(method="pdf")) == {month.group: []}


def test_the_language_of_the_group_is_used(month: MailedMonth) -> None:
    group = {"billinggroup_id": "BG-A", "billinggroup_name": "A", "company_name": "Sakura Ltd"}
    changed = month.post(f"/billinggroup/{month.group}", group | {"language": "en"})
    assert changed.status_code == 200, changed.text

    (mail,) = month.preview().json()["mails"]

    assert mail["language"] == "en"
    assert mail["text"].startswith("Dear 山田 花子")


def test_bad_requests_change_nothing(month: MailedMonth) -> None:
    later = "2999-01-01T00:00:00Z"
    response = month.send(method="fax", publish_time=later, revisions={month.group: 0})

    assert {field for field, _ in read_violations(response)} == {
        "method",
        "publish_time",
        "revisions",
    }
    ((field, _),) = read_violations(month.send(again=True, publish_time="2026-10-01T00:00:00Z"))
    assert field == "publish_time"
    assert month.read_state(month.group)["state"] == "created"


def test_restricted_callers_send_invoices_of_their_groups_only(month: MailedMonth) -> None:
    other = add_group(month)
    add_contact(month.service, other)
    restricted = month.service.caller(RoleAction.ModifyInvoice, billing_groups=[other])
    reader = month.service.caller(RoleAction.ReadInvoice)

    assert list(list_problems(month.preview(headers=restricted))) == [other]
    assert month.send(month.group, headers=restricted).status_code == 400
    read_problem(month.send(headers=reader), 403)
    sent = month.send(headers=restricted).json()
    assert [mail["company_id"] for mail in sent["sent"]] == [other]
    assert month.read_state(month.group)["state"] == "created"


def test_a_repeated_request_sends_nothing_twice(month: MailedMonth) -> None:
    headers = {**month.service.root(), "Idempotency-Key": "once"}

    first, second = (month.send(month.group, headers=headers).json() for _ in range(2))

    assert first == second
    assert len(month.list_deliveries()) == 1


def test_each_invoice_has_its_own_audit_entry(month: MailedMonth) -> None:
    (mail,) = month.send().json()["sent"]

    (entry,) = month.get("/audit?action=send_invoice").json()

    assert entry["resource"] == f"invoice/{MONTH}/{month.group}/aws"
    assert entry["company_id"] == month.group
    assert entry["sent"]["delivery_id"] == mail["delivery_id"]
    assert month.get("/audit?action=send_invoices").json() == []


def test_mails_are_listed_by_month_state_and_invoice(month: MailedMonth) -> None:
    other = add_group(month)
    add_contact(month.service, other)
    month.send(month.group)
    month.wait_for_state("delivered")
    of_invoice = f"/invoices/{MONTH}/{month.group}/aws/deliveries"
    restricted = month.service.caller(RoleAction.ReadInvoice, billing_groups=[other])

    assert month.list_deliveries("?state=delivered&vendor=aws") == month.list_deliveries()
    assert month.list_deliveries("?state=failed") == []
    assert month.list_deliveries("?vendor=azure") == []
    assert month.list_deliveries("?limit=1&offset=1") == []
    assert month.get(of_invoice).json() == month.list_deliveries()
    assert month.get(f"/invoices/{MONTH}/{other}/aws/deliveries").json() == []
    read_problem(month.get(of_invoice, restricted), 404)
    assert month.get(f"/invoices/{MONTH}/deliveries", restricted).json() == []
