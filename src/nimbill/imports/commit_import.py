"""The month is taken in: everything that changes, in one transaction, or nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.operations import replace_entries
from nimbill.adjustments.recalculation.records import plain
from nimbill.adjustments.reserved_instances.operations import replace_reservations
from nimbill.audit import records as audit
from nimbill.costs.lake import records as costs
from nimbill.costs.lake.bulk_copy import ROWS_AT_ONCE
from nimbill.costs.months import records as months
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.settings import Settings
from nimbill.imports import records
from nimbill.imports.anomaly_check import unusual
from nimbill.imports.bodies import ImportState
from nimbill.imports.derived_entries import entries_of, reservations_of
from nimbill.imports.preparation import PreparedImport, older_assembly
from nimbill.imports.proposals import proposed_entries
from nimbill.jobs.records import add_job

if TYPE_CHECKING:
    import pyarrow as pa

basis = chosen("cost-imports")
drift_basis = chosen("drift")
parked_basis = chosen("parked-months")
empty_basis = chosen("empty-deliveries")

EMPTY_DELIVERY = {
    "status": 409,
    "code": "empty_delivery",
    "detail": "the delivery holds no line; costs that count already stay as they are",
}

NOTHING_READ = {
    "status": 409,
    "code": "nothing_read",
    "detail": "no line was read, and a second reading does not find the same",
}

REMOVE_LAKE_FILES = "remove_lake_files"
TIDY_UP = "tidy_up_after_import"
READERS_FINISH_WITHIN = timedelta(hours=1)


def folder_of_import(settings: Settings, import_id: str) -> Path:
    return settings.data / "imports" / import_id


async def commit_import(
    db: AsyncConnection,
    settings: Settings,
    scope: TenantScope,
    import_id: str,
    prepared: PreparedImport,
) -> None:
    """What came out is decided here, under the month's lock, and told in the import's record."""
    row = await records.lock_import(db, scope, import_id)
    assert row is not None, "an import is never deleted"
    found = {
        "identity": prepared.identity or row.identity,
        "assembly": prepared.assembly or row.assembly,
        "assembled_at": _moment(prepared.assembled_at) or row.assembled_at,
    }
    if prepared.problem is not None:
        await records.change_import(
            db, scope, import_id, state=ImportState.refused, problem=prepared.problem, **found
        )
        await _tidy_up(db, scope, import_id)
    elif prepared.unchanged is not None:
        await _unchanged(db, scope, import_id, prepared.unchanged, found)
        await _tidy_up(db, scope, import_id)
    else:
        await _Month(db, settings, scope, row, prepared, found).take_in()


def _moment(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written)


async def _unchanged(
    db: AsyncConnection, scope: TenantScope, import_id: str, counting: str, found: dict[str, Any]
) -> None:
    same = await records.find_import(db, TenantScope(scope.organisation_id), counting)
    month = None if same is None else same.month
    await records.change_import(
        db, scope, import_id, state=ImportState.unchanged, month=month, **found
    )


async def _tidy_up(db: AsyncConnection, scope: TenantScope, import_id: str) -> None:
    payload = {"import_id": import_id}
    await add_job(db, scope, TIDY_UP, due=clock.now(), subject=import_id, payload=payload)


class _Month:
    """One import on its way into the records."""

    def __init__(
        self,
        db: AsyncConnection,
        settings: Settings,
        scope: TenantScope,
        row: Row,
        prepared: PreparedImport,
        found: dict[str, Any],
    ) -> None:
        self.db, self.settings, self.scope = db, settings, scope
        self.row, self.prepared, self.found = row, prepared, found
        self.vendor, self.import_id = row.vendor, row.import_id
        self.month = prepared.month or row.month
        self.released = row.release_reason is not None

    async def take_in(self) -> None:
        if self.month is None or not self.prepared.payers:
            await self._take_nothing()
            return
        state = await months.lock_month(self.db, self.scope, BillingPeriod(self.month, self.vendor))
        counting = await records.counting_imports(
            self.db, self.scope, self.vendor, self.month, list(self.prepared.payers)
        )
        report = await self._report()
        if state.closed:
            drift = await self._drift()
            after = ImportState.drift if drift else ImportState.unchanged
            proposals = await self._proposals() if drift else []
            await self._finish(after, report | {"drift": drift, "proposals": proposals})
        elif self._counts_already(counting):
            await self._finish(ImportState.unchanged, report)
        elif self._is_older(counting):
            await self._finish(ImportState.refused, report, problem=older_assembly())
        elif not self.released and (doubt := self._unsure() or await self._unusual()):
            await self._park(report, doubt)
        else:
            report["noticed"]["vanished_entries"] = await self._replace(counting)
            await self._finish(ImportState.done, report)

    async def _take_nothing(self) -> None:
        """No line tells whose month this is: a valid nothing, unless it might be to replace one."""
        is_open = False
        if self.month is not None:
            state = await months.lock_month(
                self.db, self.scope, BillingPeriod(self.month, self.vendor)
            )
            is_open = not state.closed
        report = await self._report()
        doubt = None if self.released else self._unsure()
        if doubt and is_open:
            await self._park(report, doubt)
        elif doubt:
            await self._finish(ImportState.refused, report, problem=NOTHING_READ)
        elif await costs.anything_counts(self.db, self.scope, self.vendor, self.month):
            await self._finish(ImportState.refused, report, problem=EMPTY_DELIVERY)
        else:
            await self._finish(ImportState.done, report)

    def _table(self, name: str) -> pa.Table:
        import pyarrow.parquet as pq

        return pq.read_table(self._file(name))

    def _batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """Of those that may be long; read as they are asked for."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self._file(name), pre_buffer=False) as file:
            yield from file.iter_batches(ROWS_AT_ONCE)

    def _file(self, name: str) -> Path:
        return folder_of_import(self.settings, self.import_id) / f"{name}.parquet"

    def _counts_already(self, counting: Sequence[Row]) -> bool:
        """Somebody else brought the same delivery meanwhile."""
        ours = self.found["identity"]
        return bool(counting) and all(one.identity == ours for one in counting)

    def _is_older(self, counting: Sequence[Row]) -> bool:
        """Than what counts for any of its payers; only where both say when they were assembled."""
        ours = self.found["assembled_at"]
        return ours is not None and any(
            one.assembled_at is not None and one.assembled_at > ours for one in counting
        )

    def _unsure(self) -> str | None:
        """Why what was stored might not be what was delivered."""
        if self.prepared.unchecked is not None:
            return f"the second reading could not read {self.prepared.unchecked}"
        differ = "the stored sums differ from the delivered files"
        return differ if self.prepared.differences else None

    async def _unusual(self) -> str | None:
        return await unusual(
            self.db,
            self.scope,
            self.vendor,
            self.month,
            self.prepared.totals,
            unfinished=self.prepared.provisional,
        )

    async def _park(self, report: dict[str, Any], reason: str) -> None:
        await self._keep_files()
        await months.park_month(
            self.db, self.scope, BillingPeriod(self.month, self.vendor), self.import_id, reason
        )
        await self._finish(ImportState.parked, report, parked_reason=reason)

    async def _keep_files(self) -> None:
        await costs.add_files(
            self.db,
            self.scope,
            import_id=self.import_id,
            vendor=self.vendor,
            month=self.month,
            files=self.prepared.files,
        )

    async def _replace(self, counting: Sequence[Row]) -> list[str]:
        """Readers see the old month until this is committed, and then the new one, whole.

        The ids of entries that are applied and that the vendor's data no longer has.
        """
        if not self.released:
            await self._keep_files()
        payers = list(self.prepared.payers)
        await costs.replace_month(
            self.db,
            self.scope,
            vendor=self.vendor,
            month=self.month,
            import_id=self.import_id,
            payers=self.prepared.payers,
            provisional=self.prepared.provisional or bool(self.row.provisional and self.released),
            sums=self._batches("sums"),
            tag_sums=self._batches("tag_sums"),
        )
        entries = entries_of(self._table("entries"), payers)
        reservations = reservations_of(self._table("reservations"), payers, self.vendor)
        vanished: list[str] = []
        for payer_id in payers:
            replaced_entries = await replace_entries(
                self.db,
                self.scope,
                vendor=self.vendor,
                payer_id=payer_id,
                month=self.month,
                entries=entries[payer_id],
            )
            vanished += [one.entry_id for one in replaced_entries.vanished]
            await replace_reservations(
                self.db,
                self.scope,
                vendor=self.vendor,
                payer_id=payer_id,
                month=self.month,
                reservations=reservations[payer_id],
            )
        await self._unpark()
        await self._leave_behind([one.import_id for one in counting])
        return vanished

    async def _leave_behind(self, import_ids: list[str]) -> None:
        """Files of imports that count no longer; whoever reads them at the moment may finish."""
        files = await costs.forget_files(self.db, self.scope, import_ids)
        await self._remove(files, due=clock.now() + READERS_FINISH_WITHIN)

    async def _remove(self, files: list[str], *, due: datetime) -> None:
        if files:
            payload = {"files": files}
            await add_job(self.db, self.scope, REMOVE_LAKE_FILES, due=due, payload=payload)

    async def _unpark(self) -> None:
        """What was parked before for the same payers is settled by this import, or is this one."""
        for parked in await records.parked_imports(self.db, self.scope, self.vendor, self.month):
            payers = {total["payer_id"] for total in exact_json.read_own(parked.report)["totals"]}
            if not payers <= self.prepared.payers.keys():
                continue
            await months.unpark_month(
                self.db, self.scope, BillingPeriod(self.month, self.vendor), parked.import_id
            )
            if parked.import_id != self.import_id:
                problem = {"status": 409, "code": "superseded", "detail": "a later import counts"}
                await records.change_import(
                    self.db,
                    self.scope,
                    parked.import_id,
                    state=ImportState.refused,
                    problem=problem,
                )
        await months.unpark_month(
            self.db, self.scope, BillingPeriod(self.month, self.vendor), self.import_id
        )

    async def _finish(self, state: ImportState, report: Mapping[str, Any], **values: Any) -> None:
        kept = dict(self.found)
        if not self.released:
            kept |= {"lines": self.prepared.lines, "provisional": self.prepared.provisional}
        await records.change_import(
            self.db,
            self.scope,
            self.import_id,
            state=state,
            month=self.month,
            report=report,
            **kept,
            **values,
        )
        if state is not ImportState.parked:
            await _tidy_up(self.db, self.scope, self.import_id)
        if state not in (ImportState.parked, ImportState.done):
            await self._remove([file["path"] for file in self.prepared.files], due=clock.now())
        if state in (ImportState.done, ImportState.parked, ImportState.drift):
            await audit.append(
                self.db,
                actor=self.row.made_by,
                actor_name="",
                client_id="",
                action="import_costs",
                resource=f"costs/{self.vendor}/{self.month}",
                company_id=None,
                request_id=self.import_id,
                sent={
                    "import_id": self.import_id,
                    "state": state.value,
                    "lines": kept.get("lines"),
                },
            )

    # ── what is told ─────────────────────────────────────────────────────────────────────────────

    async def _report(self) -> dict[str, Any]:
        unknown: dict[str, int] = defaultdict(int)
        currencies: dict[str, int] = defaultdict(int)
        paid_by: dict[str, set[str]] = defaultdict(set)
        for total in self.prepared.totals:
            currencies[total["currency"]] += total["lines"]
            if total["kind"] == "unknown":
                unknown[total["line_type"]] += total["lines"]
        for total in self.prepared.by_account:
            paid_by[total["customer_id"]].add(total["payer_id"])
        known = await records.payers_of_accounts(self.db, self.scope, self.vendor, list(paid_by))
        differ = {
            customer: sorted(payers)
            for customer, payers in sorted(paid_by.items())
            if customer in known and payers != {known[customer]}
        }
        return {
            "totals": [{**one, "cost": _plain(one["cost"])} for one in self.prepared.totals],
            "unknown_types": dict(unknown),
            "accounts_in_no_group": sorted(paid_by.keys() - known.keys()),
            "currencies": dict(currencies),
            "noticed": {**self.prepared.noticed, "paid_by_another": differ},
            "differences": [
                {**one, **{name: _plain(one[name]) for name in ("delivered", "stored")}}
                for one in self.prepared.differences
            ],
        }

    async def _drift(self) -> list[dict[str, Any]]:
        """By account, line type and currency: what counts, and what was delivered now."""
        new: dict[tuple[str, str, str], Decimal] = defaultdict(Decimal)
        for one in self.prepared.by_account:
            key = (one["customer_id"], one["line_type"], one["currency"])
            new[key] = costs.EXACT.add(new[key], Decimal(one["cost"]))
        old = await costs.sums_of_month(
            self.db, self.scope, self.vendor, self.month, list(self.prepared.payers)
        )
        nothing = Decimal(0)
        return [
            {
                "customer_id": key[0],
                "line_type": key[1],
                "currency": key[2],
                "counts": old.get(key, nothing),
                "delivered": new.get(key, nothing),
            }
            for key in sorted(old.keys() | new.keys())
            if old.get(key, nothing) != new.get(key, nothing)
        ]

    async def _proposals(self) -> list[dict[str, Any]]:
        return await proposed_entries(
            self.db,
            self.scope,
            vendor=self.vendor,
            month=self.month,
            payers=list(self.prepared.payers),
            sums=self._batches("sums"),
        )


def _plain(written: str) -> Decimal:
    """Without the zeros behind the last digit that counts."""
    return Decimal(plain(Decimal(written)))
