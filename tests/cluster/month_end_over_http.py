"""A month end of many groups over HTTP: the same requests to one machine or to many."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from nimbill.foundation import exact_json
from tests.invoicing.month_end import MONTH, PAYER, SETTING

SECONDS_MAX = 600
WAIT_SECONDS = 0.2
FINAL_STATES = ("done", "unchanged", "refused", "parked", "drift", "failed")


def group_name(number: int) -> str:
    return f"BG-{number:05}"


@dataclass(frozen=True)
class MonthEndOverHttp:
    url: str
    token: str

    def create_groups(self, count: int) -> dict[str, str]:
        """Create groups with an account each; return their company_ids by name."""
        names = [group_name(number) for number in range(count)]
        groups = [f"{name},{name},Company {name}" for name in names]
        created = self._send_csv(
            "/billinggroup/csv", "billinggroup_id,billinggroup_name,company_name", groups
        )
        accounts = [f"{number:012},{name},aws,{PAYER},{name}" for number, name in enumerate(names)]
        self._send_csv("/accts/csv", "customer_id,name,vendor,account_id,billinggroup_id", accounts)
        return {each["billinggroup_id"]: each["company_id"] for each in created["created"]}

    def _send_csv(self, path: str, header: str, lines: Sequence[str]) -> Any:
        content = "\n".join([header, *lines]).encode()
        return self.send("POST", path, content, {"Content-Type": "text/csv"})

    def start_import(self, source: str) -> str:
        body = exact_json.encode({"vendor": "aws", "source": source})
        import_id: str = self.send("POST", "/costs/imports", body)["import_id"]
        return import_id

    def get_import(self, import_id: str) -> Any:
        return self.send("GET", f"/costs/imports/{import_id}")

    def wait_for_import(self, import_id: str) -> Any:
        deadline = time.monotonic() + SECONDS_MAX
        while (record := self.get_import(import_id))["state"] not in FINAL_STATES:
            assert time.monotonic() < deadline, record
            time.sleep(WAIT_SECONDS)
        return record

    def save_terms(self, company_ids: Sequence[str]) -> None:
        settings = {company_id: {"aws": SETTING} for company_id in company_ids}
        terms = exact_json.encode({"settings": settings, "internal": False})
        self.send("PUT", f"/invoices/save/{MONTH}", terms)
        rate = {"vendor": "aws", "billing_groups": company_ids, "exchange_rate": 150}
        self.send("PUT", f"/invoices/exchangerate/{MONTH}", exact_json.encode(rate))

    def create_invoices(self, company_ids: Sequence[str], key: str) -> Any:
        """If the machine dies, the same request is sent again and reaches another one."""
        body = exact_json.encode({"vendor": "aws", "group": company_ids, "bulk": False})
        path = f"/invoices/calculation/{MONTH}"
        return self.send("POST", path, body, {"Idempotency-Key": key})

    def get_invoice(self, company_id: str) -> Any:
        return self.send("GET", f"/invoices/{MONTH}/{company_id}/aws")

    def send(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Any:
        """Repeat the request until a machine answers it; return the exact numbers."""
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            try:
                answer = httpx.request(
                    method,
                    f"{self.url}/m/core{path}",
                    content=body,
                    headers={**sent, **(headers or {})},
                    timeout=SECONDS_MAX,
                    verify=False,  # reading all certificates of the system would take longer
                )
            except httpx.TransportError:
                assert time.monotonic() < deadline, f"no answer to {method} {path}"
                time.sleep(WAIT_SECONDS)
            else:
                assert answer.status_code < 300, answer.text
                return exact_json.decode_stored(answer.text)
