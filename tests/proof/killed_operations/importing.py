"""Import a month, each time another version, through the API and the job runner."""

from __future__ import annotations

import time

import httpx
import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.organisation_settings.records import lock_settings, store_settings
from nimbill.database.tenant_scope import TenantScope
from nimbill.demo.vendor_files.charges import SyntheticMonth, sum_costs
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from tests.proof.killed_operations.operation import (
    KeyedRequest,
    Operation,
    Organisation,
    audited,
    stored,
)

PATH = "/m/core/costs/imports"
FINAL = ("done", "unchanged", "refused", "parked", "drift", "failed")
LINES = 300
SECONDS_MAX = 120

_OF_MONTH = "month = '2026-08'"
_SUM = (
    "payer_id, customer_id, line_type, kind, service, marketplace, currency, lines, "
    "trim_scale(cost)::text"
)
_USAGE = (
    "payer_id, customer_id, kind, currency, lines, hour_lines, "
    "trim_scale(cost)::text, trim_scale(hours)::text"
)
_COMMITMENT = (
    "line_type, reservation_id, savings_plan_id, used, trim_scale(normalized_hours)::text, "
    "trim_scale(effective_cost)::text, reservation_start, reservation_end"
)
_INSTANCE = "service, usage_type, platform, tenancy, days, region, instance_type"
_ENTRY = "customer_id, calc_type, description, trim_scale(unblended_cost)::text, delivered"
_FEES = "reservation_fees JOIN reserved_instances USING (organisation_id, ri_id)"


class Importing(Operation):
    name = "import"
    answer = 202
    slow = True
    visible_state = (
        stored("cost_sums", f"{_SUM}, day::text", _OF_MONTH),
        stored("cost_tag_sums", f"{_SUM}, tag_key, tag_value", _OF_MONTH),
        stored("cost_tagged_sums", f"{_SUM}, day::text, tags::text", _OF_MONTH),
        stored("commitment_usage", f"{_USAGE}, {_COMMITMENT}", _OF_MONTH),
        stored("on_demand_usage", f"{_USAGE}, {_INSTANCE}", _OF_MONTH),
        stored("cost_months", "payer_id, provisional, lines, tag_keys", _OF_MONTH),
        stored("lake_files", "lines, bytes, sha256", _OF_MONTH),  # exactly these bytes
        stored("recalculation_entries", _ENTRY, _OF_MONTH),
        stored(_FEES, "reservation_id, customer_id, trim_scale(fee)::text", _OF_MONTH),
        audited("import_costs"),
    )

    month: SyntheticMonth  # of the last request

    def prepare(self, organisation: Organisation) -> None:
        """Let imports store sums by tags too."""
        organisation.run_in_transaction(_store_tag_keys)

    def build_request(self, organisation: Organisation, number: int) -> KeyedRequest:
        folder = organisation.inbox / f"v{number}"
        self.month = SyntheticMonth(month="2026-08", lines=LINES, seed=number)
        if not folder.exists():
            write_files(self.month, Dialect.aws_cur, folder, file_format="csv.gz", parts=2)
        return KeyedRequest(PATH, {"vendor": "aws", "source": folder.name}, f"import-{number}")

    def finish(self, organisation: Organisation, answer: httpx.Response) -> str | None:
        if answer.status_code != self.answer:
            return f"answered {answer.text[:200]}"
        # queried directly, because statements of the service are counted
        state = stored("cost_imports", "state", f"import_id = '{answer.json()['import_id']}'")
        until = time.monotonic() + SECONDS_MAX
        while (found := organisation.fetch(state)[0][0]) not in FINAL and time.monotonic() < until:
            time.sleep(0.1)
        if found != "done":
            return f"ended {found}"
        requested = sum(1 for request, _, _ in organisation.journal if request.path == PATH)
        created = organisation.fetch(stored("cost_imports", "count(*)"))[0][0]
        if created != requested:
            return f"doubled: {requested} requested, {created} created"
        total = organisation.fetch(stored("cost_sums", "sum(cost)", _OF_MONTH))[0][0]
        equal = total == sum(sum_costs(self.month).values())
        return None if equal else "the stored sums differ from the delivered ones"


async def _store_tag_keys(db: AsyncConnection, scope: TenantScope) -> None:
    stored_settings = await lock_settings(db, scope)
    await store_settings(
        db, scope, msgspec.structs.replace(stored_settings, report_tag_keys=["team", "env"])
    )
