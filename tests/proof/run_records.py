"""The last full-size run of each row, their table in docs/proof.md and number in the README.

A row counts if its last full run was green, caught every broken variant, and the row leaves out
nothing that the board asks for.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from bench.machine import describe_machine
from tests.proof.board import BoardLine
from tests.proof.row import ProofRow
from tests.proof.row_environment import ROOT

RECORDS = ROOT / "tests/proof/run_records.json"
PAGE = ROOT / "docs/proof.md"
README = ROOT / "README.md"
BOARD = (
    *(f"X{number}" for number in range(1, 10)),
    *(f"D{number}" for number in range(1, 7)),
    *(f"T{number}" for number in range(1, 9)),
    *(f"A{number}" for number in range(1, 5)),
    *(f"I{number}" for number in range(1, 5)),
    *(f"R{number}" for number in range(1, 4)),
    "S1",
    *(f"O{number}" for number in range(1, 4)),
)
_BEGIN, _END = "<!-- full runs -->", "<!-- end of full runs -->"
_NUMBER_BEGIN, _NUMBER_END = "<!-- proof -->", "<!-- end of proof -->"


class RunRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    date: str
    commit: str
    machine: str
    size: int
    seed: int
    seconds: int
    green: bool  # the row itself
    variants_caught: int
    measured: str
    variants_commit: str | None = None  # if they were run again after the row


def read_records(path: Path = RECORDS) -> dict[str, RunRecord]:
    if not path.exists():
        return {}
    return msgspec.json.decode(path.read_bytes(), type=dict[str, RunRecord])


def keep_record(line: BoardLine, *, size: int, seed: int, path: Path = RECORDS) -> None:
    """Replace the record of the row."""
    assert line.measurement is not None
    record = RunRecord(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=_find_commit(),
        machine=describe_machine(),
        size=size,
        seed=seed,
        seconds=round(line.seconds),
        green=line.measurement.green,
        variants_caught=sum(result.caught for result in line.variants),
        measured=line.measurement.figures,
    )
    _write_record(line.row.name, record, path)


def keep_variants(line: BoardLine, path: Path = RECORDS) -> bool:
    """Add to the record of the row that its variants were run again; False if there is none."""
    record = read_records(path).get(line.row.name)
    if record is None or line.error:
        return False
    caught = sum(result.caught for result in line.variants)
    again = msgspec.structs.replace(record, variants_caught=caught, variants_commit=_find_commit())
    _write_record(line.row.name, again, path)
    return True


def _write_record(name: str, record: RunRecord, path: Path) -> None:
    records = read_records(path) | {name: record}
    ordered = {each: records[each] for each in BOARD if each in records}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(ordered), indent=1) + b"\n")


def _find_commit() -> str:
    """The commit that was measured; `+` marks changes that were not committed."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return described.stdout.strip()


def counts(row: ProofRow, record: RunRecord | None) -> bool:
    return (
        record is not None
        and record.green
        and row.is_full(record.size)
        and record.variants_caught == len(row.variants)
        and not row.missing
    )


def count_rows(rows: Mapping[str, ProofRow], records: Mapping[str, RunRecord]) -> str:
    number = sum(name in rows and counts(rows[name], records.get(name)) for name in BOARD)
    return f"{number} of {len(BOARD)} rows"


# ── the page ─────────────────────────────────────────────────────────────────────────────────────


def format_table(rows: Mapping[str, ProofRow], records: Mapping[str, RunRecord]) -> str:
    lines = [format_line(name, rows.get(name), records.get(name)) for name in BOARD]
    return "\n".join(
        [
            f"**{count_rows(rows, records)}** count.",
            "",
            "| Row | Counts | Last full run | Measured | Missing |",
            "|---|---|---|---|---|",
            *lines,
        ]
    )


def format_line(name: str, row: ProofRow | None, record: RunRecord | None) -> str:
    if row is None:
        return f"| {name} | no | | | the row does not exist |"
    missing = list(row.missing)
    run = measured = ""
    if record is None:
        missing.insert(0, "no full run is recorded")
    else:
        run = (
            f"{record.date}, {record.commit}, {record.seconds} s, seed {record.seed}, "
            f"{record.machine}"
        )
        if record.variants_commit is not None:
            run += f"; variants again at {record.variants_commit}"
        measured = record.measured.replace("|", "\\|").replace("\n", " ")
        missing += _find_faults(row, record)
    answer = "yes" if counts(row, record) else "no"
    return f"| {name} | {answer} | {run} | {measured} | {'; '.join(missing)} |"


def _find_faults(row: ProofRow, record: RunRecord) -> Iterable[str]:
    variants = len(row.variants)
    if not record.green:
        yield "the run was not green"
    if not row.is_full(record.size):
        yield f"size {record.size} instead of {row.full}"
    if record.variants_caught != variants:
        yield f"{record.variants_caught} of {variants} variants caught"


def read_page_table(text: str) -> str:
    """The part of the page between its marks."""
    return text.partition(f"{_BEGIN}\n")[2].partition(f"\n{_END}")[0]


def write_page(rows: Mapping[str, ProofRow], records: Mapping[str, RunRecord]) -> None:
    text = PAGE.read_text()
    before, _, rest = text.partition(f"{_BEGIN}\n")
    after = rest.partition(_END)[2]
    table = format_table(rows, records)
    PAGE.write_text(f"{before}{_BEGIN}\n{table}\n{_END}{after}")
    README.write_text(replace_number(README.read_text(), count_rows(rows, records)))


def read_number(text: str) -> str:
    """The number of rows that the README states."""
    return text.partition(_NUMBER_BEGIN)[2].partition(_NUMBER_END)[0]


def replace_number(text: str, number: str) -> str:
    before, mark, rest = text.partition(_NUMBER_BEGIN)
    assert mark, f"README.md has no {_NUMBER_BEGIN}"
    return f"{before}{_NUMBER_BEGIN}{number}{_NUMBER_END}{rest.partition(_NUMBER_END)[2]}"


# ── what fits ────────────────────────────────────────────────────────────────────────────────────


def choose_fitting(
    rows: Sequence[ProofRow], records: Mapping[str, RunRecord], minutes: int
) -> list[ProofRow]:
    """The shortest rows first, by their last full run; a row without one is not chosen."""
    known = sorted(
        (row for row in rows if row.name in records), key=lambda row: records[row.name].seconds
    )
    chosen, left = [], minutes * 60
    for row in known:
        left -= records[row.name].seconds
        if left >= 0:
            chosen.append(row)
    return chosen
