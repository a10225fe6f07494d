"""A failed or refused import leaves no working folder and no files in the lake."""

from __future__ import annotations

import time
from pathlib import Path

from nimbill.costs.lake.parquet_files import Lake
from nimbill.database.tenant_scope import transaction
from nimbill.imports.failed_imports import fail_import
from nimbill.imports.preparation import PreparedImport
from nimbill.imports.working_folder import working_folder
from tests.imports.aws_reports import report_line, write_report
from tests.imports.in_process_importer import InProcessImporter

SECONDS_MAX = 30

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
