"""An import leaves no working folder, and no files in the lake if it does not count."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.months.records import lock_month
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.imports import records
from nimbill.imports.commit_import import fail_import
from nimbill.imports.preparation import PreparedImport
from nimbill.imports.preparation_process import working_folder
from tests.held_locks import call_while_locked, in_transaction
from tests.imports.aws_reports import MONTH, report_line, write_report
from tests.imports.in_process_importer import InProcessImporter
from tests.imports.test_import_races import count_parked, park

SECONDS_MAX = 60

PROBLEM = {"status": 500, "code": "failed", "detail": "The import failed."}


def list_lake_files(importer: InProcessImporter) -> list[str]:
    lake = Lake(importer.service.settings.lake_url)
    return lake.list_names(importer.organisation.organisation_id)


def wait_for_removal(importer: InProcessImporter, import_id: str, kept: list[str]) -> None:
    folder = working_folder(importer.service.settings, import_id)
    deadline = time.monotonic() + SECONDS_MAX
    while folder.exists() or list_lake_files(importer) != kept:
        assert time.monotonic() < deadline, (folder, list_lake_files(importer))
        time.sleep(0.05)


def test_a_failed_import_removes_its_folder_and_its_files(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    importer(write_report(tmp_path / "kept.csv", [report_line("1")]))
    kept = list_lake_files(importer)
    import_id = importer.start(write_report(tmp_path / "later.csv", [report_line("2")]))
    importer.prepare(import_id)
    assert len(list_lake_files(importer)) > len(kept) > 0

    async def fail() -> None:
        engine = importer.service.resources.engine
        async with transaction(engine, importer.scope.organisation_id) as db:
            await fail_import(db, importer.scope, import_id, PROBLEM)

    importer.service.run(fail)

    assert importer.get_record(import_id)["state"] == "failed"
    wait_for_removal(importer, import_id, kept)


def test_an_import_that_is_refused_for_its_limits_removes_its_files(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    import_id = importer.start(write_report(tmp_path / "a.csv", [report_line("2")]))
    importer.prepare(import_id)
    problem = {"status": 400, "code": "memory", "detail": "Reading it needs too much."}

    importer.commit(import_id, PreparedImport(problem=problem))

    assert importer.get_record(import_id)["state"] == "refused"
    wait_for_removal(importer, import_id, [])


def test_a_release_that_is_refused_frees_the_month_under_its_lock(
    importer: InProcessImporter,
) -> None:
    parked = park(importer, "a.csv", report_line("1"))
    refused = PreparedImport(problem={"status": 400, "code": "memory", "detail": "Too much."})

    async def release(db: AsyncConnection, scope: TenantScope) -> None:
        await records.change_import(db, scope, parked, state="running", release_reason="ok")

    in_transaction(importer.service, release)()
    outcome = call_while_locked(
        importer.service,
        lambda db, scope: lock_month(db, scope, BillingPeriod(MONTH, "aws")),
        lambda: importer.commit(parked, refused),
    )

    assert outcome.waited
    assert importer.get_record(parked)["state"] == "refused"
    assert count_parked(importer) == 0


def test_the_files_of_a_replaced_import_are_kept_for_an_hour(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    """Somebody may be reading them."""
    importer(write_report(tmp_path / "a.csv", [report_line("1")]))
    replaced = list_lake_files(importer)
    importer(write_report(tmp_path / "b.csv", [report_line("2")]))

    (job,) = importer.query(
        "SELECT payload, due - create_time AS wait FROM jobs"
        " WHERE kind = 'remove_lake_files' AND due > now() + interval '1 minute'"
    )

    assert sorted(job.payload["files"]) == sorted(replaced)
    assert abs(job.wait - timedelta(hours=1)) < timedelta(minutes=5)


def test_a_finished_import_removes_its_folder_and_keeps_its_files(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    done = importer(write_report(tmp_path / "a.csv", [report_line("1")]))

    wait_for_removal(importer, done["import_id"], list_lake_files(importer))
    assert list_lake_files(importer) != []
