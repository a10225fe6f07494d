"""An installation that is backed up while somebody writes; its log is received elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nimbill.database.embedded_postgres import (
    Address,
    bin_folder,
    embedded_postgres,
    superuser_address,
)
from nimbill.database.embedded_postgres.binaries import clean_environment
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.identity.organisations.operations import NewOrganisation
from tests.commands.installations import BilledMonth, fill_service
from tests.commands.run_command import run_command
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.proof.real_server import environment_for, stop
from tests.running_service import Service, running_service
from tests.temporary_database import execute_sql

GROUPS = "/m/core/billinggroup"
SLOT = "archive"
PARTIAL = ".partial"
SECONDS_BETWEEN_WRITES = 0.05
SEALED = REQUIRED_FIELDS | {"billinggroup_id": "sealed"}
LARGE_MONTH, LINES_PER_PART = "2026-08", 1_000_000
SEALED_KEY = {"Idempotency-Key": "sealed"}  # the stored response is encrypted


@dataclass
class BackupSource:
    data: Path
    key_copy: Path  # in another place than the backups
    wal: Path
    database: Address
    superuser: Address
    service: Service
    billed: BilledMonth
    writer: NewOrganisation
    sealed: Any
    pdf: bytes
    acknowledged: dict[str, float] = field(default_factory=dict)  # name of a group to its time
    failures: list[str] = field(default_factory=list)

    @property
    def environment(self) -> Mapping[str, str]:
        key_file = str(self.service.settings.key_file)
        return environment_for(
            self.data, {"NIMBILL_DATABASE_URL": self.database.url, "NIMBILL_KEY_FILE": key_file}
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Create billing groups, one after the other, until the block ends."""
        stopped = threading.Event()

        def write() -> None:
            number = 0
            while not stopped.wait(SECONDS_BETWEEN_WRITES):
                number += 1
                body = REQUIRED_FIELDS | {"billinggroup_id": f"W-{number:06}"}
                headers = self.service.root(self.writer)
                answer = self.service.http.post(GROUPS, json=body, headers=headers)
                if answer.status_code == 200:
                    self.acknowledged[body["billinggroup_id"]] = time.monotonic()
                else:
                    self.failures.append(f"a write was answered {answer.status_code}")

        thread = threading.Thread(target=write)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()

    def wait_for_writes(self, number: int) -> None:
        """Wait until so many more were acknowledged."""
        enough = len(self.acknowledged) + number
        while len(self.acknowledged) < enough and not self.failures:
            time.sleep(0.01)

    def import_lines(self, lines: int, folder: Path) -> None:
        """Import one more month, which has so many lines."""
        parts = [LINES_PER_PART] * (lines // LINES_PER_PART)
        files = write_files(
            SyntheticMonth(month=LARGE_MONTH, lines=sum(parts)),
            Dialect.aws_cur_snake,
            folder,
            file_format="parquet",
            parts=parts,
        )
        organisation_id = self.billed.organisation.organisation_id
        options = ("--vendor", "aws", "--month", LARGE_MONTH, "--organisation", organisation_id)
        result = run_command("import", *map(str, files.parts), *options, env=self.environment)
        assert result.returncode == 0, result.stderr

    def copy_wal(self, target: Path, *, since: str) -> float:
        """Copy what has been archived by now, from this segment on; return the time."""
        at = time.monotonic()
        target.mkdir()
        for path in sorted(self.wal.iterdir()):
            if path.name >= since:
                try:
                    shutil.copy(path, target / path.name.removesuffix(PARTIAL))
                except FileNotFoundError:  # renamed, because the segment is full
                    complete = path.with_name(path.name.removesuffix(PARTIAL))
                    shutil.copy(complete, target)
        return at


def run_program(program: str, address: Address, *arguments: str) -> str:
    """Run a program of PostgreSQL; return its error, or an empty text."""
    result = subprocess.run(
        [str(bin_folder() / program), *_connection(address), *arguments],
        env={**clean_environment(), "PGPASSWORD": address.password},
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{program}: {result.stderr.strip()[-400:]}" if result.returncode else ""


def _connection(address: Address) -> list[str]:
    return [f"--host={address.host}", f"--port={address.port}", f"--username={address.user}"]


@contextmanager
def backup_source(folder: Path) -> Iterator[BackupSource]:
    data, key_file = folder / "data", folder / "key-place" / "key"
    wal = folder / "wal"
    wal.mkdir()
    with ExitStack() as stack:
        database = stack.enter_context(embedded_postgres(data / "postgres"))
        superuser = superuser_address(data / "postgres")
        service = stack.enter_context(
            running_service(database.url, data, NIMBILL_KEY_FILE=str(key_file))
        )
        billed = fill_service(service, folder / "costs")
        headers = service.root(billed.organisation)
        sealed = service.http.post(GROUPS, json=SEALED, headers=headers | SEALED_KEY)
        pdf = service.http.get(invoice_path(billed) + "/pdf", headers=headers)
        assert (sealed.status_code, pdf.status_code) == (200, 200), (sealed.text, pdf.text)
        key_copy = folder / "key-copy"
        shutil.copy2(key_file, key_copy)
        writer = service.new_organisation("Writer")
        stack.enter_context(_archived_wal(superuser, wal))
        yield BackupSource(
            data,
            key_copy,
            wal,
            database,
            superuser,
            service,
            billed,
            writer,
            sealed.json(),
            pdf.content,
        )


def invoice_path(billed: BilledMonth) -> str:
    return f"/m/core/invoices/2026-09/{billed.company_id}/aws"


@contextmanager
def _archived_wal(superuser: Address, wal: Path) -> Iterator[None]:
    """Receive the write-ahead log all the time, as the operating guide describes."""
    execute_sql(superuser, "SELECT pg_create_physical_replication_slot($1, true)", SLOT)
    line = [str(bin_folder() / "pg_receivewal"), *_connection(superuser)]
    receiver = subprocess.Popen(
        [*line, f"--directory={wal}", f"--slot={SLOT}", "--synchronous", "--no-loop"],
        env={**clean_environment(), "PGPASSWORD": superuser.password},
        cwd=os.fspath(wal),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        stop(receiver)
