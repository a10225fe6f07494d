"""Commits a prepared import: decides its outcome and changes all records in one transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.operations import replace_entries
from nimbill.adjustments.reserved_instances.operations import replace_reservations
from nimbill.audit import records as audit
from nimbill.costs.lake import records as lake_records
from nimbill.costs.lake.bulk_copy import ROWS_PER_STATEMENT
from nimbill.costs.lake.commitment_records import USAGE_TABLES, replace_usage
from nimbill.costs.lake.product_name_records import replace_product_names
from nimbill.costs.lake.records import USAGE, load_previous_usage
from nimbill.costs.months import records as months
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.money import add_decimals
from nimbill.foundation.settings import Settings
from nimbill.imports import records
from nimbill.imports.anomaly_rules import describe_anomaly
from nimbill.imports.bodies import ImportState
from nimbill.imports.derived_entries import build_entries, build_reservations
from nimbill.imports.import_events import ImportOutcome, announce_imports
from nimbill.imports.import_report import build_report, find_drift
from nimbill.imports.preparation import OLDER_DELIVERY, PreparedImport
from nimbill.imports.preparation_process import schedule_folder_removal, working_folder
from nimbill.imports.proposals import propose_entries
from nimbill.imports.sum_verification import StoredSumsDiffer, verify_stored_sums
from nimbill.jobs.records import add_job

if TYPE_CHECKING:
    import pyarrow as pa

# See docs/choices.md, empty-deliveries.

EMPTY_DELIVERY = {
    "status": 409,
    "code": "empty_delivery",
    "detail": "The delivery contains no lines; the existing costs were not changed.",
}

NOTHING_READ = {
    "status": 409,
    "code": "nothing_read",
    "detail": "No lines were read, but the files may contain some. Check and import them again.",
}

SUPERSEDED = {
    "status": 409,
    "code": "superseded",
    "detail": "A later import replaced this one.",
}

SUMS_LOST = "the sums in the database differ from the delivered files"

READERS_FINISH_WITHIN = timedelta(hours=1)

# The portal defines the job; imports only know its name, because they do not depend on the portal.
EVALUATE_BUDGETS = "evaluate_budgets"

ReadBatches = Callable[[str], Iterator["pa.RecordBatch"]]

REMOVE_LAKE_FILES = "remove_lake_files"


async def commit_import(
    db: AsyncConnection,
    settings: Settings,
    scope: TenantScope,
    import_id: str,
    prepared: PreparedImport,
) -> None:
    """Decide the outcome under the month's lock and store it in the import's record."""
    row = await records.lock_import(db, scope, import_id)
    assert row is not None, "an import is never deleted"
    assembled_at = prepared.assembled_at
    delivery = {
        "content_hash": prepared.content_hash or row.content_hash,
        "assembly": prepared.assembly or row.assembly,
        "assembled_at": datetime.fromisoformat(assembled_at) if assembled_at else row.assembled_at,
    }
    if prepared.problem is not None:
        await records.change_import(
            db, scope, import_id, state=ImportState.refused, problem=prepared.problem, **delivery
        )
        await _unpark_released(db, scope, row)
        await schedule_folder_removal(db, scope, import_id)
        await remove_unrecorded_files(db, scope, row)
        refused = ImportOutcome(row, ImportState.refused, problem=prepared.problem)
        await announce_imports(db, scope, refused)
    elif prepared.identical_import is not None:
        await _mark_unchanged(db, scope, import_id, prepared.identical_import, delivery)
        await schedule_folder_removal(db, scope, import_id)
    else:
        await _ImportCommit(db, settings, scope, row, prepared, delivery).run()


async def _unpark_released(db: AsyncConnection, scope: TenantScope, row: Row) -> None:
    """A refused import can no longer be released, so that it must not keep the month parked."""
    if row.release_reason is not None and row.month is not None:
        period = BillingPeriod(row.month, row.vendor)
        await months.lock_month(db, scope, period)
        await months.unpark_month(db, scope, period, row.import_id)


async def _mark_unchanged(
    db: AsyncConnection,
    scope: TenantScope,
    import_id: str,
    identical_import_id: str,
    delivery: dict[str, Any],
) -> None:
    identical = await records.find_import(
        db, TenantScope(scope.organisation_id), identical_import_id
    )
    month = None if identical is None else identical.month
    await records.change_import(
        db,
        scope,
        import_id,
        state=ImportState.unchanged,
        month=month,
        report={"identical_import": identical_import_id},
        **delivery,
    )


class _ImportCommit:
    """Commits one import whose delivery was read and is not known yet."""

    def __init__(
        self,
        db: AsyncConnection,
        settings: Settings,
        scope: TenantScope,
        row: Row,
        prepared: PreparedImport,
        delivery: dict[str, Any],
    ) -> None:
        self.db, self.settings, self.scope = db, settings, scope
        self.row, self.prepared, self.delivery = row, prepared, delivery
        self.vendor, self.import_id = row.vendor, row.import_id
        self.month: str | None = prepared.month or row.month
        self.payers = list(prepared.payers)
        self.is_released = row.release_reason is not None
        self.superseded: list[ImportOutcome] = []  # parked imports that this one resolved

    async def run(self) -> None:
        if self.month is None or not self.payers:
            await self._commit_empty()
        else:
            await self._commit_month(BillingPeriod(self.month, self.vendor))

    async def _commit_month(self, period: BillingPeriod) -> None:
        state = await months.lock_month(self.db, self.scope, period)
        current = await records.load_current_imports(self.db, self.scope, period, self.payers)
        report = await build_report(self.db, self.scope, self.vendor, self.prepared)
        # another import of the same delivery may have been committed, and replaced, meanwhile
        same = await records.find_same_delivery(
            self.db, self.scope, self.vendor, self.delivery["content_hash"]
        )
        if state.closed:
            await self._report_drift(period, report)
        elif same is not None and same.is_current:
            report["identical_import"] = same.import_id
            await self._finish(ImportState.unchanged, report)
        elif same is not None or self._is_older(current):
            await self._finish(ImportState.refused, report, problem=OLDER_DELIVERY)
        elif not self.is_released and (reason := await self._find_doubt(period)):
            await self._park(period, report, reason)
        else:
            await self._replace_or_park(period, current, report)

    async def _commit_empty(self) -> None:
        """An empty delivery is accepted unless costs already exist for the month."""
        period, is_open = None, False
        if self.month is not None:
            period = BillingPeriod(self.month, self.vendor)
            is_open = not (await months.lock_month(self.db, self.scope, period)).closed
        report = await build_report(self.db, self.scope, self.vendor, self.prepared)
        reason = None if self.is_released else self._find_verification_failure()
        if reason and period and is_open:
            await self._park(period, report, reason)
        elif reason:
            await self._finish(ImportState.refused, report, problem=NOTHING_READ)
        elif await lake_records.has_costs(self.db, self.scope, self.vendor, self.month):
            await self._finish(ImportState.refused, report, problem=EMPTY_DELIVERY)
        else:
            await self._finish(ImportState.done, report)

    # ── decisions ────────────────────────────────────────────────────────────────────────────────

    def _is_older(self, others: Sequence[Row]) -> bool:
        """Deliveries can only be compared if both have an assembly time."""
        assembled_at = self.delivery["assembled_at"]
        return assembled_at is not None and any(
            row.assembled_at is not None and row.assembled_at > assembled_at for row in others
        )

    async def _find_doubt(self, period: BillingPeriod) -> str | None:
        """Return why the month should be reviewed before it is used."""
        return self._find_verification_failure() or await find_anomaly(
            self.db,
            self.scope,
            period,
            self.prepared.totals,
            provisional=self.prepared.provisional,
        )

    def _find_verification_failure(self) -> str | None:
        if self.prepared.unverified_file is not None:
            return f"the second reading could not read {self.prepared.unverified_file}"
        if self.prepared.differences:
            return "the stored sums differ from the delivered files"
        return None

    # ── changes ──────────────────────────────────────────────────────────────────────────────────

    async def _report_drift(self, period: BillingPeriod, report: dict[str, Any]) -> None:
        """A closed month is not changed; entries that would bill the difference are proposed.

        After late costs, a delivery of what counts is a change too: somebody may have settled them.
        """
        drift = await find_drift(self.db, self.scope, period, self.prepared)
        proposals = []
        if drift:
            proposals = await propose_entries(
                self.db,
                self.scope,
                period,
                payers=self.payers,
                sums=self._read_batches("sums"),
                product_names=self._read_table("product_names"),
            )
        differs = bool(drift) or await records.has_drift_import(
            self.db, self.scope, period, self.payers
        )
        state = ImportState.drift if differs else ImportState.unchanged
        await self._finish(state, report | {"drift": drift, "proposals": proposals})

    async def _replace_or_park(
        self, period: BillingPeriod, current: Sequence[Row], report: dict[str, Any]
    ) -> None:
        """The month counts only if the database returns the sums that were delivered."""
        try:
            async with self.db.begin_nested():
                vanished_entries = await self._replace_month(period, current)
                await verify_stored_sums(self.db, self.scope, period, self.prepared)
        except StoredSumsDiffer as error:
            self.superseded.clear()  # the savepoint kept them parked
            report["differences"] = error.differences
            await self._park(period, report, SUMS_LOST)
        else:
            report["noticed"]["vanished_entries"] = vanished_entries
            await schedule_budget_evaluation(self.db, self.scope, self.import_id, period.month)
            await self._finish(ImportState.done, report)

    async def _park(self, period: BillingPeriod, report: dict[str, Any], reason: str) -> None:
        """An import that was released before must be released again."""
        if not self.is_released:
            await self._add_files(period)
        await months.park_month(self.db, self.scope, period, self.import_id, reason)
        await self._finish(ImportState.parked, report, parked_reason=reason, release_reason=None)

    async def _add_files(self, period: BillingPeriod) -> None:
        await lake_records.add_files(
            self.db, self.scope, period, import_id=self.import_id, files=self.prepared.files
        )

    async def _replace_month(self, period: BillingPeriod, current: Sequence[Row]) -> list[str]:
        """Return the ids of applied entries that the vendor's data no longer contains."""
        if not self.is_released:
            await self._add_files(period)
        await lake_records.replace_month(
            self.db,
            self.scope,
            period,
            import_id=self.import_id,
            payers=self.prepared.payers,
            provisional=self.prepared.provisional
            or bool(self.row.provisional and self.is_released),
            sums=self._read_batches("sums"),
            tag_sums=self._read_batches("tag_sums"),
            tagged_sums=self._read_batches("tagged_sums") if self.prepared.tag_keys else None,
            tag_keys=self.prepared.tag_keys,
        )
        await replace_derived_sums(self.db, self.scope, period, self.payers, self._read_batches)
        vanished_entries = await self._replace_derived_entries(period)
        await self._unpark(period)
        files = await lake_records.delete_unused_files(
            self.db, self.scope, [row.import_id for row in current]
        )
        await self._remove_files(files, due=clock.now() + READERS_FINISH_WITHIN)
        return vanished_entries

    async def _replace_derived_entries(self, period: BillingPeriod) -> list[str]:
        entries = build_entries(self._read_table("entries"), self.payers)
        reservations = build_reservations(
            self._read_table("reservations"), self.payers, self.vendor
        )
        vanished: list[str] = []
        for payer_id in self.payers:
            replacement = await replace_entries(
                self.db, self.scope, period, payer_id, entries[payer_id]
            )
            vanished += [entry.entry_id for entry in replacement.vanished]
            await replace_reservations(
                self.db, self.scope, period, payer_id, reservations[payer_id]
            )
        return vanished

    async def _remove_files(self, files: list[str], *, due: datetime) -> None:
        if files:
            payload = {"files": files}
            await add_job(self.db, self.scope, REMOVE_LAKE_FILES, due=due, payload=payload)

    async def _unpark(self, period: BillingPeriod) -> None:
        """Resolve parked imports that are not newer and whose payers are all in this one.

        Lines that only the second reading found count too. If it could not read a file without
        lines either, the payers are unknown, and the import has to be released.
        """
        for parked in await records.list_parked_imports(self.db, self.scope, period):
            report = exact_json.decode_stored(parked.report)
            found = [*report["totals"], *report["differences"]]
            parked_payers = {row["payer_id"] for row in found}
            if not parked_payers or not parked_payers <= self.prepared.payers.keys():
                continue
            if self._is_older([parked]):
                continue
            await months.unpark_month(self.db, self.scope, period, parked.import_id)
            if parked.import_id != self.import_id:
                refused: dict[str, Any] = {"state": ImportState.refused, "problem": SUPERSEDED}
                await records.change_import(self.db, self.scope, parked.import_id, **refused)
                self.superseded.append(ImportOutcome(parked, **refused))

    async def _finish(self, state: ImportState, report: Mapping[str, Any], **values: Any) -> None:
        fields = dict(self.delivery)
        if not self.is_released:
            fields |= {"lines": self.prepared.lines, "provisional": self.prepared.provisional}
        await records.change_import(
            self.db,
            self.scope,
            self.import_id,
            state=state,
            month=self.month,
            report=report,
            **fields,
            **values,
        )
        if state is not ImportState.parked:
            await self._unpark_month()
            await schedule_folder_removal(self.db, self.scope, self.import_id)
        if state not in (ImportState.parked, ImportState.done):
            await self._remove_files(
                [file["path"] for file in self.prepared.files], due=clock.now()
            )
        outcome = ImportOutcome(self.row, state, self.month, report, values.get("problem"))
        await announce_imports(self.db, self.scope, *self.superseded, outcome)
        if state in (ImportState.done, ImportState.parked, ImportState.drift):
            await self._audit(state, fields.get("lines"))

    async def _unpark_month(self) -> None:
        """An import that was released no longer keeps its month parked, whatever its outcome."""
        if self.month is not None:
            period = BillingPeriod(self.month, self.vendor)
            await months.unpark_month(self.db, self.scope, period, self.import_id)

    async def _audit(self, state: ImportState, lines: int | None) -> None:
        await audit.append_entry(
            self.db,
            actor=self.row.created_by,
            actor_name="",
            client_id="",
            action="import_costs",
            resource=f"costs/{self.vendor}/{self.month}",
            company_id=None,
            request_id=self.import_id,
            sent={"import_id": self.import_id, "state": state.value, "lines": lines},
        )

    # ── files of the preparation ─────────────────────────────────────────────────────────────────

    def _read_table(self, name: str) -> pa.Table:
        import pyarrow.parquet as pq

        return pq.read_table(self._file(name))

    def _read_batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """For files that may be too large for the memory."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self._file(name), pre_buffer=False) as file:
            yield from file.iter_batches(ROWS_PER_STATEMENT)

    def _file(self, name: str) -> Path:
        return working_folder(self.settings, self.import_id) / f"{name}.parquet"


async def schedule_budget_evaluation(
    db: AsyncConnection, scope: TenantScope, import_id: str, month: str
) -> None:
    """Add the job in the transaction that makes the import current."""
    await add_job(
        db,
        scope,
        EVALUATE_BUDGETS,
        due=clock.now(),
        subject=import_id,
        payload={"month": month},
    )


async def find_anomaly(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    totals: Sequence[Mapping[str, Any]],
    *,
    provisional: bool,
) -> str | None:
    """Return why the month should be reviewed before it is billed; `totals` are the import's."""
    usage: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for total in totals:
        if total["kind"] == USAGE:
            key = (total["payer_id"], total["currency"])
            usage[key] = add_decimals(usage[key], Decimal(total["cost"]))
    previous_usage = await load_previous_usage(db, scope, period)
    for (payer_id, currency), amount in sorted(usage.items()):
        previous = previous_usage.get((payer_id, currency), [])
        reason = describe_anomaly(amount, previous, provisional=provisional)
        if reason is not None:
            return f"payer {payer_id}: {reason}"
    return None


