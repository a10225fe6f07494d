"""Three ways to back up an installation and restore it in a new place, each from the guide."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Protocol

import httpx

from nimbill.database.embedded_postgres import Address, embedded_postgres, superuser_address
from tests.commands.run_command import run_command
from tests.proof.backup_source import BackupSource, run_program
from tests.proof.live_traffic import HttpClient
from tests.proof.real_server import environment_for, real_server
from tests.running_service import running_service
from tests.temporary_database import execute_script, temporary_database

RECOVERY = """
restore_command = 'cp "{wal}/%f" "%p"'
hot_standby = off
"""
SETTINGS = {"NIMBILL_RATE_LIMIT": "0"}
# What is done to a file, and to which. Only its digest shows that a file of the lake was changed.
DAMAGES = (
    ("removed", "*/**/*"),
    ("truncated", "*/**/*"),
    ("changed", "*/**/*"),
    ("changed", "lake/**/*"),
)


class RestoreFailed(Exception):
    """A step of a backup or a restore failed; the message says which."""


@dataclass
class RestoredInstallation:
    data: Path
    database: Address
    superuser: Address
    required: frozenset[str]  # groups that were acknowledged before the backup, or before the loss
    began: float  # when the restore began
    lost_at: float | None = None  # if everything until a loss should be there
    has_real_server: bool = False
    alarms: int = 0  # damaged copies of the backup that were reported
    misses: list[str] = field(default_factory=list)

    @property
    def environment(self) -> Mapping[str, str]:
        return environment_for(self.data, {"NIMBILL_DATABASE_URL": self.database.url})

    @contextmanager
    def start(self) -> Iterator[HttpClient]:
        with ExitStack() as stack:
            if not self.has_real_server:
                service = running_service(self.database.url, self.data)
                yield stack.enter_context(service).http
                return
            server = stack.enter_context(real_server(self.data, SETTINGS, workers=1))
            yield stack.enter_context(httpx.Client(base_url=server.url, timeout=60))


class Restore(Protocol):
    def __call__(
        self, source: BackupSource, folder: Path, random: Random, other: Address | None
    ) -> AbstractContextManager[RestoredInstallation]: ...


def require(error: str) -> None:
    if error:
        raise RestoreFailed(error)


def _copy_files(source: BackupSource, data: Path, name: str) -> None:
    shutil.copytree(source.data / name, data / name)


def _place_key(source: BackupSource, data: Path) -> None:
    shutil.copy2(source.key_copy, data / "key")


@contextmanager
def restore_base_backup(
    source: BackupSource, folder: Path, random: Random, other: Address | None
) -> Iterator[RestoredInstallation]:
    """A base backup, then the write-ahead log as far as it was received before the loss."""
    data = folder / "data"
    postgres, cluster = data / "postgres", data / "postgres" / "cluster"
    data.mkdir()
    postgres.mkdir(mode=0o700)
    cluster.mkdir(mode=0o700)
    _copy_files(source, data, "audit")
    arguments = (
        f"--pgdata={cluster / 'data'}",
        "--wal-method=none",
        "--checkpoint=fast",
        "--no-sync",
    )
    require(run_program("pg_basebackup", source.superuser, *arguments))
    _copy_files(source, data, "lake")
    label = (cluster / "data" / "backup_label").read_text()
    (segment,) = re.findall(r"START WAL LOCATION: .* \(file ([0-9A-F]+)\)", label)
    source.wait_for_writes(random.randint(3, 30))
    lost_at = source.copy_wal(folder / "wal", since=segment)
    required = frozenset(name for name, at in source.acknowledged.items() if at <= lost_at)
    began = time.monotonic()
    for path in (source.data / "postgres" / "cluster").glob("*.password"):
        shutil.copy2(path, cluster)
    with (cluster / "data" / "postgresql.auto.conf").open("a") as file:
        file.write(RECOVERY.format(wal=folder / "wal"))
    (cluster / "data" / "recovery.signal").touch()
    _place_key(source, data)
    with embedded_postgres(postgres) as database:
        superuser = superuser_address(postgres)
        yield RestoredInstallation(
            data, database, superuser, required, began, lost_at, has_real_server=True
        )


@contextmanager
def restore_dump(
    source: BackupSource, folder: Path, random: Random, other: Address | None
) -> Iterator[RestoredInstallation]:
    """A file of pg_dump, restored into a new cluster."""
    data, dump = folder / "data", folder / "nimbill.dump"
    data.mkdir()
    required = frozenset(source.acknowledged)
    _copy_files(source, data, "audit")
    arguments = ("--format=custom", f"--file={dump}", source.database.database)
    require(run_program("pg_dump", source.superuser, *arguments))
    _copy_files(source, data, "lake")
    began = time.monotonic()
    _place_key(source, data)
    with embedded_postgres(data / "postgres") as database:
        superuser = superuser_address(data / "postgres")
        roles = "CREATE ROLE nimbill_app NOLOGIN; GRANT nimbill_app TO nimbill"
        execute_script(superuser, roles)
        options = ("--no-owner", "--role=nimbill", "--single-transaction")
        into = f"--dbname={database.database}"
        require(run_program("pg_restore", superuser, into, *options, str(dump)))
        yield RestoredInstallation(data, database, superuser, required, began)


@contextmanager
def restore_backup_of_product(
    source: BackupSource, folder: Path, random: Random, other: Address | None
) -> Iterator[RestoredInstallation]:
    """`nimbill backup` and `nimbill restore`, into another PostgreSQL if there is one."""
    data, backup = folder / "data", folder / "backup"
    required = frozenset(source.acknowledged)
    result = run_command("backup", str(backup), env=source.environment)
    require(result.stderr if result.returncode else "")
    key = ("--key", str(source.key_copy))
    result = run_command("backup", "verify", str(backup), *key, env=source.environment)
    require(result.stdout if result.returncode else "")
    misses, alarms = _damage_copies(source, backup, random)
    began = time.monotonic()
    with ExitStack() as stack:
        if other is None:
            database = stack.enter_context(embedded_postgres(data / "postgres"))
            superuser = superuser_address(data / "postgres")
        else:
            owner = replace(other, user="nimbill")
            database = stack.enter_context(temporary_database(owner, other))
            superuser = replace(other, database=database.database)
        restored = RestoredInstallation(data, database, superuser, required, began)
        restored.misses, restored.alarms = misses, alarms
        result = run_command("restore", str(backup), *key, env=restored.environment)
        require(result.stderr if result.returncode else "")
        yield restored


def _damage_copies(source: BackupSource, backup: Path, random: Random) -> tuple[list[str], int]:
    """Damage a file of a copy in each way; `nimbill backup verify` must name it."""
    misses, alarms = [], 0
    copy = backup.with_name("damaged")
    for damage, part in DAMAGES:
        shutil.copytree(backup, copy)
        files = sorted(path for path in copy.glob(part) if path.is_file())
        if not files:
            misses.append(f"the backup has no file {part} that could be {damage}")
            shutil.rmtree(copy)
            continue
        path = random.choice(files)
        content = bytearray(path.read_bytes())
        if damage == "removed":
            path.unlink()
        elif damage == "truncated":
            path.write_bytes(content[: random.randrange(len(content))])
        else:
            content[random.randrange(len(content))] ^= random.randint(1, 255)
            path.write_bytes(content)
        result = run_command("backup", "verify", str(copy), "--json", env=source.environment)
        name = path.relative_to(copy).as_posix()
        problems = json.loads(result.stdout or "{}").get("problems", [])
        if result.returncode == 1 and any(name in problem for problem in problems):
            alarms += 1
        else:
            misses.append(f"no alarm for a backup with {name} {damage}: code {result.returncode}")
        shutil.rmtree(copy)
    return misses, alarms
