"""Monthly sums over stored lines, compared with the same query in SQL for DuckDB."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.conversions import run_in_fresh_process
from bench.rounds import Contender, Suite
from bench.timings import SpeedTarget, TimingLog

OURS, BARE = "nimbill", "bare DuckDB"
METHODS = {OURS: "our_sums", BARE: "bare_sums"}
DESCRIPTIONS = {
    OURS: "the engine, opened and closed for each query; at most 512 MB",
    BARE: "the same query over the same files, without a memory limit",
}
LINES = 1_000_000
MINIMUM = 1 / 1.3


@contextmanager
def contenders(lines: int, timings: TimingLog) -> Iterator[Sequence[Contender]]:
    with TemporaryDirectory(prefix="nimbill-bench-") as folder:
        source, stored = Path(folder) / f"{lines}.parquet", Path(folder) / "stored"
        run_in_fresh_process("write", source, Path(folder))
        stored.mkdir()
        run_in_fresh_process("ours", source, stored)
        row_counts: set[int] = set()
        yield [
            Contender(
                name,
                DESCRIPTIONS[name],
                partial(_measure, stored, lines, timings, row_counts, name),
            )
            for name in METHODS
        ]


def _measure(
    stored: Path,
    lines: int,
    timings: TimingLog,
    row_counts: set[int],
    name: str,
    case: str,
    _seconds: float,
) -> float:
    with TemporaryDirectory(dir=stored.parent) as scratch:
        timing = run_in_fresh_process(METHODS[name], stored, Path(scratch))
    row_counts.add(timing.rows)
    assert len(row_counts) == 1, f"{name} returned {timing.rows} sums, others returned {row_counts}"
    timings.add(case, name, timing)
    return lines / timing.seconds


def build_suite(lines: int) -> Suite:
    timings = TimingLog()
    return Suite(
        name="sums",
        description=f"monthly sums over {lines:,} stored lines",
        unit="lines/s",
        cases=(f"{lines:,} lines",),
        baseline=OURS,
        roles={BARE: "floor"},
        targets={BARE: round(MINIMUM, 2)},
        slice_seconds=0,
        contenders=partial(contenders, lines, timings),
        minutes=0.5,
        summary_case=f"{lines:,} lines",
        with_lines=build_suite,
        extra_rows=lambda: timings.format_tables([SpeedTarget(OURS, (BARE,), MINIMUM)], {}),
    )


SUITE = build_suite(LINES)
