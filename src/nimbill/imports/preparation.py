"""Prepares an import in a process of its own: fetches, converts, verifies and sums a delivery.

Nothing becomes visible here: files in the lake are ignored until a database record names them. The
process writes one JSON object per line: progress messages, and finally the result.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.pandas_block import block_pandas
from nimbill.foundation.logs import describe_exception
from nimbill.foundation.parent_watch import watch_parent
from nimbill.foundation.private_files import make_files_private
from nimbill.foundation.settings import read_settings
from nimbill.imports.import_failure import describe_failure
from nimbill.imports.prepared_totals import (
    VERIFIED_COLUMNS,
    add_up,
    format_totals,
    write_tag_sums,
    write_tagged_sums,
)
from nimbill.imports.resource_watch import ResourceWatch

PROGRESS_INTERVAL_SECONDS = 0.25
NICENESS = 5  # requests take precedence

TOTAL_COLUMNS = ("payer_id", "line_type", "kind", "currency")
ACCOUNT_TOTAL_COLUMNS = ("customer_id", "payer_id", "line_type", "currency")

OLDER_DELIVERY = {
    "status": 409,
    "code": "older_assembly",
    "detail": "A newer delivery of this month has already been imported.",
}

OnProgress = Callable[[dict[str, Any]], None]

_output_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class ImportRequest:
    organisation_id: str
    import_id: str
    vendor: str
    month: str | None
    sources: list[str]
    roots: list[str] | None
    folder: str  # working folder of this import; removed after the import
    # content hash to the import that is current, or None if another import replaced it
    known_deliveries: dict[str, str | None]
    lake_files: list[str] | None = None  # only for a released parked import
    providers: list[str] | None = None  # the vendor's names in FOCUS files, in lower case
    tag_keys: list[str] = field(default_factory=list)  # of the tagged sums
    tagged_sums_only: bool = False  # other sums of the lake_files are already stored


@dataclass(slots=True)
class PreparedImport:
    """The result of the preparation; with a `problem`, most other fields are empty."""

    problem: dict[str, Any] | None = None
    identical_import: str | None = None  # a current import with the same contents
    month: str | None = None
    content_hash: str | None = None
    assembly: str | None = None
    assembled_at: str | None = None
    lines: int = 0
    provisional: bool = False
    payers: dict[str, int] = field(default_factory=dict)  # payer_id to its number of lines
    totals: list[dict[str, Any]] = field(default_factory=list)  # costs as text
    account_totals: list[dict[str, Any]] = field(default_factory=list)
    account_names: dict[str, str] = field(default_factory=dict)  # where the files name accounts
    # costs and lines by VERIFIED_COLUMNS, which the stored sums must have before they count
    verified_totals: list[dict[str, Any]] = field(default_factory=list)
    verified_tag_totals: list[dict[str, Any]] = field(default_factory=list)
    tag_keys: list[str] = field(default_factory=list)  # of the tagged sums; none without keys
    # the same of the tables with usage of commitments and on demand, by table
    verified_usage_totals: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    files: list[dict[str, Any]] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    unverified_file: str | None = None  # the second reading could not read it
    warnings: dict[str, Any] = field(default_factory=dict)


def prepare_import(
    request: ImportRequest, on_progress: OnProgress, watch: ResourceWatch | None = None
) -> PreparedImport:
    """An invalid delivery is not an error of the process: it is returned as a problem."""
    watch = watch or _no_watch()
    try:
        if request.lake_files is not None and request.tagged_sums_only:
            return _prepare_tagged_sums(request, request.lake_files)
        if request.lake_files is not None:
            return _prepare_released(request, request.lake_files, on_progress)
        return _prepare_delivery(request, on_progress, watch)
    except CostFileError as error:
        return _build_refusal(error)
    except MemoryError:
        return _build_refusal(watch.build_memory_error())


def _build_refusal(error: CostFileError) -> PreparedImport:
    return PreparedImport(
        problem={
            "status": 400,
            "code": error.rule,
            "detail": error.detail,
            "file": error.file,
            "line": error.line,
            "column": error.column,
        }
    )


def _prepare_delivery(
    request: ImportRequest, on_progress: OnProgress, watch: ResourceWatch
) -> PreparedImport:
    # large libraries are loaded when needed, and only in this process
    from nimbill.costs.ingestion.delivery import fetch_delivery
    from nimbill.costs.ingestion.parts import Limits

    folder, limits = Path(request.folder), Limits()
    spool, staging = folder / "spool", folder / "lines"
    for subfolder in (spool, staging):
        shutil.rmtree(subfolder, ignore_errors=True)
        subfolder.mkdir(parents=True)
    on_progress({"step": "fetching"})
    watch.name_file(Path(request.sources[0]).name)
    delivery = fetch_delivery(
        request.sources,
        spool=spool,
        month=request.month,
        limits=limits,
        notify=lambda message: on_progress({"step": "fetching", "file": message}),
        on_selected=watch.extend_time,
        roots=request.roots,
    )
    prepared = PreparedImport(
        content_hash=delivery.content_hash,
        assembly=delivery.assembly,
        assembled_at=delivery.assembled_at.isoformat() if delivery.assembled_at else None,
    )
    if delivery.content_hash in request.known_deliveries:
        prepared.identical_import = request.known_deliveries[delivery.content_hash]
        if prepared.identical_import is None:
            prepared.problem = OLDER_DELIVERY
        return prepared
    _convert(request, delivery, prepared, on_progress, watch)
    shutil.rmtree(spool, ignore_errors=True)
    return prepared


def _convert(
    request: ImportRequest,
    delivery: Any,
    prepared: PreparedImport,
    on_progress: OnProgress,
    watch: ResourceWatch,
) -> None:
    conversion = _convert_and_store(request, delivery, on_progress, watch)
    _compare(conversion, prepared)
    prepared.month, prepared.lines = conversion.month, conversion.lines
    warnings = conversion.warnings
    prepared.warnings = {
        "formats": sorted(warnings.formats),
        "other_vendors": dict(warnings.other_vendors),
        "rounded_lines": warnings.rounded_lines,
        "unreadable_tags": warnings.unreadable_tags,
        "usage_outside_month": warnings.outside_month,
    }
    prepared.files = conversion.files
    totals = _compute_sums(
        request, [file["path"] for file in prepared.files], prepared, on_progress
    )
    lines_without_invoice = sum(total["without_invoice_id"] for total in totals)
    prepared.provisional = warnings.has_invoice_ids and lines_without_invoice > 0


def _convert_and_store(
    request: ImportRequest, delivery: Any, on_progress: OnProgress, watch: ResourceWatch
) -> Any:
    """Convert several parts on the cluster, if there is one, and everything else here."""
    from nimbill.imports.stored_conversion import ConversionOrder, convert_and_store

    settings = read_settings()
    order = ConversionOrder(
        organisation_id=request.organisation_id,
        import_id=request.import_id,
        vendor=request.vendor,
        month=request.month,
        providers=request.providers,
        lake_url=settings.lake_url,
    )
    if settings.spark_master is None or settings.engine != "spark" or len(delivery.parts) == 1:
        folder = Path(request.folder) / "lines"
        return convert_and_store(
            delivery, order, folder=folder, on_progress=on_progress, on_file=watch.name_file
        )
    from nimbill.imports.cluster_conversion import convert_on_cluster, run_on_spark

    on_progress({"step": "reading", "file": f"{len(delivery.parts)} parts"})
    return convert_on_cluster(
        delivery,
        order,
        memory_mib=settings.import_memory_mib,
        run_tasks=partial(run_on_spark, settings.spark_master),
    )


def _prepare_released(
    request: ImportRequest, files: Sequence[str], on_progress: OnProgress
) -> PreparedImport:
    """The lines are already in the lake; only the sums are computed again."""
    prepared = PreparedImport(month=request.month)
    totals = _compute_sums(request, files, prepared, on_progress)
    prepared.verified_totals = format_totals(totals, VERIFIED_COLUMNS)
    return prepared


def _prepare_tagged_sums(request: ImportRequest, files: Sequence[str]) -> PreparedImport:
    from nimbill.costs.lake.engine_selection import open_engine
    from nimbill.costs.lake.parquet_files import Lake

    settings, folder = read_settings(), Path(request.folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open_engine(settings, Lake(settings.lake_url)) as engine:
        tag_keys = write_tagged_sums(engine, files, request.tag_keys, folder)
    return PreparedImport(month=request.month, tag_keys=tag_keys)


def _compare(conversion: Any, prepared: PreparedImport) -> None:
    """Compare the stored lines with the second reading of the delivered files."""
    from nimbill.costs.ingestion.second_reading import find_differences

    prepared.unverified_file = conversion.unreadable_file
    if conversion.delivered is None:
        return
    prepared.verified_totals = [
        {**key._asdict(), "cost": f"{line_sum.cost:f}", "lines": line_sum.lines}
        for key, line_sum in conversion.delivered.items()
    ]
    prepared.differences = [
        {
            **difference.key._asdict(),
            "delivered": f"{difference.delivered.cost:f}",
            "stored": f"{difference.stored.cost:f}",
            "delivered_lines": difference.delivered.lines,
            "stored_lines": difference.stored.lines,
        }
        for difference in find_differences(conversion.delivered, conversion.stored)
    ]


def _compute_sums(
    request: ImportRequest,
    files: Sequence[str],
    prepared: PreparedImport,
    on_progress: OnProgress,
) -> list[dict[str, Any]]:
    """Write each kind of sums into a file and return the rows of `line_totals`."""
    from nimbill.costs.lake import sums
    from nimbill.costs.lake.engine_selection import open_engine
    from nimbill.costs.lake.file_selection import select_files_with_commitments
    from nimbill.costs.lake.parquet_files import Lake
    from nimbill.costs.parquet_output import write_parquet

    on_progress({"step": "summing", "lines": prepared.lines})
    settings, folder = read_settings(), Path(request.folder)
    folder.mkdir(parents=True, exist_ok=True)
    lake = Lake(settings.lake_url)
    with open_engine(settings, lake) as engine:
        monthly_sums = engine.run(sums.monthly_sums, files)
        write_parquet(monthly_sums, folder / "sums.parquet")
        prepared.totals = add_up(monthly_sums, TOTAL_COLUMNS)
        prepared.account_totals = add_up(monthly_sums, ACCOUNT_TOTAL_COLUMNS)
        prepared.verified_tag_totals = write_tag_sums(
            engine.batches(sums.tag_sums, files), folder / "tag_sums.parquet"
        )
        prepared.tag_keys = write_tagged_sums(engine, files, request.tag_keys, folder)
        write_parquet(engine.run(sums.product_names, files), folder / "product_names.parquet")
        write_parquet(engine.run(sums.entry_lines, files), folder / "entries.parquet")
        committed = select_files_with_commitments(lake, files)
        reservations = engine.run(sums.reservation_lines, committed)
        write_parquet(reservations, folder / "reservations.parquet")
        for query in (sums.commitment_usage, sums.on_demand_usage):
            name = query.__name__
            usage = engine.run(query, committed if query is sums.commitment_usage else files)
            write_parquet(usage, folder / f"{name}.parquet")
            prepared.verified_usage_totals[name] = add_up(usage, VERIFIED_COLUMNS)
        totals: list[dict[str, Any]] = engine.run(sums.line_totals, files).to_pylist()
    prepared.payers = {}
    for total in totals:
        payer_id, name = total["payer_id"], total.pop("customer_name")
        prepared.payers[payer_id] = prepared.payers.get(payer_id, 0) + total["lines"]
        prepared.account_names |= {total["customer_id"]: name} if name else {}
    prepared.lines = sum(prepared.payers.values())
    return totals


# ── the process ──────────────────────────────────────────────────────────────────────────────────


def main() -> None:
    """Read the request from standard input and write messages to standard output."""
    # Without its parent nothing reads the result of this process.
    watch_parent(lambda: os._exit(1))
    # Ctrl-C and some supervisors signal all processes. The parent decides when this one ends:
    # a preparation that ends before its parent would count as a failed attempt.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    make_files_private()
    with suppress(OSError):
        os.nice(NICENESS)
    if read_settings().engine == "duckdb":  # Spark's client may need pandas
        block_pandas()
    request = ImportRequest(**json.loads(sys.stdin.readline()))
    watch = _start_watch()
    last_report = 0.0

    def on_progress(progress: dict[str, Any]) -> None:
        nonlocal last_report
        if time.monotonic() - last_report > PROGRESS_INTERVAL_SECONDS:
            last_report = time.monotonic()
            _write_message({"progress": progress})

    try:
        prepared = prepare_import(request, on_progress, watch)
    except Exception as error:  # noqa: BLE001  # the parent reports every error
        failure = {"cause": describe_failure(error), "location": describe_exception(error)}
        _write_message({"failed": failure})
        sys.exit(1)
    _write_message({"prepared": asdict(prepared)})


def _start_watch() -> ResourceWatch:
    settings = read_settings()

    def refuse(error: CostFileError) -> None:
        _write_message({"prepared": asdict(_build_refusal(error))})
        os._exit(0)

    watch = ResourceWatch(
        memory_mib=settings.import_memory_mib, seconds=settings.import_seconds, refuse=refuse
    )
    watch.start()
    return watch


def _no_watch() -> ResourceWatch:
    """A watch that is not started, for a preparation in the process of a test."""
    return ResourceWatch(memory_mib=0, seconds=0, refuse=lambda _error: None)


def _write_message(message: dict[str, Any]) -> None:
    """Write as a whole: the watch writes from another thread."""
    with _output_lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
