"""`nimbill import`: import a month of cost files."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from nimbill.application.foreground_runs import ImportFiles, run_import
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import (
    REFUSED,
    JsonSwitch,
    delayed_progress,
    print_error,
    print_json,
    print_text,
)
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.names import Names, add_name, load_names
from nimbill.commands.organisation_command import (
    Organisation,
    OrganisationAccess,
    run_for_organisation,
)
from nimbill.commands.tables import OutputColumn, print_rows
from nimbill.commands.vendor_argument import KnownVendorName
from nimbill.costs.cost_file_error import printable_excerpt
from nimbill.costs.lake.parquet_files import Lake
from nimbill.database.tenant_scope import transaction
from nimbill.foundation import exact_json
from nimbill.foundation.errors import Invalid
from nimbill.foundation.money import format_decimal
from nimbill.imports.bodies import ImportProblem
from nimbill.imports.records import ImportRecord, ImportState

DECISION_NEEDED = 1  # exit code
EXIT_CODES = {
    ImportState.done: 0,
    ImportState.unchanged: 0,
    ImportState.parked: DECISION_NEEDED,
    ImportState.drift: DECISION_NEEDED,
    ImportState.refused: REFUSED,
    ImportState.failed: REFUSED,
}
TOTAL_COLUMNS = (
    OutputColumn("payer"),
    OutputColumn("line type", wraps=True),
    OutputColumn("kind"),
    OutputColumn("cost", right=True),
    OutputColumn("lines", right=True),
)


def import_(
    *paths: str,
    vendor: KnownVendorName,
    organisation: Organisation,
    month: str | None = None,
    json: JsonSwitch = False,
) -> None:
    """Import the costs of a month. An import is committed completely or not at all.

    Exit codes: 0 imported, now or before; 1 a decision is needed (the import is parked, or the
    month is closed and its costs differ); 2 refused.

    Parameters
    ----------
    paths
        Files, folders with a manifest, or s3://bucket/prefix.
    vendor
        The vendor of the files; one that the setting vendors enables.
    month
        The month, yyyy-mm; needed if the files contain more than one.
    """
    if not paths:
        raise Invalid("rule_broken", "Name a file, a folder or an s3:// address.", [])
    for path in paths:
        _refuse_invalid_path(path)
    if month is not None:
        refuse_invalid_month(month)
    settings = load_command_settings()
    sources = [path if "://" in path else str(Path(path).absolute()) for path in paths]
    files = ImportFiles(vendor=vendor, month=month, sources=sources)

    async def run(access: OrganisationAccess) -> _FinishedImport:
        started = time.monotonic()
        with _progress_bar() as show_progress:
            record = await run_import(access.engine, settings, access.scope, files, show_progress)
        seconds = time.monotonic() - started
        async with transaction(access.engine, access.scope.organisation_id) as db:
            return _FinishedImport(record, seconds, await load_names(db, access.scope))

    finished = run_for_organisation(settings, organisation, run, changes=True)
    record = finished.record
    if json:
        print_json(exact_json.encode(record))
    else:
        _print_record(finished)
    if record.state == ImportState.failed:
        print_error(f"The data folder is {settings.data}, the lake is {Lake(settings.lake_url)}.")
    sys.exit(EXIT_CODES[ImportState(record.state)])


class _FinishedImport(NamedTuple):
    record: ImportRecord
    seconds: float
    names: Names


def _refuse_invalid_path(path: str) -> None:
    """The import record contains the paths, and the database stores UTF-8 only."""
    try:
        path.encode()
    except UnicodeEncodeError:
        name = printable_excerpt(path)
        raise Invalid(
            "rule_broken", f"The path {name} is not encoded in UTF-8; rename it.", []
        ) from None


@contextmanager
def _progress_bar() -> Iterator[Callable[[ImportRecord], None]]:
    with delayed_progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} lines, {task.fields[rate]:,.0f} a second"),
        TimeElapsedColumn(),
    ) as bar:
        task, started = bar.add_task("waiting", total=None, rate=0), time.monotonic()

        def show(record: ImportRecord) -> None:
            lines = record.progress.get("lines", 0)
            rate = lines / max(time.monotonic() - started, 0.001)
            step = record.progress.get("step", record.state)
            bar.update(task, description=step, completed=lines, rate=rate)

        yield show


def _print_record(finished: _FinishedImport) -> None:
    record, seconds, names = finished
    print_text(f"{format_summary(record, seconds)}, import {record.import_id}")
    if record.totals:
        print_rows(TOTAL_COLUMNS, _list_totals(record))
    for message in list_messages(record, names):
        print_text(message)


def format_summary(record: ImportRecord, seconds: float) -> str:
    """A refused delivery may have no month and no lines; nothing is printed for them then."""
    period = f"{record.vendor} {record.month}" if record.month else record.vendor
    if not record.lines:
        return f"{record.state}: {period}, no lines imported"
    rate = record.lines / max(seconds, 0.001)
    speed = f"{seconds:.1f} s ({rate:,.0f} a second)"
    return f"{record.state}: {period}, {record.lines:,} lines in {speed}"


def _list_totals(record: ImportRecord) -> list[list[str]]:
    return [
        [
            total.payer_id,
            total.line_type,
            total.kind,
            f"{format_decimal(total.cost)} {total.currency}",
            f"{total.lines:,}",
        ]
        for total in record.totals
    ]


def list_messages(record: ImportRecord, names: Names) -> list[str]:
    """Warnings, proposals and the reason for a refusal."""
    messages = []
    if record.provisional:
        messages.append("provisional: the vendor has not invoiced the whole month yet")
    if record.unknown_types:
        types = _format_counts(record.unknown_types, "no type")
        messages.append(f"unknown line types, not billed: {types}")
    if record.accounts_in_no_group:
        accounts = record.accounts_in_no_group
        messages.append(f"{len(accounts)} accounts in no billing group: {', '.join(accounts[:10])}")
    other_vendors = record.noticed.get("other_vendors", {})
    if other_vendors:
        names_of_others = _format_counts(other_vendors, "no name")
        messages.append(f"lines of other vendors, ignored: {names_of_others}")
    also_paid_by = record.noticed.get("also_paid_by", {})
    if also_paid_by:
        messages.append(_format_other_payers(also_paid_by))
    if record.drift:
        messages.append(f"the month is closed and was not changed; {len(record.drift)} sums differ")
    for proposal in record.proposals:
        amount = f"{proposal.amount:f} {proposal.currency}"
        messages.append(
            f"proposed: {proposal.calc_type} of {amount} to "
            f"{add_name(proposal.customer_id, names)}: "
            f"{proposal.description}"
        )
    if record.parked_reason:
        messages.append(f"parked: {record.parked_reason}")
    if record.problem is not None:
        messages.append(_format_problem(record.problem))
    return messages


def _format_other_payers(accounts: Mapping[str, Sequence[str]]) -> str:
    payers = sorted({payer for others in accounts.values() for payer in others})
    return (
        f"{len(accounts)} accounts also have costs of another payer ({', '.join(payers[:10])}) in "
        f"this month, and both are billed: {', '.join(list(accounts)[:10])}"
    )


def _format_counts(counts: Mapping[str, int], unnamed: str) -> str:
    return ", ".join(f"{name or unnamed} ({lines:,})" for name, lines in counts.items())


def _format_problem(problem: ImportProblem) -> str:
    location = [
        problem.file,
        f"line {problem.line}" if problem.line else None,
        f"column {problem.column}" if problem.column else None,
    ]
    where = ", ".join(part for part in location if part)
    return f"{where + ': ' if where else ''}{problem.detail} ({problem.code})"
