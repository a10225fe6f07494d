"""The monthly sums over stored lines, beside the same question written by hand for DuckDB."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.clocks import Aim, Clocks
from bench.conversions import in_fresh_process
from bench.rounds import Contender, Suite

OURS, BARE = "nimbill", "bare DuckDB"
WAYS = {OURS: "our_sums", BARE: "bare_sums"}
WHAT = {
    OURS: "the engine: opened, asked, answered and closed; 512 MB at most",
    BARE: "the question in SQL over the same files; as much memory as it likes",
}
LINES = 1_000_000
LEAST = 1 / 1.3


@contextmanager
def contenders(lines: int, clocks: Clocks) -> Iterator[Sequence[Contender]]:
    with TemporaryDirectory(prefix="nimbill-bench-") as folder:
        source, stored = Path(folder) / f"{lines}.parquet", Path(folder) / "stored"
        in_fresh_process("write", source, Path(folder))
        stored.mkdir()
        in_fresh_process("ours", source, stored)
        answered: set[int] = set()
        yield [
            Contender(name, WHAT[name], partial(_measure, stored, lines, clocks, answered, name))
            for name in WAYS
        ]


def _measure(
    stored: Path,
    lines: int,
    clocks: Clocks,
    answered: set[int],
    name: str,
    case: str,
    _seconds: float,
) -> float:
    with TemporaryDirectory(dir=stored.parent) as scratch:
        took = in_fresh_process(WAYS[name], stored, Path(scratch))
    answered.add(took.rows)
    assert len(answered) == 1, f"{name} answered {took.rows} sums, another did not: {answered}"
    clocks.add(case, name, took)
    return lines / took.seconds


def of_lines(lines: int) -> Suite:
    clocks = Clocks()
    return Suite(
        name="sums",
        what=f"monthly sums over {lines:,} stored lines",
        unit="lines/s",
        cases=(f"{lines:,} lines",),
        ours=OURS,
        aims={BARE: round(LEAST, 2)},
        slice_seconds=0,
        contenders=partial(contenders, lines, clocks),
        of_lines=of_lines,
        more=lambda: clocks.as_rows([Aim(OURS, (BARE,), LEAST)], {}),
    )


SUITE = of_lines(LINES)
