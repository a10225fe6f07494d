"""Create an invoice, each time with another rate, so that each is a new revision."""

from __future__ import annotations

import httpx

from tests.adjustments.recalculation.entries import MONTH
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)
from tests.proof.killed_operations.starting_records import (
    create_starting_records,
    find_group,
)

CORE = "/m/core/invoices"

_REVISION = (
    "month, vendor, revision, currency, total::text, document::json ->> 'invoice_no', "
    # ids of entries differ between organisations
    "regexp_replace((document::json -> 'sheet')::text, 'rce_[a-z0-9]+', 'rce', 'g')"
)
_PER_RUN = (
    "SELECT run_id FROM invoice_revisions WHERE organisation_id = $1 "
    "GROUP BY run_id HAVING count(*) <> 1"
)


class Invoicing(Operation):
    name = "invoice"
    answer = 200
    visible_state = (
        stored("invoices", "month, vendor, number, revision"),
        stored("invoice_revisions", _REVISION),
        stored("invoice_counters", "month, last_number"),
        audited("create_invoice"),
    )

    def prepare(self, organisation: Organisation) -> None:
        create_starting_records(organisation)
        group = find_group(organisation)
        settings = {"settings": {group: {"aws": VALID_SETTING}}, "internal": False}
        self._put(organisation, f"{CORE}/save/{MONTH}", settings)

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        group = find_group(organisation)
        rate = {"vendor": "aws", "billing_groups": [group], "exchange_rate": 100 + number}
        self._put(organisation, f"{CORE}/exchangerate/{MONTH}", rate)
        body = {"vendor": "aws", "group": [group], "bulk": False}
        return KeyedRequest(f"{CORE}/calculation/{MONTH}", body, f"invoice-{number}")

    def finish(self, organisation: Organisation, answer: httpx.Response) -> str | None:
        if answer.status_code != self.answer:
            return f"answered {answer.text[:200]}"
        if organisation.fetch(_PER_RUN):
            return "doubled: a run created an invoice twice"
        unfinished = organisation.fetch(stored("invoice_runs", "run_id", "state <> 'done'"))
        return f"answered, and {len(unfinished)} runs are not done" if unfinished else None

    def _put(self, organisation: Organisation, path: str, body: dict[str, object]) -> None:
        answer = organisation.request_until_answered("PUT", path, json=body)
        assert answer.status_code == 200, answer.text
