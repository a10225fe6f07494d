"""Lets the n-th call of the disk fail, whichever library makes it: n = 1, 2, … until none is left.

The data folder lies on a file system of our own; Arrow and DuckDB call it without Python.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import count
from pathlib import Path

import pyarrow.parquet as pq

from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile
from nimbill.demo.vendor_files.charges import SyntheticMonth, sum_costs
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.imports.import_failure import describe_failure
from nimbill.imports.preparation import PreparedImport
from tests.costs.focus_rows import write_focus_file
from tests.imports.aws_reports import CUSTOMER, MONTH, PAYER, report_line, write_report
from tests.imports.failing_file_calls import ERROR_CODES
from tests.imports.in_process_importer import InProcessImporter, load_totals
from tests.proof.disk.mounted_disk import MountedDisk, mounted_disk
from tests.proof.row_environment import RowEnvironment
from tests.running_service import running_service

CALLS_MAX = 2_000
LINES = 5
SHORTER = 15  # an import makes so many times more calls than an export
CODES = tuple(ERROR_CODES.values())
BELOW = "/data"
# a source that cannot be read is refused by name; the disk of the source may be another one
SOURCE_REFUSED = "source_unreadable"


@dataclass
class DiskFaults:
    """The errors take turns; `shift` begins with another one.

    `step` 1 lets every call fail in turn; a larger step leaves some out.
    """

    disk: MountedDisk
    importer: InProcessImporter
    shift: int = 0
    step: int = 1
    code: int = 0
    calls: int = 0
    survived: int = 0  # the work was complete nevertheless
    misses: list[str] = field(default_factory=list)

    @property
    def lake(self) -> Path:
        return Path(self.importer.service.settings.lake_url)

    def fail_each(
        self, what: str, work: Callable[[], list[str]], check: Callable[[], list[str]]
    ) -> None:
        """`work` raises a described error, or returns what is wrong although it has succeeded."""
        for number in count(1, self.step):
            turn = (number - 1) // self.step + self.shift
            self.code = CODES[turn % len(CODES)]
            self.disk.fail_call(number, self.code, below=BELOW)
            try:
                wrong = work()
                self.survived += not wrong
            except Exception as error:  # noqa: BLE001  # users need a sentence about it
                wrong = [] if describe_failure(error) else [f"not described: {error!r}"]
            failed = self.disk.stop_failing()
            wrong += check()
            name = f"{what}, call {number} ({failed}, {errno.errorcode[self.code]})"
            self.misses += [f"{name}: {fault}" for fault in wrong]
            if not failed:
                return
            self.calls += 1
            if number > CALLS_MAX:
                self.misses.append(f"{what}: there was no end of calls")
                return

    def import_file(self, source: Path, expected: Decimal) -> list[str]:
        prepared = self.importer.prepare(self.importer.start(source))
        if prepared.problem is None:
            return self._find_differences(prepared, expected)
        is_source = prepared.problem["code"] == SOURCE_REFUSED and self.code == errno.EIO
        return [] if is_source else [f"refused as {prepared.problem['code']}"]

    def _find_differences(self, prepared: PreparedImport, expected: Decimal) -> list[str]:
        """The import would count with these sums and files."""
        total = sum(Decimal(row["cost"]) for row in prepared.totals)
        wrong = [] if total == expected else [f"prepared {total} instead of {expected}"]
        if prepared.differences or prepared.unverified_file:
            wrong.append(f"parked for {prepared.differences} {prepared.unverified_file}")
        for file in prepared.files:
            content = (self.lake / file["path"]).read_bytes()
            if hashlib.sha256(content).hexdigest() != file["sha256"]:
                wrong.append(f"{file['path']} differs from its digest")
        return wrong

    def check_lake(self) -> list[str]:
        """What is visible must be as before, and every file of the lake complete.

        Files that do not count are removed: later checks would read them again.
        """
        wrong = []
        stored = {row.path for row in self.importer.query("SELECT path FROM lake_files")}
        if load_totals(self.importer) != {CUSTOMER: Decimal(1)}:
            wrong.append("the existing month was changed")
        for file in self.lake.rglob("*.parquet"):
            try:
                pq.read_table(file)
            except Exception:  # noqa: BLE001
                wrong.append(f"{file.name} is incomplete")
            if str(file.relative_to(self.lake)) not in stored:
                file.unlink()
        return wrong

    def export_focus(self, output: Path) -> list[str]:
        files = [
            CurrentLakeFile(row.vendor, row.path, frozenset({PAYER}))
            for row in self.importer.query("SELECT vendor, path FROM lake_files")
        ]
        write_focus_file(Lake(str(self.lake)), files, MONTH, output)
        return []

    def check_export(self, output: Path, old: bytes) -> list[str]:
        """The file is the old one or a complete new one, and no other is beside it."""
        if not output.exists():
            output.write_bytes(old)
            return ["the old file is lost"]
        names = sorted(path.name for path in output.parent.iterdir())
        wrong = [] if names == [output.name] else [f"the export left {names}"]
        if output.read_bytes() != old:
            try:
                pq.read_table(output)
            except Exception:  # noqa: BLE001
                wrong.append("the export is incomplete")
            output.write_bytes(old)
        return wrong

    def read_lines(self) -> list[str]:
        """Costs that DuckDB sums from the lines of the lake."""
        answer = self.importer.service.http.get(
            f"/m/core/costs/{MONTH}", params={"by": "tag:a,tag:b"}, headers=self.importer.headers
        )
        if answer.status_code == 503 and "retry-after" in answer.headers:
            return []
        if answer.status_code != 200 or answer.json()["rows"][0]["cost"] != 1:
            return [f"the lines were answered {answer.status_code}: {answer.text[:200]}"]
        return []


@contextmanager
def importer_on_disk(
    environment: RowEnvironment,
) -> Iterator[tuple[MountedDisk, InProcessImporter]]:
    """A second service, whose data folder lies on a disk that can fail."""
    key = environment.service.settings.key_file
    with mounted_disk(environment.new_folder("x9-disk")) as disk:
        (disk.folder / "data").mkdir()
        disk.mount()
        with running_service(
            environment.postgres.url, disk.folder / "data", NIMBILL_KEY_FILE=str(key)
        ) as service:
            organisation = service.new_organisation("X9 disk")
            importer = InProcessImporter(service, organisation, disk.folder / "data/inbox")
            importer(write_report(importer.folder / "old.csv", [report_line("1")]))
            yield disk, importer


def fail_each_disk_call(
    disk: MountedDisk, importer: InProcessImporter, *, shift: int = 0, step: int = 1
) -> DiskFaults:
    """Import a text file and a Parquet file, export a month, and read its lines."""
    faults = DiskFaults(disk, importer, shift, step)
    text = write_report(importer.folder / "new.csv", [report_line("2"), report_line("3")])
    month = SyntheticMonth(month=MONTH, lines=LINES, seed=1)
    (parquet,) = write_files(
        month, Dialect.aws_cur, importer.folder / "new", file_format="parquet"
    ).parts
    expected = {text: Decimal(5), parquet: sum(sum_costs(month).values(), Decimal(0))}
    for source, total in expected.items():
        import_source = partial(faults.import_file, source, total)
        faults.fail_each(f"import of {source.name}", import_source, faults.check_lake)
    faults.step = max(1, step // SHORTER)
    output = disk.folder / "data/exports/focus.parquet"
    output.parent.mkdir(exist_ok=True)
    faults.export_focus(output)
    old = output.read_bytes()
    faults.fail_each(
        "export", partial(faults.export_focus, output), partial(faults.check_export, output, old)
    )
    faults.fail_each("reading", faults.read_lines, faults.check_lake)
    return faults
