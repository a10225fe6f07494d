"""`nimbill audit verify`: verify an audit log."""

from __future__ import annotations

import json

from nimbill.database.embedded_postgres import Address
from tests.commands.run_command import run_command, service_environment
from tests.running_service import Service
from tests.temporary_database import execute_sql


def verify(service: Service, organisation_id: str) -> tuple[int, str]:
    arguments = ("audit", "verify", "--organisation", organisation_id, "--json")
    result = run_command(*arguments, env=service_environment(service))
    return result.returncode, result.stdout


def test_the_exit_code_tells_intact_broken_and_unknown_logs_apart(
    service: Service, superuser: Address
) -> None:
    organisation_id = service.new_organisation("Audited").organisation_id

    code, output = verify(service, organisation_id)

    assert code == 0
    assert json.loads(output)["intact"] is True

    execute_sql(
        superuser,
        "UPDATE audit_log SET entry = replace(entry, 'Audited', 'Edited') "
        "WHERE organisation_id = $1",
        organisation_id,
    )
    code, output = verify(service, organisation_id)

    assert code == 1
    assert json.loads(output)["first_bad_row"] == 1
    assert json.loads(output)["reason"] == "changed"

    code, output = verify(service, "org_that_does_not_exist")

    assert code == 2
    assert json.loads(output)["error"]["code"] == "not_found"
