"""What takes long in an import, in a process of its own: fetch, convert, check, sum up.

It changes nothing that counts: files of the lake that no record names do not exist for anybody. The
process that asked reads one JSON object per line: how far it is, and at last what came out.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.without_pandas import leave_pandas_out
from nimbill.foundation.basis import chosen
from nimbill.foundation.settings import read_settings

basis = chosen("cost-imports")

TELL_EVERY_SECONDS = 0.25
LONG = ("tag_sums",)  # a row for each value of each tag

TOTALS_BY = ("payer_id", "line_type", "kind", "currency")
ACCOUNTS_BY = ("customer_id", "payer_id", "line_type", "currency")

Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ImportRequest:
    organisation_id: str
    import_id: str
    vendor: str
    month: str | None
    sources: list[str]
    roots: list[str] | None
    folder: str  # of this import alone; what is in it may go once the import is over
    known: dict[str, str | None]  # identities of deliveries: what counts now, or was replaced
    lake_files: list[str] = field(default_factory=list)  # of a parked import that was released


@dataclass(slots=True)
class PreparedImport:
    """What came out; where `problem` is told nothing else is."""

    problem: dict[str, Any] | None = None
    unchanged: str | None = None  # the import that holds the same delivery
    month: str | None = None
    identity: str | None = None
    assembly: str | None = None
    assembled_at: str | None = None
    lines: int = 0
    provisional: bool = False
    payers: dict[str, int] = field(default_factory=dict)
    totals: list[dict[str, Any]] = field(default_factory=list)  # costs as text
    by_account: list[dict[str, Any]] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    unchecked: str | None = None  # the file that the second reading could not read
    noticed: dict[str, Any] = field(default_factory=dict)


def prepare(asked: ImportRequest, tell: Tell) -> PreparedImport:
    """Never raises for what is wrong with a delivery: that is an answer too."""
    try:
        return _released(asked, tell) if asked.lake_files else _delivered(asked, tell)
    except CostFileError as broken:
        return PreparedImport(
            problem={
                "status": 400,
                "code": broken.rule,
                "detail": broken.detail,
                "file": broken.file,
                "line": broken.line,
                "column": broken.column,
            }
        )


def _delivered(asked: ImportRequest, tell: Tell) -> PreparedImport:
    # what is large is loaded when it is needed, and only in this process
    from nimbill.costs.ingestion.delivery import Limits, deliver

    folder, limits = Path(asked.folder), Limits()
    spool, staging = folder / "spool", folder / "lines"
    for one in (spool, staging):
        shutil.rmtree(one, ignore_errors=True)
        one.mkdir(parents=True)
    tell({"step": "fetching"})
    delivery = deliver(
        asked.sources,
        spool=spool,
        month=asked.month,
        limits=limits,
        tell=lambda name: tell({"step": "fetching", "file": name}),
        roots=asked.roots,
    )
    prepared = PreparedImport(
        identity=delivery.identity,
        assembly=delivery.assembly,
        assembled_at=delivery.assembled_at.isoformat() if delivery.assembled_at else None,
    )
    if delivery.identity in asked.known:
        counting = asked.known[delivery.identity]
        if counting is None:
            prepared.problem = older_assembly()
        prepared.unchanged = counting
        return prepared
    from nimbill.costs.ingestion.conversion import convert
    from nimbill.costs.ingestion.second_reading_process import SecondReading

    with SecondReading(delivery, vendor=asked.vendor, limits=limits) as second:
        converted = convert(
            delivery,
            vendor=asked.vendor,
            month=asked.month,
            into=staging,
            limits=limits,
            tell=lambda lines: tell({"step": "reading", "lines": lines}),
            cores_left=second.cores,
        )
        _check(second, converted, prepared, tell)
    prepared.month, prepared.lines = converted.month, converted.lines
    noticed = converted.noticed
    prepared.noticed = {
        "formats": sorted(noticed.formats),
        "other_vendors": dict(noticed.other_vendors),
        "rounded_lines": noticed.rounded_lines,
        "unreadable_tags": noticed.unreadable_tags,
        "usage_outside_month": noticed.outside_month,
    }
    _into_lake(asked, converted, prepared)
    _sum_up(asked, [file["path"] for file in prepared.files], prepared, tell)
    has_ids = noticed.has_invoice_ids
    prepared.provisional = has_ids and prepared.noticed.pop("without_invoice_id") > 0
    shutil.rmtree(spool, ignore_errors=True)
    return prepared


def older_assembly() -> dict[str, Any]:
    detail = "a newer delivery of this month counts already"
    return {"status": 409, "code": "older_assembly", "detail": detail}


def _released(asked: ImportRequest, tell: Tell) -> PreparedImport:
    """Its lines lie in the lake already; only the sums are worked out again."""
    prepared = PreparedImport(month=asked.month)
    _sum_up(asked, asked.lake_files, prepared, tell)
    prepared.noticed.pop("without_invoice_id")
    return prepared


def _check(second: Any, converted: Any, prepared: PreparedImport, tell: Tell) -> None:
    """Digit for digit, by a second reading of the delivered files."""
    from nimbill.costs.ingestion.second_reading import (
        UnreadableBySecondReader,
        differences,
        sums_of_lines,
    )

    tell({"step": "checking", "lines": converted.lines})
    stored = sums_of_lines([file.path for file in converted.files])
    try:
        delivered = second.sums(
            lambda name: tell({"step": "checking", "file": name, "lines": converted.lines})
        )
    except UnreadableBySecondReader as unreadable:
        prepared.unchecked = str(unreadable)
        return
    prepared.differences = [
        {
            **one.whose._asdict(),
            "delivered": f"{one.delivered.cost:f}",
            "stored": f"{one.stored.cost:f}",
            "delivered_lines": one.delivered.lines,
            "stored_lines": one.stored.lines,
        }
        for one in differences(delivered, stored)
    ]


def _into_lake(asked: ImportRequest, converted: Any, prepared: PreparedImport) -> None:
    from nimbill.costs.lake.parquet_files import Lake, folder_of

    if not converted.files:
        return
    under = folder_of(
        asked.organisation_id,
        vendor=asked.vendor,
        month=converted.month,
        import_id=asked.import_id,
    )
    names = Lake(read_settings().lake_url).put([file.path for file in converted.files], under=under)
    prepared.files = [
        {"path": name, "lines": file.lines, "bytes": file.bytes, "sha256": file.sha256}
        for name, file in zip(names, converted.files, strict=True)
    ]


def _sum_up(
    asked: ImportRequest, files: Sequence[str], prepared: PreparedImport, tell: Tell
) -> None:
    """Every sum that is kept, into a file each, for the process that asked to store."""
    import pyarrow.parquet as pq

    from nimbill.costs.lake import sums
    from nimbill.costs.lake.engine_selection import open_engine
    from nimbill.costs.lake.parquet_files import Lake

    tell({"step": "summing", "lines": prepared.lines})
    settings = read_settings()
    Path(asked.folder).mkdir(parents=True, exist_ok=True)
    questions = {
        "sums": sums.monthly_sums,
        "tag_sums": sums.tag_sums,
        "entries": sums.entry_lines,
        "reservations": sums.reservation_lines,
        "payers": sums.payer_lines,
    }
    with open_engine(settings, Lake(settings.lake_url)) as engine:
        for name, question in questions.items():
            if name in LONG:
                _write(engine.batches(question, files), Path(asked.folder) / f"{name}.parquet")
                continue
            answer = engine.run(question, files)
            if name == "payers":
                rows = answer.to_pylist()
                prepared.payers = {row["payer_id"]: row["lines"] for row in rows}
                prepared.lines = sum(prepared.payers.values())
                without = sum(row["without_invoice_id"] for row in rows)
                prepared.noticed["without_invoice_id"] = without
            else:
                pq.write_table(answer, Path(asked.folder) / f"{name}.parquet")
            if name == "sums":
                prepared.totals = _totals(answer, TOTALS_BY)
                prepared.by_account = _totals(answer, ACCOUNTS_BY)


def _write(batches: Iterator[Any], path: Path) -> None:
    """Piece by piece: there may be millions of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = next(batches, None)
    if first is None:
        first = pa.record_batch({"payer_id": pa.nulls(0, pa.string())})
    with pq.ParquetWriter(path, first.schema) as file:
        file.write_batch(first)
        for batch in batches:
            file.write_batch(batch)


def _totals(sums: Any, by: Sequence[str]) -> list[dict[str, Any]]:
    """Sums of the sums, costs as text: every digit reaches the process that asked."""
    added = sums.group_by(list(by)).aggregate([("cost", "sum"), ("lines", "sum")])
    return [
        {
            **{name: row[name] for name in by},
            "cost": f"{row['cost_sum']:f}",
            "lines": row["lines_sum"],
        }
        for row in added.sort_by([(name, "ascending") for name in by]).to_pylist()
    ]


# ── the process ──────────────────────────────────────────────────────────────────────────────────


def main() -> None:
    """Asked on standard input, answered on standard output."""
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    with suppress(OSError):
        os.nice(5)  # requests are answered first
    if read_settings().engine == "duckdb":  # Spark's own client may ask for it
        leave_pandas_out()
    asked = ImportRequest(**json.loads(sys.stdin.readline()))
    told = 0.0

    def tell(progress: dict[str, Any]) -> None:
        nonlocal told
        if time.monotonic() - told > TELL_EVERY_SECONDS:
            told = time.monotonic()
            _say({"progress": progress})

    _say({"prepared": asdict(prepare(asked, tell))})


def _leave_with(parent: int) -> None:
    """Nobody would read the answer of a process whose parent is gone."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
