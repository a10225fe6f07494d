"""Creates the database cluster; it appears completely, in one rename, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import subprocess
from pathlib import Path
from typing import BinaryIO

from nimbill.database.embedded_postgres.binaries import (
    MAJOR_VERSION,
    EmbeddedPostgresError,
    build_command,
    clean_environment,
)
from nimbill.database.embedded_postgres.layout import OWNER, SUPERUSER, Layout
from nimbill.foundation.fsync import fsync_path

CREATE_SECONDS_MAX = 120
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def ensure_private_folder(layout: Layout) -> None:
    """Create the folder, or check that it is ours; remove the access of other users."""
    folder = layout.folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EmbeddedPostgresError(f"Cannot create the folder {folder}: {error}.") from error
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise EmbeddedPostgresError(
            f"The folder {folder} belongs to another user (uid {status.st_uid}). Run nimbill as "
            "that user, or choose another folder."
        )
    if not status.st_mode & OTHERS:
        return
    # Do not change the mode of /tmp or a home folder that was named by mistake.
    if any(folder.iterdir()) and not layout.start_lock.exists():
        raise EmbeddedPostgresError(
            f"The folder {folder} contains other files and is open to other users. Choose an empty "
            "folder for the database, or one that does not exist yet."
        )
    folder.chmod(0o700)


def create_cluster(layout: Layout, server_lock: BinaryIO) -> None:
    """Does nothing if a cluster exists. The caller must hold the start lock."""
    layout.logs.mkdir(mode=0o700, exist_ok=True)
    if layout.new_cluster.exists():
        shutil.rmtree(layout.new_cluster)
    if layout.cluster.exists():
        _check_version(layout)
        return
    layout.start_log.unlink(missing_ok=True)
    new_cluster = layout.new_cluster
    new_cluster.mkdir(mode=0o700)
    for user in (SUPERUSER, OWNER):
        _write_secret(new_cluster / f"{user}.password", secrets.token_urlsafe(32))
    _initdb(layout, server_lock)
    _create_owner(layout, server_lock)
    fsync_path(new_cluster)
    new_cluster.rename(layout.cluster)
    fsync_path(layout.folder)


def _check_version(layout: Layout) -> None:
    version = (layout.data / "PG_VERSION").read_text().strip()
    if version != str(MAJOR_VERSION):
        raise EmbeddedPostgresError(
            f"The database in {layout.folder} was created by PostgreSQL {version}; this nimbill "
            f"contains {MAJOR_VERSION}. Dump it with the nimbill that created it, and load the "
            "dump into a new folder with this one."
        )


def _initdb(layout: Layout, server_lock: BinaryIO) -> None:
    new_cluster = layout.new_cluster
    arguments = [
        f"--pgdata={new_cluster / 'data'}",
        f"--username={SUPERUSER}",
        f"--pwfile={new_cluster / f'{SUPERUSER}.password'}",
        "--auth-local=scram-sha-256",
        "--auth-host=scram-sha-256",
        "--data-checksums",
        "--encoding=UTF8",
        # Sorts the same on every machine and supports upper and lower case of all letters.
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
        "--no-instructions",
    ]
    _run(layout, build_command("initdb", *arguments, folder=new_cluster), server_lock)


def _create_owner(layout: Layout, server_lock: BinaryIO) -> None:
    new_cluster = layout.new_cluster
    password = (new_cluster / f"{OWNER}.password").read_text().strip()
    # One statement per line: the stand-alone backend reads line by line.
    statements = (
        f"CREATE ROLE {OWNER} LOGIN NOSUPERUSER CREATEROLE PASSWORD '{password}'\n"
        f"CREATE DATABASE {OWNER} OWNER {OWNER}\n"
    )
    settings = ["-c", "exit_on_error=on", "-c", "log_min_error_statement=panic"]
    arguments = ["--single", *settings, "-D", str(new_cluster / "data"), "postgres"]
    line = build_command("postgres", *arguments, folder=new_cluster)
    _run(layout, line, server_lock, stdin=statements)


def _run(layout: Layout, line: list[str], server_lock: BinaryIO, *, stdin: str = "") -> None:
    try:
        with layout.start_log.open("ab") as log:
            layout.start_log.chmod(0o600)
            subprocess.run(  # noqa: S603 - no external input
                line,
                input=stdin.encode(),
                stdout=log,
                stderr=log,
                env=clean_environment(),
                cwd=layout.folder,
                pass_fds=(server_lock.fileno(),),
                start_new_session=True,  # does not receive Ctrl-C
                timeout=CREATE_SECONDS_MAX,
                check=True,
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedPostgresError(
            f"Cannot create the database in {layout.folder} ({error}). The end of the log:\n"
            f"{layout.log_tail()}"
        ) from error


def _write_secret(path: Path, secret: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secret + "\n")
        file.flush()
        os.fsync(handle)
