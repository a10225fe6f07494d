"""A bad cost file is refused with its place and rule, and nothing of it becomes visible.

Every fault of the corpus, in every importer's dialect, is imported into the service's database.
Decompression bombs for every importer, those of GCP and of Partner Center too, are read by the
process that a server starts for each import. Its memory is compared with that of a valid import;
the growth of this process, the server's own, is measured too.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nimbill.identity.organisations.operations import NewOrganisation
from nimbill.imports.preparation_process import run_preparation
from tests.imports.in_process_importer import InProcessImporter
from tests.proof.bad_files import IMPORTERS, BadFile, bad_files, plain
from tests.proof.bombs import BOMB_IMPORTERS, bombs
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = (
    "at least 60 bad files for every importer: all refused with file, line, column and rule "
    "as in the corpus; 0 rows visible afterwards; a bomb of any importer within 2 s, +64 MB"
)
QUICK = 1  # importers, of which some files are imported; test_bad_files.py reads others
FULL = len(IMPORTERS)
SECONDS_MAX = 300

FILES_MIN = 60
ONE_FILE_IN = 3  # of make test
BOMB_SECONDS_MAX = 2.0
WATCHDOG_SECONDS = 120  # in a smaller size: only against hanging
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
    tried = 0
    _warm_up(importer)
    for dialect in IMPORTERS[:size]:
        corpus = [*bad_files(dialect)]
        if len(corpus) < FILES_MIN:
            misses.append(f"{dialect}: only {len(corpus)} files")
        if size == QUICK:
            corpus = choose_for_make_test(corpus)
        for bad in corpus:
            misses += _import(importer, bad, environment.new_folder("bad"))
        tried += len(corpus)
    effect = _import_bombs(environment, importer, is_full=size >= FULL)
    misses += effect.misses
    misses += _find_visible_rows(importer, organisation)
    figures = f"{tried} bad files for {size} importers and {effect.format()}: {len(misses)} wrong"
    return Measurement(figures, misses)


def choose_for_make_test(corpus: list[BadFile]) -> list[BadFile]:
    """Every ninth file, among them that of the broken variant."""
    return corpus[ONE_FILE_IN - 1 :: 3 * ONE_FILE_IN]


@dataclass
class BombEffect:
    tried: int = 0
    slowest: float = 0.0
    grown: int = 0  # megabytes of this process
    child_grown: int = 0  # megabytes of the process that imports, more than for a valid file
    misses: list[str] = field(default_factory=list)

    def format(self) -> str:
        return (
            f"{self.tried} bombs for {len(BOMB_IMPORTERS)}, the slowest {self.slowest:.1f} s, "
            f"{self.grown:+} MB, the process that imports {self.child_grown:+} MB"
        )


def _import_bombs(
    environment: RowEnvironment, importer: InProcessImporter, *, is_full: bool
) -> BombEffect:
    """Import all bombs, or one for each importer, with another content each time."""
    effect = BombEffect()
    chosen = []
    for number, each in enumerate(BOMB_IMPORTERS):
        of_importer = [*bombs(each)]
        chosen += of_importer if is_full else [of_importer[number % len(of_importer)]]
    written = [(bomb, bomb.write(environment.new_folder("bomb"))) for bomb in chosen]
    _enable_vendors(importer)
    _import_valid_file(importer, environment.new_folder("valid"))
    before, child_before = _megabytes(), _child_megabytes()
    for bomb, paths in written:
        began, child_peak = time.monotonic(), _child_megabytes()
        effect.misses += _check_refusal(bomb, _import_in_process(importer, bomb, paths))
        seconds = time.monotonic() - began
        effect.slowest = max(effect.slowest, seconds)
        if seconds > (BOMB_SECONDS_MAX if is_full else WATCHDOG_SECONDS):
            effect.misses.append(f"{bomb.title}: took {seconds:.1f} s")
        effect.child_grown = _child_megabytes() - child_before
        if _child_megabytes() > max(child_peak, child_before + MEGABYTES_MAX):
            effect.misses.append(f"{bomb.title}: {effect.child_grown} MB more than a valid file")
    effect.tried, effect.grown = len(written), _megabytes() - before
    if effect.grown > MEGABYTES_MAX:
        effect.misses.append(f"{effect.grown} MB more memory")
    return effect


def _enable_vendors(importer: InProcessImporter) -> None:
    """GCP is not enabled by itself."""
    vendors = sorted({each.vendor for each in BOMB_IMPORTERS})
    headers = importer.service.root(importer.organisation)
    body = {"vendors": vendors}
    answer = importer.service.http.put("/m/core/settings", json=body, headers=headers)
    assert answer.status_code == 200, answer.text


def _import_valid_file(importer: InProcessImporter, folder: Path) -> None:
    """In another organisation; its process uses the memory that bombs are compared with."""
    valid, organisation = plain(IMPORTERS[0]), importer.organisation
    importer.organisation = importer.service.new_organisation("D2 valid")
    record = _import_in_process(importer, valid, valid.write(folder))
    assert record["state"] == "done", record
    importer.organisation = organisation


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


def _child_megabytes() -> int:
    """The largest resident memory of any process that this one has waited for."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


def _megabytes() -> int:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 2**20


VARIANTS = [
    BrokenVariant(
        "parquet-lines-unlimited",
        "A Parquet file may have any number of equal lines.",
        "millions of equal lines, Parquet",
        "costs/ingestion/delivery.py",
        "if rows > ROWS_MIN and rows > size:",
        "if False:",
        also=[
            (
                "costs/ingestion/delivery.py",
                "total.add_content(name, uncompressed, rows=rows)",
                "total.add_content(name, uncompressed)",
            )
        ],
    ),
    BrokenVariant(
        "underscores-accepted",
        "Underscores and spaces in a cost are ignored, as Python's Decimal does.",
        "cost: underscores: done",
        "costs/formats/line_rules.py",
        "if len(text) > _LENGTH_MAX or not _NUMBER.fullmatch(text):",
        'if len(text) > _LENGTH_MAX or not _NUMBER.fullmatch(text.replace("_", "").strip()):',
    ),
]
