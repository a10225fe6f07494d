"""Makes the database cluster: all of it in one rename, or nothing."""

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
    clean_environment,
    command,
)
from nimbill.database.embedded_postgres.layout import OWNER, SUPERUSER, Layout
from nimbill.foundation.fsync import fsync_path

MAKE_SECONDS_MAX = 120
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(layout: Layout) -> None:
    """Creates the folder, or checks that it is ours, and closes it to others."""
    folder = layout.folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EmbeddedPostgresError(f"The folder {folder} cannot be made: {error}.") from error
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise EmbeddedPostgresError(
            f"The folder {folder} belongs to another user (uid {found.st_uid}). Run nimbill as "
            "that user, or choose another folder."
        )
    if not found.st_mode & OTHERS:
        return
    # Somebody may name /tmp or a home folder by mistake: those are not ours to close.
    if any(folder.iterdir()) and not layout.start_lock.exists():
        raise EmbeddedPostgresError(
            f"The folder {folder} holds other files and is open to other users. Name an empty "
            "folder for the database, or one that does not exist yet."
        )
    folder.chmod(0o700)


def make_cluster(layout: Layout, server_lock: BinaryIO) -> None:
    """Does nothing where there is one already. The start lock must be held."""
    layout.logs.mkdir(mode=0o700, exist_ok=True)
    if layout.cluster_being_made.exists():
        shutil.rmtree(layout.cluster_being_made)
    if layout.cluster.exists():
        _check_version(layout)
        return
    layout.start_log.unlink(missing_ok=True)
    making = layout.cluster_being_made
    making.mkdir(mode=0o700)
    for user in (SUPERUSER, OWNER):
        _write_secret(making / f"{user}.password", secrets.token_urlsafe(32))
    _initdb(layout, server_lock)
    _make_owner(layout, server_lock)
    fsync_path(making)
    making.rename(layout.cluster)
    fsync_path(layout.folder)


def _check_version(layout: Layout) -> None:
    found = (layout.data / "PG_VERSION").read_text().strip()
    if found != str(MAJOR_VERSION):
        raise EmbeddedPostgresError(
            f"The database in {layout.folder} was made by PostgreSQL {found}; this nimbill brings "
            f"{MAJOR_VERSION}. Dump it with the nimbill that made it, and load the dump with this "
            "one in a new folder."
        )


def _initdb(layout: Layout, server_lock: BinaryIO) -> None:
    making = layout.cluster_being_made
    arguments = [
        f"--pgdata={making / 'data'}",
        f"--username={SUPERUSER}",
        f"--pwfile={making / f'{SUPERUSER}.password'}",
        "--auth-local=scram-sha-256",
        "--auth-host=scram-sha-256",
        "--data-checksums",
        "--encoding=UTF8",
        # Sorts the same on every machine, and still knows upper and lower case of all letters.
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--locale=C",
        "--no-instructions",
    ]
    _run(layout, command("initdb", *arguments, folder=making), server_lock)


def _make_owner(layout: Layout, server_lock: BinaryIO) -> None:
    making = layout.cluster_being_made
    password = (making / f"{OWNER}.password").read_text().strip()
    # One statement a line, as the stand-alone backend reads them.
    statements = (
        f"CREATE ROLE {OWNER} LOGIN NOSUPERUSER CREATEROLE PASSWORD '{password}'\n"
        f"CREATE DATABASE {OWNER} OWNER {OWNER}\n"
    )
    settings = ["-c", "exit_on_error=on", "-c", "log_min_error_statement=panic"]
    arguments = ["--single", *settings, "-D", str(making / "data"), "postgres"]
    line = command("postgres", *arguments, folder=making)
    _run(layout, line, server_lock, said=statements)


def _run(layout: Layout, line: list[str], server_lock: BinaryIO, *, said: str = "") -> None:
    try:
        with layout.start_log.open("ab") as log:
            layout.start_log.chmod(0o600)
            subprocess.run(  # noqa: S603 - every word is ours
                line,
                input=said.encode(),
                stdout=log,
                stderr=log,
                env=clean_environment(),
                cwd=layout.folder,
                pass_fds=(server_lock.fileno(),),
                start_new_session=True,  # Ctrl-C is ours to handle
                timeout=MAKE_SECONDS_MAX,
                check=True,
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedPostgresError(
            f"The database could not be made in {layout.folder} ({error}). The end of the log:\n"
            f"{layout.log_tail()}"
        ) from error


def _write_secret(path: Path, secret: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secret + "\n")
        file.flush()
        os.fsync(handle)
