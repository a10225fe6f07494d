"""Conversion of a month to Parquet, compared with bare conversions of the same file.

Every run is a fresh process. All contenders read the same columns of the same generated AWS report
and write them as Parquet (zstd, level 1). Nimbill also limits decompression, checks and normalises
every line, collects tags and syncs to disk. The second reading parses the delivery again with
another library and compares the sums.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.conversions import run_in_fresh_process
from bench.rounds import Contender, Suite
from bench.timings import SpeedTarget, TimingLog

OURS, CHECKED = "nimbill, without second reading", "nimbill, with second reading"
POLARS, DUCKDB, PANDAS = "bare Polars", "bare DuckDB", "pandas"

METHODS = {
    OURS: "ours",
    CHECKED: "ours_checked",
    POLARS: "polars",
    DUCKDB: "duckdb",
    PANDAS: "pandas",
}
DESCRIPTIONS = {
    OURS: "fetched and converted",
    CHECKED: "the same, and read again by another library, with equal sums",
    POLARS: "scan, select, the cost as Decimal(38, 22), sink_parquet",
    DUCKDB: "COPY … TO, the cost as DECIMAL(38, 22)",
    PANDAS: "read the columns (CSV as text), to_parquet; costs are not exact decimals",
}
SUFFIXES = {"CSV.gz": ".csv.gz", "Parquet": ".parquet"}
LINES = 1_000_000
TARGETS = (
    SpeedTarget(OURS, (POLARS, DUCKDB), 0.8),
    SpeedTarget(CHECKED, (POLARS, DUCKDB), 0.45),
    SpeedTarget(OURS, (PANDAS,), 4),
)
MEMORY_TARGETS = {OURS: 1024.0, CHECKED: 1024.0}  # MiB


@contextmanager
def contenders(lines: int, timings: TimingLog) -> Iterator[Sequence[Contender]]:
    with TemporaryDirectory(prefix="nimbill-bench-") as folder:
        for suffix in SUFFIXES.values():
            run_in_fresh_process("write", Path(folder) / f"{lines}{suffix}", Path(folder))
        yield [
            Contender(
                name, DESCRIPTIONS[name], partial(_measure, Path(folder), lines, timings, name)
            )
            for name in METHODS
        ]


def _measure(
    folder: Path, lines: int, timings: TimingLog, name: str, case: str, _seconds: float
) -> float:
    """Lines per second of one run over the whole file."""
    source = folder / f"{lines}{SUFFIXES[case.partition(',')[0]]}"
    with TemporaryDirectory(dir=folder) as output:
        timing = run_in_fresh_process(METHODS[name], source, Path(output))
    assert timing.rows == lines, f"{name}: {timing.rows} of {lines} lines"
    timings.add(case, name, timing)
    return lines / timing.seconds


def build_suite(lines: int) -> Suite:
    timings = TimingLog()
    return Suite(
        name="imports",
        description=f"a month of {lines:,} lines converted to Parquet",
        unit="lines/s",
        cases=tuple(f"{file_format}, {lines:,} lines" for file_format in SUFFIXES),
        baseline=OURS,
        roles={CHECKED: "variant", POLARS: "floor", DUCKDB: "floor", PANDAS: "instead"},
        targets={POLARS: 0.8, DUCKDB: 0.8, PANDAS: 4},
        slice_seconds=0,
        contenders=partial(contenders, lines, timings),
        rounds=3,
        minutes=2.5,
        summary_case=f"CSV.gz, {lines:,} lines",
        with_lines=build_suite,
        extra_rows=lambda: timings.format_tables(TARGETS, MEMORY_TARGETS),
    )


SUITE = build_suite(LINES)
