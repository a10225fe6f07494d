"""An organisation with two invoices, one of them sent and partly credited."""

from __future__ import annotations

from dataclasses import dataclass

from tests.imports.aws_reports import report_line
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import EXAMPLE_A, MONTH, MonthEnd

REASON = "The discount was missing."
OTHER_ACCOUNT = "333333333333"


@dataclass(frozen=True)
class IssuedDocuments:
    credited: str  # company_ids
    other: str


def issue_documents(month_end: MonthEnd) -> IssuedDocuments:
    """202609-0001 over 190472, of which CN…-0001 returns 110; 202609-0002 is not sent."""
    credited = prepare_example_a(month_end)
    other = month_end.create_group("BG-2", OTHER_ACCOUNT, company_name="みなと商事株式会社")
    month_end.import_costs(*EXAMPLE_A, report_line("10", UsageAccountId=OTHER_ACCOUNT))
    month_end.prepare_groups(other)
    for company_id in (credited, other):
        assert month_end.create_invoices(company_id).status_code == 200
    path = f"/invoices/{MONTH}/{credited}/aws"
    assert month_end.put(f"{path}/sent", {"revision": 1}).status_code == 200
    amounts = [{"description": "Discount", "amount": 100, "tax_free": False}]
    body = {"kind": "manual", "reason": REASON, "amounts": amounts}
    assert month_end.post(f"{path}/credit-notes", body).status_code == 201
    return IssuedDocuments(credited, other)
