"""A month with an invoice whose customer has a contact, and requests about its mails."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.customers.contacts.contacts import add_contact
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import HttpResponse
from tests.running_service import Service

WAIT_SECONDS_MAX = 60
PATH = f"/invoices/{MONTH}/deliveries"


class MailedMonth(MonthEnd):
    group: str

    def send(self, *company_ids: str, headers: Any = None, **fields: Any) -> HttpResponse:
        """Send the invoices of these groups, or of all groups."""
        return self.post(PATH, self._build_body(company_ids, fields), headers)

    def preview(self, *company_ids: str, headers: Any = None, **fields: Any) -> HttpResponse:
        return self.post(f"{PATH}/preview", self._build_body(company_ids, fields), headers)

    def _build_body(self, company_ids: tuple[str, ...], fields: dict[str, Any]) -> dict[str, Any]:
        body: dict[str, Any] = {"vendor": "aws", "method": "pdf"}
        if company_ids:
            body["company_ids"] = list(company_ids)
        return body | fields

    def list_deliveries(self, query: str = "") -> list[dict[str, Any]]:
        response = self.get(f"{PATH}{query}")
        assert response.status_code == 200, response.text
        deliveries: list[dict[str, Any]] = response.json()
        return deliveries

    def wait_for(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the newest mail as soon as it meets the condition."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not condition(newest := self.list_deliveries()[0]):
            assert time.monotonic() < deadline, newest
            time.sleep(0.02)
        return newest

    def wait_for_state(self, state: str) -> dict[str, Any]:
        return self.wait_for(lambda delivery: delivery["state"] == state)

    def read_state(self, company_id: str) -> dict[str, Any]:
        response = self.get(f"/invoices/{MONTH}/{company_id}/aws/state")
        assert response.status_code == 200, response.text
        state: dict[str, Any] = response.json()
        return state

    def retry(self, delivery: dict[str, Any], headers: Any = None) -> HttpResponse:
        return self.post(f"/deliveries/{delivery['delivery_id']}/retry", {}, headers)


def prepare_mailed_month(service: Service, folder: Path) -> MailedMonth:
    """The invoice of worked example A and a contact who receives it."""
    month = MailedMonth(service, folder)
    month.group = prepare_example_a(month)
    add_contact(service, month.group)
    created = month.create_invoices(month.group)
    assert created.status_code == 200, created.text
    return month
