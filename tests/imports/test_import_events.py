"""The outcome of an import is announced by webhooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.imports import commit_import, records
from nimbill.imports.commit_import import fail_import
from tests.costs.months.month_requests import close_month
from tests.held_locks import in_transaction
from tests.imports.aws_reports import MONTH, report_line, write_report
from tests.imports.in_process_importer import PATH, InProcessImporter
from tests.imports.test_sum_verification import faulty_copy, lose_a_row
from tests.webhooks.published_events import list_published, subscribe


@pytest.fixture(autouse=True)
def subscribed(importer: InProcessImporter) -> None:
    subscribe(importer.service)


def describe(import_id: str, state: str, **facts: Any) -> dict[str, Any]:
    return {"import_id": import_id, "vendor": "aws", "month": MONTH, "state": state, **facts}


def import_parked(importer: InProcessImporter, file: Path) -> str:
    async def find_doubt(*_: object, **__: object) -> str:
        return "a doubt"

    with patch.object(commit_import, "find_anomaly", find_doubt):
        record = importer(file)
    assert record["state"] == "parked"
    return str(record["import_id"])


def test_a_committed_import_is_announced_and_a_repeated_one_is_not(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    file = write_report(tmp_path / "a.csv", [report_line("1")])
    done = importer(file)["import_id"]
    assert importer(file)["state"] == "unchanged"

    assert list_published(importer.service) == [("import.committed", describe(done, "done"))]


def test_a_parked_import_is_announced_and_so_is_its_replacement(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    parked = import_parked(importer, write_report(tmp_path / "a.csv", [report_line("1")]))
    done = importer(write_report(tmp_path / "b.csv", [report_line("2")]))["import_id"]

    assert list_published(importer.service) == [
        ("import.parked", describe(parked, "parked")),
        ("import.failed", describe(parked, "refused", code="superseded")),
        ("import.committed", describe(done, "done")),
    ]


def test_a_parked_import_stays_parked_if_the_sums_of_the_next_one_are_lost(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    """The savepoint takes back that it was replaced, so nobody is told so."""
    first = import_parked(importer, write_report(tmp_path / "a.csv", [report_line("1")]))

    with faulty_copy("cost_sums", lose_a_row):
        second = importer(write_report(tmp_path / "b.csv", [report_line("2"), report_line("4")]))

    assert second["state"] == importer.get_record(first)["state"] == "parked"
    assert list_published(importer.service) == [
        ("import.parked", describe(first, "parked")),
        ("import.parked", describe(second["import_id"], "parked")),
    ]


def test_drift_is_announced_with_the_number_of_proposals(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(write_report(tmp_path / "a.csv", [report_line("1")]))
    closed = close_month(importer.service, MONTH, headers=importer.headers)
    if closed.status_code != 200:
        body = {"vendor": "aws", "override": True, "reason": "a test"}
        path = f"/m/core/invoices/close/{MONTH}"
        closed = importer.service.http.post(path, json=body, headers=importer.headers)
    assert closed.status_code == 200, closed.text

    late = importer(write_report(tmp_path / "b.csv", [report_line("3")]))

    answer = importer.service.http.get(f"{PATH}/{late['import_id']}", headers=importer.headers)
    proposals = len(answer.json()["proposals"])
    assert list_published(importer.service)[-1] == (
        "import.drift",
        describe(late["import_id"], "drift", proposals=proposals),
    )


def test_a_refused_import_is_announced_with_the_code_of_its_problem(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    file.write_text("not,a,report\n1,2,3\n")

    record = importer(file, month=MONTH)

    assert record["state"] == "refused"
    code = record["problem"]["code"]
    assert list_published(importer.service) == [
        ("import.failed", describe(record["import_id"], "refused", code=code))
    ]


def test_a_failed_import_is_announced(importer: InProcessImporter, tmp_path: Path) -> None:
    import_id = importer.start(tmp_path / "a.csv", month=MONTH)
    problem = {"status": 500, "code": "failed", "detail": "The import failed."}

    async def fail(db: AsyncConnection, scope: TenantScope) -> None:
        await fail_import(db, scope, import_id, problem)

    in_transaction(importer.service, fail)()

    assert list_published(importer.service) == [
        ("import.failed", describe(import_id, "failed", code="failed"))
    ]


def test_a_release_that_fails_is_announced_as_parked_again(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    parked = import_parked(importer, write_report(tmp_path / "a.csv", [report_line("1")]))

    async def release_and_fail(db: AsyncConnection, scope: TenantScope) -> None:
        values = {"state": "waiting", "release_reason": "checked"}
        await records.change_import(db, scope, parked, **values)
        await fail_import(db, scope, parked, {"code": "failed"})

    in_transaction(importer.service, release_and_fail)()

    assert list_published(importer.service) == [
        ("import.parked", describe(parked, "parked")),
        ("import.parked", describe(parked, "parked")),
    ]
