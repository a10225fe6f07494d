"""Imports of 1 and 10 million lines, and of more on request: time and memory as they grow."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.conversions import RunTiming, run_in_fresh_process
from bench.machine import count_memory_bytes
from bench.rounds import ComparisonLine, Contender, Curve, Suite, build_curve
from bench.suites.imports import CHECKED, DESCRIPTIONS, MEMORY_TARGETS, METHODS, PANDAS, POLARS
from bench.timings import TimingLog

SIZES = (1_000_000, 10_000_000)
# pandas keeps the whole file in memory: 8.7 GiB for 10 million lines
PANDAS_BYTES_PER_LINE = 1000
# Minutes that a million lines take on two cores, with the writing of the file.
MINUTES_PER_MILLION = 0.35


def _name(lines: int) -> str:
    return f"{lines:,} lines"


@contextmanager
def contenders(
    sizes: Sequence[int], timings: TimingLog, peaks: dict[str, dict[int, RunTiming]]
) -> Iterator[Sequence[Contender]]:
    """Each file is written before it is first read, and removed after the run."""
    with TemporaryDirectory(prefix="nimbill-bench-") as folder:
        fitting = [size for size in sizes if size * PANDAS_BYTES_PER_LINE < count_memory_bytes()]
        names = {CHECKED: sizes, POLARS: sizes, PANDAS: fitting}
        for size in sizes:
            run_in_fresh_process("write", Path(folder) / f"{size}.csv.gz", Path(folder))
        yield [
            Contender(
                name,
                DESCRIPTIONS[name],
                partial(_measure, Path(folder), timings, peaks, name),
                cases=[_name(size) for size in own_sizes],
            )
            for name, own_sizes in names.items()
        ]


def _measure(
    folder: Path,
    timings: TimingLog,
    peaks: dict[str, dict[int, RunTiming]],
    name: str,
    case: str,
    _seconds: float,
) -> float:
    """Lines per second of one run over the whole file."""
    lines = int(case.partition(" ")[0].replace(",", ""))
    with TemporaryDirectory(dir=folder) as output:
        timing = run_in_fresh_process(METHODS[name], folder / f"{lines}.csv.gz", Path(output))
    assert timing.rows == lines, f"{name}: {timing.rows} of {lines} lines"
    timings.add(case, name, timing)
    peaks.setdefault(name, {})[lines] = timing
    return lines / timing.seconds


def _draw_growth(
    sizes: Sequence[int],
    peaks: dict[str, dict[int, RunTiming]],
    lines: Sequence[ComparisonLine],
) -> Sequence[Curve]:
    memory = {
        name: [(float(size), round(timing.peak_mib)) for size, timing in sorted(runs.items())]
        for name, runs in peaks.items()
    }
    return [
        build_curve(
            lines,
            {_name(size): size for size in sizes},
            name="imports",
            title="An import (CSV.gz) by the number of lines",
            labels="lines, lines/s",
        ),
        Curve(
            name="import-memory",
            title="Memory of an import (CSV.gz) by the number of lines",
            x_label="lines",
            y_label="peak MiB",
            points={name: [(x, float(y)) for x, y in points] for name, points in memory.items()},
        ),
    ]


def build_suite(lines: int) -> Suite:
    """Months up to this number of lines."""
    sizes = sorted({*(size for size in SIZES if size < lines), lines})
    timings = TimingLog()
    peaks: dict[str, dict[int, RunTiming]] = {}
    return Suite(
        name="growth_imports",
        description="months converted to Parquet with the second reading",
        unit="lines/s",
        cases=[_name(size) for size in sizes],
        baseline=CHECKED,
        roles={POLARS: "floor", PANDAS: "instead"},
        targets={},
        slice_seconds=0,
        contenders=partial(contenders, sizes, timings, peaks),
        rounds=1,
        minutes=max(1, MINUTES_PER_MILLION * sum(sizes) / 1_000_000),
        summary_case=_name(sizes[-1]),
        with_lines=build_suite,
        extra_rows=lambda: timings.format_tables((), MEMORY_TARGETS),
        curves=partial(_draw_growth, sizes, peaks),
    )


SUITE = build_suite(SIZES[-1])
