"""`nimbill lake verify`: every file that counts exists, and digests and sums agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nimbill.database.embedded_postgres import Address
from tests.commands.run_command import run_command, service_environment
from tests.costs.generated_months import build_line
from tests.costs.stored_months import store_month
from tests.running_service import Service
from tests.temporary_database import execute_sql


def verify(service: Service, organisation_id: str | None = None) -> tuple[int, Any]:
    organisation_id = organisation_id or service.organisation.organisation_id
    arguments = ("lake", "verify", "--organisation", organisation_id, "--json")
    result = run_command(*arguments, env=service_environment(service))
    return result.returncode, json.loads(result.stdout or "null")


def list_files(service: Service) -> list[Path]:
    folder = Path(service.settings.lake_url) / service.organisation.organisation_id
    return sorted(path for path in folder.rglob("*.parquet"))


def list_problems(result: Any) -> list[tuple[str, str, str, str]]:
    return [
        (problem["vendor"], problem["month"], problem["reason"], problem["path"])
        for problem in result["problems"]
    ]


def test_files_digests_and_sums_of_all_months_are_verified(service: Service) -> None:
    store_month(service, [build_line(), build_line()])
    store_month(service, [build_line()])  # replaces the first import
    store_month(service, [build_line()], vendor="azure", month="2026-10")

    code, result = verify(service)

    assert (code, result["intact"], result["problems"]) == (0, True, [])
    assert (result["months"], result["files"]) == (2, 2)
    assert result["bytes"] > 0


def test_an_organisation_without_costs_is_intact_and_an_unknown_one_is_refused(
    service: Service,
) -> None:
    code, result = verify(service)

    assert (code, result["intact"], result["files"]) == (0, True, 0)
    code, result = verify(service, "org_that_does_not_exist")
    assert (code, result["error"]["code"]) == (2, "not_found")


def test_a_missing_and_a_changed_file_are_listed(service: Service) -> None:
    store_month(service, [build_line()])
    store_month(service, [build_line()], month="2026-10")
    store_month(service, [build_line()], month="2026-11")
    missing, changed, shortened = list_files(service)
    root = Path(service.settings.lake_url)
    missing.unlink()
    content = changed.read_bytes()
    changed.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    shortened.write_bytes(shortened.read_bytes()[:-1])

    code, result = verify(service)

    assert (code, result["intact"]) == (1, False)
    assert list_problems(result) == [
        ("aws", "2026-09", "missing", missing.relative_to(root).as_posix()),
        ("aws", "2026-10", "digest differs", changed.relative_to(root).as_posix()),
        ("aws", "2026-11", "size differs", shortened.relative_to(root).as_posix()),
    ]


def test_changed_sums_are_listed(service: Service, superuser: Address) -> None:
    store_month(service, [build_line(), build_line(tags=[("team", "a")])], tag_keys=["team"])
    for table in ("cost_sums", "cost_tag_sums"):
        execute_sql(
            superuser,
            f"UPDATE {table} SET cost = cost + 0.0000000001 WHERE organisation_id = $1",
            service.organisation.organisation_id,
        )

    code, result = verify(service)

    assert code == 1
    assert {problem["reason"] for problem in result["problems"]} == {"sums differ"}
    details = " ".join(problem["detail"] for problem in result["problems"])
    for column in ("customer_id=", "day=", "tag_key=team"):
        assert column in details


def test_changed_tagged_sums_are_listed(service: Service, superuser: Address) -> None:
    store_month(service, [build_line(tags=[("team", "a")])], tag_keys=["team"])
    intact, _ = verify(service)
    execute_sql(
        superuser,
        "UPDATE cost_tagged_sums SET lines = lines + 1 WHERE organisation_id = $1",
        service.organisation.organisation_id,
    )

    code, result = verify(service)

    assert (intact, code) == (0, 1)
    (problem,) = result["problems"]
    assert problem["reason"] == "sums differ"
    assert "day=2026-09-01" in problem["detail"]


def test_usage_of_commitments_that_the_database_lacks_is_listed(service: Service) -> None:
    store_month(service, [build_line(reservation_id="arn:ri/1")])  # stores the sums only

    code, result = verify(service)

    (problem,) = result["problems"]
    assert (code, problem["reason"]) == (1, "sums differ")
    assert problem["detail"].startswith("commitment_usage payer_id=836060457634 ")


def test_sums_without_an_import_and_lines_that_differ_are_listed(
    service: Service, superuser: Address
) -> None:
    store_month(service, [build_line(payer_id="100000000001"), build_line(payer_id="100000000002")])
    organisation_id = service.organisation.organisation_id
    execute_sql(
        superuser,
        "DELETE FROM cost_months WHERE organisation_id = $1 AND payer_id = '100000000001'",
        organisation_id,
    )
    execute_sql(
        superuser, "UPDATE cost_months SET lines = 7 WHERE organisation_id = $1", organisation_id
    )

    code, result = verify(service)

    assert code == 1
    found = [(problem["reason"], problem["detail"]) for problem in result["problems"]]
    assert found == [
        ("sums without an import", "100000000001"),
        ("sums differ", "payer_id=100000000002: 7 lines in the database, 1 in the files"),
    ]


def test_the_text_lists_problems_and_the_result(service: Service) -> None:
    store_month(service, [build_line()])
    (file,) = list_files(service)
    arguments = ("lake", "verify", "--organisation", service.organisation.organisation_id)

    intact = run_command(*arguments, env=service_environment(service))
    file.unlink()
    damaged = run_command(*arguments, env=service_environment(service))

    assert intact.stdout.startswith("intact: 1 files, ")
    assert damaged.stdout.startswith("missing: ")
    assert "\ndamaged: 1 files, " in damaged.stdout
