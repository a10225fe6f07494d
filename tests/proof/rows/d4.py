"""Stored sums equal the delivered file digit for digit, or the month is parked.

Random months in random dialects are imported. A small independent reader adds up the delivered text
in fractions by account and currency. Then lines are removed from or added to the stored lines, as a
fault of ours would do: each such month must be parked.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from random import Random
from unittest.mock import patch

import pyarrow as pa

from nimbill.costs.ingestion import conversion
from nimbill.costs.ingestion.normalize import NormalizedBatch, normalize
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from tests.imports.in_process_importer import InProcessImporter
from tests.proof.bad_file import COLUMNS
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment

TARGET = (
    "after every import the difference is exactly 0; with a fault in the stored lines the "
    "month is parked"
)
QUICK = 6  # months
FULL = 200
SECONDS_MAX = 300

DIALECTS = (
    Dialect.aws_cur,
    Dialect.aws_cur2,
    Dialect.azure_ea,
    Dialect.azure_mca,
    Dialect.focus_1_2,
)
FAULTS = ("a line lost", "a line twice", "a digit off")


def measure(environment: RowEnvironment, size: int) -> Measurement:
    random, misses, lines, parked = environment.random("D4"), list[str](), 0, 0
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
        parts = write_files(month, dialect, importer.folder, file_format="csv", parts=1).parts
        fault = FAULTS[number % len(FAULTS)]
        state = _import_with_fault(importer, parts, month.vendor, fault, random)
        if state != "parked" or importer.query("SELECT * FROM cost_sums"):
            misses.append(f"{dialect} with {fault}: {state}")
        parked += state == "parked"
        state = importer(*parts, vendor=month.vendor)["state"]
        if state != "done":
            misses.append(f"{dialect}: {state}")
        lines += month.lines
        misses += _differences(importer, dialect, parts)
    figures = f"{size} months of {lines} lines, {parked} of {size} faults parked"
    return Measurement(f"{figures}: {len(misses)} wrong", misses)


def _import_with_fault(
    importer: InProcessImporter, parts: tuple[Path, ...], vendor: str, fault: str, random: Random
) -> str:
    """Break the first reading; the second reading must detect it."""

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


def _differences(
    importer: InProcessImporter, dialect: Dialect, parts: tuple[Path, ...]
) -> list[str]:
    delivered: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    names = COLUMNS[dialect]
    for part in parts:
        for row in csv.DictReader(io.StringIO(part.read_text("utf-8-sig"), newline="")):
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
