"""The price of each guarantee: the same work with it and without it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb

from bench.conversions import run_in_fresh_process
from bench.example_month import sum_lines, write_lines
from bench.guaranteed_changes import GuaranteedChanges
from bench.rounds import Contender, Suite
from bench.suites import gate
from nimbill.database.embedded_postgres import embedded_postgres

WITH, WITHOUT = "with", "without"
LINES = 500_000
GROUPS_OF_SUMS = 1_000

DESCRIPTIONS = {
    "access control": "GET with a token, caller and permissions loaded; without: GET /healthz",
    "audit row": "creating a billing group with its chained audit row; without: only the group",
    "idempotency key": "the same change with a reserved key and the stored, encrypted response",
    "synchronous commit": "the same change; without: `synchronous_commit = off`, which may lose "
    "the last changes in a crash",
    "row-level security, one account": "a transaction that names its organisation and reads a row "
    "by its key as the role of the service; without: the same row as superuser",
    "row-level security, 5,000 accounts": "the same for a list",
    "encrypted secrets": "reading a stored secret of 1 KB: its row, the key of the organisation, "
    "two decryptions; without: the row",
    "second reading of imports": "a month converted and read again by another library, with "
    "equal sums; without: converted",
    "checks of lines": "lines of a CSV file parsed, checked and normalised in one thread; "
    "without: parsed",
    "exact decimals": "sums by customer and service of DECIMAL(38, 22) in DuckDB; without: DOUBLE",
}

MeasureFor = Callable[[float], float]  # from seconds to operations per second


class Guarantee(NamedTuple):
    measure: MeasureFor
    measure_without: MeasureFor


@contextmanager
def contenders(lines: int) -> Iterator[Sequence[Contender]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        guarantees = {
            "access control": _build_access_control(stack),
            **_build_database_guarantees(stack, folder),
            **_build_file_guarantees(folder, lines),
        }
        assert guarantees.keys() == DESCRIPTIONS.keys()
        yield [
            Contender(WITH, "", partial(_measure, guarantees, True)),
            Contender(WITHOUT, "", partial(_measure, guarantees, False)),
        ]


def _measure(
    guarantees: Mapping[str, Guarantee], is_given: bool, case: str, seconds: float
) -> float:
    guarantee = guarantees[case]
    return (guarantee.measure if is_given else guarantee.measure_without)(seconds)


def _build_access_control(stack: ExitStack) -> Guarantee:
    with_gate, without = (
        partial(contender.measure, gate.CASE)
        for contender in stack.enter_context(gate.contenders())
    )
    return Guarantee(with_gate, without)


def _build_database_guarantees(stack: ExitStack, folder: Path) -> dict[str, Guarantee]:
    address = stack.enter_context(embedded_postgres(folder / "postgres"))
    changes = stack.enter_context(GuaranteedChanges(address, folder))
    pairs = {
        "audit row": (changes.create, changes.create_unaudited),
        "idempotency key": (changes.create_once, changes.create),
        "synchronous commit": (changes.create, changes.create_without_waiting),
        "row-level security, one account": (
            changes.read_account,
            changes.read_account_unrestricted,
        ),
        "row-level security, 5,000 accounts": (
            changes.list_accounts,
            changes.list_accounts_unrestricted,
        ),
        "encrypted secrets": (changes.read_secret, changes.read_unencrypted),
    }
    for works in pairs.values():
        for work in works:
            changes.measure_rate(work, 0.1)  # warm-up
    return {
        name: Guarantee(*(partial(changes.measure_rate, work) for work in works))
        for name, works in pairs.items()
    }


def _build_file_guarantees(folder: Path, lines: int) -> dict[str, Guarantee]:
    source = folder / f"{lines}.csv.gz"
    run_in_fresh_process("write", source, folder)
    exact, inexact = folder / "exact.parquet", folder / "inexact.parquet"
    write_lines(exact, groups=GROUPS_OF_SUMS, lines=lines)
    copied = f"SELECT * REPLACE (cost::DOUBLE AS cost) FROM '{exact}'"
    duckdb.sql(f"COPY ({copied}) TO '{inexact}' (FORMAT parquet, COMPRESSION zstd)")
    convert = partial(_measure_conversion, source, lines)
    return {
        "second reading of imports": Guarantee(
            partial(convert, "ours_checked"), partial(convert, "ours")
        ),
        "checks of lines": Guarantee(partial(convert, "normalized"), partial(convert, "parsed")),
        "exact decimals": Guarantee(
            partial(_measure_sums, exact, lines), partial(_measure_sums, inexact, lines)
        ),
    }


def _measure_conversion(source: Path, lines: int, method: str, _seconds: float) -> float:
    """Lines per second of one run in a fresh process."""
    with TemporaryDirectory(dir=source.parent) as output:
        timing = run_in_fresh_process(method, source, Path(output))
    assert timing.rows == lines, f"{method}: {timing.rows} of {lines} lines"
    return lines / timing.seconds


def _measure_sums(file: Path, lines: int, seconds: float) -> float:
    started, repetitions = time.perf_counter(), 0
    while not repetitions or time.perf_counter() - started < seconds:
        assert sum_lines(file) >= GROUPS_OF_SUMS
        repetitions += 1
    return repetitions * lines / (time.perf_counter() - started)


def build_suite(lines: int) -> Suite:
    return Suite(
        name="guarantees",
        description=f"operations, or of files lines ({lines:,}), with each guarantee and without",
        unit="operations or lines/s",
        cases=tuple(DESCRIPTIONS),
        baseline=WITH,
        roles={WITHOUT: "variant"},
        targets={},
        slice_seconds=0.5,
        contenders=partial(contenders, lines),
        rounds=7,
        minutes=2.5,
        case_descriptions=DESCRIPTIONS,
        with_lines=build_suite,
    )


SUITE = build_suite(LINES)
