"""Imports that change something, or report a change, are in the audit log."""

from __future__ import annotations

from pathlib import Path

from tests.imports.aws_reports import report_line, write_report
from tests.imports.in_process_importer import InProcessImporter


def test_an_import_is_audited_once_with_its_result(
    importer: InProcessImporter, tmp_path: Path
) -> None:
    file = write_report(tmp_path / "a.csv", [report_line("1"), report_line("2")])
    done = importer(file)
    assert importer(file)["state"] == "unchanged"

    answer = importer.service.http.get("/m/core/audit", headers=importer.headers)

    (entry,) = [each for each in answer.json() if each["action"] == "import_costs"]
    assert entry["resource"] == "costs/aws/2026-09"
    assert entry["sent"] == {"import_id": done["import_id"], "state": "done", "lines": 2}
    files = importer.query("SELECT import_id, lines FROM lake_files")
    assert [(file.import_id, file.lines) for file in files] == [(done["import_id"], 2)]
