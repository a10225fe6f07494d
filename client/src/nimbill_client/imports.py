"""Imports of a vendor's cost files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from nimbill_client.bodies import ImportRecord, ImportStarted
from nimbill_client.clock import Deadline
from nimbill_client.connection import Call, Connection
from nimbill_client.errors import WaitTimeout
from nimbill_client.pages import iterate_pages
from nimbill_client.record import Vendor

PATH = "/m/core/costs/imports"
IMPORT_PATH = "/m/core/costs/imports/{import_id}"
UNFINISHED_STATES = frozenset({"waiting", "running"})

POLL_MILLISECONDS_MAX = 2000


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
