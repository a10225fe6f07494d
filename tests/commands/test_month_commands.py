"""`nimbill settings`, `rates` and `month`: a month end on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.organisation_commands import OrganisationCommands
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, PAYER, MonthEnd

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
    commands.succeed("month", "reopen", MONTH, *AWS, "--reason", "a late credit")

    assert [created["company_id"] for created in invoices["created"]] == [group]
    (vendor,) = closed["vendors"]
    assert (vendor["state"], vendor["invoices"]) == ("closed", 1)
    assert [payer["payer_id"] for payer in vendor["payers"]] == [PAYER]
    assert "This month is closed." in refused
    assert commands.load("month", "show", MONTH, *AWS)["vendors"][0]["state"] == "open"
    actions = [row["action"] for row in commands.list_audit_rows()]
    assert {"save_invoice_settings", "save_exchange_rates", "close_month"} < set(actions)
    assert actions[0] == "reopen_month"
    assert commands.list_audit_rows()[0]["sent"]["reason"] == "a late credit"


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


@pytest.mark.parametrize("rate", ["NaN", "1e9", "0", "abc", "1,5"])
def test_an_invalid_rate_is_refused(
    commands: OrganisationCommands, month_end: MonthEnd, rate: str
) -> None:
    prepare_group(month_end)
    commands.succeed("settings", "save", MONTH)

    assert "rate" in commands.refuse("rates", "set", MONTH, rate, *AWS)


def test_settings_are_changed_and_shown(commands: OrganisationCommands) -> None:
    table = '[{"upto": 1000, "rate": 0.05}, {"upto": null, "rate": 0.03}]'

    changed = commands.load(
        "settings", "set", "rounding=down", "cost_tag_key=123", f"usage_table={table}"
    )
    text = commands.succeed("settings", "show")

    assert changed == commands.load("settings", "show")
    assert changed["settings"]["cost_tag_key"] == "123"
    assert changed["settings"]["usage_table"][0] == {"upto": 1000, "rate": 0.05}
    assert "rounding                down" in text
    row = commands.list_audit_rows()[0]
    assert (row["action"], row["resource"]) == ("change_settings", "settings")


@pytest.mark.parametrize(
    ("assignment", "error"),
    [
        ("rounding=sideways", "rounding: one of half_up, down, up"),
        ("roundng=down", "NAME=VALUE with one of the names rounding"),
        ("rounding", "NAME=VALUE"),
        ("time_zone=Mars", "time_zone"),
        ("usage_table=[", "body"),
    ],
)
def test_invalid_settings_are_refused(
    commands: OrganisationCommands, assignment: str, error: str
) -> None:
    assert error in commands.refuse("settings", "set", assignment)


def test_a_month_is_closed_once_and_reopening_needs_a_reason(
    commands: OrganisationCommands,
) -> None:
    commands.succeed("month", "close", MONTH, *AWS, "--reason", "sent")

    assert "This month is closed." in commands.refuse("month", "close", MONTH, *AWS)
    assert commands.run("month", "reopen", MONTH, *AWS).returncode != 0
    assert "yyyy-mm" in commands.refuse("month", "show", "2026-9")
