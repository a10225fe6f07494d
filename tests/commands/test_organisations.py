"""`nimbill organisations`: list the organisations, and delete one with everything it has."""

from __future__ import annotations

import asyncio
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nimbill.application.organisations import add_years
from nimbill.audit.checkpoints import write_checkpoint
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope
from nimbill.imports.preparation_process import working_folder
from nimbill.mail.delivery import deliver
from nimbill.mail.messages import Message
from tests.commands.run_command import run_command, service_environment
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.running_service import Service
from tests.temporary_database import execute_sql

MESSAGE = Message("hanako@example.com", "Your portal account", "Password: secret")
TENANT_TABLES = (
    "SELECT table_name FROM information_schema.columns "
    "WHERE table_schema = 'public' AND column_name = 'organisation_id'"
)


def count_rows(superuser: Address, organisation_id: str) -> dict[str, int]:
    """The number of rows of an organisation in every table that has some."""
    tables = [row["table_name"] for row in execute_sql(superuser, TENANT_TABLES)]
    assert len(tables) > 40
    counts = {
        table: execute_sql(
            superuser, f"SELECT count(*) FROM {table} WHERE organisation_id = $1", organisation_id
        )[0][0]
        for table in tables
    }
    return {table: count for table, count in counts.items() if count}


def delete(service: Service, *options: str, **settings: str) -> subprocess.CompletedProcess[str]:
    organisation_id = service.organisation.organisation_id
    env = service_environment(service, **settings)
    return run_command("organisations", "delete", organisation_id, *options, env=env)


@pytest.fixture
def billed(service: Service, tmp_path: Path) -> MonthEnd:
    """An organisation with costs, an invoice, its PDF, an export and a checkpoint."""
    month_end = MonthEnd(service, tmp_path)
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    assert month_end.create_invoices(group).status_code == 200
    assert month_end.get(f"/invoices/{MONTH}/{group}/aws/pdf").status_code == 200
    write_checkpoint(
        service.settings.data / "audit",
        service.resources.encryptor,
        service.organisation.organisation_id,
        1,
        b"hash",
    )
    return month_end


def test_every_organisation_is_listed(service: Service) -> None:
    second = service.new_organisation("Zweite & Söhne", username="zweite")

    env = service_environment(service)
    as_json = run_command("organisations", "list", "--json", env=env)
    as_text = run_command("organisations", "list", env=env)

    listed = {row["organisation_id"]: row for row in json.loads(as_json.stdout)["organisations"]}
    assert service.organisation.organisation_id in listed
    assert listed[second.organisation_id]["name"] == "Zweite & Söhne"
    assert listed[second.organisation_id]["username"] == "zweite"
    assert len(as_text.stdout.splitlines()) == 1 + len(listed)
    (line,) = (line for line in as_text.stdout.splitlines() if second.organisation_id in line)
    assert line.split()[2:] == ["zweite", "zweite-s-hne", "Zweite", "&", "Söhne"]


def test_an_organisation_is_deleted_with_its_rows_and_files(
    billed: MonthEnd, superuser: Address
) -> None:
    service = billed.service
    organisation_id, headers = service.organisation.organisation_id, service.root()
    other = service.new_organisation("Other")
    other_rows = count_rows(superuser, other.organisation_id)
    lake = Path(service.settings.lake_url) / organisation_id
    checkpoints = service.settings.data / "audit" / f"{organisation_id}.jsonl"
    (import_id,) = (
        row["import_id"]
        for row in execute_sql(
            superuser,
            "SELECT import_id FROM cost_imports WHERE organisation_id = $1",
            organisation_id,
        )
    )
    working_folder(service.settings, import_id).mkdir(parents=True, exist_ok=True)
    outbox = service.settings.data / "outbox"
    for tenant in (service.organisation, other):
        scope = TenantScope(tenant.organisation_id)
        asyncio.run(deliver(service.settings, scope, "msg_1", MESSAGE))
    assert "invoice_pdfs" in count_rows(superuser, organisation_id)
    assert lake.exists()
    assert checkpoints.exists()

    result = delete(service, "--confirm", "Test", "--json", NIMBILL_RETENTION_YEARS="0")

    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["organisation_id"] == organisation_id
    assert count_rows(superuser, organisation_id) == {}
    assert count_rows(superuser, other.organisation_id) == other_rows
    assert not lake.exists()
    assert not checkpoints.exists()
    assert not (outbox / organisation_id).exists()
    assert (outbox / other.organisation_id / "msg_1.eml").exists()
    assert not working_folder(service.settings, import_id).exists()
    assert service.http.get("/m/core/billinggroup", headers=headers).status_code == 401


def test_immutable_tables_are_immutable_again_after_a_deletion(
    billed: MonthEnd, superuser: Address
) -> None:
    assert delete(billed.service, "--confirm", "Test", NIMBILL_RETENTION_YEARS="0").returncode == 0

    states = execute_sql(
        superuser, "SELECT tgenabled FROM pg_trigger WHERE tgname = 'refuse_change'"
    )

    assert [row["tgenabled"] for row in states] == [b"O"] * 7


def test_invoices_within_the_retention_period_prevent_it(
    billed: MonthEnd, superuser: Address
) -> None:
    organisation_id = billed.service.organisation.organisation_id
    before = count_rows(superuser, organisation_id)

    result = delete(billed.service, "--confirm", "Test")

    assert result.returncode == 2
    assert "must be kept until" in result.stderr
    assert count_rows(superuser, organisation_id) == before


@pytest.mark.parametrize("options", [(), ("--confirm", "test"), ("--confirm", ""), ("--json",)])
def test_without_the_right_name_nothing_is_deleted(
    service: Service, superuser: Address, options: tuple[str, ...]
) -> None:
    before = count_rows(superuser, service.organisation.organisation_id)

    result = delete(service, *options)

    assert result.returncode == 2
    assert count_rows(superuser, service.organisation.organisation_id) == before


def test_an_unknown_organisation_is_refused(service: Service) -> None:
    env = service_environment(service)

    result = run_command("organisations", "delete", "org_unknown", "--confirm", "Test", env=env)

    assert result.returncode == 2
    assert result.stderr == "nimbill: No organisation has this id.\n"


def test_a_running_job_prevents_it(service: Service, superuser: Address) -> None:
    organisation_id = service.organisation.organisation_id
    execute_sql(
        superuser,
        "INSERT INTO jobs (organisation_id, job_id, kind, subject, payload, state, due, "
        "leased_until, attempts) VALUES ($1, $1, 'export', 'x', '{}', 'running', now(), "
        "now() + interval '1 hour', 1)",
        organisation_id,
    )

    result = delete(service, "--confirm", "Test")

    assert result.returncode == 2
    assert "A job of the organisation is running." in result.stderr


@pytest.mark.parametrize(
    ("time", "years", "expected"),
    [
        (datetime(2026, 9, 30, 12, tzinfo=UTC), 7, datetime(2033, 9, 30, 12, tzinfo=UTC)),
        (datetime(2028, 2, 29, tzinfo=UTC), 7, datetime(2035, 3, 1, tzinfo=UTC)),
        (datetime(2026, 1, 1, tzinfo=UTC), 0, datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_the_retention_period_ends_on_the_same_day(
    time: datetime, years: int, expected: datetime
) -> None:
    assert add_years(time, years) == expected
