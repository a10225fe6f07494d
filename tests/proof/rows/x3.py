"""A power cut loses nothing that was acknowledged, neither of the database nor of files.

PostgreSQL and the data folder lie on a file system of our own that drops, at a cut, whatever was
not synced; tests/proof/disk/durable_state.py says exactly what. Clients create billing groups and
import costs meanwhile. All processes end with the cut, and everything starts again from what is
left; sometimes some unsynced pages are left too, so that pages of the database are torn. Files that
other parts of the product write, such as the key, checkpoints and backups, are written once each.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import asyncpg

from nimbill.database.embedded_postgres import EmbeddedPostgresError
from nimbill.imports.job_types import ATTEMPTS_MAX
from tests.durable_files import DURABLE_FILES
from tests.proof.acknowledged_writes import WritingClients, compare_with_records, find_lost
from tests.proof.broken_variants import BrokenVariant
from tests.proof.disk.mounted_disk import mounted_disk
from tests.proof.killed_postgres import find_unsafe_settings
from tests.proof.power_cuts import (
    ImportingClient,
    PoweredService,
    find_lost_imports,
    powered_service,
    request_token,
)
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment, print_progress
from tests.temporary_database import execute_sql

TARGET = (
    "200 power cuts that drop what was not synced: 0 acknowledged writes lost, 0 doubled, 0 in "
    "part; fsync, synchronous_commit and full_page_writes are on"
)
QUICK = 2
FULL = 200
SECONDS_MAX = 300

CLIENTS = 4
ANSWER_SECONDS_MAX = 60.0
MISSES_MAX = 5
PROGRESS_EVERY = 20
# An import takes longer than the time between two cuts, and one whose process died in every attempt
# is given up. So that it is never cut that often, the row waits for its end in between.
AFTER_IMPORT_EVERY = ATTEMPTS_MAX - 1
CHECKPOINT_EVERY = 3  # only a checkpoint writes pages of tables
TORN_EVERY = 2


@dataclass
class PowerCuts:
    powered: PoweredService
    groups: WritingClients
    imports: ImportingClient
    random: Random
    misses: list[str] = field(default_factory=list)

    def cut_once(self) -> None:
        """Cut the power at a random moment, start again, and compare."""
        number = self.powered.cuts + 1
        if number % AFTER_IMPORT_EVERY == 2:  # also in the quick size
            self.imports.wait_for_next()
        if number % CHECKPOINT_EVERY == 0:
            threading.Thread(target=self._write_checkpoint, daemon=True).start()
        time.sleep(self.random.uniform(0.02, 0.4))
        torn = number % TORN_EVERY == 0
        kept_share = self.random.uniform(0.1, 0.9) if torn else 0.0
        self.powered.cut_power(kept_share=kept_share, seed=str(self.random.random()))
        try:
            self.powered.start_postgres()
            lost = self._find_lost()
        except (EmbeddedPostgresError, asyncpg.PostgresError, OSError) as error:
            lost = [f"the database cannot be used: {error}"]
        self.misses += [f"cut {number}: {text}" for text in lost]
        back = time.monotonic()
        self.powered.start_worker()
        if lost:
            return
        if self.groups.wait_for_success(back, ANSWER_SECONDS_MAX) is None:
            self.misses.append(f"cut {number}: a client was not served again")

    def _find_lost(self) -> list[str]:
        superuser, data = self.powered.superuser, self.powered.data
        written, imported = (each.organisation_id for each in self.powered.organisations)
        return [
            *find_lost(self.groups.journal, superuser, written),
            *find_lost_imports(self.imports, superuser, imported, data / "lake"),
        ]

    def _write_checkpoint(self) -> None:
        with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):  # the cut ends it
            execute_sql(self.powered.superuser, "CHECKPOINT")


def measure(environment: RowEnvironment, size: int) -> Measurement:
    files, misses = _cut_after_each_file(environment)
    folder, random = environment.new_folder("x3"), environment.random("X3")
    with powered_service(folder, ["X3 groups", "X3 imports"]) as powered:
        misses += find_unsafe_settings(powered.superuser)
        url = powered.workers.url
        headers = [request_token(url, each) for each in powered.organisations]
        groups = WritingClients(
            url,
            headers[0],
            CLIENTS,
            answer_seconds_max=ANSWER_SECONDS_MAX,
            service_restarts=True,
        )
        imports = ImportingClient(url, headers[1], folder / "files")
        cuts = PowerCuts(powered, groups, imports, random)
        with imports, groups:
            _cut_repeatedly(cuts, size)
        misses += [*cuts.misses, *imports.misses, *groups.journal.misses]
        if not cuts.misses:
            organisation_id = powered.organisations[0].organisation_id
            misses += compare_with_records(groups.journal, powered.superuser, organisation_id)
    misses += [] if imports.done else ["no import was done"]
    misses += [] if groups.journal.broken_connections else ["no request met a cut"]
    figures = (
        f"{powered.cuts} cuts of {powered.processes} processes; "
        f"{len(groups.journal.acknowledged)} groups and {len(imports.accepted)} imports "
        f"acknowledged and compared, {len(imports.done)} of them done; {files} files of other "
        f"parts compared"
    )
    return Measurement(f"{figures}; {len(misses)} wrong", misses)


def _cut_repeatedly(cuts: PowerCuts, size: int) -> None:
    if cuts.groups.wait_for_success(time.monotonic(), ANSWER_SECONDS_MAX) is None:
        cuts.misses.append("the clients were not served")
    while cuts.powered.cuts < size and len(cuts.misses) < MISSES_MAX and not cuts.imports.misses:
        if not cuts.groups.alive:
            return
        cuts.cut_once()
        if cuts.powered.cuts % PROGRESS_EVERY == 0:
            acknowledged = len(cuts.groups.journal.acknowledged)
            print_progress(f"X3: {cuts.powered.cuts} cuts, {acknowledged} groups acknowledged")


def _cut_after_each_file(environment: RowEnvironment) -> tuple[int, list[str]]:
    """Write all files of which the product says that they are written, and cut the power."""
    with mounted_disk(environment.new_folder("x3-files")) as disk:
        for name in DURABLE_FILES:
            (disk.folder / name).mkdir()
        disk.mount()
        written = {
            file: (name, file.read_bytes())
            for name, write in DURABLE_FILES.items()
            for file in write(disk.folder / name)
        }
        disk.cut_power()
        disk.unmount()
        disk.mount()
        lost = [
            f"{name}: {file.name} was written and is lost"
            for file, (name, content) in written.items()
            if not file.exists() or file.read_bytes() != content
        ]
    return len(written), lost


VARIANTS = [
    BrokenVariant(
        "fsync-off",
        "PostgreSQL does not wait until the disk has its data.",
        "was acknowledged and is lost",
        "database/embedded_postgres/server.py",
        '"fsync": "on",',
        '"fsync": "off",',
    ),
    BrokenVariant(
        "lake-file-not-synced",
        "A file of the lake counts before the disk has it.",
        "of the lake has lost content",
        "costs/ingestion/conversion.py",
        "os.fsync(file.fileno())",
        "",
    ),
    BrokenVariant(
        "name-not-synced",
        "The name of a new key file is not synced.",
        "key: key was written and is lost",
        "foundation/encryption.py",
        "fsync_path(file.parent)",
        "",
    ),
    BrokenVariant(
        "pages-can-be-torn",
        "PostgreSQL cannot repair pages of which a part was written.",
        "full_page_writes is off",
        "database/embedded_postgres/server.py",
        '"full_page_writes": "on",',
        '"full_page_writes": "off",',
    ),
]
