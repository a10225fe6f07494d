"""Stored sums equal the delivered file digit for digit, or the month is parked.

Random months in random dialects are imported: as text, gzip, zip and Parquet, in one file and in
several. A small independent reader adds up what was delivered in fractions by account and currency.
Then lines are removed from or added to the stored lines, or a stored sum is changed, as a fault of
ours would do: each such month must be parked.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.ingestion import conversion
from nimbill.costs.ingestion.normalize import NormalizedBatch, normalize
from nimbill.costs.lake import sums
from nimbill.costs.lake.engines.duckdb import DuckDBEngine
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import FileFormat, write_files
from tests.imports.in_process_importer import InProcessImporter
from tests.proof.bad_file import COLUMNS
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = (
    "after every import of text, gzip, zip and Parquet, in one part and in several, the "
    "difference is exactly 0; with a fault in the stored lines or sums the month is parked"
)
QUICK = 4  # months: each format and each fault once
FULL = 200
SECONDS_MAX = 300

DIALECTS = (
    Dialect.aws_cur,
    Dialect.aws_cur2,
    Dialect.azure_ea,
    Dialect.azure_mca,
    Dialect.focus_1_2,
)
FAULTS = ("a line lost", "a line twice", "a digit off", "a sum off")
FORMATS: tuple[FileFormat, ...] = ("csv", "csv.gz", "csv.zip", "parquet")
PARTS_MAX = 3
run_query = DuckDBEngine.run


def measure(environment: RowEnvironment, size: int) -> Measurement:
    random, misses, lines, parked = environment.random("D4"), list[str](), 0, 0
    written = Counter[str]()
    for number in range(size):
        importer = InProcessImporter(
            environment.service,
            environment.service.new_organisation("D4"),
            environment.new_folder("d4"),
        )
        dialect = DIALECTS[number % len(DIALECTS)]
        month = SyntheticMonth(
            vendor=dialect.vendors[0],
            lines=random.randrange(1, 400),
            seed=random.randrange(10**6),
        )
        file_format = FORMATS[(number + number // len(FORMATS)) % len(FORMATS)]
        parts = write_files(
            month,
            dialect,
            importer.folder,
            file_format=file_format,
            parts=random.randint(1, min(PARTS_MAX, month.lines)),
        ).parts
        written[f"{file_format} in {'one part' if len(parts) == 1 else 'several'}"] += 1
        fault = FAULTS[number % len(FAULTS)]
        state = _import_with_fault(importer, parts, month.vendor, fault, random)
        if state != "parked" or importer.query("SELECT * FROM cost_sums"):
            misses.append(f"{dialect} as {file_format} with {fault}: {state}")
        parked += state == "parked"
        state = importer(*parts, vendor=month.vendor)["state"]
        if state != "done":
            misses.append(f"{dialect} as {file_format}: {state}")
        lines += month.lines
        misses += _differences(importer, dialect, parts)
    formats = ", ".join(f"{count} {name}" for name, count in sorted(written.items()))
    figures = f"{size} months of {lines} lines ({formats}), {parked} of {size} faults parked"
    return Measurement(f"{figures}: {len(misses)} wrong", misses)


def _import_with_fault(
    importer: InProcessImporter, parts: tuple[Path, ...], vendor: str, fault: str, random: Random
) -> str:
    """Break the first reading or its sums; the second reading must detect it."""
    if fault == "a sum off":
        with patch.object(DuckDBEngine, "run", _run_with_fault):
            return str(importer(*parts, vendor=vendor)["state"])

    def normalize_with_fault(*args: object, **named: object) -> NormalizedBatch:
        batch = normalize(*args, **named)  # type: ignore[arg-type]
        lines, row = batch.lines, random.randrange(len(batch.lines))
        before, line, after = lines.slice(0, row), lines.slice(row, 1), lines.slice(row + 1)
        if fault == "a digit off":
            cost = pa.array([line["cost"][0].as_py() + 1], line["cost"].type)
            at = line.column_names.index("cost")
            changed = [line.set_column(at, line.schema.field(at), cost)]
        else:
            changed = [line, line] if fault == "a line twice" else []
        return NormalizedBatch(pa.concat_tables([before, *changed, after]), batch.warnings)

    with patch.object(conversion, "normalize", normalize_with_fault):
        return str(importer(*parts, vendor=vendor)["state"])


def _run_with_fault(
    engine: DuckDBEngine, query: Callable[..., Any], files: Sequence[str]
) -> pa.Table:
    """Change the last digit of one sum."""
    table = run_query(engine, query, files)
    if query is not sums.monthly_sums:
        return table
    at = table.column_names.index("cost")
    costs = [*table["cost"].to_pylist()]
    costs[0] += Decimal("0.000000000001")
    return table.set_column(at, table.schema.field(at), pa.array(costs, table["cost"].type))


def _read_rows(part: Path) -> Iterator[Mapping[str, str]]:
    if part.suffix == ".parquet":
        for row in pq.read_table(part).to_pylist():
            yield {name: str(value) for name, value in row.items()}
        return
    content = part.read_bytes()
    if part.suffix == ".gz":
        content = gzip.decompress(content)
    elif part.suffix == ".zip":
        with ZipFile(part) as opened:
            content = opened.read(opened.namelist()[0])
    yield from csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))


def _differences(
    importer: InProcessImporter, dialect: Dialect, parts: tuple[Path, ...]
) -> list[str]:
    delivered: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    names = COLUMNS[dialect]
    for part in parts:
        for row in _read_rows(part):
            customer = row[names["customer"]].rpartition("/")[2]
            key = (customer, row[names["currency"]].upper())
            delivered[key] += Fraction(row[names["cost"]])
    stored = {
        (row.customer_id, row.currency): Fraction(row.cost)
        for row in importer.query(
            "SELECT customer_id, currency, sum(cost) AS cost FROM cost_sums GROUP BY 1, 2"
        )
    }
    return [] if stored == dict(delivered) else [f"{dialect}: {stored} is not {dict(delivered)}"]


VARIANTS = [
    BrokenVariant(
        "differences-ignored",
        "Differences between the delivered files and the stored lines and sums are ignored.",
        "with a line lost: done",
        "imports/commit_import.py",
        "return self._find_verification_failure() or await find_anomaly(",
        "return await find_anomaly(",
        also=[
            (
                "imports/commit_import.py",
                "await verify_stored_sums(self.db, self.scope, period, self.prepared)",
                "",
            )
        ],
    ),
]
