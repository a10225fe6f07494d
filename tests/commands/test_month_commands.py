"""`nimbill settings`, `rates` and `month`: a month end on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands.organisation_commands import OrganisationCommands
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd

AWS = ("--vendor", "aws")


@pytest.fixture
def month_end(commands: OrganisationCommands, tmp_path: Path) -> MonthEnd:
    return MonthEnd(commands.service, tmp_path)


def prepare_group(month_end: MonthEnd, name: str = "BG-A") -> str:
    """Create a group with terms of its own and costs."""
    invoices = {"aws": VALID_SETTING}
    group = month_end.create_group(name, *ACCOUNTS_OF_A, invoices=invoices)
    month_end.import_costs(*EXAMPLE_A)
    return group


def test_a_month_is_invoiced_closed_and_reopened(
    commands: OrganisationCommands, month_end: MonthEnd
) -> None:
    group = prepare_group(month_end)

    commands.succeed("settings", "save", MONTH)
    commands.succeed("rates", "set", MONTH, "150.25", *AWS)
    invoices = commands.load("invoice", "create", MONTH, *AWS)
    commands.succeed("month", "close", MONTH, *AWS)
    closed = commands.load("month", "show", MONTH, *AWS)
    refused = commands.refuse("invoice", "create", MONTH, *AWS)
    text = commands.succeed("month", "show", MONTH)
    commands.succeed("month", "reopen", MONTH, *AWS, "--reason", "a late credit")

    assert [created["company_id"] for created in invoices["created"]] == [group]
    assert closed["vendors"][0]["state"] == "closed"
    assert "This month is closed." in refused
    assert f"aws {MONTH}: closed" in text
    assert re.search(r"^  closed     done, 20.* by nimbill month close$", text, re.MULTILINE)
    assert f"azure {MONTH}: open" in text
    rows = commands.list_audit_rows()
    actions = [row["action"] for row in rows]
    assert {"save_invoice_settings", "save_exchange_rates", "close_month"} < set(actions)
    assert (actions[0], rows[0]["sent"]["reason"]) == ("reopen_month", "a late credit")
    assert commands.load("month", "show", MONTH, *AWS) == {
        "month": MONTH,
        "vendors": [month_end.get(f"/months/{MONTH}?vendor=aws").json()],
    }


def test_a_month_that_is_not_ready_is_refused_with_a_list_of_what_is_missing(
    commands: OrganisationCommands, month_end: MonthEnd
) -> None:
    group = prepare_group(month_end)

    error = commands.refuse("month", "close", MONTH, *AWS)
    result = commands.run("month", "close", MONTH, *AWS, "--json")
    shown = commands.succeed("month", "show", MONTH, *AWS)

    assert error.splitlines() == [
        "nimbill: This month cannot be closed yet.",
        "  month: no_invoices",
        f"  {group} (BG-A name): invoice_missing",
        "  To close it anyway, pass --override and --reason.",
    ]
    printed = json.loads(result.stdout)["error"]
    assert (result.returncode, printed["code"]) == (2, "month_not_ready")
    assert printed["violations"] == [
        {"field": "month", "rule": "no_invoices"},
        {"field": group, "rule": "invoice_missing"},
    ]
    assert (
        f"  created    blocked\n    no_invoices\n    invoice_missing: {group} (BG-A name)" in shown
    )


def test_override_closes_a_month_that_is_not_ready_and_needs_a_reason(
    commands: OrganisationCommands,
) -> None:
    close = ("month", "close", MONTH, *AWS)

    without_reason = commands.refuse(*close, "--override")
    text = commands.succeed(*close, "--override", "--reason", "no customer")

    assert "reason: required with override" in without_reason
    assert text == f"aws {MONTH} is closed; 2 things were missing\n"
    assert commands.list_audit_rows()[0]["sent"] == {
        "vendor": "aws",
        "reason": "no customer",
        "override": True,
        "missing": [
            {"field": "month", "rule": "no_costs"},
            {"field": "month", "rule": "no_invoices"},
        ],
    }
    assert commands.refuse(*close) == "nimbill: This month is closed.\n"
    assert commands.run("month", "reopen", MONTH, *AWS).returncode == 2  # without a reason
    assert "yyyy-mm" in commands.refuse("month", "show", "2026-9")


def test_rates_are_shown_with_the_names_of_groups(
    commands: OrganisationCommands, month_end: MonthEnd
) -> None:
    group = prepare_group(month_end)
    commands.succeed("settings", "save", MONTH)

    before = commands.succeed("rates", "show", MONTH)
    commands.succeed("rates", "set", MONTH, "150.25", "BG-A", *AWS)
    after = commands.load("rates", "show", MONTH)

    assert before.splitlines()[1].split() == ["aws", "BG-A", "name", "jpy", "missing"]
    assert after == {
        "month": MONTH,
        "rates": [
            {
                "company_id": group,
                "billinggroup_id": "BG-A",
                "billinggroup_name": "name",
                "vendor": "aws",
                "currency": "jpy",
                "exchange_rate": 150.25,
            }
        ],
    }


def test_a_rate_without_saved_terms_is_refused(
    commands: OrganisationCommands, month_end: MonthEnd
) -> None:
    prepare_group(month_end)

    assert "No billing group has saved" in commands.refuse("rates", "set", MONTH, "150", *AWS)
    assert "settings_missing" in commands.refuse("rates", "set", MONTH, "150", "BG-A", *AWS)


def test_an_invalid_rate_is_refused(commands: OrganisationCommands) -> None:
    group = ("groups", "create", "BG-A", "--name", "name", "--company", "company")
    commands.succeed(*group)

    for rate in ("NaN", "1e9", "0", "abc", "1,5"):
        assert "rate" in commands.refuse("rates", "set", MONTH, rate, "BG-A", *AWS), rate


def test_settings_are_changed_and_shown(commands: OrganisationCommands) -> None:
    table = '[{"upto": 1000, "rate": 0.05}, {"upto": null, "rate": 0.03}]'

    changed = commands.load(
        "settings", "set", "rounding=down", "cost_tag_key=123", f"usage_table={table}"
    )
    text = commands.succeed("settings", "show")

    assert changed == commands.load("settings", "show")
    assert changed["settings"]["cost_tag_key"] == "123"
    assert changed["settings"]["usage_table"][0] == {"upto": 1000, "rate": 0.05}
    assert ["rounding", "down"] in [line.split() for line in text.splitlines()]
    row = commands.list_audit_rows()[0]
    assert (row["action"], row["resource"]) == ("change_settings", "settings")


def test_tag_keys_of_reports_are_separated_by_commas(commands: OrganisationCommands) -> None:
    stored = commands.load("settings", "set", "report_tag_keys=Team, Stage")
    cleared = commands.load("settings", "set", "report_tag_keys=")

    assert stored["settings"]["report_tag_keys"] == ["Team", "Stage"]
    assert cleared["settings"]["report_tag_keys"] == []


INVALID_SETTINGS = [
    ("rounding=sideways", "rounding: one of half_up, down, up"),
    ("roundng=down", "NAME=VALUE with one of the names rounding"),
    ("rounding", "NAME=VALUE"),
    ("time_zone=Mars", "time_zone"),
    ("usage_table=[", "body"),
]


def test_invalid_settings_are_refused(commands: OrganisationCommands) -> None:
    for assignment, error in INVALID_SETTINGS:
        assert error in commands.refuse("settings", "set", assignment)
