"""Runs a conversion or sum in a fresh process: python -m bench.conversions METHOD SOURCE FOLDER."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from nimbill.costs.ingestion.pandas_block import block_pandas
from nimbill.imports.preparation_process import ALLOCATOR_ENVIRONMENT

KIB_PER_MIB = 1024

# Imported before the time is taken, for every method.
PRELOADED_MODULES = {
    "write": ("nimbill.demo.vendor_files.file_writer",),
    "ours": ("nimbill.costs.ingestion.conversion", "nimbill.costs.ingestion.second_reading"),
    "ours_checked": (
        "nimbill.costs.ingestion.conversion",
        "nimbill.costs.ingestion.second_reading",
    ),
    "parsed": ("nimbill.costs.ingestion.conversion",),
    "normalized": ("nimbill.costs.ingestion.conversion",),
    "polars": ("polars", "nimbill.costs.ingestion.raw_lines"),
    "duckdb": ("duckdb", "nimbill.costs.ingestion.raw_lines"),
    "pandas": ("pandas", "pyarrow.parquet", "nimbill.costs.ingestion.raw_lines"),
    "our_sums": ("pandas", "nimbill.costs.lake.engines.duckdb", "nimbill.costs.lake.sums"),
    "bare_sums": ("pandas", "duckdb", "pyarrow"),
}

# Methods that run with the process settings of an import.
IMPORT_METHODS = ("ours", "ours_checked", "parsed", "normalized")


class RunTiming(NamedTuple):
    """The times and the peak memory of one run."""

    seconds: float
    cpu_seconds: float
    peak_mib: float
    rows: int  # lines written, or sums returned


def run_in_fresh_process(method: str, source: Path, folder: Path) -> RunTiming:
    """A fresh process starts with little memory, so that its peak is the method's own."""
    command = [sys.executable, "-m", "bench.conversions", method, str(source), str(folder)]
    settings = ALLOCATOR_ENVIRONMENT if method in IMPORT_METHODS else {}
    process = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=settings | os.environ)
    return msgspec.json.decode(process.stdout, type=RunTiming)


def main(method: str, source: Path, folder: Path) -> None:
    if method in IMPORT_METHODS:
        block_pandas()
    for module in PRELOADED_MODULES[method]:
        import_module(module)
    work = METHODS[method](source, folder)
    started, cpu_started = time.perf_counter(), time.process_time()
    rows = work()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu_started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB
    rows = _count_rows(folder) if rows is None else rows
    sys.stdout.buffer.write(msgspec.json.encode(RunTiming(seconds, cpu, peak, rows)))


def _count_rows(folder: Path) -> int:
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(file).num_rows for file in folder.glob("*.parquet"))


# ── methods: each returns the work that is timed ─────────────────────────────────────────────────

Work = Callable[[], int | None]


def _convert(source: Path, folder: Path, *, checked: bool) -> Work:
    from nimbill.costs.ingestion.conversion import convert_delivery
    from nimbill.costs.ingestion.delivery import fetch_delivery
    from nimbill.costs.ingestion.parts import Limits
    from nimbill.costs.ingestion.second_reading import (
        SecondReading,
        find_differences,
        sum_stored_lines,
    )

    def work() -> None:
        limits = Limits()
        delivery = fetch_delivery(
            [str(source)], spool=folder, month=None, limits=limits, notify=lambda _: None
        )
        convert = partial(
            convert_delivery, delivery, vendor="aws", month=None, into=folder, limits=limits
        )
        if not checked:
            convert()
            return
        with SecondReading(delivery, vendor="aws", limits=limits) as second:
            converted = convert(reserved_cores=second.reserved_cores)
            stored = sum_stored_lines([file.path for file in converted.files])
            assert find_differences(second.sums(lambda _: None), stored) == []

    return work


