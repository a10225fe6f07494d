"""A month taken in, beside bare conversions of the same file; every run in a fresh process.

All read the same columns of the same generated AWS report and write them as Parquet (zstd, level
1). Ours also unpacks within bounds, checks every line, brings it to our columns, gathers its tags
and syncs to disk; with the check, another program reads the delivery again and sums must agree.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.clocks import Aim, Clocks
from bench.conversions import in_fresh_process
from bench.rounds import Contender, Suite

OURS, CHECKED = "nimbill", "nimbill, checked"
POLARS, DUCKDB, PANDAS = "bare Polars", "bare DuckDB", "pandas"

WAYS = {OURS: "ours", CHECKED: "ours_checked", POLARS: "polars", DUCKDB: "duckdb", PANDAS: "pandas"}
WHAT = {
    OURS: "delivered and converted, before the independent check",
    CHECKED: "the same, and the independent check after it",
    POLARS: "scan, select, the cost as Decimal(38, 22), sink_parquet",
    DUCKDB: "COPY … TO, the cost as DECIMAL(38, 22)",
    PANDAS: "read the columns (of CSV as text), to_parquet; costs are not made exact",
}
ENDINGS = {"CSV.gz": ".csv.gz", "Parquet": ".parquet"}
LINES = 1_000_000
AIMS = (
    Aim(OURS, (POLARS, DUCKDB), 0.8),
    Aim(CHECKED, (POLARS, DUCKDB), 0.45),
    Aim(OURS, (PANDAS,), 4),
)
MEMORY_AIMS = {OURS: 1024.0, CHECKED: 1024.0}  # MiB


@contextmanager
def contenders(lines: int, clocks: Clocks) -> Iterator[Sequence[Contender]]:
    with TemporaryDirectory(prefix="nimbill-bench-") as folder:
        for ending in ENDINGS.values():
            in_fresh_process("write", Path(folder) / f"{lines}{ending}", Path(folder))
        yield [
            Contender(name, WHAT[name], partial(_measure, Path(folder), lines, clocks, name))
            for name in WAYS
        ]


def _measure(
    folder: Path, lines: int, clocks: Clocks, name: str, case: str, _seconds: float
) -> float:
    """Lines a second, of one run over the whole file."""
    source = folder / f"{lines}{ENDINGS[case.partition(',')[0]]}"
    with TemporaryDirectory(dir=folder) as into:
        took = in_fresh_process(WAYS[name], source, Path(into))
    assert took.rows == lines, f"{name}: {took.rows} of {lines} lines"
    clocks.add(case, name, took)
    return lines / took.seconds


def of_lines(lines: int) -> Suite:
    clocks = Clocks()
    return Suite(
        name="imports",
        what=f"a month of {lines:,} lines into Parquet",
        unit="lines/s",
        cases=tuple(f"{form}, {lines:,} lines" for form in ENDINGS),
        ours=OURS,
        aims={POLARS: 0.8, DUCKDB: 0.8, PANDAS: 4},
        slice_seconds=0,
        contenders=partial(contenders, lines, clocks),
        of_lines=of_lines,
        more=lambda: clocks.as_rows(AIMS, MEMORY_AIMS),
    )


SUITE = of_lines(LINES)
