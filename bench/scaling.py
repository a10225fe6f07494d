"""Measures what docs/scaling.md calculates with: python -m bench.scaling [--lines] [--groups]."""

import json
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from bench.suites.invoices import BenchmarkMonth, create_invoices, create_month
from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.lake import sums
from nimbill.costs.lake.engines.compiled_sums import COMPILED_QUERIES
from nimbill.costs.lake.engines.duckdb import DuckDBEngine
from nimbill.costs.lake.parquet_files import Lake
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.imports.cluster_conversion import (
    PartResult,
    PartTask,
    convert_on_cluster,
    convert_part,
)
from nimbill.imports.preparation import ImportRequest, prepare_import
from nimbill.imports.stored_conversion import ConversionOrder, StoredConversion

MEMORY_MIB = 8_192
LINES_PER_GROUP = 300
ACCOUNTS, LINES_PER_ACCOUNT = 2_000, 100
# the tables that grow with every month
TABLES = ("cost_sums", "invoices", "invoice_revisions", "audit_log")
TABLE_SIZES = """
SELECT relname, reltuples::bigint, pg_total_relation_size(oid) FROM pg_class
WHERE relname = ANY($1) ORDER BY relname
"""


def main() -> None:
    parser = ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines of the part")
    parser.add_argument("--groups", type=int, default=1_000, help="groups of the month")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="nimbill-scaling-") as name, ExitStack() as stack:
        folder = Path(name)
        for file_format in ("csv.gz", "parquet"):
            lake = _measure_part(folder / file_format, arguments.lines, file_format)
        _measure_sums(lake, folder / "scratch", arguments.lines)
        if find_spec("pyspark"):
            _measure_spark(lake, arguments.lines)
        _measure_message(folder / "message")
        month = create_month(
            stack, folder / "month", arguments.groups, arguments.groups * LINES_PER_GROUP
        )
        _measure_invoices(month)


def _measure_part(folder: Path, lines: int, file_format: Any) -> Lake:
    """Convert one part with its second reading, as a task of the cluster does."""
    dialect = Dialect.aws_cur_snake if file_format == "parquet" else Dialect.aws_cur
    (folder / "spool").mkdir(parents=True)
    files = write_files(SyntheticMonth(lines=lines), dialect, folder, file_format=file_format)
    limits = Limits()
    delivery = fetch_delivery(
        [str(files.parts[0])],
        spool=folder / "spool",
        month=None,
        limits=limits,
        notify=lambda _message: None,
    )
    order = ConversionOrder("org", "imp", "aws", None, None, str(folder / "lake"), limits)
    cpu_seconds, stored = _measure_cpu(
        lambda: convert_on_cluster(delivery, order, memory_mib=MEMORY_MIB, run_tasks=_run_here)
    )
    assert stored.stored == stored.delivered
    _print(f"{file_format}: lines converted and read again", lines / cpu_seconds, "per CPU second")
    _print(f"{file_format}: delivered", delivery.parts[0].bytes / lines, "bytes per line")
    _print(f"{file_format}: unpacked text", stored.unpacked_bytes / lines, "bytes per line")
    _print(f"{file_format}: in the lake", _count_bytes(stored) / lines, "bytes per line")
    return Lake(order.lake_url)


def _run_here(tasks: Any) -> list[PartResult]:
    parts: list[PartTask] = list(tasks)
    return [convert_part(task) for task in parts]


def _count_bytes(stored: StoredConversion) -> int:
    return sum(file["bytes"] for file in stored.files)


def _measure_sums(lake: Lake, scratch: Path, lines: int) -> None:
    files = lake.list_names("org")
    engine = DuckDBEngine(lake, scratch=scratch)
    try:
        cpu_seconds, tables = _measure_cpu(
            lambda: [engine.run(getattr(sums, name), files) for name in COMPILED_QUERIES]
        )
    finally:
        engine.close()
    _print("all sums with DuckDB", lines / cpu_seconds, "lines per CPU second")
    monthly = tables[COMPILED_QUERIES.index("monthly_sums")]
    _print("monthly sums in memory", monthly.nbytes / len(monthly), "bytes per row")


def _measure_spark(lake: Lake, lines: int) -> None:
    """On one core; pyarrow reads as from an object store."""
    from nimbill.costs.lake.engines.spark import SparkEngine

    files = lake.list_names("org")
    for reader, url in (("Spark", lake.url), ("pyarrow", f"file://{lake.url}")):
        engine = SparkEngine(Lake(url), master="local[1]")
        cpu_times = [_read_cpu_of_children()]
        for _ in range(2):  # the first round loads classes and compiles code
            for name in COMPILED_QUERIES:
                engine.run(getattr(sums, name), files)
            cpu_times.append(_read_cpu_of_children())
        cpu_seconds = cpu_times[2] - cpu_times[1]
        engine.close()
        _print(
            f"all sums with Spark, read by {reader}", lines / cpu_seconds, "lines per CPU second"
        )


def _read_cpu_of_children() -> float:
    """CPU seconds of all descendants and of those that they waited for."""
    ticks = 0
    for pid in _list_descendants(os.getpid()):
        with suppress(OSError):
            ticks += sum(map(int, _read_status(pid)[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _list_descendants(pid: int) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and int(_read_status(int(folder.name))[1]) == pid:
                yield int(folder.name)
                yield from _list_descendants(int(folder.name))


def _read_status(pid: int) -> list[str]:
    """The fields after the name, which may contain spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _measure_message(folder: Path) -> None:
    """What the import's process sends to the process that commits."""
    customers = tuple(f"{number:012}" for number in range(ACCOUNTS))
    month = SyntheticMonth(lines=ACCOUNTS * LINES_PER_ACCOUNT, customers=customers)
    files = write_files(month, Dialect.aws_cur, folder / "files")
    request = ImportRequest(
        organisation_id="org",
        import_id="imp",
        vendor="aws",
        month=None,
        sources=[str(files.parts[0])],
        roots=None,
        folder=str(folder / "work"),
        known_deliveries={},
    )
    with patch.dict(os.environ, {"NIMBILL_DATA": str(folder / "data")}):
        prepared = prepare_import(request, lambda _progress: None)
    assert prepared.problem is None
    size = len(json.dumps(asdict(prepared)))
    _print("result of an import", size / ACCOUNTS, "bytes per account")


def _measure_invoices(month: BenchmarkMonth) -> None:
    async def run() -> None:
        await create_invoices(month)

    started = time.perf_counter()
    cpu_seconds, _ = _measure_cpu(lambda: month.loop.run(run()))
    seconds = time.perf_counter() - started
    _print("invoices created by one process", month.groups / seconds, "per second")
    _print("invoices created by one process", month.groups / cpu_seconds, "per CPU second of it")
    month.loop.run(month.superuser.execute("VACUUM ANALYZE"))
    for table, rows, size in month.loop.run(month.superuser.fetch(TABLE_SIZES, TABLES)):
        _print(table, rows / month.groups, "rows per group")
        _print(table, size / max(rows, 1), "bytes per row with its indexes")


def _measure_cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of this process with all its threads, which other processes hardly change."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def _print(what: str, figure: float, unit: str) -> None:
    print(f"{what:50} {figure:14,.1f} {unit}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
