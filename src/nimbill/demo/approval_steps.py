"""Seed step for approvals: a clerk asks for another bank account, and nobody has decided yet."""

import httpx

from nimbill.demo.api_client import REQUEST_SECONDS_MAX, DemoClient, existing_allowed
from nimbill.demo.fixtures import ON_RECEIPT, SUBUSERS, invoice_templates
from nimbill.demo.logins import derive_password
from nimbill.demo.resellers import DemoReseller
from nimbill_client import ApprovalRequestBody, Client, OrganisationSettingsChange

KIND = "bank_details"
NEW_BANK_ACCOUNT = "あおば銀行 丸の内支店 普通 0000002 カ){}"
COMMENT = "丸の内支店に口座を移します。銀行の書面は経理部の棚にあります。"


def request_bank_change(client: DemoClient, reseller: DemoReseller) -> None:
    """Bank details need a second person from now on; the operator can decide about the request."""
    with existing_allowed():
        client.api.settings.change(OrganisationSettingsChange(approval_required=[KIND]))
    template = invoice_templates(reseller)[ON_RECEIPT]
    ids = {
        stored.name: stored.invoice_template_id
        for stored in client.api.invoice_templates.list_all()
    }
    request = ApprovalRequestBody(
        kind=KIND,
        target={"invoice_template_id": ids[template["name"]]},
        body=template | {"bank_account": NEW_BANK_ACCOUNT.format(reseller.name)},
        comment=COMMENT,
    )
    with _sign_in_clerk(client) as clerk, existing_allowed():
        clerk.approvals.request(request, key="demo-bank-change")


def _sign_in_clerk(client: DemoClient) -> Client:
    username = SUBUSERS[0].username
    return Client(
        client.address,
        client_id=client.login.client_id,
        client_secret=client.login.client_secret,
        username=username,
        password=derive_password(client.login, username),
        timeout=REQUEST_SECONDS_MAX,
        transport=httpx.HTTPTransport(),
    )
