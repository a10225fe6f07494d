"""A bad cost file is refused with its place and rule, and nothing of it becomes visible.

Every fault of the corpus, in every importer's dialect, is imported into the service's database.
Decompression bombs are read by the process that a server starts for each import; the growth of
this process, the server's own, is measured meanwhile.
"""

from __future__ import annotations

import resource
import time
from itertools import islice
from pathlib import Path
from typing import Any

from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.imports.preparation_process import run_preparation
from tests.imports.in_process_importer import InProcessImporter
from tests.proof.bad_files import IMPORTERS, BadFile, bad_files, bombs
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = (
    "at least 60 bad files for every importer: all refused with file, line, column and rule "
    "as in the corpus; 0 rows visible afterwards; a bomb within 2 s; at most +64 MB"
)
QUICK = 1  # importers
FULL = len(IMPORTERS)
SECONDS_MAX = 300
MISSING = ("at most 2 s and bounded memory for every importer: bombs are measured with one",)

QUICK_BOMBS = 2  # in gzip and zip
FILES_MIN = 60
BOMB_SECONDS_MAX = 20  # ten times the target: a watchdog
MEGABYTES_MAX = 64
TABLES = (
    "cost_months",
    "cost_sums",
    "cost_tag_sums",
    "cost_tagged_sums",
    "commitment_usage",
    "on_demand_usage",
    "lake_files",
    "recalculation_entries",
)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    organisation = service.new_organisation("D2")
    importer = InProcessImporter(service, organisation, environment.new_folder("d2"))
    misses: list[str] = []
    tried, slowest = 0, 0.0
    _warm_up(importer)
    for dialect in IMPORTERS[:size]:
        corpus = [*bad_files(dialect)]
        if len(corpus) < FILES_MIN:
            misses.append(f"{dialect}: only {len(corpus)} files")
        for bad in corpus:
            misses += _import(importer, bad, environment.new_folder("bad"))
        tried += len(corpus)
    before = _megabytes()
    # reading the others, without importing them, is part of tests/proof/test_bad_files.py
    for bomb in islice(bombs(IMPORTERS[0]), None if size >= FULL else QUICK_BOMBS):
        folder = environment.new_folder("bomb")
        paths, began = bomb.write(folder), time.monotonic()
        misses += _check_refusal(bomb, _import_in_process(importer, bomb, paths))
        slowest = max(slowest, time.monotonic() - began)
        tried += 1
    if size >= FULL and slowest > BOMB_SECONDS_MAX:  # a smaller size asserts no speed
        misses.append(f"a bomb took {slowest:.1f} s")
    grown = _megabytes() - before
    if grown > MEGABYTES_MAX:
        misses.append(f"{grown} MB more memory")
    misses += _find_visible_rows(importer, organisation)
    child_megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    figures = (
        f"{tried} bad files for {size} importers, slowest bomb {slowest:.1f} s, {grown:+} MB "
        f"(its own process at most {child_megabytes} MB)"
    )
    return Measurement(f"{figures}: {len(misses)} wrong", misses)


def _warm_up(importer: InProcessImporter) -> None:
    """Load modules once, so that they do not count as growth. Sums by tags are stored too."""
    from tests.imports.aws_reports import report_line, write_report

    importer.set_report_tag_keys("Team")
    importer(write_report(importer.folder / "valid.csv", [report_line("1")]), month="2026-09")
    assert importer.query("SELECT 1 FROM cost_tagged_sums")
    importer.organisation = importer.service.new_organisation("D2 bad")
    importer.set_report_tag_keys("Team")


def _import(importer: InProcessImporter, bad: BadFile, folder: Path) -> list[str]:
    paths = bad.write(folder)
    sources: list[Path] = [folder] if len(paths) > 1 else paths
    return _check_refusal(bad, importer(*sources, vendor=bad.vendor, month=bad.month))


def _import_in_process(
    importer: InProcessImporter, bad: BadFile, paths: list[Path]
) -> dict[str, Any]:
    import_id = importer.start(*paths, vendor=bad.vendor, month=bad.month)
    request = importer.build_request(import_id)

    async def ignore_progress(_progress: dict[str, Any]) -> None:
        return

    settings = importer.service.settings
    prepared = importer.service.run(lambda: run_preparation(settings, request, ignore_progress))
    importer.commit(import_id, prepared)
    return importer.get_record(import_id)


def _check_refusal(bad: BadFile, record: dict[str, Any]) -> list[str]:
    problem = record["problem"] or {}
    message = f"{bad.vendor}, {bad.title}: {record['state']} {_format_problem(problem)}"
    if record["state"] != "refused" or problem.get("status") not in (400, 409):
        return [message]
    if problem["code"] not in bad.rules or not (problem["file"] or "").startswith(
        bad.expected_file
    ):
        return [f"{message}, expected {bad.rules} of {bad.expected_file}"]
    place_reported = bad.line in (None, problem["line"]) and bad.column in (None, problem["column"])
    return [] if place_reported else [f"{message}, expected line {bad.line}, column {bad.column}"]


def _format_problem(problem: dict[str, Any]) -> str:
    return " ".join(str(problem.get(name)) for name in ("code", "file", "line", "column"))


def _find_visible_rows(importer: InProcessImporter, _organisation: NewOrganisation) -> list[str]:
    counts = {table: importer.query(f"SELECT count(*) AS n FROM {table}")[0].n for table in TABLES}
    return [f"{count} rows of {table} exist" for table, count in counts.items() if count]


def _megabytes() -> int:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 2**20
