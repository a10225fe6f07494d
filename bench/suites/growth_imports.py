"""Imports of 1 and 10 million lines, and of more on request: time and memory as they grow."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.conversions import run_in_fresh_process
from bench.machine import count_memory_bytes
from bench.rounds import ComparisonLine, Contender, Curve, Suite, build_curve
from bench.suites.imports import CHECKED, DESCRIPTIONS, MEMORY_TARGETS, METHODS, PANDAS, POLARS
from bench.timings import TimingLog

SIZES = (1_000_000, 10_000_000)
# pandas keeps the whole file in memory: 8.7 GiB for 10 million lines
PANDAS_BYTES_PER_LINE = 1000
# The minutes of one round on two cores.
MINUTES_PER_MILLION = 0.35


@contextmanager
def contenders(sizes: Mapping[str, int], timings: TimingLog) -> Iterator[Sequence[Contender]]:
    """All files are written first and removed at the end."""
    with TemporaryDirectory(prefix="nimbill-bench-") as folder:
        for size in sizes.values():
            run_in_fresh_process("write", Path(folder) / f"{size}.csv.gz", Path(folder))
        yield [
            Contender(
                name,
                DESCRIPTIONS[name],
                partial(_measure, Path(folder), sizes, timings, name),
                cases=[case for case, size in sizes.items() if _fits(name, size)],
            )
            for name in (CHECKED, POLARS, PANDAS)
        ]


def _fits(name: str, lines: int) -> bool:
    return name != PANDAS or lines * PANDAS_BYTES_PER_LINE < count_memory_bytes()


def _measure(
    folder: Path,
    sizes: Mapping[str, int],
    timings: TimingLog,
    name: str,
    case: str,
    _seconds: float,
) -> float:
    """Lines per second of one run over the whole file."""
    lines = sizes[case]
    with TemporaryDirectory(dir=folder) as output:
        timing = run_in_fresh_process(METHODS[name], folder / f"{lines}.csv.gz", Path(output))
    assert timing.rows == lines, f"{name}: {timing.rows} of {lines} lines"
    timings.add(case, name, timing)
    return lines / timing.seconds


def _draw_growth(
    sizes: Mapping[str, int], timings: TimingLog, lines: Sequence[ComparisonLine]
) -> Sequence[Curve]:
    return [
        build_curve(
            lines,
            sizes,
            name="imports",
            title="An import (CSV.gz) by the number of lines",
            labels="lines, lines/s",
        ),
        Curve(
            name="import-memory",
            title="Memory of an import (CSV.gz) by the number of lines",
            x_label="lines",
            y_label="peak MiB",
            points={
                name: [(sizes[case], round(peak, 1)) for case, peak in peaks.items()]
                for name, peaks in timings.find_peaks().items()
            },
        ),
    ]


def build_suite(lines: int) -> Suite:
    """Months up to this number of lines, at least two of them."""
    numbers = sorted({*(size for size in (lines // 10, *SIZES) if size < lines), lines})
    sizes = {f"{number:,} lines": number for number in numbers}
    timings = TimingLog()
    return Suite(
        name="growth_imports",
        description="months converted to Parquet with the second reading",
        unit="lines/s",
        cases=tuple(sizes),
        baseline=CHECKED,
        roles={POLARS: "floor", PANDAS: "instead"},
        targets={},
        slice_seconds=0,
        contenders=partial(contenders, sizes, timings),
        rounds=1,
        minutes=max(1, MINUTES_PER_MILLION * sum(numbers) / 1_000_000),
        summary_case=f"{lines:,} lines",
        with_lines=build_suite,
        extra_rows=lambda: timings.format_tables((), MEMORY_TARGETS),
        curves=partial(_draw_growth, sizes, timings),
    )


SUITE = build_suite(SIZES[-1])