def _read_lines(source: Path, folder: Path, *, normalized: bool) -> Work:
    """Read the lines of a file in one thread and write nothing."""
    from nimbill.costs.ingestion.delivery import fetch_delivery
    from nimbill.costs.ingestion.normalize import ImportTarget, normalize
    from nimbill.costs.ingestion.parts import Limits
    from nimbill.costs.ingestion.raw_lines import split_into_parse_tasks

    def work() -> int:
        limits, lines = Limits(), 0
        delivery = fetch_delivery(
            [str(source)], spool=folder, month=None, limits=limits, notify=lambda _: None
        )
        for part in delivery.parts:
            for parse in split_into_parse_tasks(part, limits):
                raw = parse()
                if normalized:
                    batch = normalize(raw, ImportTarget("aws", None), part=0)
                    assert len(batch.lines) == len(raw)
                lines += len(raw)
        return lines

    return work


def _convert_bare(source: Path, folder: Path, *, library: str) -> Work:
    from bench.alternatives import bare_conversions
    from nimbill.costs.ingestion.parts import Limits, Part
    from nimbill.costs.ingestion.raw_lines import read_layout

    file_type: Literal["parquet", "csv.gz"] = "parquet" if source.suffix == ".parquet" else "csv.gz"
    layout = read_layout(Part(source.name, source, file_type, 0, ""), Limits())
    header = _read_header(source)
    positions = sorted({*layout.positions.values(), *(position for position, _ in layout.tags)})
    columns, cost = [header[position] for position in positions], layout.names["cost"]
    convert: Callable[[Path, Sequence[str], str, Path], None]
    convert = getattr(bare_conversions, f"convert_with_{library}")
    return lambda: convert(source, columns, cost, folder)


def _read_header(source: Path) -> list[str]:
    """Generated headers contain no quotes and no commas inside names."""
    if source.suffix == ".parquet":
        import pyarrow.parquet as pq

        return list(pq.read_schema(source).names)
    import gzip

    with gzip.open(source, "rt") as text:
        return text.readline().rstrip("\r\n").split(",")


def _sum(source: Path, folder: Path) -> Work:
    from nimbill.costs.lake.engines.duckdb import DuckDBEngine
    from nimbill.costs.lake.parquet_files import Lake
    from nimbill.costs.lake.sums import monthly_sums

    files = [file.name for file in sorted(source.glob("*.parquet"))]

    def work() -> int:
        engine = DuckDBEngine(Lake(str(source)), scratch=folder)
        try:
            return int(engine.run(monthly_sums, files).num_rows)
        finally:
            engine.close()

    return work


def _sum_bare(source: Path, folder: Path) -> Work:
    from bench.alternatives.bare_conversions import sum_with_duckdb

    files = sorted(source.glob("*.parquet"))
    return lambda: sum_with_duckdb(files)


def _write_source(source: Path, folder: Path) -> Work:
    """Write the file to convert; its name is the number of lines, its suffix the format."""
    from nimbill.demo.vendor_files.charges import SyntheticMonth
    from nimbill.demo.vendor_files.dialects import Dialect
    from nimbill.demo.vendor_files.file_writer import write_files

    lines = int(source.name.partition(".")[0])

    def work() -> int:
        month = SyntheticMonth(lines=lines)
        if source.suffix == ".parquet":
            files = write_files(month, Dialect.aws_cur_snake, folder, file_format="parquet")
        else:
            files = write_files(month, Dialect.aws_cur, folder, file_format="csv.gz")
        files.parts[0].rename(source)
        return lines

    return work


METHODS: dict[str, Callable[[Path, Path], Work]] = {
    "write": _write_source,
    "ours": lambda source, folder: _convert(source, folder, checked=False),
    "ours_checked": lambda source, folder: _convert(source, folder, checked=True),
    "parsed": lambda source, folder: _read_lines(source, folder, normalized=False),
    "normalized": lambda source, folder: _read_lines(source, folder, normalized=True),
    "polars": lambda source, folder: _convert_bare(source, folder, library="polars"),
    "duckdb": lambda source, folder: _convert_bare(source, folder, library="duckdb"),
    "pandas": lambda source, folder: _convert_bare(source, folder, library="pandas"),
    "our_sums": _sum,
    "bare_sums": _sum_bare,
}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
