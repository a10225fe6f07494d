"""One conversion or sum in a process of its own: python -m bench.conversions WAY SOURCE FOLDER."""

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

from nimbill.costs.ingestion.allocator_settings import KEPT_MEMORY
from nimbill.costs.ingestion.without_pandas import leave_pandas_out

MIB_IN_KIB = 1024

# loaded before the clock starts, for all alike
LOADED = {
    "write": ("nimbill.demo.vendor_files.writing",),
    "ours": ("nimbill.costs.ingestion.conversion", "nimbill.costs.ingestion.second_reading"),
    "ours_checked": (
        "nimbill.costs.ingestion.conversion",
        "nimbill.costs.ingestion.second_reading_process",
    ),
    "polars": ("polars", "nimbill.costs.ingestion.raw_lines"),
    "duckdb": ("duckdb", "nimbill.costs.ingestion.raw_lines"),
    "pandas": ("pandas", "pyarrow.parquet", "nimbill.costs.ingestion.raw_lines"),
    "our_sums": ("pandas", "nimbill.costs.lake.engines.duckdb", "nimbill.costs.lake.sums"),
    "bare_sums": ("pandas", "duckdb", "pyarrow"),
}

AS_THE_IMPORT = ("ours", "ours_checked")  # whose process does without pandas, and keeps memory


class Took(NamedTuple):
    """What one run took: both clocks, and the most memory it ever held."""

    seconds: float
    cpu_seconds: float
    peak_mib: float
    rows: int  # written or, of sums, answered


def in_fresh_process(way: str, source: Path, folder: Path) -> Took:
    """The parent stays small: what it holds would count as the child's."""
    command = [sys.executable, "-m", "bench.conversions", way, str(source), str(folder)]
    kept = KEPT_MEMORY if way in AS_THE_IMPORT else {}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=kept | os.environ)
    return msgspec.json.decode(done.stdout, type=Took)


def main(way: str, source: Path, folder: Path) -> None:
    if way in AS_THE_IMPORT:
        leave_pandas_out()
    for module in LOADED[way]:
        import_module(module)
    work = WAYS[way](source, folder)
    began, cpu_began = time.perf_counter(), time.process_time()
    rows = work()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB_IN_KIB
    rows = _rows_in(folder) if rows is None else rows
    sys.stdout.buffer.write(msgspec.json.encode(Took(seconds, cpu, peak, rows)))


def _rows_in(folder: Path) -> int:
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(file).num_rows for file in folder.glob("*.parquet"))


# ── the ways: what is to be done once the clock runs ─────────────────────────────────────────────

Work = Callable[[], int | None]


def _ours(source: Path, folder: Path, *, checked: bool) -> Work:
    from nimbill.costs.ingestion.conversion import convert
    from nimbill.costs.ingestion.delivery import Limits, deliver
    from nimbill.costs.ingestion.second_reading import differences, sums_of_lines
    from nimbill.costs.ingestion.second_reading_process import SecondReading

    def work() -> None:
        limits = Limits()
        delivery = deliver(
            [str(source)], spool=folder, month=None, limits=limits, tell=lambda _: None
        )
        converting = partial(
            convert, delivery, vendor="aws", month=None, into=folder, limits=limits
        )
        if not checked:
            converting()
            return
        with SecondReading(delivery, vendor="aws", limits=limits) as second:
            converted = converting(cores_left=second.cores)
            stored = sums_of_lines([file.path for file in converted.files])
            assert differences(second.sums(lambda _: None), stored) == []

    return work


def _bare(source: Path, folder: Path, *, by: str) -> Work:
    from bench.others import bare_conversions
    from nimbill.costs.ingestion.delivery import Limits, Part
    from nimbill.costs.ingestion.raw_lines import header_of

    form: Literal["parquet", "csv.gz"] = "parquet" if source.suffix == ".parquet" else "csv.gz"
    layout = header_of(Part(source.name, source, form, 0, ""), Limits())
    header = _header(source)
    at = sorted({*layout.at.values(), *(position for position, _ in layout.tags)})
    columns, cost = [header[position] for position in at], layout.names["cost"]
    convert: Callable[[Path, Sequence[str], str, Path], None]
    convert = getattr(bare_conversions, f"by_{by}")
    return lambda: convert(source, columns, cost, folder)


def _header(source: Path) -> list[str]:
    """As the generator writes it: names without quotes or commas in them."""
    if source.suffix == ".parquet":
        import pyarrow.parquet as pq

        return list(pq.read_schema(source).names)
    import gzip

    with gzip.open(source, "rt") as text:
        return text.readline().rstrip("\r\n").split(",")


def _our_sums(source: Path, folder: Path) -> Work:
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


def _bare_sums(source: Path, folder: Path) -> Work:
    from bench.others.bare_conversions import sums_by_duckdb

    files = sorted(source.glob("*.parquet"))
    return lambda: sums_by_duckdb(files)


def _write(source: Path, folder: Path) -> Work:
    """The file to be converted; its name says how many lines, its ending in which form."""
    from nimbill.demo.vendor_files.writing import Dialect, Month, write_files

    lines = int(source.name.partition(".")[0])

    def work() -> int:
        if source.suffix == ".parquet":
            written = write_files(Month(lines=lines), Dialect.aws_cur_snake, folder, form="parquet")
        else:
            written = write_files(Month(lines=lines), Dialect.aws_cur, folder, form="csv.gz")
        written.parts[0].rename(source)
        return lines

    return work


WAYS: dict[str, Callable[[Path, Path], Work]] = {
    "write": _write,
    "ours": lambda source, folder: _ours(source, folder, checked=False),
    "ours_checked": lambda source, folder: _ours(source, folder, checked=True),
    "polars": lambda source, folder: _bare(source, folder, by="polars"),
    "duckdb": lambda source, folder: _bare(source, folder, by="duckdb"),
    "pandas": lambda source, folder: _bare(source, folder, by="pandas"),
    "our_sums": _our_sums,
    "bare_sums": _bare_sums,
}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
