"""GET /m/core/months and GET /m/core/months/{month}"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nimbill.access.role_actions import RoleAction
from tests.closing.steps.ready_month import (
    ACCOUNT,
    OTHER_ACCOUNT,
    add_import,
    apply_entry,
    build_ready_month,
)
from tests.costs.months.month_requests import close_month, park_month, reopen_month
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations


def read_month(month_end: MonthEnd, month: str = MONTH, vendor: str = "aws") -> Any:
    response = month_end.get(f"/months/{month}?vendor={vendor}")
    assert response.status_code == 200, response.text
    return response.json()


def read_steps(month_end: MonthEnd) -> dict[str, Any]:
    return {step["step"]: step for step in read_month(month_end)["steps"]}


def list_states(month_end: MonthEnd) -> dict[str, str]:
    return {name: step["state"] for name, step in read_steps(month_end).items()}


def test_a_month_passes_from_costs_to_closing(month_end: MonthEnd) -> None:
    assert read_month(month_end)["state"] == "open"
    assert list_states(month_end)["arrived"] == "ready"

    group = month_end.create_group("BG-1", ACCOUNT)
    month_end.import_costs(report_line("3", UsageAccountId=ACCOUNT))
    states = list_states(month_end)
    assert (states["arrived"], states["placed"], states["rates"]) == ("done", "done", "ready")
    assert states["created"] == "blocked"

    month_end.prepare_groups(group)
    assert (list_states(month_end)["rates"], list_states(month_end)["created"]) == ("done", "ready")

    month_end.create_invoices(group)
    found = read_month(month_end)
    assert found["can_be_closed"] is True
    assert list_states(month_end)["closed"] == "ready"

    assert close_month(month_end.service, MONTH, override=None, reason=None).status_code == 200
    found = read_month(month_end)
    assert (found["state"], found["can_be_closed"]) == ("closed", False)
    assert list_states(month_end)["closed"] == "done"


def test_a_step_tells_who_did_it_and_when(month_end: MonthEnd) -> None:
    build_ready_month(month_end)
    close_month(month_end.service, MONTH)
    root = month_end.get("/audit").json()[0]

    steps = read_steps(month_end)

    assert (steps["closed"]["done_by"], steps["closed"]["done_time"]) == (
        root["actor_name"],
        root["at"],
    )
    for name in ("arrived", "rates", "created"):
        assert steps[name]["done_by"], name
        assert steps[name]["done_time"] < steps["closed"]["done_time"], name

    reopen_month(month_end.service, MONTH)
    closed = read_steps(month_end)["closed"]
    assert (closed["state"], closed["done_by"], closed["done_time"]) == ("ready", None, None)


def test_the_rates_of_another_vendor_are_not_those_of_the_step(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    root = month_end.service.organisation.username
    azure = replace(month_end, vendor="azure")
    clerk = month_end.service.caller(RoleAction.ModifyInvoice)
    assert azure.save_settings(group, support_fee="fix", headers=clerk).status_code == 200

    response = azure.save_rate(group, headers=clerk)

    assert response.status_code == 200, response.text
    assert read_steps(month_end)["rates"]["done_by"] == root


def test_blockers_name_their_records_and_link_to_them(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    other = month_end.create_group("BG-2", OTHER_ACCOUNT)
    apply_entry(month_end, OTHER_ACCOUNT)
    month_end.import_costs(
        report_line("4", UsageAccountId=ACCOUNT),
        report_line("1", UsageAccountId="000000000009"),
        report_line("2", UsageAccountId=ACCOUNT, LineItemType="Fee"),
    )
    park_month(month_end.service, "imp_parked", MONTH)

    found, steps = read_month(month_end), read_steps(month_end)

    def blockers(step: str) -> dict[str, list[str]]:
        return {blocker["reason"]: blocker["subjects"] for blocker in steps[step]["blockers"]}

    assert found["state"] == "parked"
    assert blockers("arrived") == {"import_parked": ["imp_parked"]}
    assert blockers("placed") == {"account_in_no_group": ["000000000009"]}
    assert len(blockers("decided")["entry_undecided"]) == 1
    assert blockers("rates") == {"settings_missing": [other]}
    assert blockers("created") == {
        "invoice_missing": [other],
        "amount_differs": [group],
        "import_parked": ["imp_parked"],
        "settings_missing": [other],
    }
    assert blockers("checked") == {"amount_differs": [group]}
    assert blockers("closed") == {
        "import_parked": ["imp_parked"],
        "invoice_missing": [other],
        "amount_differs": [group],
    }
    for blocker in (each for step in steps.values() for each in step["blockers"]):
        assert blocker["count"] == (len(blocker["subjects"]) or 1)
        assert blocker["text"].endswith(".")
    links = [blocker["link"] for step in steps.values() for blocker in step["blockers"]]
    for link in set(links):
        response = month_end.service.http.get(link, headers=month_end.service.root())
        assert response.status_code == 200, link


def test_drift_of_a_closed_month_waits_for_a_correction(month_end: MonthEnd) -> None:
    build_ready_month(month_end)
    close_month(month_end.service, MONTH)
    late = month_end.import_costs(report_line("9", UsageAccountId=ACCOUNT))
    assert late["state"] == "drift"

    steps = read_steps(month_end)
    assert steps["drifted"]["state"] == "done"
    assert steps["drifted"]["done_time"] > steps["arrived"]["done_time"]
    assert steps["corrected"]["done_by"] is None
    assert steps["corrected"]["state"] == "ready"
    assert steps["corrected"]["blockers"][0]["subjects"] == [late["import_id"]]

    reopen_month(month_end.service, MONTH)
    assert month_end.import_costs(report_line("9.5", UsageAccountId=ACCOUNT))["state"] == "done"
    corrected = read_steps(month_end)["corrected"]
    assert corrected["state"] == "done"
    assert corrected["done_time"] > steps["drifted"]["done_time"]


def test_known_months_are_listed_with_the_newest_first(month_end: MonthEnd) -> None:
    build_ready_month(month_end)
    close_month(month_end.service, "2026-07", "azure")
    park_month(month_end.service, "imp_parked", "2026-08")
    add_import(month_end.service, "imp_waiting", "waiting", month="2026-10")

    months = month_end.get("/months").json()

    assert [(month["month"], month["vendor"], month["state"]) for month in months] == [
        ("2026-10", "aws", "open"),
        ("2026-09", "aws", "open"),
        ("2026-08", "aws", "parked"),
        ("2026-07", "azure", "closed"),
    ]
    assert months[1] == read_month(month_end)
    page = month_end.get("/months?limit=1&offset=2").json()
    assert [month["month"] for month in page] == ["2026-08"]


def test_a_page_has_twelve_months_unless_a_limit_is_sent(month_end: MonthEnd) -> None:
    for number in range(1, 13):
        park_month(month_end.service, "imp_parked", f"2025-{number:02}")
    park_month(month_end.service, "imp_parked", "2026-01")

    assert len(month_end.get("/months").json()) == 12
    assert len(month_end.get("/months?limit=100").json()) == 13


def test_users_restricted_to_billing_groups_see_no_months(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    restricted = month_end.service.caller(RoleAction.ReadInvoice, billing_groups=[group])

    assert month_end.get("/months", restricted).json() == []
    response = month_end.get(f"/months/{MONTH}?vendor=aws", restricted)
    assert read_problem(response, 404)["code"] == "not_found"


def test_month_and_vendor_are_validated(month_end: MonthEnd) -> None:
    assert read_violations(month_end.get("/months/2026-13?vendor=aws")) == [
        ("month", "a month as yyyy-mm")
    ]
    for query in ("", "?vendor=gcp", "?vendor="):
        assert month_end.get(f"/months/{MONTH}{query}").status_code == 400


def test_a_list_without_steps_has_the_same_months_and_states(month_end: MonthEnd) -> None:
    build_ready_month(month_end)
    close_month(month_end.service, MONTH)

    complete = month_end.get("/months").json()
    short = month_end.get("/months?steps=false").json()

    assert [month["state"] for month in short] == ["closed"]
    assert all(month["steps"] == [] and month["can_be_closed"] is None for month in short)
    assert short[0]["has_invoices"] is True
    left_out: dict[str, Any] = {"steps": [], "can_be_closed": None, "exchange_rates": []}
    assert [month | left_out for month in complete] == short


def test_a_parked_month_is_parked_without_steps_too(month_end: MonthEnd) -> None:
    park_month(month_end.service, MONTH)

    short = month_end.get("/months?steps=false").json()

    assert [(month["state"], month["has_invoices"]) for month in short] == [("parked", False)]
