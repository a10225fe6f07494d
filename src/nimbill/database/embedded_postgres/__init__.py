"""Runs a PostgreSQL server in a data folder, shared by all processes that use the folder.

    with embedded_postgres(folder) as address:
        engine = create_async_engine(address.url)

The first user starts the server, the last user stops it. Three lock files coordinate them:

    start.lock   exclusive, held only while deciding to start or to stop
    users.lock   shared, held by every user for as long as it uses the server
    server.lock  exclusive, inherited by the server's processes; held as long as one of them runs

The kernel releases a lock when its holder dies, so a killed process leaves nothing to clean up. A
killed user leaves the server running until the next user stops it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from nimbill.database.embedded_postgres.address import Address
from nimbill.database.embedded_postgres.binaries import EmbeddedPostgresError, bin_folder
from nimbill.database.embedded_postgres.cluster import create_cluster, ensure_private_folder
from nimbill.database.embedded_postgres.layout import OWNER, SUPERUSER, Layout
from nimbill.database.embedded_postgres.locks import BusyError, locked, open_lock, try_lock
from nimbill.database.embedded_postgres.server import (
    find_ready_socket,
    start,
    stop,
    wait_for_ready_or_free,
)

__all__ = [
    "Address",
    "EmbeddedPostgresError",
    "bin_folder",
    "embedded_postgres",
    "has_cluster",
    "is_embedded",
    "is_ready",
    "restart_if_dead",
    "superuser_address",
]

# Longer than a start or a stop may take (server.py), so only a stuck process exceeds it.
START_LOCK_WAIT_SECONDS_MAX = 240

log = logging.getLogger(__name__)


@contextmanager
def embedded_postgres(folder: Path) -> Iterator[Address]:
    """Yield the address of the owner role, valid inside the block.

    May be entered many times, from any thread or process. A child forked inside the block counts
    as a separate user until it exits.
    """
    layout = _layout(folder)
    ensure_private_folder(layout)
    process = os.getpid()
    with open_lock(layout.users_lock, share_with_children=True) as users:
        address = _enter(layout, users)
        try:
            yield address
        finally:
            if os.getpid() == process:
                _leave(layout, users)


def has_cluster(folder: Path) -> bool:
    """Whether a database was created in the folder before."""
    return _layout(folder).cluster.exists()


def restart_if_dead(folder: Path) -> bool:
    """Start the server if all its processes have ended; return whether it was started.

    Call it inside an `embedded_postgres` block of the same folder. The address stays the same.
    """
    layout = _layout(folder)
    with open_lock(layout.server_lock) as probe:
        if not try_lock(probe, shared=False):
            return False
    with locked(layout.start_lock, wait_seconds_max=START_LOCK_WAIT_SECONDS_MAX):
        return _ensure_running(layout)


def superuser_address(folder: Path) -> Address:
    """For set-up and backups only; valid inside an `embedded_postgres` block of the same folder."""
    return _address(_layout(folder), user=SUPERUSER)


def is_embedded(folder: Path, url: str) -> bool:
    """Whether the URL is the address of the server in this folder: its password is unique."""
    password_file = _layout(folder).password_file(OWNER)
    if not password_file.is_file():
        return False
    return unquote(urlsplit(url).password or "") == password_file.read_text().strip()


def is_ready(folder: Path) -> bool:
    """Whether the server in this folder runs and responds."""
    return find_ready_socket(_layout(folder)) is not None


def _layout(folder: Path) -> Layout:
    return Layout(folder.expanduser().resolve())


def _enter(layout: Layout, users: BinaryIO) -> Address:
    with locked(layout.start_lock, wait_seconds_max=START_LOCK_WAIT_SECONDS_MAX):
        # Always succeeds: the exclusive lock is only taken while holding the start lock.
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
        log.warning("The embedded PostgreSQL was not stopped. %s", busy)


def _stop_if_unused(layout: Layout, users: BinaryIO) -> None:
    # Opened anew instead of upgraded: a forked child shares the lock of this file descriptor.
    users.close()
    with open_lock(layout.users_lock) as all_users:
        if try_lock(all_users, shared=False):
            stop(layout)


def _ensure_running(layout: Layout) -> bool:
    """Return whether the server had to be started."""
    server_lock = wait_for_ready_or_free(layout)
    if server_lock is None:
        return False
    with server_lock:
        # initdb inherits the lock too. If its parent is killed, others wait for initdb instead of
        # removing its unfinished folder.
        create_cluster(layout, server_lock)
        start(layout, server_lock)
    # The server holds the lock now; it is released if the server fails to start.
    server_lock = wait_for_ready_or_free(layout)
    if server_lock is not None:
        server_lock.close()
        raise EmbeddedPostgresError(
            f"PostgreSQL did not start in {layout.folder}. The end of its log:\n{layout.log_tail()}"
        )
    return True


def _address(layout: Layout, *, user: str) -> Address:
    socket = find_ready_socket(layout)
    if socket is None:
        raise EmbeddedPostgresError(f"No PostgreSQL is running in {layout.folder}.")
    return Address(
        host=str(socket.folder),
        port=socket.port,
        user=user,
        password=layout.password_file(user).read_text().strip(),
        database=OWNER,
    )
