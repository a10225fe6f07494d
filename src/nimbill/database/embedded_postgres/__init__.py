"""Runs a PostgreSQL of our own in a data folder, shared by all processes that use the folder.

    with embedded_postgres(folder) as address:
        engine = create_async_engine(address.url)

The first one in starts the server, the last one out stops it. Three lock files keep the order:

    start.lock   exclusive, held only while deciding to start or to stop
    users.lock   shared, held by everyone for as long as the server is used
    server.lock  exclusive, held by the server's own processes, so that "it runs" is never a guess

The kernel drops a lock when its holder dies, so a killed process leaves nothing to clean up. A
user that is killed leaves the server running until the next user comes and goes.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from nimbill.database.embedded_postgres.address import Address
from nimbill.database.embedded_postgres.binaries import EmbeddedPostgresError, bin_folder
from nimbill.database.embedded_postgres.cluster import make_cluster, private_folder
from nimbill.database.embedded_postgres.layout import OWNER, SUPERUSER, Layout
from nimbill.database.embedded_postgres.locks import BusyError, locked, open_lock, try_lock
from nimbill.database.embedded_postgres.server import (
    ready_socket,
    start,
    stop,
    wait_for_ready_or_free,
)

__all__ = [
    "Address",
    "EmbeddedPostgresError",
    "bin_folder",
    "embedded_postgres",
    "superuser_address",
]

# Longer than a start or a stop may take (server.py), so that only a stuck process exceeds it.
START_LOCK_WAIT_SECONDS_MAX = 240

log = logging.getLogger(__name__)


@contextmanager
def embedded_postgres(folder: Path) -> Iterator[Address]:
    """The address of the owner role, good until the block is left.

    May be entered many times, from any thread or process. A child forked inside the block counts
    as a user of its own for as long as it lives.
    """
    layout = _layout(folder)
    private_folder(layout)
    entered_by = os.getpid()
    with open_lock(layout.users_lock) as users:
        address = _enter(layout, users)
        try:
            yield address
        finally:
            if os.getpid() == entered_by:
                _leave(layout, users)


def superuser_address(folder: Path) -> Address:
    """For set-up and backups only; valid inside an `embedded_postgres` block on the same folder."""
    return _address(_layout(folder), user=SUPERUSER)


def _layout(folder: Path) -> Layout:
    return Layout(folder.expanduser().resolve())


def _enter(layout: Layout, users: BinaryIO) -> Address:
    with locked(layout.start_lock, wait_seconds_max=START_LOCK_WAIT_SECONDS_MAX):
        # Never refused: it is held exclusively under the start lock only.
        try_lock(users, shared=True)
        try:
            _ensure_running(layout)
            return _address(layout, user=OWNER)
        except BaseException:
            _stop_if_unused(layout, users)
            raise


def _leave(layout: Layout, users: BinaryIO) -> None:
    try:
        with locked(layout.start_lock, wait_seconds_max=START_LOCK_WAIT_SECONDS_MAX):
            _stop_if_unused(layout, users)
    except BusyError as busy:
        log.warning("The embedded PostgreSQL is left running. %s", busy)


def _stop_if_unused(layout: Layout, users: BinaryIO) -> None:
    # Not turned into an exclusive lock: a forked child that shares this very lock would not count.
    users.close()
    with open_lock(layout.users_lock) as all_users:
        if try_lock(all_users, shared=False):
            stop(layout)


def _ensure_running(layout: Layout) -> None:
    server_lock = wait_for_ready_or_free(layout)
    if server_lock is None:
        return
    with server_lock:
        # Passed on to initdb too: one that outlives its killed parent is then waited for, and
        # its half-made folder is not removed under its feet.
        make_cluster(layout, server_lock)
        start(layout, server_lock)
    # By now the server holds the lock. If it fails, the lock falls free again.
    server_lock = wait_for_ready_or_free(layout)
    if server_lock is not None:
        server_lock.close()
        raise EmbeddedPostgresError(
            f"PostgreSQL did not start in {layout.folder}. The end of its log:\n{layout.log_tail()}"
        )


def _address(layout: Layout, *, user: str) -> Address:
    socket = ready_socket(layout)
    if socket is None:
        raise EmbeddedPostgresError(f"No PostgreSQL is running in {layout.folder}.")
    return Address(
        host=str(socket.folder),
        port=socket.port,
        user=user,
        password=layout.password_file(user).read_text().strip(),
        database=OWNER,
    )
