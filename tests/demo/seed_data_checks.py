"""Checks of the seed data in a running demo, through its HTTP API."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import httpx

from nimbill.demo.cost_deliveries import LATE_DELIVERY
from nimbill.demo.fixtures import (
    ACCOUNT_GROUP,
    CONTACTS,
    FULL_PORTAL,
    MAILED_CUSTOMERS,
    PORTAL_LOGINS,
    PORTAL_SUBUSER,
    find_production_account,
)
from nimbill.demo.invoice_steps import list_customers_with_combined_invoice, pdf_folder
from nimbill.demo.monthly_data import (
    CURRENT_MONTH,
    LAST_CLOSED_MONTH,
    ONE_OFF_CHARGES,
    OPEN_MONTH,
    RESERVED_INSTANCE_MOVES,
)
from nimbill.demo.resellers import AOZORA, MINATO, DemoReseller
from nimbill.demo.seed_steps import AMOUNT, REQUESTER
from nimbill.demo.sending_steps import CORRECTED_TERMS, CORRECTION_REASON
from nimbill.demo.stack_steps import DEPLOYMENT  # version 3
from nimbill.demo.write_cost_files import CORRECTED_BILLING_GROUP, UNASSIGNED_ACCOUNTS
from nimbill.foundation import exact_json
from tests.demo.demo_process import DemoProcess
from tests.plain_http import NO_TLS

INVOICED_MONTHS = (LAST_CLOSED_MONTH, OPEN_MONTH)


class ResellerClient:
    """An HTTP client of one reseller; paths are relative to /m/core."""

    def __init__(self, demo: DemoProcess, reseller: DemoReseller) -> None:
        self._base = f"{demo.address}/m/core"
        self._headers = {"Authorization": f"Bearer {demo.token(reseller)}"}

    def get(self, path: str) -> Any:
        response = httpx.get(self._base + path, headers=self._headers, timeout=60, verify=NO_TLS)
        assert response.status_code == 200, (path, response.text)
        return exact_json.decode(response.content)

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        return httpx.post(
            self._base + path, json=body, headers=self._headers, timeout=60, verify=NO_TLS
        )


def check_every_customer_is_invoiced(client: ResellerClient) -> None:
    for month in INVOICED_MONTHS:
        groups = {
            group["billinggroup_id"]: group
            for group in client.get(f"/invoices/{month}")["billinggroup"]
        }
        for customer in AOZORA.customers:
            invoices = groups[customer.billinggroup_id]
            invoiced = {vendor for vendor, data in invoices["created_data"].items() if data}
            assert invoiced == set(customer.contracts), (month, customer.name)
            assert all(invoices["total"][vendor] > 0 for vendor in invoiced)
    unfinished = client.get(f"/invoices/{CURRENT_MONTH}")["billinggroup"]
    assert all(group["invoice_no"] is None for group in unfinished)
    assert client.get(f"/costs/{CURRENT_MONTH}")["provisional"] is True


def check_invoiced_months_reconcile(client: ResellerClient) -> None:
    for month in INVOICED_MONTHS:
        tie_out = client.get(f"/invoices/tie-out/{month}")
        assert tie_out["ties"] is True
        assert tie_out["differences"] == []
        assert [(payer["vendor"], payer["difference"]) for payer in tie_out["payers"]] == [
            ("aws", Decimal(0)),
            ("azure", Decimal(0)),
        ]
    open_month = client.get(f"/invoices/tie-out/{OPEN_MONTH}")
    unassigned = {account["customer_id"] for account in open_month["accounts_in_no_group"]}
    assert unassigned == set(UNASSIGNED_ACCOUNTS.values())


def check_late_correction_is_reported(client: ResellerClient) -> None:
    """The correction of a closed month changes nothing and proposes entries for the difference."""
    (late,) = [
        record
        for record in client.get("/costs/imports")
        if record["sources"] == [LATE_DELIVERY.folder]
    ]
    corrected = find_production_account(AOZORA, CORRECTED_BILLING_GROUP, "aws").customer_id
    assert late["state"] == "drift"
    assert {drift["customer_id"] for drift in late["drift"]} == {corrected}
    difference = sum(drift["delivered"] - drift["counts"] for drift in late["drift"])
    assert difference < 0
    assert sum(proposal["amount"] for proposal in late["proposals"]) == difference
    for vendor in AOZORA.payers:
        body = {"vendor": vendor, "group": [], "bulk": True}
        refused = client.post(f"/invoices/calculation/{LAST_CLOSED_MONTH}", body)
        assert (refused.status_code, refused.json()["code"]) == (409, "month_closed")


def check_adjustments_are_applied(client: ResellerClient) -> None:
    for vendor in AOZORA.payers:
        entries = client.get(f"/billinggroup/recalculation/{OPEN_MONTH}?vendor={vendor}")
        charges = [
            charge
            for charge in ONE_OFF_CHARGES
            if (charge.month, charge.vendor) == (OPEN_MONTH, vendor)
        ]
        assert sorted(entry["apply"] for entry in entries) == sorted(
            charge.applied_in is not None for charge in charges
        )
        assert sum(entry["tax_free"] for entry in entries) == sum(
            charge.tax_free for charge in charges
        )
    reservations = client.get("/ri/purchased?vendor=aws")
    receivers = {reservation["dest_customer_id"] for reservation in reservations} - {""}
    assert receivers == {
        find_production_account(AOZORA, move.receiver, "aws").customer_id
        for move in RESERVED_INSTANCE_MOVES
    }


def check_closed_month_is_mostly_paid(client: ResellerClient) -> None:
    """One invoice is paid in part, and two are not paid; the open month is not sent yet."""
    groups = {
        group["company_id"]: group["billinggroup_id"] for group in client.get("/billinggroup")
    }
    open_invoices = [
        (each["month"], groups[each["company_id"]], each["state"])
        for each in client.get("/receivables")
    ]
    assert sorted(open_invoices) == [
        (LAST_CLOSED_MONTH, "BG-0022", "partly_paid"),
        (LAST_CLOSED_MONTH, "BG-0029", "open"),
        (LAST_CLOSED_MONTH, "BG-0037", "open"),
    ]
    (on_receipt,) = client.get("/receivables?search=かわせみ水道工業")
    invoice = client.get(f"/invoices/{LAST_CLOSED_MONTH}/{on_receipt['company_id']}/aws")
    assert on_receipt["due_date"] == invoice["issue_date"]
    settled = client.get("/receivables?balance=settled")
    contracts = sum(len(customer.contracts) for customer in AOZORA.customers)
    assert len(settled) == contracts - len(open_invoices)


def check_invoices_are_mailed_and_one_is_corrected(
    client: ResellerClient, demo: DemoProcess
) -> None:
    """The mails are files; a credit note has returned a part of one invoice."""
    mails = client.get(f"/invoices/{LAST_CLOSED_MONTH}/deliveries")
    receivers = {each["recipients"][0]["email"] for each in mails}
    assert receivers == {CONTACTS[group][0][1] for group in MAILED_CUSTOMERS}
    assert {each["state"] for each in mails} == {"delivered"}
    files = list(demo.folder.glob("outbox/*/*.eml"))
    assert {each["message_id"].partition("@")[0] for each in mails} <= {file.stem for file in files}
    (corrected,) = [
        each["company_id"]
        for each in client.get("/billinggroup")
        if each["billinggroup_id"] == CORRECTED_TERMS[0]
    ]
    (note,) = client.get(f"/invoices/{LAST_CLOSED_MONTH}/{corrected}/aws/credit-notes")
    assert (note["kind"], note["reason"]) == ("correction", CORRECTION_REASON)
    (endpoint,) = client.get("/webhooks")
    assert endpoint["enabled"] is False


def check_open_month_can_be_sent(client: ResellerClient) -> None:
    """No invoice of the open month is sent; two customers have nobody who would receive it."""
    groups = {
        group["company_id"]: group["billinggroup_id"] for group in client.get("/billinggroup")
    }
    response = client.post(
        f"/invoices/{OPEN_MONTH}/deliveries/preview", {"vendor": "aws", "method": "pdf"}
    )
    mails = response.json()["mails"]
    assert len(mails) == len(list(AOZORA.list_customers("aws")))
    assert not any("already_sent" in mail["problems"] for mail in mails)
    missing = {groups[each["company_id"]] for each in mails if "no_contact" in each["problems"]}
    assert missing == {customer.billinggroup_id for customer in AOZORA.customers} - CONTACTS.keys()


def check_operator_can_decide_about_a_request(client: ResellerClient) -> None:
    """A clerk has requested a credit note; the operator approves it, and it is issued."""
    (listed,) = client.get("/approvals?state=requested")
    assert (listed["kind"], listed["requested_by"]) == ("credit_note", REQUESTER)
    assert (listed["can_approve"], listed["can_withdraw"]) == (True, False)
    path = f"/approvals/{listed['approval_id']}"
    request = client.get(path)
    assert request["review"]["pre_tax"] == AMOUNT

    approved = client.post(f"{path}/approve", {"review_hash": request["review_hash"]})

    assert approved.status_code == 200, approved.text
    target = request["target"]
    invoice = f"/invoices/{target['month']}/{target['company_id']}/{target['vendor']}"
    (note,) = client.get(f"{invoice}/credit-notes")
    assert (note["pre_tax"], note["created_by"]) == (AMOUNT, REQUESTER)


def check_customer_has_an_account_group(client: ResellerClient) -> None:
    (entry,) = client.get("/audit?action=create_account_group")

    assert entry["actor_name"] == PORTAL_LOGINS[FULL_PORTAL]
    assert entry["sent"]["name"] == ACCOUNT_GROUP
    assert len(entry["sent"]["customer_ids"]) == 2


def check_customer_has_a_subuser(client: ResellerClient) -> None:
    (entry,) = (
        entry
        for entry in client.get("/audit?action=map_roles")
        if entry["actor_name"] == PORTAL_LOGINS[FULL_PORTAL]
    )

    assert entry["sent"]["roles"] == [{"namespace": "portal", "role": PORTAL_SUBUSER.role}]


def check_second_reseller_is_invoiced(client: ResellerClient) -> None:
    groups = client.get(f"/invoices/{OPEN_MONTH}")["billinggroup"]

    assert [group["total"]["aws"] > 0 for group in groups] == [True for _ in MINATO.customers]
    assert client.get(f"/invoices/tie-out/{OPEN_MONTH}")["ties"] is True


def check_pdf_files_exist(demo: DemoProcess) -> None:
    for reseller in (AOZORA, MINATO):
        files = list(pdf_folder(demo.folder, reseller).glob("*.pdf"))
        invoices = sum(len(customer.contracts) for customer in reseller.customers)
        assert len(files) == invoices + len(list_customers_with_combined_invoice(reseller))
        assert all(file.read_bytes().startswith(b"%PDF") for file in files)
    assert str(pdf_folder(demo.folder, AOZORA)) in demo.guide


def check_stack_is_complete(client: ResellerClient) -> None:  # version 3
    (stack,) = client.get(f"/v0/deployments/{DEPLOYMENT}")["stacks"]
    assert (stack["name"], stack["region"]) == ("calm-harbour", "ap-northeast-1")
    assert [(item["name"], item["status"], len(item["resources"])) for item in stack["items"]] == [
        ("web", "completed", 2),
        ("nightly", "completed", 1),
    ]
