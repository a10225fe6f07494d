"""Imports of a vendor's cost files."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from nimbill_client.clock import Deadline
from nimbill_client.connection import Call, Connection
from nimbill_client.errors import WaitTimeout
from nimbill_client.pages import iterate_pages
from nimbill_client.record import Record, Vendor

PATH = "/m/core/costs/imports"
IMPORT_PATH = "/m/core/costs/imports/{import_id}"
UNFINISHED_STATES = frozenset({"waiting", "running"})
SUCCESS_STATES = frozenset({"done", "unchanged"})
POLL_MILLISECONDS_MAX = 2000


class ImportTotal(Record, frozen=True, kw_only=True):
    payer_id: str
    line_type: str
    kind: str
    currency: str
    cost: Decimal
    lines: int


class ProposedEntry(Record, frozen=True, kw_only=True):
    customer_id: str
    service: str
    marketplace: bool
    kind: str
    calc_type: str
    amount: Decimal
    currency: str
    description: str
    counts: Decimal
    delivered: Decimal
    payer_id: str = ""


class ImportProblem(Record, frozen=True, kw_only=True):
    status: int
    code: str
    detail: str
    file: str | None = None
    line: int | None = None
    column: str | None = None


class ImportNotice(Record, frozen=True, kw_only=True):
    code: str
    count: int
    affected: list[str]


class ImportRecord(Record, frozen=True, kw_only=True):
    import_id: str
    vendor: Vendor
    month: str | None
    sources: list[str]
    state: str
    progress: dict[str, Any]
    percent: int
    lines: int
    provisional: bool | None
    assembly: str | None
    totals: list[ImportTotal]
    unknown_types: dict[str, int]
    accounts_in_no_group: list[str]
    currencies: dict[str, int]
    identical_import: str | None
    noticed: dict[str, Any]
    warnings: list[ImportNotice]
    differences: list[dict[str, Any]]
    drift: list[dict[str, Any]]
    proposals: list[ProposedEntry]
    problem: ImportProblem | None
    parked_reason: str | None
    release_reason: str | None
    create_time: str
    update_time: str

    @property
    def counts(self) -> bool:
        """Whether the costs are used for invoices, now or since an earlier import."""
        return self.state in SUCCESS_STATES


class ImportStarted(Record, frozen=True, kw_only=True):
    import_id: str


class Imports:
    """An import runs in the background: start it, then wait for it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self) -> Iterator[ImportRecord]:
        """The newest first."""
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[ImportRecord], Call(method="GET", path=PATH, query=page)
            )
        )

    def read(self, import_id: str) -> ImportRecord:
        call = Call(method="GET", path=IMPORT_PATH, ids={"import_id": import_id})
        return self._connection.fetch(ImportRecord, call)

    def upload(
        self,
        vendor: Vendor,
        files: Sequence[Path],
        month: str | None = None,
        *,
        key: str | None = None,
    ) -> ImportStarted:
        """Upload cost files, up to 256 MiB together, and import them."""
        form = {"vendor": vendor, **({} if month is None else {"month": month})}
        call = Call(method="POST", path=PATH, form=form, files=files, key=key)
        return self._connection.fetch(ImportStarted, call)

    def start(
        self, vendor: Vendor, source: str, month: str | None = None, *, key: str | None = None
    ) -> ImportStarted:
        """Import from a folder or an object store that the service can read."""
        body = {"vendor": vendor, "source": source, **({} if month is None else {"month": month})}
        call = Call(method="POST", path=PATH, body=body, key=key)
        return self._connection.fetch(ImportStarted, call)

    def wait(self, import_id: str, seconds_max: int = 600) -> ImportRecord:
        """Return the import when it is finished, in whatever state.

        `done` and `unchanged` mean that the costs count. Raises WaitTimeout if it still runs.
        """
        deadline = Deadline(self._connection.clock, seconds_max)
        milliseconds = 100
        while True:
            record = self.read(import_id)
            if record.state not in UNFINISHED_STATES:
                return record
            if not deadline.sleep(milliseconds / 1000):
                raise WaitTimeout(
                    f"The import {import_id} is not finished after {seconds_max} seconds. It "
                    "continues in the service; wait for it again."
                )
            milliseconds = min(2 * milliseconds, POLL_MILLISECONDS_MAX)

    def release(self, import_id: str, reason: str, *, key: str | None = None) -> ImportStarted:
        """Let the costs of a parked import count as they are."""
        call = Call(
            method="POST",
            path="/m/core/costs/imports/{import_id}/release",
            ids={"import_id": import_id},
            body={"reason": reason},
            key=key,
        )
        return self._connection.fetch(ImportStarted, call)
