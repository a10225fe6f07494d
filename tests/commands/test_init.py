"""`nimbill init`: create an organisation."""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path

import pytest

from nimbill.database.embedded_postgres import Address
from tests.command_line import (
    PASSWORD,
    SECONDS_MAX,
    build_environment,
    init_arguments,
    is_database_running,
    start_command,
)
from tests.commands.run_command import run_command, service_environment
from tests.running_service import Service
from tests.temporary_database import execute_sql

FIELDS = ["organisation_id", "root_user_id", "username", "client_id", "client_secret"]


def count_organisations(superuser: Address) -> int:
    (row,) = execute_sql(superuser, "SELECT count(*) FROM organisations")
    return int(row[0])


# Takes several seconds: it creates an embedded database in real processes.
def test_two_processes_can_run_init_at_once_in_a_new_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    env = build_environment(data)

    processes = [
        start_command(*init_arguments(), "--json", env=env, cwd=tmp_path) for _ in range(2)
    ]
    for process in processes:  # both passwords are sent before either process is awaited
        assert process.stdin is not None
        process.stdin.write(PASSWORD + "\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=SECONDS_MAX) for process in processes]

    assert [process.returncode for process in processes] == [0, 0], outputs
    organisations = [json.loads(output) for output, _ in outputs]
    assert organisations[0]["organisation_id"] != organisations[1]["organisation_id"]
    assert not is_database_running(data)


def test_json_output_is_one_object_with_these_fields(service: Service) -> None:
    env = service_environment(service)

    result = run_command(*init_arguments(), "--json", env=env, stdin=PASSWORD)

    assert result.returncode == 0, result.stderr
    assert result.stdout.count("\n") == 1
    assert list(json.loads(result.stdout)) == FIELDS
    assert json.loads(result.stdout)["username"] == "root"


def test_text_output_has_the_same_fields(service: Service) -> None:
    result = run_command(*init_arguments(), env=service_environment(service), stdin=PASSWORD)

    assert result.returncode == 0, result.stderr
    assert re.findall(r"^\w+(?= +\S+$)", result.stdout, re.MULTILINE) == FIELDS


@pytest.mark.parametrize(
    ("arguments", "password", "message"),
    [
        (init_arguments(username="a b c d"), PASSWORD, "username"),
        (init_arguments(), "x" * 19, "password"),
        (init_arguments(organisation=" "), PASSWORD, "name"),
    ],
)
def test_invalid_input_creates_nothing(
    service: Service, superuser: Address, arguments: list[str], password: str, message: str
) -> None:
    before = count_organisations(superuser)

    result = run_command(*arguments, "--json", env=service_environment(service), stdin=password)

    assert result.returncode == 2
    assert list(json.loads(result.stdout)) == ["error"]
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert count_organisations(superuser) == before


def test_a_new_organisation_can_log_in_to_a_running_service(service: Service) -> None:
    env = service_environment(service)

    organisation = json.loads(
        run_command(*init_arguments(), "--json", env=env, stdin=PASSWORD).stdout
    )

    form = {
        "grant_type": "client_credentials",
        "client_id": organisation["client_id"],
        "client_secret": organisation["client_secret"],
    }
    token = service.http.post("/core/access_token", data=form).json()["access_token"]
    response = service.http.get(
        "/m/core/billinggroup", headers={"Authorization": f"Bearer {token}"}
    )
    assert (response.status_code, response.json()) == (200, [])


def test_the_key_file_of_another_installation_is_refused(service: Service, tmp_path: Path) -> None:
    other_key = tmp_path / "key"
    other_key.write_text(secrets.token_hex(32))
    other_key.chmod(0o400)
    env = service_environment(service, NIMBILL_KEY_FILE=str(other_key))

    result = run_command(*init_arguments(), env=env, stdin=PASSWORD)

    assert result.returncode == 2
    assert "key file" in result.stderr
    assert len(result.stderr.splitlines()) == 1
