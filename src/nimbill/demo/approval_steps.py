"""Seed step for approvals: a clerk requests a credit note, about which the operator can decide."""

from nimbill.demo.api_client import DemoClient
from nimbill.demo.fixtures import SUBUSERS
from nimbill.demo.monthly_data import LAST_CLOSED_MONTH
from nimbill.demo.resellers import DemoReseller
from nimbill_client import ApprovalRequestBody

REQUESTER = SUBUSERS[0].username
CREDITED = ("BG-0029", "aws")  # customer and vendor; the invoice is not paid yet
AMOUNT = 3_000  # yen before tax
REASON = "障害に対するお詫び"
COMMENT = f"{REASON}として返金します。ご確認をお願いします。"


def request_approval(client: DemoClient, _reseller: DemoReseller) -> None:
    """The demo requires no approval, so that every page works for one person alone."""
    group, vendor = CREDITED
    amount = {"description": REASON, "amount": AMOUNT, "tax_free": False}
    request = ApprovalRequestBody(
        kind="credit_note",
        target={
            "month": LAST_CLOSED_MONTH,
            "vendor": vendor,
            "company_id": client.company_ids()[group],
        },
        body={"kind": "manual", "reason": REASON, "amounts": [amount]},
        comment=COMMENT,
    )
    with client.sign_in_as(REQUESTER) as clerk:
        clerk.approvals.request(request, key=f"demo-approval-{LAST_CLOSED_MONTH}")