async def replace_derived_sums(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    payers: Collection[str],
    read_batches: ReadBatches,
) -> None:
    """`read_batches` reads a file of the preparation by its name."""
    await replace_product_names(
        db, scope, period, payers=payers, names=read_batches("product_names")
    )
    for table in USAGE_TABLES:
        await replace_usage(db, scope, period, table, payers=payers, rows=read_batches(table.name))


async def fail_import(
    db: AsyncConnection, scope: TenantScope, import_id: str, problem: dict[str, Any]
) -> None:
    """Mark an import as failed; remove its working folder and the files it left in the lake.

    A released import is parked again: only another release can free its month.
    """
    row = await records.lock_import(db, scope, import_id)
    assert row is not None, "an import is never deleted"
    if row.release_reason is not None:
        await records.change_import(
            db, scope, import_id, state=ImportState.parked, release_reason=None
        )
        await announce_imports(db, scope, ImportOutcome(row, ImportState.parked))
        return
    await records.change_import(db, scope, import_id, state=ImportState.failed, problem=problem)
    await schedule_folder_removal(db, scope, import_id)
    await remove_unrecorded_files(db, scope, row)
    await announce_imports(db, scope, ImportOutcome(row, ImportState.failed, problem=problem))


async def remove_unrecorded_files(db: AsyncConnection, scope: TenantScope, row: Row) -> None:
    """An interrupted preparation may have left files in the lake; no record names them."""
    if row.release_reason is not None:  # the files of a parked import have a record
        return
    files = {
        "organisation_id": scope.organisation_id,
        "vendor": row.vendor,
        "import_id": row.import_id,
    }
    await add_job(
        db, scope, REMOVE_LAKE_FILES, due=clock.now(), subject=row.import_id, payload=files
    )
