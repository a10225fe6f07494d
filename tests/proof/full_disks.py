"""Disks of a fixed size for the database, the data folder and the log, which become really full."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import asyncpg
import httpx
import structlog

from nimbill.database.embedded_postgres import embedded_postgres, restart_if_dead, superuser_address
from nimbill.foundation.logs import configure_logs
from nimbill.imports.import_failure import describe_failure
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.imports.aws_reports import CUSTOMER, build_report, report_line, write_report
from tests.imports.in_process_importer import PATH, InProcessImporter, load_totals
from tests.invoicing.exports.export_requests import (
    GROUPS,
    create_link,
    download_content,
    parse_rows,
    request_export,
)
from tests.proof.disk.mounted_disk import MOUNT_REFUSED
from tests.proof.row import NotPossibleHere
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service, running_service
from tests.temporary_database import execute_sql

MEBIBYTES = {"database": 400, "data": 64, "log": 1}
CYCLES = ("database", "journal", "data", "log")
# 8 MB of the journal, and of nothing else
LARGE_MESSAGE = "SELECT pg_logical_emit_message(true, 'proof', repeat('x', 8000000))"
MESSAGES_MAX = 40
REMARKS = "much " * 20
LOGGED_REQUESTS = 40  # the first lines fit into the rest of the log's last page
WRITES_MAX = 400  # a full database takes what fits into the pages that it has
RECOVERY_SECONDS_MAX = 120

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class SmallDisk:
    folder: Path

    def fill(self) -> None:
        """Until not one more byte can be written."""
        descriptor = os.open(self.folder / "filler", os.O_WRONLY | os.O_CREAT)
        for size in (2**20, 2**12, 1):
            try:
                while True:
                    os.write(descriptor, bytes(size))
            except OSError:
                continue
        os.close(descriptor)

    def free(self) -> None:
        (self.folder / "filler").unlink()


@contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[SmallDisk]:
    folder.mkdir()
    options = f"size={mebibytes}m,mode=755".encode()
    if sys.platform != "linux" or _libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options):
        raise NotPossibleHere(MOUNT_REFUSED)
    try:
        yield SmallDisk(folder)
    finally:
        _libc.umount2(os.fsencode(folder), 2)  # also while files are open


@dataclass
class FullDisks:
    """A service in this process, and what it was asked to store."""

    disks: dict[str, SmallDisk]
    service: Service
    importer: InProcessImporter
    cost: int = 0  # of the month that counts
    stored: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)
    _number: int = 0

    @property
    def database(self) -> Path:
        return self.disks["database"].folder / "postgres"

    def run_cycle(self, name: str) -> None:
        """Fill one disk, use the service, free the disk, and use it again."""
        disk = self.disks["database" if name == "journal" else name]
        work = {
            "database": self.write,
            "journal": self.stop_database,
            "data": self.import_month,
            "log": self.write_log,
        }
        disk.fill()
        try:
            work[name]()
        finally:
            disk.free()
        until = monotonic() + RECOVERY_SECONDS_MAX
        while not self.create_group():
            if monotonic() > until:
                self.misses.append(f"{name}: no write succeeded after the disk was free")
                return
            restart_if_dead(self.database)  # again and again, as `nimbill serve` does
            sleep(0.2)
        self.check_export(name)
        self.cost += 1
        lines = [report_line(str(self.cost))]
        self.importer(write_report(self.importer.folder / f"{self.cost}.csv", lines))
        if load_totals(self.importer) != {CUSTOMER: self.cost}:
            self.misses.append(f"{name}: {load_totals(self.importer)} after the disk was free")

    def write(self) -> None:
        """Until the database is full for the service too."""
        for _ in range(WRITES_MAX):
            exported = request_export(self.service, GROUPS, {"redo": False})
            if not self.create_group() or not self.is_success(exported):
                return
        self.misses.append("a full disk of the database was not noticed")

    def stop_database(self) -> None:
        """PostgreSQL stops if it cannot write its journal."""
        superuser = superuser_address(self.database)
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            for _ in range(MESSAGES_MAX):
                execute_sql(superuser, LARGE_MESSAGE)
        if self.create_group():
            self.misses.append("the journal of the database was not full")

    def write_log(self) -> None:
        """A log that cannot be written must not fail a request."""
        for _ in range(LOGGED_REQUESTS):
            if not self.create_group():
                self.misses.append("a full disk of the log failed a request")
                return
        self.check_export("log")

    def import_month(self) -> None:
        before = load_totals(self.importer)
        line = report_line(f"{self.cost}.5")  # of no other import
        files = {"file": ("new.csv", build_report([line] * 1000))}
        answer = self.service.http.post(
            PATH, data={"vendor": "aws"}, files=files, headers=self.importer.headers
        )
        if self.is_success(answer):
            self.misses.append("an upload to a full disk was accepted")
        source = write_report(self.importer.folder / "full.csv", [line])
        try:
            self.importer.prepare(self.importer.start(source))
            self.misses.append("an import on a full disk succeeded")
        except Exception as error:  # noqa: BLE001  # users need a sentence about it
            if describe_failure(error) is None:
                self.misses.append(f"an import on a full disk failed with {error!r}")
        if load_totals(self.importer) != before:
            self.misses.append("an import on a full disk is visible")
        self.check_export("data")

    def create_group(self) -> bool:
        self._number += 1
        name = f"{self._number:05}"
        body = REQUIRED_FIELDS | {"billinggroup_id": name, "remarks": REMARKS}
        answer = self.service.http.post(
            "/m/core/billinggroup", json=body, headers=self.service.root()
        )
        is_stored = self.is_success(answer)
        (self.stored if is_stored else self.refused).add(name)
        return is_stored

    def is_success(self, answer: httpx.Response) -> bool:
        """Everything else must be 503 or 507 with Retry-After, as problem+json."""
        self.statuses[answer.status_code] += 1
        if answer.is_success:
            return True
        media_type = answer.headers.get("content-type")
        if answer.status_code not in (503, 507) or "retry-after" not in answer.headers:
            self.misses.append(f"a full disk answered {answer.status_code}: {answer.text[:200]}")
        elif media_type != "application/problem+json":
            self.misses.append(f"a full disk answered as {media_type}")
        return False

    def check_export(self, name: str) -> None:
        """A file that is served has every group that was acknowledged, and ends with a line."""
        content = download_content(self.service, create_link(self.service))
        found = {row[0] for row in parse_rows(content)[1:]}
        if not self.stored <= found <= self.stored | self.refused or content[-2:] != b"\r\n":
            lost = sorted(self.stored - found)
            self.misses.append(f"{name}: the file is incomplete: {lost[:3]}, {len(found)} groups")


@contextmanager
def full_disks(environment: RowEnvironment) -> Iterator[FullDisks]:
    with ExitStack() as stack:
        place = environment.new_folder("x8-disks")
        disks = {
            name: stack.enter_context(small_disk(place / name, mebibytes))
            for name, mebibytes in MEBIBYTES.items()
        }
        stack.callback(partial(structlog.configure, **structlog.get_config()))
        log = stack.enter_context((disks["log"].folder / "service.log").open("a", buffering=1))
        with redirect_stderr(log):
            configure_logs()
        url = stack.enter_context(embedded_postgres(disks["database"].folder / "postgres")).url
        key = {"NIMBILL_KEY_FILE": str(place / "key"), "NIMBILL_DISK_RESERVE_MIB": "0"}
        service = stack.enter_context(running_service(url, disks["data"].folder, **key))
        service.organisation = service.new_organisation("X8 disks")
        importer = InProcessImporter(service, service.organisation, place / "files")
        yield FullDisks(disks, service, importer)
