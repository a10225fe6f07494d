"""Each kind of approval: its request, the same operation without approval, and its effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.approvals.office import CLOSING, EMPTY_MONTH, Office
from tests.closing.steps.ready_month import add_import
from tests.costs.months.month_requests import park_month
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import MONTH, MonthEnd

REOPENED_MONTH = "2025-04"
PARKED = "imp_parked"
TEMPLATE: dict[str, Any] = {
    "name": "Standard",
    "company": "Reseller KK",
    "bank_account": "First Bank 1234567",
}
COMMAND_MONTH = ("--vendor", "aws")


@dataclass(frozen=True)
class Prepared:
    """The groups and the template of the shared organisation."""

    office: Office
    unsent: str  # company_id of a group whose invoice was not sent
    sent: str
    template_id: str


@dataclass(frozen=True)
class Case:
    kind: str
    build_request: Callable[[Prepared], dict[str, Any]]
    direct: Callable[[Prepared], tuple[str, str, Any]]  # method, path, body
    observe: Callable[[Prepared], Any]  # something that the operation changes
    command: Callable[[Prepared], tuple[str, ...]] | None = None


def prepare(office: Office, folder: Path) -> Prepared:
    """Two groups with an invoice each, a closed month, a parked import and a template."""
    month_end = MonthEnd(office.service, folder)
    sent = prepare_example_a(month_end)
    unsent = month_end.create_group("BG-U", "333333333333")
    month_end.prepare_groups(unsent)
    for group in (unsent, sent):
        created = month_end.create_invoices(group, headers=office.clerk.core)
        assert created.status_code == 200, created.text
    path = f"/invoices/{MONTH}/{sent}/aws/sent"
    office.succeed("PUT", path, {"revision": 1})
    office.succeed("POST", f"/invoices/close/{REOPENED_MONTH}", CLOSING)
    add_import(office.service, PARKED, "parked", month="2025-05")
    park_month(office.service, PARKED, "2025-05")
    template = office.succeed("POST", "/invoicetemplate", TEMPLATE)
    return Prepared(office, unsent, sent, template["invoice_template_id"])


def _rate_body(prepared: Prepared) -> dict[str, Any]:
    return {
        "vendor": "aws",
        "billing_groups": [prepared.unsent],
        "exchange_rate": Decimal("151.75"),
    }


def _read_rates(prepared: Prepared) -> Any:
    listed = prepared.office.succeed("GET", f"/invoices/exchangerate/{MONTH}")
    return [each["exchange_rate"] for each in listed]


CREDIT = {"kind": "full", "reason": "returned"}
RELEASE = {"reason": "the vendor confirmed it"}
REOPEN = {"vendor": "aws", "reason": "a late credit"}

CASES = [
    Case(
        "month_close",
        lambda _: {"target": {"month": EMPTY_MONTH}, "body": CLOSING},
        lambda _: ("POST", f"/invoices/close/{EMPTY_MONTH}", CLOSING),
        lambda prepared: prepared.office.is_closed(),
        lambda _: ("month", "close", EMPTY_MONTH, *COMMAND_MONTH, "--override", "--reason", "x"),
    ),
    Case(
        "month_reopen",
        lambda _: {"target": {"month": REOPENED_MONTH}, "body": REOPEN},
        lambda _: ("POST", f"/invoices/reopen/{REOPENED_MONTH}", REOPEN),
        lambda prepared: prepared.office.is_closed(REOPENED_MONTH),
        lambda _: ("month", "reopen", REOPENED_MONTH, *COMMAND_MONTH, "--reason", "x"),
    ),
    Case(
        "import_release",
        lambda _: {"target": {"import_id": PARKED}, "body": RELEASE},
        lambda _: ("POST", f"/costs/imports/{PARKED}/release", RELEASE),
        lambda prepared: prepared.office.succeed("GET", f"/costs/imports/{PARKED}")[
            "release_reason"
        ],
    ),
    Case(
        "rates",
        lambda prepared: {"target": {"month": MONTH}, "body": _rate_body(prepared)},
        lambda prepared: ("PUT", f"/invoices/exchangerate/{MONTH}", _rate_body(prepared)),
        _read_rates,
        lambda _: ("rates", "set", MONTH, "149", *COMMAND_MONTH),
    ),
    Case(
        "settings",
        lambda _: {"body": {"rounding": "down"}},
        lambda _: ("PUT", "/settings", {"rounding": "down"}),
        lambda prepared: prepared.office.succeed("GET", "/settings")["rounding"],
        lambda _: ("settings", "set", "rounding=down"),
    ),
    Case(
        "bank_details",
        lambda prepared: {
            "target": {"invoice_template_id": prepared.template_id},
            "body": TEMPLATE | {"bank_account": "Second Bank 7654321"},
        },
        lambda prepared: (
            "POST",
            f"/invoicetemplate/{prepared.template_id}",
            TEMPLATE | {"bank_account": "Second Bank 7654321"},
        ),
        lambda prepared: prepared.office.succeed("GET", "/invoicetemplate"),
    ),
    Case(
        "credit_note",
        lambda prepared: {
            "target": {"month": MONTH, "vendor": "aws", "company_id": prepared.sent},
            "body": CREDIT,
        },
        lambda prepared: ("POST", f"/invoices/{MONTH}/{prepared.sent}/aws/credit-notes", CREDIT),
        lambda prepared: prepared.office.succeed(
            "GET", f"/invoices/{MONTH}/{prepared.sent}/aws/credit-notes"
        ),
    ),
    Case(
        "invoice_issue",
        lambda prepared: {
            "target": {"month": MONTH},
            "body": {"vendor": "aws", "revisions": {prepared.unsent: 1}},
        },
        lambda prepared: (
            "PUT",
            f"/invoices/{MONTH}/{prepared.unsent}/aws/sent",
            {"revision": 1},
        ),
        lambda prepared: prepared.office.succeed(
            "GET", f"/invoices/{MONTH}/{prepared.unsent}/aws/state"
        )["state"],
    ),
]
