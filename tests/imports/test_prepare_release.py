"""Releasing an import computes its sums again, in a new working folder."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from nimbill.imports.preparation import prepare_import
from tests.imports.aws_reports import MONTH, report_line, write_report
from tests.imports.in_process_importer import InProcessImporter
from tests.imports.test_failed_import import list_lake_files


def test_the_working_folder_is_created_with_the_folders_above_it(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    done = importer(write_report(tmp_path / "a.csv", [report_line("1"), report_line("2")]))
    folder = tmp_path / "imports" / "again"
    request = replace(
        importer.build_request(done["import_id"]),
        month=MONTH,
        lake_files=list_lake_files(importer),
        folder=str(folder),
    )

    with patch.dict(os.environ, importer.service.settings.to_child_environment()):
        prepared = prepare_import(request, lambda _: None)

    assert (prepared.problem, prepared.month, prepared.lines) == (None, MONTH, 2)
    assert prepared.provisional is False
    assert (folder / "sums.parquet").is_file()
