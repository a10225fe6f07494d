"""`nimbill groups`: list, show, create, update and import billing groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.organisation_commands import OrganisationCommands
from tests.customers.billing_groups.billing_groups import (
    add_invoice_template,
    create_billing_group,
    list_group_ids,
    read_billing_group,
)
from tests.customers.cloud_accounts.accounts import add_account

NEW = ("groups", "create", "BG-1", "--name", "さくら", "--company", "さくら商事")


def test_a_group_is_created_shown_and_listed(commands: OrganisationCommands) -> None:
    created = commands.load(*NEW, "--phone", "03-1234-5678", "--inv-aggregate", "--language", "en")

    company_id = created["company_id"]
    record = read_billing_group(commands.service, company_id)
    assert created == {
        "status": "success",
        "company_id": company_id,
        "billinggroup_id": "BG-1",
    }
    assert (record["phone"], record["inv_aggregate"], record["language"]) == (
        "03-1234-5678",
        True,
        "en",
    )
    assert commands.load("groups", "show", "BG-1") == {"group": record}
    assert commands.load("groups", "show", company_id) == {"group": record}
    assert commands.load("groups", "list") == {"groups": [record]}


def test_text_output_shows_names_beside_ids(commands: OrganisationCommands) -> None:
    created = commands.succeed(*NEW)
    (group,) = commands.load("groups", "list")["groups"]
    add_account(commands.service, group["company_id"], customer_id="012345678901")

    listed, shown = commands.succeed("groups", "list"), commands.succeed("groups", "show", "BG-1")

    assert created == f"created BG-1 さくら ({group['company_id']})\n"
    assert listed.splitlines()[1].split() == ["BG-1", "さくら", "1", group["company_id"]]
    assert "012345678901" in shown
    assert "さくら本番" in shown


def test_a_change_is_audited_with_the_command_as_name(commands: OrganisationCommands) -> None:
    company_id = commands.load(*NEW)["company_id"]
    commands.succeed("groups", "update", "BG-1", "--phone", "03-1234-5678")

    updated, created = commands.list_audit_rows()[:2]

    assert (created["action"], created["actor_name"]) == (
        "create_billing_group",
        "nimbill groups create",
    )
    assert (updated["action"], updated["actor_name"]) == (
        "update_billing_group",
        "nimbill groups update",
    )
    for row in (created, updated):
        assert row["actor"] == commands.service.organisation.root_user_id
        assert (row["resource"], row["company_id"]) == (f"billinggroup/{company_id}", company_id)


def test_an_update_keeps_fields_that_are_not_named(commands: OrganisationCommands) -> None:
    add_invoice_template(commands.service, "tpl_1")
    company_id = commands.load(*NEW, "--remarks", "kept")["company_id"]

    commands.succeed(
        "groups", "update", "BG-1", "--billinggroup-id", "BG-2", "--invoice-template-id", "tpl_1"
    )

    record = read_billing_group(commands.service, company_id)
    assert (record["billinggroup_id"], record["remarks"]) == ("BG-2", "kept")
    assert (record["billinggroup_name"], record["name"]) == ("さくら", "さくら商事")
    assert record["invoice_template_id"] == "tpl_1"


def test_broken_rules_are_named(commands: OrganisationCommands) -> None:
    commands.succeed(*NEW)

    assert "already in use" in commands.refuse(*NEW)
    assert "project_id: an existing project" in commands.refuse(
        "groups", "create", "BG-2", "--name", "n", "--company", "c", "--project-id", "none"
    )
    assert "phone: length 12 to 16" in commands.refuse("groups", "update", "BG-1", "--phone", "1")
    assert "No billing group" in commands.refuse("groups", "show", "BG-9")


def test_groups_are_imported_from_a_file(commands: OrganisationCommands, tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("請求グループID,請求グループ名,企業名\nBG-1,a,a\nBG-2,b,b\n", encoding="cp932")

    created = commands.load("groups", "import", str(file))["created"]

    assert [group["billinggroup_id"] for group in created] == ["BG-1", "BG-2"]
    assert list_group_ids(commands.service) == ["BG-1", "BG-2"]
    assert commands.list_audit_rows()[0]["actor_name"] == "nimbill groups import"


def test_every_error_of_a_file_is_printed_on_its_line(
    commands: OrganisationCommands, tmp_path: Path
) -> None:
    create_billing_group(commands.service, commands.service.root(), billinggroup_id="BG-1")
    file = tmp_path / "groups.csv"
    file.write_text("billinggroup_id,billinggroup_name,company_name\nBG-1,a,a\nBG-2,,b\n")

    error = commands.refuse("groups", "import", str(file))

    assert error.splitlines()[1:] == [
        "  line 2, billinggroup_id: not in use yet",
        "  line 3, billinggroup_name: required",
    ]
    assert list_group_ids(commands.service) == ["BG-1"]


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_a_file_that_cannot_be_read_is_refused(
    commands: OrganisationCommands, tmp_path: Path, name: str
) -> None:
    assert str(tmp_path) in commands.refuse("groups", "import", str(tmp_path / name))
