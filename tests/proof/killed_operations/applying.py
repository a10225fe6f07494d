"""Apply all recalculation entries of a month at once, and remove them the next time."""

from __future__ import annotations

from tests.adjustments.recalculation.entries import MONTH, PATH
from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)
from tests.proof.killed_operations.starting_records import create_starting_records

_ENTRY = (
    "description, trim_scale(unblended_cost)::text, applied_month, "
    "trim_scale(exchange_rate)::text, tax_free"
)


class Applying(Operation):
    name = "apply"
    answer = 200
    visible_state = (
        stored("recalculation_entries", _ENTRY, f"month = '{MONTH}'"),
        stored("idempotency_keys", "key", "key LIKE 'apply-%'"),
        audited("apply_recalculation"),
    )

    def prepare(self, organisation: Organisation) -> None:
        create_starting_records(organisation)

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        entries = organisation.get(f"{PATH}/{MONTH}?vendor=aws")
        body = {
            "data": [entry["id"] for entry in entries],
            "month": MONTH,
            "exchange_rate": 100 + number,
            "tax_free": number % 4 == 1,
            "apply": number % 2 == 1,
            "vendor": "aws",
        }
        return KeyedRequest(PATH, body, f"apply-{number}")
