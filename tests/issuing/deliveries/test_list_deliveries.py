"""GET /m/core/invoices/{month}/deliveries"""

from __future__ import annotations

from tests.issuing.deliveries.mailed_month import MailedMonth


def test_mails_are_found_by_customer_number_and_recipient(month: MailedMonth) -> None:
    month.send(month.group)
    month.wait_for_state("delivered")
    counts = {
        f"company_id={month.group}": 1,
        "company_id=cmp_other": 0,
        "search=202609-0001": 1,
        "search=202609-0002": 0,
        "search=EXAMPLE.com": 1,
        "vendor=aws&state=failed": 0,
        "limit=1&offset=1": 0,
    }

    assert {query: len(month.list_deliveries(f"?{query}")) for query in counts} == counts


def test_the_mail_has_the_name_of_the_organisation_as_its_sender(month: MailedMonth) -> None:
    month.send(month.group)
    delivered = month.wait_for_state("delivered")

    folder = month.service.settings.data / "outbox" / month.service.organisation.organisation_id
    (file,) = folder.glob(f"{delivered['message_id'].partition('@')[0]}.eml")
    name = month.get("/me").json()["organisation_name"]
    assert file.read_bytes().startswith(f"From: {name} <nimbill@localhost>".encode())
